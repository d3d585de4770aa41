//! Sign-in: finds or creates the account of a person at a provider, and starts a session.

use super::provider_sign_in::ProviderSignIn;
use super::{Attempt, ProviderResponse, Refusal, SignInError, groups, redeem};
use crate::App;
use crate::accounts::create::Flags;
use crate::accounts::sessions::ClientInfo;
use crate::accounts::{invitation_acceptance, login};
use crate::audit::{AuditTarget, Changes, Initiator, failed_logins};
use chrono::{DateTime, Utc};
use docent_domain::audit::AuditAction;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::{Identity, IdentityClaims, ProviderRules};
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::net::IpAddr;

/// How a sign-in continues.
#[derive(Debug)]
pub enum SignInProgress {
    /// A session has started.
    Started(SessionId),
    /// The account has a second factor, which the provider did not check: continue with
    /// [`login::enter_with_code`](crate::accounts::login::enter_with_code).
    CodeNeeded {
        /// The account.
        user: UserId,
        /// Time of issue of this proof of identity.
        proof_at: DateTime<Utc>,
        /// The sign-in to record.
        sign_in: ProviderSignIn,
    },
}

/// Signs a person in by the provider's response.
///
/// # Errors
/// [`SignInError`].
pub async fn sign_in(
    app: &App,
    name: &str,
    attempt: &Attempt,
    response: ProviderResponse<'_>,
    client: &ClientInfo,
) -> Result<SignInProgress, SignInError> {
    let (rules, claims) = match redeem(app, name, attempt, response).await {
        Ok(redeemed) => redeemed,
        Err(error) => return Err(audited(app, name, error, None, client.address).await?),
    };
    let user = match find_or_create(app, rules, &claims, client.address).await {
        Ok(found) => found,
        Err((error, account)) => {
            return Err(audited(app, name, error, account.as_ref(), client.address).await?);
        }
    };
    let sign_in = ProviderSignIn {
        provider: rules.name.to_string(),
        has_second_factor: rules.has_second_factor(&claims),
        issuer: claims.issuer,
        subject: claims.subject,
        session: claims.session,
        authenticated_at: claims.authenticated_at,
        id_token: claims.id_token,
    };
    if user.confirmed_second_factor().is_some() && !sign_in.has_second_factor {
        let proof_at = user.time_of_issue(app.now());
        return Ok(SignInProgress::CodeNeeded { user: user.id, proof_at, sign_in });
    }
    Ok(SignInProgress::Started(login::start_provider_session(app, &user, client, &sign_in).await?))
}

/// Writes a refused sign-in to the audit log, like a failed login.
async fn audited(
    app: &App,
    name: &str,
    error: SignInError,
    account: Option<&User>,
    address: IpAddr,
) -> Result<SignInError, SignInError> {
    let SignInError::Refused(refusal) = &error else { return Ok(error) };
    tracing::warn!(provider = name, reason = refusal.name(), "a sign-in at an identity provider was refused");
    let mut work = app.store.begin().await?;
    match account {
        Some(user) => {
            let changes = Changes::default().added("reason", refusal.name());
            let (initiator, target) = (Initiator::unauthenticated(address), AuditTarget::user(user));
            app.audit(&mut *work, &initiator, AuditAction::LoginFailed, target, changes).await?;
        }
        None => failed_logins::count(&mut *work, address, app.now()).await?,
    }
    work.commit().await?;
    Ok(error)
}

/// The account of a person; a refusal has the account that it is about, if there is one.
pub(in crate::accounts) type FoundUser = Result<User, (SignInError, Option<User>)>;

/// The account of the person, with its groups as the provider names them.
pub(in crate::accounts) async fn find_or_create(
    app: &App,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    address: IpAddr,
) -> FoundUser {
    let failed = |error: docent_domain::fault::Fault| (SignInError::from(error), None);
    let mut work = app.store.begin().await.map_err(failed)?;
    let known = work.identities().get(&claims.issuer, &claims.subject).await.map_err(failed)?;
    let mut user = match known {
        Some(identity) => returning(app, &mut *work, rules, claims, &identity).await?,
        None => first(app, &mut *work, rules, claims, address).await?,
    };
    let initiator = Initiator::account(user.id, Some(address));
    let synchronized = groups::synchronize(app, &mut *work, rules, claims, &mut user, &initiator).await;
    synchronized.map_err(|error| (error, None))?;
    work.commit().await.map_err(failed)?;
    Ok(user)
}

