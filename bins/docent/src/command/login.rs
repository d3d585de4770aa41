//! `docent login` and `docent logout`.

use super::accounts;
use crate::{
    cli::{LoginArgs, RemoteArgs},
    client,
};

/// Logs in at a service, for the commands that follow.
pub(crate) async fn log_in(args: &LoginArgs) -> anyhow::Result<()> {
    let password = accounts::password(args.password_stdin)?;
    client::log_in(&args.remote, &args.email, &password).await?;
    println!("Logged in at {} as {}.", args.remote.server, args.email);
    Ok(())
}

/// Ends the login.
pub(crate) async fn log_out(args: &RemoteArgs) -> anyhow::Result<()> {
    client::log_out(args).await?;
    println!("Logged out at {}.", args.server);
    Ok(())
}
