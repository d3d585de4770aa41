//! `docent migrate`.

use super::config::load;
use crate::invocation::command;
use crate::wire::INDEX;
use crate::{output, wire};
use anyhow::bail;
use docent::cli::InstallationArgs;
use docent::config::{BlobStoreUrl, DatabaseUrl, Settings};
use docent_migration::SchemaState;
use docent_sql::SqlStore;
use serde_json::json;
use std::path::Path;

/// Migrates the schema and prints the result.
pub(crate) async fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let settings = load(args.profile())?;
    // A database server may be new while a bucket or a directory is shared with another installation.
    let store = match settings.storage.database_url {
        DatabaseUrl::Sqlite(_) => open_store(&settings).await?,
        DatabaseUrl::Postgres(_) => wire::store(&settings).await?,
    };
    let before = store.schema_state().await?;
    store.migrate().await?;
    let after = store.schema_state().await?;
    let is_changed = before != SchemaState::Current;
    output::print(
        args.output,
        || if is_changed { format!("Done: {after}.") } else { format!("Nothing to do: {after}.") },
        || json!({ "changed": is_changed, "schema": after.to_string() }),
    )?;
    Ok(())
}

/// Opens the relational store, unless it is missing or empty while its other data exists.
pub(super) async fn open_store(settings: &Settings) -> anyhow::Result<SqlStore> {
    if let DatabaseUrl::Sqlite(path) = &settings.storage.database_url
        && !path.exists()
    {
        check_no_leftover_data(settings)?;
    }
    let store = wire::store(settings).await?;
    if store.schema_state().await? == SchemaState::Empty {
        check_no_leftover_data(settings)?;
    }
    Ok(store)
}

/// Checks that a missing or empty database has left no files or index: it was probably lost.
fn check_no_leftover_data(settings: &Settings) -> anyhow::Result<()> {
    let data_dir = &settings.service.data_dir;
    let mut folders = vec![data_dir.join(INDEX)];
    if let BlobStoreUrl::File(folder) = &settings.storage.blob_store {
        folders.push(folder.clone());
    }
    let leftovers: Vec<_> = folders.iter().filter(|folder| contains_files(folder)).collect();
    let [first, others @ ..] = leftovers.as_slice() else { return Ok(()) };
    let and = others.iter().map(|folder| format!(" and {}", folder.display())).collect::<String>();
    bail!(
        "the database is missing or empty, but {}{and} contain its data. Put the database back, or move {} away and \
         start over, for example from a backup with `{}`",
        first.display(),
        data_dir.display(),
        command("restore --dev"),
    );
}

fn contains_files(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        !is_folder || contains_files(&entry.path())
    })
}
