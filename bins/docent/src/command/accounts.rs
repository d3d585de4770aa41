//! `docent createsuperuser` and `docent users create`.

use super::config::load;
use crate::{
    cli::AccountArgs,
    wire::{self, Basics},
};
use anyhow::{Context, bail};
use docent_app::{
    accounts::create::{Flags, Registrar},
    audit::By,
};
use docent_domain::{text::Email, user::Password};
use docent_migration::SchemaState;
use std::io::BufRead;

/// Creates an account and says so.
pub(crate) async fn create(account: &AccountArgs, flags: Flags) -> anyhow::Result<()> {
    let email = Email::parse(&account.email)?;
    let store = wire::store(&load(account.profile.into())?).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        // A new installation may be given its first account before its first start.
        SchemaState::Empty => store.migrate().await?,
        other => bail!("{other}"),
    }
    let Basics { hasher, clock, entropy } = wire::basics()?;
    let password = if account.password_stdin { password_from_stdin()? } else { ask_password()? };
    let registrar = Registrar { store: &store, hasher: &*hasher, clock: &*clock, entropy: &*entropy };
    registrar.create(&By::command_line(), email.clone(), password, flags).await?;
    println!("Created {}.", email.as_str());
    Ok(())
}

/// A password that somebody has: asked for once, without echo, or the first line of standard input.
pub(crate) fn password(from_stdin: bool) -> anyhow::Result<String> {
    if !from_stdin {
        return rpassword::prompt_password("Password: ")
            .context("asking for the password; without a terminal, use --password-stdin");
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("reading the password from standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn password_from_stdin() -> anyhow::Result<Password> {
    Ok(Password::chosen(password(true)?)?)
}

/// Asks twice, without echo.
fn ask_password() -> anyhow::Result<Password> {
    let ask = |prompt| {
        rpassword::prompt_password(prompt)
            .context("asking for the password; without a terminal, use --password-stdin")
    };
    let password = Password::chosen(ask("Password: ")?)?;
    if ask("Password again: ")? != password.expose() {
        bail!("the passwords are not the same");
    }
    Ok(password)
}
