//! What is recorded of a sign-in at a provider.

use chrono::{DateTime, Utc};
use docent_domain::id::SessionId;
use docent_domain::identity::ProviderSession;

/// What is recorded of a sign-in at a provider with the session that it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSignIn {
    /// Name of the provider.
    pub provider: String,
    /// Its issuer.
    pub issuer: String,
    /// The person's ID at the provider.
    pub subject: String,
    /// The provider's session.
    pub session: Option<String>,
    /// Whether the provider checked a second factor.
    pub has_second_factor: bool,
    /// Time at which the person signed in at the provider, if the provider said so.
    pub authenticated_at: Option<DateTime<Utc>>,
    /// The signed token.
    pub id_token: Option<String>,
}

impl ProviderSignIn {
    /// The record of the session that the sign-in starts.
    pub(crate) fn record(&self, session: SessionId) -> ProviderSession {
        ProviderSession {
            session,
            issuer: self.issuer.clone(),
            subject: self.subject.clone(),
            provider_session: self.session.clone(),
            has_second_factor: self.has_second_factor,
            id_token: self.id_token.clone(),
        }
    }
}
