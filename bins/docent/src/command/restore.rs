//! `docent restore`: restores an archive into an empty installation.

use super::config::load;
use crate::progress::ProgressDisplay;
use crate::{output, wire};
use anyhow::bail;
use docent::cli::RestoreArgs;
use docent_app::maintenance::backup::{RestoreSummary, restore};
use docent_migration::SchemaState;
use docent_services::archive::TarFile;
use serde_json::json;

/// Restores the archive and prints a summary.
pub(crate) async fn run(args: RestoreArgs) -> anyhow::Result<()> {
    let settings = load(args.installation.profile())?;
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        SchemaState::Empty => store.migrate().await?,
        other => bail!("{other}"),
    }
    let app = wire::maintenance(&settings, store).await?;
    let restored = restore(&app, &TarFile::at(&args.file), &ProgressDisplay::new()).await?;
    let RestoreSummary { users, documents, queued, chunks, reembedded } = restored;
    let text = || {
        let mut lines =
            vec![format!("Restored {users} accounts, {documents} documents and {chunks} chunks.")];
        if reembedded {
            lines.push(
                "The chunks were embedded again, because the archive uses another embedding model."
                    .to_owned(),
            );
        }
        if queued > 0 {
            lines.push(format!("{queued} documents will be ingested when the service runs."));
        }
        lines.join("\n")
    };
    let object = || {
        json!({
            "users": users, "documents": documents, "queued": queued, "chunks": chunks, "embedded_anew": reembedded,
        })
    };
    output::print(args.installation.output, text, object)?;
    Ok(())
}
