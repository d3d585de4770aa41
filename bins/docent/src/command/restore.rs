//! `docent restore`: an installation from an archive.

use super::config::load;
use crate::{cli::RestoreArgs, progress::Shown, wire};
use anyhow::bail;
use docent_adapters::archive::TarFile;
use docent_app::upkeep::backup::{Restored, restore};
use docent_migration::SchemaState;

/// Restores the archive and says what came of it.
pub(crate) async fn run(args: RestoreArgs) -> anyhow::Result<()> {
    let settings = load(args.profile.into())?;
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        SchemaState::Empty => store.migrate().await?,
        other => bail!("{other}"),
    }
    let app = wire::upkeep(&settings, store)?;
    let restored = restore(&app, &TarFile::at(&args.file), &Shown::new()).await?;
    let Restored { users, documents, queued, chunks, embedded_anew } = restored;
    println!("Restored {users} accounts, {documents} documents and {chunks} chunks.");
    if embedded_anew {
        println!("The chunks were embedded anew: the archive is of another embedding model.");
    }
    if queued > 0 {
        println!("{queued} documents will be ingested once the service runs.");
    }
    Ok(())
}
