//! `docent migrate`.

use super::config::load;
use crate::{output, wire};
use docent::cli::InstallationArgs;
use docent_migration::SchemaState;
use serde_json::json;

/// Migrates the schema and prints the result.
pub(crate) async fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let store = wire::store(&load(args.profile())?).await?;
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
