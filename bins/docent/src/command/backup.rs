//! `docent backup`: writes everything to one archive.

use super::config::load;
use crate::progress::ProgressDisplay;
use crate::{output, wire};
use anyhow::bail;
use docent::cli::BackupArgs;
use docent::config::{Settings, VectorDb};
use docent_app::App;
use docent_app::maintenance::backup::{BackupOptions, BackupSummary, save};
use docent_domain::fault::Component;
use docent_migration::SchemaState;
use docent_ports::archive::ArchiveWriter;
use docent_services::archive::TarWriter;
use serde_json::json;
use std::path::Path;

/// Writes the archive and prints a summary.
pub(crate) async fn run(args: BackupArgs) -> anyhow::Result<()> {
    let settings = load(args.installation.profile())?;
    let store = wire::store(&settings).await?;
    let schema = match store.schema_state().await? {
        state @ SchemaState::Current => state.to_string(),
        other => bail!("{other}"),
    };
    let app = wire::maintenance(&settings, store).await?;
    let chunks = can_read_chunks(&settings, &app).await?;
    let is_stream = args.file == Path::new("-");
    let writer: Box<dyn ArchiveWriter> = match is_stream {
        true => Box::new(TarWriter::stream(std::io::stdout())),
        false => Box::new(TarWriter::create(&args.file)?),
    };
    let scope = BackupOptions { program: env!("CARGO_PKG_VERSION").to_owned(), schema, chunks };
    let BackupSummary { users, documents, files, chunks } =
        save(&app, scope, writer, &ProgressDisplay::new()).await?;
    let summary = output::format(
        args.installation.output,
        || format!("Saved {users} accounts, {documents} documents, {files} files and {chunks} chunks."),
        || json!({ "users": users, "documents": documents, "files": files, "chunks": chunks }),
    );
    if is_stream {
        eprintln!("{summary}")
    } else {
        println!("{summary}")
    }
    Ok(())
}

/// Whether chunks can be read: not while another process has the embedded vector store open.
async fn can_read_chunks(settings: &Settings, app: &App) -> anyhow::Result<bool> {
    let check = async { app.active_index().await?.index.check().await };
    match check.await {
        Ok(()) => Ok(true),
        Err(fault)
            if settings.storage.vector_db == VectorDb::Embedded
                && fault.component() == Component::VectorStore
                && fault.is_transient() =>
        {
            eprintln!(
                "docent: {}; chunks are left out, and a restore will ingest the documents again \
                 (stop the service to include them)",
                fault.report()
            );
            Ok(false)
        }
        Err(fault) => Err(fault.into()),
    }
}
