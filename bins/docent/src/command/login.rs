//! `docent login` and `docent logout`.

use super::accounts;
use crate::{client, output};
use docent::cli::{LoginArgs, LogoutArgs};
use serde_json::json;

/// Logs in to a service, for later commands.
pub(crate) async fn log_in(args: &LoginArgs) -> anyhow::Result<()> {
    let password = accounts::read_password(args.password_stdin)?;
    client::log_in(&args.remote, &args.email, &password).await?;
    let (server, email) = (&args.remote.server, &args.email);
    output::print(
        args.output,
        || format!("Logged in to {server} as {email}."),
        || json!({ "server": server, "email": email }),
    )?;
    Ok(())
}

/// Logs out.
pub(crate) async fn log_out(args: &LogoutArgs) -> anyhow::Result<()> {
    client::log_out(&args.remote).await?;
    let server = &args.remote.server;
    output::print(args.output, || format!("Logged out of {server}."), || json!({ "server": server }))?;
    Ok(())
}
