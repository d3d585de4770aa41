//! Sign-in at an identity provider by the authorization code flow of OpenID Connect.

use async_trait::async_trait;
use docent_domain::fault::Fault;
use docent_domain::identity::{IdentityClaims, LogoutRequest, ProviderRules};
use std::sync::Arc;
use thiserror::Error;

/// A sign-in to begin at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// Where the provider sends the browser back to.
    pub redirect_uri: String,
    /// Returned with the code; ties the response to the browser.
    pub state: String,
    /// Returned in the signed token; ties the token to the browser.
    pub nonce: String,
    /// Secret that redeems the code (PKCE).
    pub verifier: String,
    /// Whether the person must sign in again although the provider has a session.
    pub reauthenticates: bool,
}

/// A code that a provider has sent back, to redeem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redemption {
    /// The code.
    pub code: String,
    /// Issuer that the response names (RFC 9207).
    pub issuer: Option<String>,
    /// As in the request that the code belongs to.
    pub redirect_uri: String,
    /// As in the request.
    pub nonce: String,
    /// As in the request.
    pub verifier: String,
}

/// Why a provider gives no identity.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// The provider cannot be reached, or sends what is no valid response. A later attempt may succeed.
    #[error("the identity provider is unavailable")]
    Unavailable(#[source] Fault),
    /// The code or a token is invalid, for the reason given. It must not be tried again.
    #[error("the identity provider's response was refused: {0}")]
    Refused(String),
}

/// An identity provider. It is contacted when it is needed, so that the service starts without it.
///
/// No method changes anything but the caches of the provider's metadata and keys, so all are cancel-safe. A cancelled
/// redemption uses up the code.
#[async_trait]
pub trait IdentityProvider: Send + Sync {
    /// The issuer, as tokens name it.
    fn issuer(&self) -> &str;

    /// Returns the URL of the provider's page at which a person signs in.
    async fn authorization_url(&self, request: &AuthorizationRequest) -> Result<String, IdentityError>;

    /// Exchanges a code for the checked claims of the person: signature, issuer, audience, nonce, and time with a
    /// tolerance of one minute. A code can be redeemed once.
    async fn redeem(&self, redemption: &Redemption) -> Result<IdentityClaims, IdentityError>;

    /// Returns the URL that ends the provider's session, and then opens `return_to`; `None` if the provider has none.
    async fn logout_url(
        &self,
        id_token: Option<&str>,
        return_to: &str,
    ) -> Result<Option<String>, IdentityError>;

    /// Checks a logout token that the provider has sent.
    async fn verify_logout(&self, token: &str) -> Result<LogoutRequest, IdentityError>;

    /// Checks that the provider can be reached and that its metadata fit.
    async fn check(&self) -> Result<(), IdentityError>;
}

/// A provider with the operator's rules.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct ConfiguredProvider {
    /// The rules.
    pub rules: ProviderRules,
    /// The provider.
    pub provider: Arc<dyn IdentityProvider>,
}
