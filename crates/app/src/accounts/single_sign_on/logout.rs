//! Logout at a provider, asked for by this service or by the provider.

use super::{Refusal, SignInError, provider, refused};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use chrono::TimeDelta;
use docent_domain::audit::AuditAction;
use docent_domain::id::SessionId;
use docent_domain::identity::ProviderName;
use docent_ports::store::UnitOfWork;

/// Sessions that began this long after a logout request may have been meant, since clocks differ.
const SKEW: TimeDelta = TimeDelta::seconds(60);

/// Returns the URL that ends the provider's session of a session, and then opens `return_to`. `None` for a session that began
/// with a password, and if the provider has no such page or cannot be reached.
///
/// # Errors
/// When the database cannot be reached.
pub async fn provider_logout_url(app: &App, session: SessionId, return_to: &str) -> Result<Option<String>> {
    if app.identity_providers.is_empty() {
        return Ok(None);
    }
    let Some(known) = app.store.read().await?.identities().session(session).await? else { return Ok(None) };
    let provider = app.identity_providers.iter().find(|other| other.provider.issuer() == known.issuer);
    let Some(provider) = provider else { return Ok(None) };
    let return_to = format!("{}{return_to}", app.settings.public_url.trim_end_matches('/'));
    match provider.provider.logout_url(known.id_token.as_deref(), &return_to).await {
        Ok(url) => Ok(url),
        // The session of this service has ended all the same.
        Err(error) => {
            let _ = refused(app, &provider.rules, error);
            Ok(None)
        }
    }
}

/// Ends the sessions that a provider's logout token names. Returns how many were valid.
///
/// # Errors
/// [`SignInError`]; the provider then tries again.
pub async fn end_sessions(app: &App, name: &str, token: &str) -> Result<usize, SignInError> {
    let known = provider(app, name)?;
    let request = known.provider.verify_logout(token).await;
    let request = request.map_err(|error| refused(app, &known.rules, error))?;
    if request.issuer != known.provider.issuer() {
        return Err(SignInError::Refused(Refusal::InvalidResponse));
    }
    let mut work = app.store.begin().await?;
    let mut ended = 0;
    for id in work.identities().sessions_to_end(&request).await? {
        let Some((session, user)) = work.sessions().with_user(id).await? else { continue };
        // A token that is sent again does not end later sessions.
        if session.started_at > request.issued_at + SKEW || !work.sessions().revoke(id, app.now()).await? {
            continue;
        }
        let changes = Changes::default().added("identity_provider", &known.rules.name);
        let (initiator, target) = (Initiator::clients(), AuditTarget::user(&user));
        app.audit(&mut *work, &initiator, AuditAction::Logout, target, changes).await?;
        ended += 1;
    }
    if let (Some(subject), None) = (&request.subject, &request.provider_session) {
        disconnect_applications(app, &mut *work, &request.issuer, subject, &known.rules.name).await?;
    }
    work.commit().await?;
    Ok(ended)
}

/// Ends the access of the applications that a person has connected: a request without a session ends everything, as when the
/// account at the provider is deactivated.
async fn disconnect_applications(
    app: &App,
    work: &mut dyn UnitOfWork,
    issuer: &str,
    subject: &str,
    provider: &ProviderName,
) -> Result<()> {
    let Some(identity) = work.identities().get(issuer, subject).await? else { return Ok(()) };
    let Some(user) = work.users().get(identity.user).await? else { return Ok(()) };
    if work.api_keys().disconnect_for_user(user.id, app.now()).await? > 0 {
        let changes = Changes::default().added("identity_provider", provider).added("reason", "logout");
        app.audit(work, &Initiator::clients(), AuditAction::Revoke, AuditTarget::user(&user), changes)
            .await?;
    }
    Ok(())
}
