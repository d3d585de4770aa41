//! `docent migrate`.

use crate::{cli::ProfileArgs, config::Config, wire};

/// Brings the schema up to date and says what was done.
pub(crate) async fn run(args: ProfileArgs) -> anyhow::Result<()> {
    let config = Config::load(args.profile())?;
    let store = wire::store(&config).await?;
    let applied = store.migrate().await?;
    if applied == 0 {
        println!("The schema is up to date.");
    } else {
        println!("Applied {applied} migrations.");
    }
    Ok(())
}
