//! Accounts of LibreChat's users. LibreChat names a user in a token that it signs with a shared secret.
//!
//! Each user has one account, which is created at the first request, like that of a person at an identity provider. It has no password
//! and an address that receives no email. Whatever flags and permissions an account is given, requests of LibreChat do not have them: the
//! secret must not be a way to administrate the service.

use super::single_sign_on::sign_in::find_or_create;
use super::single_sign_on::{Refusal, SignInError};
use crate::App;
use crate::error::{Error, Result};
use chrono::TimeDelta;
use docent_domain::access::Actor;
use docent_domain::error::ValidationError;
use docent_domain::external_file::ExternalId;
use docent_domain::identity::{Identity, IdentityClaims, ProviderName, ProviderRules};
use docent_domain::text::Email;
use docent_domain::user::User;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The issuer of the identities, which are beside those of identity providers. Their issuers are URLs.
const ISSUER: &str = "librechat";
/// A domain that cannot exist (RFC 2606), so that no email is ever delivered.
const EMAIL_DOMAIN: &str = "librechat.invalid";
/// Maximum length of an ID that is part of the email address as it is.
const PLAIN_ID_MAX: usize = 64;
/// How long after a recorded use of an account the next one is recorded.
const USE_PAUSE: TimeDelta = TimeDelta::hours(1);

/// Whether LibreChat is connected.
pub fn is_connected(app: &App) -> bool {
    app.librechat.is_some()
}

/// Authenticates a token of LibreChat: returns the account of its user without privileges, and creates it if it is missing.
///
/// # Errors
/// [`Error::Unauthenticated`] when the token is not valid, its account is not active, or LibreChat is not connected; or when the database
/// cannot be reached.
pub async fn authenticate(app: &App, token: &str, address: IpAddr) -> Result<Actor> {
    let verifier = app.librechat.as_ref().ok_or(Error::Unauthenticated)?;
    let id = verifier.verify(token, app.now()).map_err(|reason| {
        tracing::debug!(%reason, "token of LibreChat rejected");
        Error::Unauthenticated
    })?;
    let user = match known(app, &id).await? {
        Some(user) => user,
        None => first(app, &id, address).await?,
    };
    let actor = Actor::of(&user).ok_or(Error::Unauthenticated)?;
    Ok(actor.without_privileges().with_client_ip(address))
}

/// The account of a user that sent a request before.
async fn known(app: &App, id: &ExternalId) -> Result<Option<User>> {
    let mut view = app.store.read_latest().await?;
    let Some(identity) = view.identities().get(ISSUER, id.as_str()).await? else { return Ok(None) };
    let user = view.users().get(identity.user).await?.filter(|user| user.is_active);
    let user = user.ok_or(Error::Unauthenticated)?;
    drop(view);
    record_use(app, &identity).await;
    Ok(Some(user))
}

/// Records the use of an account, at most once per [`USE_PAUSE`]. A failure is logged: the request itself can succeed.
async fn record_use(app: &App, identity: &Identity) {
    let now = app.now();
    if now - identity.last_used_at < USE_PAUSE {
        return;
    }
    let record = async {
        let mut work = app.store.begin().await?;
        work.identities().touch(&identity.issuer, &identity.subject, now).await?;
        work.commit().await
    };
    if let Err(fault) = record.await {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "the use of an account by LibreChat cannot be recorded");
    }
}

/// Creates the account of a user, or finds the one that a concurrent request creates.
async fn first(app: &App, id: &ExternalId, address: IpAddr) -> Result<User> {
    let (rules, claims) = (rules()?, claims(id)?);
    let mut attempt = find_or_create(app, &rules, &claims, address).await;
    if let Err((SignInError::Failed(Error::EmailTaken) | SignInError::Refused(_), _)) = &attempt {
        attempt = find_or_create(app, &rules, &claims, address).await;
    }
    attempt.map_err(|(error, _)| match error {
        SignInError::Failed(error) => error,
        SignInError::Unavailable(fault) => fault.into(),
        SignInError::Refused(Refusal::Inactive) => Error::Unauthenticated,
        SignInError::Refused(refusal) => {
            tracing::warn!(user = %id, reason = refusal.name(), "a user of LibreChat was refused");
            Error::Unauthenticated
        }
    })
}

/// The first request of a user creates the account. One with the address exists if it was restored from a backup, which has no
/// identities. An account with a password or an identity was made by another person.
fn rules() -> Result<ProviderRules, ValidationError> {
    Ok(ProviderRules {
        name: ProviderName::parse(ISSUER)?,
        label: "LibreChat".to_owned(),
        email_domains: Vec::new(),
        creates_accounts: true,
        links_by_email: true,
        links_used_accounts: false,
        trusts_email: false,
        groups: Vec::new(),
        staff_group: None,
        superuser_group: None,
        second_factor_values: Vec::new(),
    })
}

fn claims(id: &ExternalId) -> Result<IdentityClaims, ValidationError> {
    Ok(IdentityClaims {
        email: Some(email(id)?),
        is_email_verified: Some(true),
        ..IdentityClaims::new(ISSUER, id.as_str())
    })
}

/// The address of an account: different for different IDs, although addresses ignore case.
fn email(id: &ExternalId) -> Result<Email, ValidationError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let text = id.as_str();
    if text.len() <= PLAIN_ID_MAX && text.bytes().all(is_plain) {
        return Email::parse(&format!("{text}@{EMAIL_DOMAIN}"));
    }
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    // The hyphen is in no plain ID.
    Email::parse(&format!("id-{digest}@{EMAIL_DOMAIN}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn addresses_of_different_users_differ() {
        let of = |id: &str| email(&ExternalId::parse(id).unwrap()).unwrap();
        assert_eq!(of("65f0c0ffee65f0c0ffee65f0").as_str(), "65f0c0ffee65f0c0ffee65f0@librechat.invalid");
        let ids = ["a", "A", "a@b.c", "ä", "a b", &"x".repeat(64), &"x".repeat(65), "id-a"];
        let addresses: BTreeSet<String> = ids.iter().map(|id| of(id).as_str().to_owned()).collect();
        assert_eq!(addresses.len(), ids.len());
        assert!(addresses.iter().all(|address| address.ends_with("@librechat.invalid")));
    }
}
