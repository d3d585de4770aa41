//! `docent createsuperuser`, `docent changepassword` and `docent users …`.

use super::config::load;
use crate::invocation::command;
use crate::output;
use crate::wire::{self, SystemPorts};
use anyhow::{Context, bail};
use docent::cli::{AccountArgs, ListUsersArgs, OneUserArgs};
use docent::config::{DatabaseUrl, Profile, Settings};
use docent_app::accounts::AccountService;
use docent_app::accounts::create::Flags;
use docent_app::audit::Initiator;
use docent_domain::listing::{PageRequest, UserFilter};
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use docent_migration::SchemaState;
use docent_ports::store::Store;
use docent_sql::SqlStore;
use serde_json::{Value, json};
use std::io::BufRead;

/// Number of records read at a time.
pub(super) const PAGE_SIZE: u64 = 500;

/// Creates an account.
pub(crate) async fn create(account: &AccountArgs, flags: Flags) -> anyhow::Result<()> {
    let email = Email::parse(&account.email)?;
    let store = wire::store(&load(account.installation.profile())?).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        // The first account may be created before the first start.
        SchemaState::Empty => store.migrate().await?,
        other => bail!("{other}"),
    }
    let system = wire::system_ports()?;
    let password = new_password(account)?;
    let user =
        account_service(&store, &system).create(&Initiator::command_line(), email, password, flags).await?;
    output::print(
        account.installation.output,
        || format!("Created {}.", user.email.as_str()),
        || as_json(&user),
    )?;
    Ok(())
}

/// Changes the password of an account.
pub(crate) async fn change_password(account: &AccountArgs) -> anyhow::Result<()> {
    let (store, _) = open_store(account.installation.profile()).await?;
    let user = find_user(&store, &account.email).await?;
    let system = wire::system_ports()?;
    let password = new_password(account)?;
    let user =
        account_service(&store, &system).set_password(&Initiator::command_line(), user.id, password).await?;
    let email = user.email.as_str();
    output::print(
        account.installation.output,
        || format!("Changed the password of {email} and ended all its sessions."),
        || as_json(&user),
    )?;
    Ok(())
}

/// Activates or deactivates an account.
pub(crate) async fn set_active(account: &OneUserArgs, is_active: bool) -> anyhow::Result<()> {
    let (store, _) = open_store(account.installation.profile()).await?;
    let user = find_user(&store, &account.email).await?;
    let system = wire::system_ports()?;
    let updated =
        account_service(&store, &system).set_active(&Initiator::command_line(), user.id, is_active).await?;
    let email = user.email.as_str();
    let text = || match (user.is_active, is_active) {
        (false, true) => format!("Activated {email}."),
        (true, false) => format!("Deactivated {email} and ended all its sessions."),
        (true, true) => format!("{email} is already active."),
        (false, false) => format!("{email} is already inactive."),
    };
    output::print(account.installation.output, text, || as_json(&updated))?;
    Ok(())
}

/// Removes the second factor of an account.
pub(crate) async fn reset_second_factor(account: &OneUserArgs) -> anyhow::Result<()> {
    let (store, _) = open_store(account.installation.profile()).await?;
    let user = find_user(&store, &account.email).await?;
    let system = wire::system_ports()?;
    let service = account_service(&store, &system);
    let user = service.reset_second_factor(&Initiator::command_line(), user.id).await?;
    let email = user.email.as_str();
    output::print(
        account.installation.output,
        || format!("Removed the second factor of {email} and ended all its sessions."),
        || as_json(&user),
    )?;
    Ok(())
}

/// Prints accounts, one per line.
pub(crate) async fn list(args: &ListUsersArgs) -> anyhow::Result<()> {
    let (store, _) = open_store(args.installation.profile()).await?;
    let filter = UserFilter { text: args.text.clone(), ..UserFilter::default() };
    let (mut view, mut offset) = (store.read().await?, 0);
    loop {
        let page = view.users().list(&filter, PageRequest { offset, limit: PAGE_SIZE }).await?;
        for user in &page.records {
            output::print(args.installation.output, || as_text(user), || as_json(user))?;
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
    let line = format!("{:<40} {:<9} {state:<8} last login {last}", user.email.as_str(), role(user));
    // Last, because it may contain spaces.
    user.name.as_ref().map_or_else(|| line.clone(), |name| format!("{line}  {}", name.as_str()))
}

fn as_json(user: &User) -> Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email.as_str(),
        "name": user.name.as_ref().map(|name| name.as_str()),
        "is_active": user.is_active,
        "is_staff": user.is_staff,
        "is_superuser": user.is_superuser,
        "created_at": user.created_at.to_rfc3339(),
        "last_login_at": user.last_login_at.map(|at| at.to_rfc3339()),
        "has_second_factor": user.confirmed_second_factor().is_some(),
        "email_verified_at": user.email_verified_at.map(|at| at.to_rfc3339()),
    })
}

/// Opens the store of an existing installation; returns it with the settings.
pub(super) async fn open_store(profile: Profile) -> anyhow::Result<(SqlStore, Settings)> {
    let settings = load(profile)?;
    // Opening would create it, and the first start would not be recognised as the first.
    if let DatabaseUrl::Sqlite(path) = &settings.storage.database_url
        && !path.exists()
    {
        bail!(
            "there is no database at {}: start the service once or run `{}` to create it",
            path.display(),
            command("migrate")
        );
    }
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => Ok((store, settings)),
        other => bail!("{other}"),
    }
}

/// Finds the account with an email address.
pub(super) async fn find_user(store: &SqlStore, email: &str) -> anyhow::Result<User> {
    let email = Email::parse(email)?;
    let user = store.read().await?.users().by_email(&email).await?;
    user.with_context(|| format!("no account has the email address {}", email.as_str()))
}

pub(super) fn account_service<'a>(store: &'a SqlStore, system: &'a SystemPorts) -> AccountService<'a> {
    let SystemPorts { hasher, clock, entropy } = system;
    AccountService { store, hasher: &**hasher, clock: &**clock, entropy: &**entropy }
}

/// Asks for the new password of an account.
fn new_password(account: &AccountArgs) -> anyhow::Result<Password> {
    if account.password_stdin { Ok(Password::parse_new(read_password(true)?)?) } else { prompt_twice() }
}

/// Reads an existing password: with a prompt, without echo, or from the first line of standard input.
pub(crate) fn read_password(from_stdin: bool) -> anyhow::Result<String> {
    if !from_stdin {
        return prompt("Password: ");
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("reading the password from standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Prompts twice for a new password, without echo.
fn prompt_twice() -> anyhow::Result<Password> {
    let password = Password::parse_new(prompt("Password: ")?)?;
    if prompt("Repeat password: ")? != password.expose() {
        bail!("the passwords do not match");
    }
    Ok(password)
}

/// Asks for a secret, without echo.
pub(super) fn prompt(text: &str) -> anyhow::Result<String> {
    rpassword::prompt_password(text).context("reading the password; without a terminal, use --password-stdin")
}
