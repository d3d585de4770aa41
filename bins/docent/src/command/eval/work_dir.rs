//! Data directory of the temporary installation of an evaluation.

use super::corpus::MANIFEST;
use anyhow::{Context, bail};
use docent::cli::EvalArgs;
use docent::config::{BlobStoreUrl, DatabaseUrl, KeyValueUrl, Settings, VectorDb};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Attempts to remove the directory, which stopping threads may still write to.
const REMOVE_ATTEMPTS: u32 = 40;
const REMOVE_INTERVAL: Duration = Duration::from_millis(50);

/// The data directory of an evaluation.
pub(super) enum WorkDir {
    /// Removed at the end.
    Temporary(TempDir),
    /// Kept for later runs.
    Kept(PathBuf),
}

impl WorkDir {
    /// Opens the directory in the arguments, or creates a temporary one. Each of several question sets has a directory of
    /// its own in it.
    pub(super) fn open(args: &EvalArgs, set: Option<&str>) -> anyhow::Result<Self> {
        let of_set = |folder: &PathBuf| set.map_or_else(|| folder.clone(), |set| folder.join(set));
        match (args.keep.as_ref().map(of_set), args.reuse.as_ref().map(of_set)) {
            (_, Some(kept)) if kept.join(MANIFEST).is_file() => Ok(Self::Kept(kept)),
            (_, Some(kept)) => {
                bail!("{} was not written by a completed run with --keep", kept.display())
            }
            (Some(keep), None) => {
                std::fs::create_dir_all(&keep).with_context(|| keep.display().to_string())?;
                let mut entries = std::fs::read_dir(&keep).with_context(|| keep.display().to_string())?;
                if entries.next().is_some() {
                    bail!("{} is not empty; use it with --reuse, or give another directory", keep.display());
                }
                Ok(Self::Kept(keep))
            }
            (None, None) => {
                let folder = tempfile::Builder::new().prefix("docent-eval-").tempdir();
                Ok(Self::Temporary(folder.context("creating a temporary directory")?))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }

    /// Removes a temporary directory.
    pub(super) async fn clean_up(self) {
        let Self::Temporary(folder) = self else { return };
        let path = folder.keep();
        for _ in 0..REMOVE_ATTEMPTS {
            if std::fs::remove_dir_all(&path).is_ok() || !path.exists() {
                return;
            }
            tokio::time::sleep(REMOVE_INTERVAL).await;
        }
        eprintln!("docent: {} could not be removed", path.display());
    }
}

/// Returns the settings of an embedded installation in a directory; only the model back ends are kept.
pub(super) fn installation_settings(settings: &Settings, folder: &Path) -> Settings {
    let mut settings = settings.clone();
    settings.service.data_dir = folder.to_owned();
    settings.storage.database_url = DatabaseUrl::Sqlite(folder.join("docent.db"));
    settings.storage.redis_url = KeyValueUrl::Memory;
    settings.storage.redis_counters_url = None;
    settings.storage.blob_store = BlobStoreUrl::File(folder.join("blobs"));
    settings.storage.vector_db = VectorDb::Embedded;
    // Answers are those of the built-in answerer.
    settings.models.llm_base_url = None;
    settings.telemetry.tracing_enabled = false;
    settings.telemetry.metrics_enabled = false;
    settings
}
