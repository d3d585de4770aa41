//! OpenID Connect providers: authorization code flow with PKCE.

mod claims;
mod http;
mod logout_token;
mod metadata;

#[cfg(test)]
mod tests;

use self::claims::{Client, MoreClaims, TokenResponse};
use self::http::{HttpError, TIMEOUT, fault, send};
use self::logout_token::Refusal;
use self::metadata::{Discovery, Metadata};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::identity::{IdentityClaims, LogoutRequest, SUBJECT_MAX};
use docent_http_client::http_client;
use docent_ports::clock::Clock;
use docent_ports::identity_provider::{AuthorizationRequest, IdentityError, IdentityProvider, Redemption};
use openidconnect::core::{
    CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim, CoreIdTokenVerifier,
    CoreJwsSigningAlgorithm, CoreResponseType,
};
use openidconnect::{
    AccessToken, AuthType, AuthenticationFlow, AuthorizationCode, ClaimsVerificationError, ClientId,
    ClientSecret, CsrfToken, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, StandardErrorResponse, SubjectIdentifier, UserInfoClaims,
};
use std::sync::Arc;

/// Signatures that are accepted: by the provider's private key. A shared secret would not prove which side signed.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];
/// Difference of the clocks that is tolerated.
const SKEW: TimeDelta = TimeDelta::seconds(60);
/// Maximum stored size of an ID token in bytes.
const ID_TOKEN_MAX: usize = 8 * 1024;

/// How this service is registered at a provider.
#[derive(Clone)]
pub struct ProviderOptions {
    /// The issuer, exactly as the provider names it.
    pub issuer: String,
    /// The client ID.
    pub client_id: String,
    /// The client secret; `None` for a public client.
    pub client_secret: Option<String>,
    /// Scopes besides `openid`.
    pub scopes: Vec<String>,
    /// Claim with the person's groups.
    pub groups_claim: String,
    /// Whether groups are needed, so that they are looked up if the token has none.
    pub needs_groups: bool,
}

impl std::fmt::Debug for ProviderOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProviderOptions({:?}, {:?})", self.issuer, self.client_id)
    }
}

/// A provider that is reached over HTTP.
#[allow(missing_debug_implementations, reason = "the clock has no debug form")]
pub struct OpenIdProvider {
    options: ProviderOptions,
    client: reqwest::Client,
    clock: Arc<dyn Clock>,
    discovery: Discovery,
}

fn refused(reason: impl Into<String>) -> IdentityError {
    IdentityError::Refused(reason.into())
}

fn invalid(message: &'static str, cause: impl std::error::Error + Send + Sync + 'static) -> IdentityError {
    IdentityError::Unavailable(fault(FaultKind::InvalidResponse, message, cause))
}

impl OpenIdProvider {
    /// Creates a provider, without a request to it.
    ///
    /// # Errors
    /// `Unconfigured` if the issuer is not a URL, or the machine's certificates cannot be loaded.
    pub fn new(options: ProviderOptions, clock: Arc<dyn Clock>) -> Result<Self, Fault> {
        let unusable = |cause: Box<dyn std::error::Error + Send + Sync>| {
            fault(FaultKind::Unconfigured, "the identity provider's issuer cannot be used", cause)
        };
        let issuer = IssuerUrl::new(options.issuer.clone()).map_err(|error| unusable(error.into()))?;
        let client = http_client(issuer.url(), TIMEOUT).map_err(|error| unusable(error.into()))?;
        let discovery = Discovery::new(issuer, client.clone(), Arc::clone(&clock));
        Ok(Self { options, client, clock, discovery })
    }

