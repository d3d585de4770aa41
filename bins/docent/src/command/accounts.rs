//! `docent createsuperuser`, `docent changepassword` and `docent users …`.

use super::config::load;
use crate::{
    output,
    wire::{self, Basics},
};
use anyhow::{Context, bail};
use docent::{
    cli::{AccountArgs, ListUsersArgs, OneUserArgs, ProfileArgs},
    config::{DatabaseUrl, Settings},
};
use docent_adapters::sql::SqlStore;
use docent_app::{
    accounts::create::{AccountService, Flags},
    audit::Initiator,
};
use docent_domain::{
    text::Email,
    user::{Password, User},
};
use docent_migration::SchemaState;
use docent_ports::{page::PageRequest, store::Store, users::UserFilter};
use serde_json::{Value, json};
use std::io::BufRead;

/// Accounts that are read at a time.
pub(super) const PAGE: u64 = 500;

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
    let basics = wire::basics()?;
    let password = wanted_password(account)?;
    let user =
        account_service(&store, &basics).create(&Initiator::command_line(), email, password, flags).await?;
    output::result(account.output, || format!("Created {}.", user.email.as_str()), || as_json(&user))?;
    Ok(())
}

/// Gives an account another password.
pub(crate) async fn change_password(account: &AccountArgs) -> anyhow::Result<()> {
    let (store, _) = opened(account.profile).await?;
    let user = user(&store, &account.email).await?;
    let basics = wire::basics()?;
    let password = wanted_password(account)?;
    let user =
        account_service(&store, &basics).set_password(&Initiator::command_line(), user.id, password).await?;
    let email = user.email.as_str();
    output::result(
        account.output,
        || format!("Changed the password of {email}, and ended all of its sessions."),
        || as_json(&user),
    )?;
    Ok(())
}

/// Lets an account be used, or not.
pub(crate) async fn set_active(account: &OneUserArgs, is_active: bool) -> anyhow::Result<()> {
    let (store, _) = opened(account.profile).await?;
    let user = user(&store, &account.email).await?;
    let basics = wire::basics()?;
    let now =
        account_service(&store, &basics).set_active(&Initiator::command_line(), user.id, is_active).await?;
    let email = user.email.as_str();
    let text = || match (user.is_active, is_active) {
        (false, true) => format!("Activated {email}."),
        (true, false) => format!("Deactivated {email}, and ended all of its sessions."),
        (true, true) => format!("{email} is active already."),
        (false, false) => format!("{email} is not active already."),
    };
    output::result(account.output, text, || as_json(&now))?;
    Ok(())
}

/// Prints accounts, one a line.
pub(crate) async fn list(args: &ListUsersArgs) -> anyhow::Result<()> {
    let (store, _) = opened(args.profile).await?;
    let filter = UserFilter { text: args.text.clone(), ..UserFilter::default() };
    let (mut view, mut offset) = (store.read().await?, 0);
    loop {
        let page = view.users().list(&filter, PageRequest { offset, limit: PAGE }).await?;
        for user in &page.records {
            output::result(args.output, || as_text(user), || as_json(user))?;
        }
        offset += page.records.len() as u64;
        if page.records.is_empty() || offset >= page.total {
            return Ok(());
        }
    }
}

fn role(user: &User) -> &'static str {
    match (user.is_superuser, user.is_staff) {
        (true, _) => "superuser",
        (false, true) => "staff",
        (false, false) => "user",
    }
}

fn as_text(user: &User) -> String {
    let state = if user.is_active { "active" } else { "inactive" };
    let last = user.last_login_at.map_or_else(|| "never".to_owned(), |at| at.format("%F %R").to_string());
    format!("{:<40} {:<9} {state:<8} last login {last}", user.email.as_str(), role(user))
}

fn as_json(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email.as_str(),
        "is_active": user.is_active,
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
        "created_at": user.created_at.to_rfc3339(),
        "last_login_at": user.last_login_at.map(|at| at.to_rfc3339()),
        "email_verified_at": user.email_verified_at.map(|at| at.to_rfc3339()),
    })
}

/// The store of an installation that is there, and its settings.
pub(super) async fn opened(profile: ProfileArgs) -> anyhow::Result<(SqlStore, Settings)> {
    let settings = load(profile.into())?;
    // Opening would make one, and the first start would then not know that it is the first.
    if let DatabaseUrl::Sqlite(path) = &settings.storage.database_url
        && !path.exists()
    {
        bail!("there is no database at {}: a first start or `docent migrate` makes it", path.display());
    }
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => Ok((store, settings)),
        other => bail!("{other}"),
    }
}

/// The account with this address.
pub(super) async fn user(store: &SqlStore, email: &str) -> anyhow::Result<User> {
    let email = Email::parse(email)?;
    let user = store.read().await?.users().by_email(&email).await?;
    user.with_context(|| format!("no account has the address {}", email.as_str()))
}

pub(super) fn account_service<'a>(store: &'a SqlStore, basics: &'a Basics) -> AccountService<'a> {
    let Basics { hasher, clock, entropy } = basics;
    AccountService { store, hasher: &**hasher, clock: &**clock, entropy: &**entropy }
}

fn wanted_password(account: &AccountArgs) -> anyhow::Result<Password> {
    if account.password_stdin { password_from_stdin() } else { ask_password() }
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
    Ok(Password::parse_new(password(true)?)?)
}

/// Asks twice, without echo.
fn ask_password() -> anyhow::Result<Password> {
    let ask = |prompt| {
        rpassword::prompt_password(prompt)
            .context("asking for the password; without a terminal, use --password-stdin")
    };
    let password = Password::parse_new(ask("Password: ")?)?;
    if ask("Password again: ")? != password.expose() {
        bail!("the passwords are not the same");
    }
    Ok(password)
}
