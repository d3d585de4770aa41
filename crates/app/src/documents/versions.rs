//! Removes what the stores have of versions that are no longer needed.

use crate::generations::OpenIndex;
use crate::{App, extractions};
use docent_domain::document::StoredVersion;
use docent_domain::fault::Result;

/// Removes a version's chunks and file. Idempotent.
///
/// # Errors
/// When a store fails. Can be retried.
pub(super) async fn remove(app: &App, active: &OpenIndex, version: &StoredVersion) -> Result<()> {
    active.index.remove(version.id).await?;
    if let Some(file) = &version.file {
        app.blobs.delete(&file.blob).await?;
        extractions::forget_unused(app, &file.sha256).await?;
    }
    Ok(())
}

/// Removes versions that were replaced. What stays behind after a fault or a crash is left to a sweep.
pub(crate) async fn remove_superseded(app: &App, versions: &[StoredVersion]) {
    if versions.is_empty() {
        return;
    }
    let removal = async {
        let active = app.active_index().await?;
        for version in versions {
            remove(app, &active, version).await?;
        }
        Ok(())
    };
    let removed: Result<()> = removal.await;
    if let Err(fault) = removed {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "a replaced version of a document could not be removed");
    }
}