/// The account that the person is connected with. Its email address at the provider may have changed.
async fn returning(
    app: &App,
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    identity: &Identity,
) -> FoundUser {
    let failed = |error: docent_domain::fault::Fault| (SignInError::from(error), None);
    let user = work.users().get(identity.user).await.map_err(failed)?;
    let Some(user) = user else { return Err((SignInError::Refused(Refusal::InvalidResponse), None)) };
    let refused = |refusal| (SignInError::Refused(refusal), Some(user.clone()));
    if !user.is_active {
        return Err(refused(Refusal::Inactive));
    }
    if !rules.email_domains.is_empty() {
        verified_email(rules, claims).map_err(refused)?;
    }
    work.identities().touch(&identity.issuer, &identity.subject, app.now()).await.map_err(failed)?;
    Ok(user)
}

/// The verified email address, if its domain is allowed.
fn verified_email<'a>(rules: &ProviderRules, claims: &'a IdentityClaims) -> Result<&'a Email, Refusal> {
    let email = claims.email.as_ref().ok_or(Refusal::NoEmail)?;
    // Trust is for providers that say nothing about it.
    if !claims.is_email_verified.unwrap_or(rules.trusts_email) {
        return Err(Refusal::UnverifiedEmail);
    }
    if rules.allows_domain(email) { Ok(email) } else { Err(Refusal::ForeignDomain) }
}

/// The existing account with the person's verified email address, or a new one, connected with the person.
async fn first(
    app: &App,
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    address: IpAddr,
) -> FoundUser {
    let failed = |error: docent_domain::fault::Fault| (SignInError::from(error), None);
    let refused = |refusal, user: Option<User>| (SignInError::Refused(refusal), user);
    let email = verified_email(rules, claims).map_err(|refusal| refused(refusal, None))?;
    let user = match work.users().by_email(email).await.map_err(failed)? {
        Some(user) if !user.is_active => return Err(refused(Refusal::Inactive, Some(user))),
        // Otherwise the administrators of the provider would control the installation.
        Some(user) if user.is_staff || user.is_superuser || !rules.links_by_email => {
            return Err(refused(Refusal::NeedsConnection, Some(user)));
        }
        Some(user) if is_of_other(work, rules, &user, claims).await.map_err(failed)? => {
            return Err(refused(Refusal::NeedsConnection, Some(user)));
        }
        Some(user) => user,
        None => create(app, work, rules, email, claims, address).await.map_err(|error| (error, None))?,
    };
    connect(app, work, rules, claims, &user, address).await.map_err(|error| (error, None))?;
    Ok(user)
}

/// Whether an account may be that of another person: one who had the address at the provider before, or one who has signed in
/// already, if the rules exclude such accounts.
async fn is_of_other(
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    user: &User,
    claims: &IdentityClaims,
) -> docent_domain::fault::Result<bool> {
    let identities = work.identities().of_user(user.id).await?;
    let is_used = !identities.is_empty() || user.password.is_usable();
    Ok(is_used && !rules.links_used_accounts
        || identities.iter().any(|identity| identity.issuer == claims.issuer))
}

/// Adds an account without a password: with the access of its invitation, or without any if the operator has allowed it.
async fn create(
    app: &App,
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    email: &Email,
    claims: &IdentityClaims,
    address: IpAddr,
) -> Result<User, SignInError> {
    let service = app.account_service();
    let mut user = service.new_user_without_password(email.clone(), Flags::default());
    user.email_verified_at = Some(user.created_at);
    user.name.clone_from(&claims.name);
    let changes = Changes::default().added("identity_provider", &rules.name);
    let invitation = work.invitations().by_email(email).await?;
    match invitation_acceptance::acceptable(app, work, invitation).await? {
        Some(acceptable) => acceptable.add_account(app, work, &user, address, changes).await?,
        None if !rules.creates_accounts => return Err(SignInError::Refused(Refusal::NoNewAccounts)),
        None => service.insert(work, &Initiator::unauthenticated(address), &user, changes).await?,
    }
    Ok(user)
}

/// Connects an account with the person at the provider.
pub(super) async fn connect(
    app: &App,
    work: &mut dyn UnitOfWork,
    rules: &ProviderRules,
    claims: &IdentityClaims,
    user: &User,
    address: IpAddr,
) -> Result<(), SignInError> {
    let now = app.now();
    let identity = Identity {
        issuer: claims.issuer.clone(),
        subject: claims.subject.clone(),
        user: user.id,
        email: claims.email.as_ref().map(|email| email.as_str().to_owned()),
        created_at: now,
        last_used_at: now,
    };
    if !work.identities().insert(&identity).await? {
        return Err(SignInError::Refused(Refusal::ConnectedElsewhere));
    }
    let changes = Changes::default()
        .added("identity_provider", &rules.name)
        .added("identity", format!("{} {}", identity.issuer, identity.subject));
    let initiator = Initiator::account(user.id, Some(address));
    app.audit(work, &initiator, AuditAction::Change, AuditTarget::user(user), changes).await?;
    Ok(())
}
