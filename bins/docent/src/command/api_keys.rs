//! `docent apikeys …`.

use super::accounts::{PAGE_SIZE, account_service, find_user, open_store};
use crate::invocation::{command, local_address};
use crate::{output, wire};
use anyhow::{Context, bail};
use docent::cli::{CreateKeyArgs, ListKeysArgs, RevokeKeyArgs};
use docent::config::{AuthBackend, Settings};
use docent_app::accounts::api_keys::{ApiKeyInput, NewApiKey};
use docent_app::audit::Initiator;
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes, KEY_START};
use docent_domain::id::ApiKeyId;
use docent_domain::listing::{ApiKeyFilter, PageRequest};
use docent_ports::store::Store;
use docent_sql::SqlStore;
use serde_json::{Value, json};

/// Creates an API key and prints it.
pub(crate) async fn create(args: &CreateKeyArgs) -> anyhow::Result<()> {
    let name = ApiKeyName::parse(&args.name)?;
    let scopes = ApiKeyScopes::parse(args.scopes.iter().map(String::as_str))?;
    let (store, settings) = open_store(args.installation.profile()).await?;
    let user = find_user(&store, &args.email).await?;
    let system = wire::system_ports()?;
    let days = args.expires_in_days.map(|days| chrono::TimeDelta::days(i64::from(days)));
    let now = system.clock.now();
    let expires_at = days.map(|days| now.checked_add_signed(days).context("the expiry date is out of range"));
    let collections = (!args.collections.is_empty()).then(|| args.collections.iter().copied().collect());
    let request =
        ApiKeyInput { user: user.id, name, scopes, collections, expires_at: expires_at.transpose()? };
    let new = account_service(&store, &system).create_api_key(&Initiator::command_line(), request).await?;
    let NewApiKey { record, key } = &new;
    let object = || {
        let mut object = as_json(record, user.email.as_str());
        object["key"] = key.as_str().into();
        object
    };
    output::print(args.installation.output, || key.clone(), object)?;
    if !args.installation.output.json {
        eprintln!(
            "This key is not shown again. It acts for {} with the scopes {scopes}.",
            user.email.as_str()
        );
    }
    if !settings.accounts.auth_backends.contains(&AuthBackend::ApiKey) {
        eprintln!(
            "docent: API keys are rejected until DOCENT_AUTH_BACKENDS contains api_key, as in jwt,api_key"
        );
    } else if !args.installation.output.json
        && let Some(example) = service_url(&settings).and_then(|url| new.example_request(&url))
    {
        eprintln!("Try it:\n\n  {example}\n");
    }
    Ok(())
}

/// The URL at which clients reach the service; `None` if its port is chosen at the start.
fn service_url(settings: &Settings) -> Option<String> {
    match &settings.http.public_url {
        Some(url) => Some(url.as_str().trim_end_matches('/').to_owned()),
        None if settings.http.bind_address.port() == 0 => None,
        None => Some(format!("http://{}", local_address(settings.http.bind_address))),
    }
}

/// Prints API keys, one per line.
pub(crate) async fn list(args: &ListKeysArgs) -> anyhow::Result<()> {
    let (store, _) = open_store(args.installation.profile()).await?;
    let owner = match &args.email {
        Some(email) => Some(find_user(&store, email).await?.id),
        None => None,
    };
    let filter = ApiKeyFilter { user: owner, ..ApiKeyFilter::default() };
    let now = wire::system_ports()?.clock.now();
    let (mut view, mut offset) = (store.read().await?, 0);
    loop {
        let page = view.api_keys().list(&filter, PageRequest { offset, limit: PAGE_SIZE }).await?;
        let owners: Vec<_> = page.records.iter().map(|key| key.user).collect();
        let emails = view.users().emails(&owners).await?;
        for key in &page.records {
            let email = emails.get(&key.user).map_or("", |email| email.as_str());
            let state = match key.revoked_at {
                Some(_) => "revoked",
                None if key.is_valid(now) => "active",
                None => "expired",
            };
            let text = || {
                let (prefix, scopes, name) = (key.prefix.as_str(), key.scopes, key.name.as_str());
                format!("{KEY_START}{prefix}  {state:<8} {email:<40} [{scopes}] {name}")
            };
            output::print(args.installation.output, text, || as_json(key, email))?;
        }
        offset += page.records.len() as u64;
        if page.records.is_empty() || offset >= page.total {
            return Ok(());
        }
    }
}

/// Revokes an API key.
pub(crate) async fn revoke(args: &RevokeKeyArgs) -> anyhow::Result<()> {
    let (store, _) = open_store(args.installation.profile()).await?;
    let id = find_key(&store, &args.key).await?;
    let system = wire::system_ports()?;
    let before = account_service(&store, &system).revoke_api_key(&Initiator::command_line(), id).await?;
    let mut view = store.read().await?;
    let key = view.api_keys().get(id).await?.context("the key was deleted meanwhile")?;
    let emails = view.users().emails(&[key.user]).await?;
    let (name, prefix) = (key.name.as_str(), key.prefix.as_str());
    let text = || match before.revoked_at {
        None => format!("Revoked {KEY_START}{prefix} ({name})."),
        Some(at) => format!("{KEY_START}{prefix} ({name}) was revoked on {}.", at.format("%F")),
    };
    let email = emails.get(&key.user).map_or("", |email| email.as_str());
    output::print(args.installation.output, text, || as_json(&key, email))?;
    Ok(())
}

/// Finds a key by its ID, its prefix or the whole key.
async fn find_key(store: &SqlStore, text: &str) -> anyhow::Result<ApiKeyId> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let bare = text.strip_prefix(KEY_START).unwrap_or(text);
    let prefix = bare.split('_').next().unwrap_or(bare);
    let Ok(prefix) = ApiKeyPrefix::parse(prefix) else {
        bail!(
            "{text:?} is neither the ID nor the prefix of an API key; `{}` shows both",
            command("apikeys list --json")
        );
    };
    let key = store.read().await?.api_keys().by_prefix(&prefix).await?;
    let key = key.with_context(|| {
        format!("no API key has this prefix; `{}` shows all prefixes", command("apikeys list"))
    })?;
    Ok(key.id)
}

fn as_json(key: &ApiKey, email: &str) -> Value {
    json!({
        "id": key.id.to_string(),
        "email": email,
        "name": key.name.as_str(),
        "prefix": format!("{KEY_START}{}", key.prefix.as_str()),
        "scopes": key.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
        "collections": key
            .collections
            .as_ref()
            .map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "created_at": key.created_at.to_rfc3339(),
        "expires_at": key.expires_at.map(|at| at.to_rfc3339()),
        "last_used_at": key.last_used_at.map(|at| at.to_rfc3339()),
        "revoked_at": key.revoked_at.map(|at| at.to_rfc3339()),
    })
}
