//! `docent migrate`.

use super::config::load;
use crate::{output, wire};
use docent::cli::InstallationArgs;
use docent_migration::SchemaState;
use serde_json::json;

/// Brings the schema up to date and says what was done.
pub(crate) async fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let store = wire::store(&load(args.profile.into())?).await?;
    let before = store.schema_state().await?;
    store.migrate().await?;
    let now = store.schema_state().await?;
    let is_changed = before != SchemaState::Current;
    output::result(
        args.output,
        || if is_changed { format!("Done: {now}.") } else { format!("Nothing to do: {now}.") },
        || json!({ "changed": is_changed, "schema": now.to_string() }),
    )?;
    Ok(())
}
