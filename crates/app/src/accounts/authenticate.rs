//! Authentication by bearer credential.

use super::{api_keys, application_token};
use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{AccessRule, Actor, Operation};
use docent_domain::api_key::ApiKey;
use docent_domain::connection::Resource;
use docent_domain::id::UserId;
use docent_domain::session::Session;
use docent_domain::user::User;
use docent_ports::token_signer::TokenError;

/// Authenticates an access token, an API key where API keys are accepted, or a connected application, for a resource. The actor has no permissions until
/// [`with_permissions`] reads them.
///
/// # Errors
/// [`Error::Unauthenticated`] when the credential is not valid or its account is not active;
/// [`Error::SecondFactorRequired`] when the account must have a second factor and does not; or when the database cannot
/// be reached.
pub async fn bearer(app: &App, credential: &str, resource: Resource) -> Result<Actor> {
    let authenticated =
        authenticate(app, credential, resource, |session| session.revoked_at.is_none()).await?;
    ensure_second_factor(app, &authenticated.account)?;
    authenticated.actor()
}

/// Like [`bearer`], but also accepts the access token of a session that has ended: a client may repeat a logout.
///
/// # Errors
/// Those of [`bearer`], except [`Error::SecondFactorRequired`].
pub async fn bearer_of_ended_session(app: &App, credential: &str) -> Result<Actor> {
    authenticate(app, credential, Resource::Api, |_| true).await?.actor()
}

/// Refuses an account that must have a second factor and does not, whatever its credential. It can only sign in to the
/// account pages, to set one up.
///
/// # Errors
/// [`Error::SecondFactorRequired`].
pub(crate) fn ensure_second_factor(app: &App, user: &User) -> Result<()> {
    match user.lacks_second_factor(app.settings.second_factor_rule) {
        true => Err(Error::SecondFactorRequired),
        false => Ok(()),
    }
}

/// An account that has presented a credential.
struct Authenticated {
    account: User,
    /// The API key, if it was one or a connected application.
    key: Option<ApiKey>,
}

impl Authenticated {
    fn actor(self) -> Result<Actor> {
        let actor = Actor::of(&self.account).ok_or(Error::Unauthenticated)?;
        Ok(match &self.key {
            Some(key) => actor.with_key(key),
            None => actor,
        })
    }
}

async fn authenticate(
    app: &App,
    credential: &str,
    resource: Resource,
    is_accepted: impl FnOnce(&Session) -> bool,
) -> Result<Authenticated> {
    if api_keys::is_key(credential) {
        let (account, key) = api_keys::authenticate(app, credential).await?;
        return Ok(Authenticated { account, key: Some(key) });
    }
    let claims = match app.signer.verify_access(credential, app.now()) {
        Ok(claims) if app.settings.accepts_jwt => claims,
        Err(TokenError::WrongType) => {
            let (account, key) = application_token::authenticate(app, credential, resource).await?;
            return Ok(Authenticated { account, key: Some(key) });
        }
        Ok(_) => return Err(Error::Unauthenticated),
        Err(reason) => {
            tracing::debug!(%reason, "access token rejected");
            return Err(Error::Unauthenticated);
        }
    };
    let user = match claims.session {
        Some(session) => {
            let found = app.store.read_latest().await?.sessions().with_user(session).await?;
            let found = found.filter(|(session, user)| user.id == claims.user && is_accepted(session));
            found.map(|(_, user)| user).filter(|user| user.is_active).ok_or(Error::Unauthenticated)?
        }
        None => active_account(app, claims.user).await?,
    };
    if !user.accepts_credentials_issued_at(claims.issued_at) {
        tracing::debug!(user = %user.id, "access token rejected: its session has ended");
        return Err(Error::Unauthenticated);
    }
    Ok(Authenticated { account: user, key: None })
}

/// Whether `A` requires a permission, and not only an active account.
pub const fn requires_permission<A: Operation>() -> bool {
    matches!(A::RULE, AccessRule::Permission(_))
}

/// Adds the permissions of the actor's account and of its groups.
///
/// # Errors
/// When the database cannot be reached.
pub async fn with_permissions(app: &App, actor: Actor) -> Result<Actor> {
    if actor.is_superuser() {
        return Ok(actor);
    }
    let permissions = app.store.read_latest().await?.groups().permissions(actor.user()).await?;
    Ok(actor.with_permissions(permissions))
}

/// The account with this ID.
///
/// # Errors
/// [`Error::Unauthenticated`] when it does not exist or is not active; or when the database cannot be reached.
pub(super) async fn active_account(app: &App, id: UserId) -> Result<User> {
    let user = app.store.read_latest().await?.users().get(id).await?;
    user.filter(|user| user.is_active).ok_or(Error::Unauthenticated)
}
