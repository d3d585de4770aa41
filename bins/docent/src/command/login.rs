//! `docent login` and `docent logout`.

use super::accounts;
use crate::{client, output};
use docent::cli::{ClientArgs, LoginArgs};
use serde_json::json;

/// Logs in to a service, for later commands.
pub(crate) async fn log_in(args: &LoginArgs) -> anyhow::Result<()> {
    let password = accounts::read_password(args.password_stdin)?;
    let log_in = |code| client::log_in(&args.client.remote, &args.email, &password, code);
    if !log_in(args.code.as_deref()).await? {
        anyhow::ensure!(!args.password_stdin, "a code from your authenticator app is required: use --code");
        log_in(Some(&accounts::prompt("Code: ")?)).await?;
    }
    let (server, email) = (&args.client.remote.server, &args.email);
    output::print(
        args.client.output,
        || format!("Logged in to {server} as {email}."),
        || json!({ "server": server, "email": email }),
    )?;
    Ok(())
}

/// Logs out.
pub(crate) async fn log_out(args: &ClientArgs) -> anyhow::Result<()> {
    client::log_out(&args.remote).await?;
    let server = &args.remote.server;
    output::print(args.output, || format!("Logged out of {server}."), || json!({ "server": server }))?;
    Ok(())
}