    /// A client for the endpoints in the metadata.
    fn protocol(&self, metadata: &Metadata, redirect_uri: &str) -> Result<Client, IdentityError> {
        let secret = self.options.client_secret.clone().map(ClientSecret::new);
        let id = ClientId::new(self.options.client_id.clone());
        let redirect = RedirectUrl::new(redirect_uri.to_owned())
            .map_err(|error| invalid("the service's public URL is not valid", error))?;
        let methods = metadata.token_endpoint_auth_methods_supported();
        let is_basic =
            methods.is_none_or(|methods| methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
        let kind = if is_basic { AuthType::BasicAuth } else { AuthType::RequestBody };
        let client = Client::from_provider_metadata(metadata.clone(), id, secret);
        Ok(client.set_auth_type(kind).set_redirect_uri(redirect))
    }

    /// Checks the issuer that the response names (RFC 9207), so that a code of another provider is not sent to this one.
    fn check_response_issuer(&self, metadata: &Metadata, issuer: Option<&str>) -> Result<(), IdentityError> {
        match issuer {
            Some(issuer) if issuer != self.options.issuer => {
                Err(refused("the response is of another issuer"))
            }
            None if metadata.additional_metadata().authorization_response_iss_parameter_supported => {
                Err(refused("the response names no issuer"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn verifier(&self, metadata: &Metadata, now: DateTime<Utc>) -> CoreIdTokenVerifier<'static> {
        let id = ClientId::new(self.options.client_id.clone());
        CoreIdTokenVerifier::new_public_client(id, metadata.issuer().clone(), metadata.jwks().clone())
            .set_allowed_algs(ALGORITHMS)
            .set_time_fn(move || now - SKEW)
            .set_issue_time_verifier_fn(move |issued_at| match issued_at <= now + SKEW {
                true => Ok(()),
                false => Err("the token was issued in the future".to_owned()),
            })
    }

    /// Checks the ID token and returns its claims. If its key is unknown, the keys are read again.
    async fn verified(
        &self,
        response: &TokenResponse,
        nonce: &str,
    ) -> Result<claims::IdTokenClaims, IdentityError> {
        let token =
            response.extra_fields().id_token().ok_or_else(|| refused("the response contains no ID token"))?;
        let (nonce, now) = (Nonce::new(nonce.to_owned()), self.clock.now());
        let metadata = self.discovery.metadata().await?;
        let checked = match token.claims(&self.verifier(&metadata, now), &nonce) {
            Err(ClaimsVerificationError::SignatureVerification(_)) => {
                match self.discovery.with_new_keys().await? {
                    Some(metadata) => token.claims(&self.verifier(&metadata, now), &nonce).cloned(),
                    None => return Err(refused("the token's signature is not valid")),
                }
            }
            checked => checked.cloned(),
        };
        let claims = checked.map_err(|error| refused(error.to_string()))?;
        if claims.authorized_party().is_some_and(|party| party.as_str() != self.options.client_id) {
            return Err(refused("the token is for another authorized party"));
        }
        if claims.subject().is_empty() || claims.subject().len() > SUBJECT_MAX {
            return Err(refused("the subject is empty or too long"));
        }
        Ok(claims)
    }

    /// The claims of the userinfo endpoint, if the token lacks what is needed and there is one.
    async fn userinfo(
        &self,
        protocol: &Client,
        token: &AccessToken,
        claims: &claims::IdTokenClaims,
    ) -> Result<Option<UserInfoClaims<MoreClaims, CoreGenderClaim>>, IdentityError> {
        let has_groups = claims.additional_claims().has(&self.options.groups_claim);
        if claims.email().is_some() && (has_groups || !self.options.needs_groups) {
            return Ok(None);
        }
        let subject = SubjectIdentifier::new(claims.subject().to_string());
        let Ok(request) = protocol.user_info(token.clone(), Some(subject)) else { return Ok(None) };
        let client = &self.client;
        let http = |request| send(client.clone(), request);
        match request.require_signed_response(false).request_async(&http).await {
            Ok(more) => Ok(Some(more)),
            Err(openidconnect::UserInfoError::ClaimsVerification(error)) => Err(refused(error.to_string())),
            Err(error) => Err(invalid("the identity provider's userinfo endpoint failed", error)),
        }
    }
}

#[async_trait]
impl IdentityProvider for OpenIdProvider {
    fn issuer(&self) -> &str {
        &self.options.issuer
    }

    async fn authorization_url(&self, request: &AuthorizationRequest) -> Result<String, IdentityError> {
        let metadata = self.discovery.metadata().await?;
        let protocol = self.protocol(&metadata, &request.redirect_uri)?;
        let (state, nonce) = (request.state.clone(), request.nonce.clone());
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let verifier = PkceCodeVerifier::new(request.verifier.clone());
        let mut asked = protocol
            .authorize_url(flow, move || CsrfToken::new(state), move || Nonce::new(nonce))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        for scope in self.options.scopes.iter().filter(|scope| *scope != "openid") {
            asked = asked.add_scope(Scope::new(scope.clone()));
        }
        if request.reauthenticates {
            asked = asked.set_max_age(std::time::Duration::ZERO);
        }
        Ok(asked.url().0.to_string())
    }

    async fn redeem(&self, redemption: &Redemption) -> Result<IdentityClaims, IdentityError> {
        let metadata = self.discovery.metadata().await?;
        self.check_response_issuer(&metadata, redemption.issuer.as_deref())?;
        let protocol = self.protocol(&metadata, &redemption.redirect_uri)?;
        let client = &self.client;
        let http = |request| send(client.clone(), request);
        let request = protocol
            .exchange_code(AuthorizationCode::new(redemption.code.clone()))
            .map_err(|error| invalid("the identity provider has no token endpoint", error))?
            .set_pkce_verifier(PkceCodeVerifier::new(redemption.verifier.clone()));
        let response = request.request_async(&http).await.map_err(not_redeemed)?;
        let claims = self.verified(&response, &redemption.nonce).await?;
        let more = self.userinfo(&protocol, response.access_token(), &claims).await?;
        let id_token = response.extra_fields().id_token().map(ToString::to_string);
        Ok(IdentityClaims {
            id_token: id_token.filter(|token| token.len() <= ID_TOKEN_MAX),
            ..claims::identity(&claims, more.as_ref(), &self.options.groups_claim)
        })
    }

    async fn logout_url(
        &self,
        id_token: Option<&str>,
        return_to: &str,
    ) -> Result<Option<String>, IdentityError> {
        let metadata = self.discovery.metadata().await?;
        let endpoint = metadata.additional_metadata().end_session_endpoint.clone();
        Ok(endpoint.map(|mut url| {
            let mut query = url.query_pairs_mut();
            if let Some(token) = id_token {
                query.append_pair("id_token_hint", token);
            }
            query.append_pair("client_id", &self.options.client_id);
            query.append_pair("post_logout_redirect_uri", return_to);
            drop(query);
            url.to_string()
        }))
    }

    async fn verify_logout(&self, token: &str) -> Result<LogoutRequest, IdentityError> {
        let now = self.clock.now();
        let check =
            |metadata: &Metadata| logout_token::verify(token, metadata, &self.options.client_id, SKEW, now);
        let unknown = || refused("the token's signature is not valid");
        let checked = match check(&*self.discovery.metadata().await?) {
            Err(Refusal::UnknownKey) => check(&*self.discovery.with_new_keys().await?.ok_or_else(unknown)?),
            checked => checked,
        };
        checked.map_err(|refusal| match refusal {
            Refusal::UnknownKey => unknown(),
            Refusal::Invalid(reason) => refused(reason),
        })
    }

    async fn check(&self) -> Result<(), IdentityError> {
        self.discovery.metadata().await.map(drop)
    }
}

/// Error of the token endpoint. The provider's description is not shown: it can contain anything.
fn not_redeemed(
    error: RequestTokenError<HttpError, StandardErrorResponse<CoreErrorResponseType>>,
) -> IdentityError {
    const MESSAGE: &str = "the identity provider's token endpoint failed";
    match error {
        RequestTokenError::ServerResponse(response) => {
            refused(format!("the token endpoint answered {}", response.error().as_ref()))
        }
        RequestTokenError::Request(error) => {
            let is_timeout = matches!(&error, HttpError::Request(cause) if cause.is_timeout());
            let kind = if is_timeout { FaultKind::Timeout } else { FaultKind::Unavailable };
            IdentityError::Unavailable(fault(kind, MESSAGE, error))
        }
        RequestTokenError::Parse(error, _) => invalid(MESSAGE, error),
        RequestTokenError::Other(reason) => IdentityError::Unavailable(
            Fault::new(Component::IdentityProvider, FaultKind::InvalidResponse, MESSAGE).caused_by(reason),
        ),
    }
}
