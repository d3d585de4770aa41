//! `docent migrate`.

use super::config::load;
use crate::wire;
use docent::config::Profile;
use docent_migration::SchemaState;

/// Brings the schema up to date and says what was done.
pub(crate) async fn run(profile: Profile) -> anyhow::Result<()> {
    let store = wire::store(&load(profile)?).await?;
    let before = store.schema_state().await?;
    store.migrate().await?;
    let now = store.schema_state().await?;
    match before {
        SchemaState::Current => println!("Nothing to do: {now}."),
        _ => println!("Done: {now}."),
    }
    Ok(())
}
