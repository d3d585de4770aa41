//! Connections of accounts with identity providers, and proofs of identity there.

use super::sign_in::connect as add_identity;
use super::{Attempt, ProviderResponse, Refusal, SignInError, redeem};
use crate::App;
use crate::accounts::access;
use crate::accounts::notices::Notice;
use crate::accounts::second_factor::own_account;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Actor, ChangeUsers, ConnectIdentity, Grant, ViewUsers};
use docent_domain::audit::AuditAction;
use docent_domain::error::ValidationError;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::{Identity, ProviderName, ProviderRules};
use docent_domain::permission::RecordKind;
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::net::{IpAddr, Ipv4Addr};

/// Difference of the clocks that is tolerated.
const SKEW: TimeDelta = TimeDelta::seconds(60);

/// A provider, and the actor's identity there.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Name of the provider.
    pub name: ProviderName,
    /// Name on buttons.
    pub label: String,
    /// The identity, if the account is connected.
    pub identity: Option<Identity>,
}

/// An identity of an account, as staff see it.
#[derive(Clone, Debug)]
pub struct AccountIdentity {
    /// Name of the provider on buttons, or its issuer if it is no longer configured.
    pub provider: String,
    /// The identity.
    pub identity: Identity,
}

/// All identities of an account, those at providers that are no longer configured included.
///
/// # Errors
/// When the database cannot be reached.
pub async fn of_account(app: &App, _grant: Grant<ViewUsers>, id: UserId) -> Result<Vec<AccountIdentity>> {
    let identities = app.store.read().await?.identities().of_user(id).await?;
    let of = |identity: Identity| {
        let known = app.identity_providers.iter().find(|known| known.provider.issuer() == identity.issuer);
        let provider = known.map_or_else(|| identity.issuer.clone(), |known| known.rules.label.clone());
        AccountIdentity { provider, identity }
    };
    Ok(identities.into_iter().map(of).collect())
}

/// Removes an identity of an account, also if it is the only way to sign in. Sessions that began with it remain. Nothing happens
/// if the account does not have the identity.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::MissingAccess`] for an account with access or data that the actor does not have; or when the
/// database cannot be reached.
pub async fn disconnect_account(
    app: &App,
    actor: &Actor,
    grant: &Grant<ChangeUsers>,
    id: UserId,
    (issuer, subject): (&str, &str),
) -> Result<()> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    access::ensure_can_take_over(&mut *view, actor, &user).await?;
    drop(view);
    let mut work = app.store.begin().await?;
    let known = work.identities().get(issuer, subject).await?;
    let Some(known) = known.filter(|known| known.user == id) else { return Ok(()) };
    remove(app, &mut *work, &Initiator::grantee(grant), &user, &known).await?;
    work.commit().await?;
    app.notify(&user.email, Notice::IdentityDisconnected { issuer });
    Ok(())
}

/// Removes an identity, with an audit entry.
async fn remove(
    app: &App,
    work: &mut dyn UnitOfWork,
    initiator: &Initiator,
    user: &User,
    identity: &Identity,
) -> Result<()> {
    work.identities().remove(&identity.issuer, &identity.subject).await?;
    let text = format!("{} {}", identity.issuer, identity.subject);
    let changes = Changes::default().field("identity", Some(text), None);
    Ok(app.audit(work, initiator, AuditAction::Change, AuditTarget::user(user), changes).await?)
}

/// All providers with the actor's identities.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(app: &App, actor: &Actor) -> Result<Vec<Connection>> {
    if app.identity_providers.is_empty() {
        return Ok(Vec::new());
    }
    let identities = app.store.read().await?.identities().of_user(actor.user()).await?;
    let connection = |rules: &ProviderRules, issuer: &str| Connection {
        name: rules.name.clone(),
        label: rules.label.clone(),
        identity: identities.iter().find(|identity| identity.issuer == issuer).cloned(),
    };
    let known = app.identity_providers.iter();
    Ok(known.map(|known| connection(&known.rules, known.provider.issuer())).collect())
}

/// Connects the actor's account with the person at a provider.
///
/// # Errors
/// [`SignInError`]; [`Error::ProofNeeded`] without a recent proof of identity.
pub async fn connect(
    app: &App,
    actor: &Actor,
    name: &str,
    attempt: &Attempt,
    response: ProviderResponse<'_>,
) -> Result<(), SignInError> {
    actor.authorize::<ConnectIdentity>().map_err(Error::from)?;
    let (rules, claims) = redeem(app, name, attempt, response).await?;
    let mut work = app.store.begin().await?;
    let user = own_account(&mut *work, actor).await?;
    let known = work.identities().get(&claims.issuer, &claims.subject).await?;
    if known.is_some_and(|known| known.user == user.id) {
        return Ok(());
    }
    let address = actor.client_ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    add_identity(app, &mut *work, rules, &claims, &user, address).await?;
    Ok(work.commit().await?)
}

/// Removes the connections of the actor's account with a provider.
///
/// # Errors
/// [`Error::ProofNeeded`]; [`Error::Invalid`] if the account could no longer sign in; or when the database cannot be
/// reached.
pub async fn disconnect(app: &App, actor: &Actor, name: &str) -> Result<()> {
    actor.authorize::<ConnectIdentity>()?;
    let known = app.identity_providers.iter().find(|known| known.rules.name.as_str() == name);
    let Some(known) = known else { return Ok(()) };
    let mut work = app.store.begin().await?;
    let user = own_account(&mut *work, actor).await?;
    let issuer = known.provider.issuer();
    let identities = work.identities().of_user(user.id).await?;
    let (removed, left): (Vec<_>, Vec<_>) =
        identities.into_iter().partition(|identity| identity.issuer == issuer);
    if left.is_empty() && !user.password.is_usable() {
        let reason = "is the only way to sign in to this account";
        return Err(ValidationError::new("provider", reason).into());
    }
    for identity in removed {
        remove(app, &mut *work, &Initiator::actor(actor), &user, &identity).await?;
    }
    Ok(work.commit().await?)
}

/// Proves again who uses a session: the person has signed in again at the provider since `begun_at`.
///
/// # Errors
/// [`SignInError`]: [`Refusal::ConnectedElsewhere`] for another person, and [`Refusal::NotAuthenticatedAgain`].
pub async fn prove_identity(
    app: &App,
    actor: &Actor,
    session: SessionId,
    name: &str,
    attempt: &Attempt,
    response: ProviderResponse<'_>,
    begun_at: DateTime<Utc>,
) -> Result<(), SignInError> {
    let (_, claims) = redeem(app, name, attempt, response).await?;
    let mut work = app.store.begin().await?;
    let known = work.identities().get(&claims.issuer, &claims.subject).await?;
    if known.is_none_or(|known| known.user != actor.user()) {
        return Err(SignInError::Refused(Refusal::ConnectedElsewhere));
    }
    if claims.authenticated_at.is_none_or(|at| at < begun_at - SKEW) {
        return Err(SignInError::Refused(Refusal::NotAuthenticatedAgain));
    }
    if !work.sessions().verify(session, app.now()).await? {
        return Err(Error::Unauthenticated.into());
    }
    Ok(work.commit().await?)
}
