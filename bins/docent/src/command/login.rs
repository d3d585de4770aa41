//! `docent login` and `docent logout`.

use super::accounts;
use crate::{client, output};
use docent::cli::{LoginArgs, LogoutArgs};
use serde_json::json;

/// Logs in at a service, for the commands that follow.
pub(crate) async fn log_in(args: &LoginArgs) -> anyhow::Result<()> {
    let password = accounts::password(args.password_stdin)?;
    client::log_in(&args.remote, &args.email, &password).await?;
    let (server, email) = (&args.remote.server, &args.email);
    output::result(
        args.output,
        || format!("Logged in at {server} as {email}."),
        || json!({ "server": server, "email": email }),
    )?;
    Ok(())
}

/// Ends the login.
pub(crate) async fn log_out(args: &LogoutArgs) -> anyhow::Result<()> {
    client::log_out(&args.remote).await?;
    let server = &args.remote.server;
    output::result(args.output, || format!("Logged out at {server}."), || json!({ "server": server }))?;
    Ok(())
}
