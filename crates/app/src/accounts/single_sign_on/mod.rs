//! Sign-in at identity providers with OpenID Connect.
//!
//! The browser keeps an [`Attempt`] from the start of a sign-in to the provider's response. State, nonce and PKCE verifier are
//! derived from it, so a response works only in the browser that began, and only once.

pub mod connections;
mod groups;
pub mod logout;
pub mod provider_sign_in;
pub mod sign_in;

use crate::App;
use crate::error::Error;
use docent_domain::fault::Fault;
use docent_domain::group::GroupName;
use docent_domain::identity::{IdentityClaims, ProviderName, ProviderRules};
use docent_ports::identity_provider::{AuthorizationRequest, ConfiguredProvider, IdentityError, Redemption};
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

/// The secret of a sign-in that was begun in a browser.
#[derive(Clone, PartialEq, Eq)]
pub struct Attempt([u8; 32]);

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attempt(…)")
    }
}

impl Attempt {
    /// A new attempt.
    pub fn new(app: &App) -> Self {
        Self(app.random())
    }

    /// The attempt with this [`secret`](Self::secret).
    pub fn parse(secret: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if secret.len() != 64 || !secret.is_ascii() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(secret.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The secret as text, for the browser that began.
    pub fn secret(&self) -> String {
        hex(&self.0)
    }

    /// The state, which the response must have.
    pub fn state(&self) -> String {
        self.derive("state")
    }

    /// A value that reveals neither the attempt nor the other values.
    fn derive(&self, purpose: &str) -> String {
        hex(&Sha256::new().chain_update(purpose).chain_update([0]).chain_update(self.0).finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the provider sent to the browser.
#[derive(Clone, Copy, Debug)]
pub struct ProviderResponse<'a> {
    /// The code.
    pub code: &'a str,
    /// Issuer that the response names.
    pub issuer: Option<&'a str>,
}

/// Why a person could not sign in at a provider.
#[derive(Debug, Error)]
pub enum SignInError {
    /// A rule of this service, or an invalid response.
    #[error("the sign-in at the identity provider was refused ({0:?})")]
    Refused(Refusal),
    /// The provider cannot be reached, or sends what is no valid response.
    #[error("the identity provider is unavailable")]
    Unavailable(#[source] Fault),
    /// Another error.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<Fault> for SignInError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into())
    }
}

/// Why a sign-in was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No provider has this name.
    UnknownProvider,
    /// The response or its token is invalid, was used before or belongs to another sign-in.
    InvalidResponse,
    /// The provider names no valid email address.
    NoEmail,
    /// The provider has not verified the email address.
    UnverifiedEmail,
    /// The domain of the email address is not allowed.
    ForeignDomain,
    /// The person has no account, and none is created.
    NoNewAccounts,
    /// The account must be connected by its owner first.
    NeedsConnection,
    /// The account is not active.
    Inactive,
    /// The person at the provider is connected with another account.
    ConnectedElsewhere,
    /// The provider did not ask the person to sign in again.
    NotAuthenticatedAgain,
}

impl Refusal {
    /// Name in the audit log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownProvider => "unknown provider",
            Self::InvalidResponse => "invalid response",
            Self::NoEmail => "no email address",
            Self::UnverifiedEmail => "unverified email address",
            Self::ForeignDomain => "foreign domain",
            Self::NoNewAccounts => "no new accounts",
            Self::NeedsConnection => "not connected",
            Self::Inactive => "inactive account",
            Self::ConnectedElsewhere => "connected with another account",
            Self::NotAuthenticatedAgain => "not authenticated again",
        }
    }
}

/// The rules of all providers, in the order of their buttons.
pub fn providers(app: &App) -> impl Iterator<Item = &ProviderRules> {
    app.identity_providers.iter().map(|known| &known.rules)
}

fn provider<'a>(app: &'a App, name: &str) -> Result<&'a ConfiguredProvider, SignInError> {
    let known = app.identity_providers.iter().find(|known| known.rules.name.as_str() == name);
    known.ok_or(SignInError::Refused(Refusal::UnknownProvider))
}

/// Names on buttons of the providers whose groups decide who is a member of the group with this name.
pub fn managers_of_group(app: &App, name: &GroupName) -> Vec<String> {
    let manages =
        |rules: &&ProviderRules| rules.groups.iter().any(|mapping| mapping.group.key() == name.key());
    providers(app).filter(manages).map(|rules| rules.label.clone()).collect()
}

/// Where a provider sends the browser back to.
pub fn redirect_uri(app: &App, name: &ProviderName) -> String {
    format!("{}/auth/oidc/{name}/callback", app.settings.public_url.trim_end_matches('/'))
}

/// Returns the URL of the provider's page at which the person signs in; again if `reauthenticates`.
///
/// # Errors
/// [`SignInError::Unavailable`], or [`Refusal::UnknownProvider`].
pub async fn authorization_url(
    app: &App,
    name: &str,
    attempt: &Attempt,
    reauthenticates: bool,
) -> Result<String, SignInError> {
    let known = provider(app, name)?;
    let request = AuthorizationRequest {
        redirect_uri: redirect_uri(app, &known.rules.name),
        state: attempt.state(),
        nonce: attempt.derive("nonce"),
        verifier: attempt.derive("verifier"),
        reauthenticates,
    };
    known.provider.authorization_url(&request).await.map_err(|error| refused(app, &known.rules, error))
}

/// Exchanges the code of a response for the checked claims.
async fn redeem<'a>(
    app: &'a App,
    name: &str,
    attempt: &Attempt,
    response: ProviderResponse<'_>,
) -> Result<(&'a ProviderRules, IdentityClaims), SignInError> {
    let known = provider(app, name)?;
    let redemption = Redemption {
        code: response.code.to_owned(),
        issuer: response.issuer.map(str::to_owned),
        redirect_uri: redirect_uri(app, &known.rules.name),
        nonce: attempt.derive("nonce"),
        verifier: attempt.derive("verifier"),
    };
    let claims = known.provider.redeem(&redemption).await;
    Ok((&known.rules, claims.map_err(|error| refused(app, &known.rules, error))?))
}

/// Logs the reason, which people do not see: it can contain parts of the provider's response.
fn refused(app: &App, rules: &ProviderRules, error: IdentityError) -> SignInError {
    match error {
        IdentityError::Unavailable(fault) => {
            app.note(&fault);
            tracing::warn!(provider = %rules.name, fault = %fault.report(), "an identity provider is not working");
            SignInError::Unavailable(fault)
        }
        IdentityError::Refused(reason) => {
            tracing::warn!(provider = %rules.name, reason, "a response of an identity provider was refused");
            SignInError::Refused(Refusal::InvalidResponse)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_round_trips_and_its_values_differ() {
        let attempt = Attempt([7; 32]);
        assert_eq!(Attempt::parse(&attempt.secret()), Some(attempt.clone()));
        let values = ["state", "nonce", "verifier"].map(|purpose| attempt.derive(purpose));
        assert!(values[0] != values[1] && values[1] != values[2] && !values.contains(&attempt.secret()));
        // PKCE verifiers have 43 to 128 characters.
        assert_eq!(values[2].len(), 64);
        for invalid in ["", "00", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(Attempt::parse(invalid), None, "{invalid:?}");
        }
    }
}
