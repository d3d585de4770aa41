//! The provider's metadata and keys, read when they are needed and kept for an hour.

use super::http::{HttpError, fault, send};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_http_client::is_loopback;
use docent_ports::clock::Clock;
use docent_ports::identity_provider::IdentityError;
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::url::Url;
use openidconnect::{AdditionalProviderMetadata, DiscoveryError, IssuerUrl, ProviderMetadata};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Age at which metadata and keys are read again.
const MAX_AGE: TimeDelta = TimeDelta::hours(1);
/// How long the provider is not asked again after a failed attempt, or for the key of another token.
const PAUSE: TimeDelta = TimeDelta::seconds(10);

/// Metadata beyond those of the protocol crate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct MoreMetadata {
    /// Whether responses name the issuer (RFC 9207).
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
    /// Page that ends the provider's session.
    #[serde(default)]
    pub(super) end_session_endpoint: Option<Url>,
}

impl AdditionalProviderMetadata for MoreMetadata {}

/// Metadata and keys of a provider.
pub(super) type Metadata = ProviderMetadata<
    MoreMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// Reads and keeps the metadata of one provider.
pub(super) struct Discovery {
    issuer: IssuerUrl,
    client: Client,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Option<(Arc<Metadata>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
    keys_read_at: Option<DateTime<Utc>>,
}

impl Discovery {
    pub(super) fn new(issuer: IssuerUrl, client: Client, clock: Arc<dyn Clock>) -> Self {
        Self { issuer, client, clock, state: Mutex::default() }
    }

    /// The metadata. Known ones remain in use while the provider cannot be reached.
    pub(super) async fn metadata(&self) -> Result<Arc<Metadata>, IdentityError> {
        let mut state = self.state.lock().await;
        let now = self.clock.now();
        let is_recent = |at: DateTime<Utc>, age| (now - at).abs() < age;
        if let Some((known, read_at)) = &state.known
            && (is_recent(*read_at, MAX_AGE) || state.failed_at.is_some_and(|at| is_recent(at, PAUSE)))
        {
            return Ok(Arc::clone(known));
        }
        if state.failed_at.is_some_and(|at| is_recent(at, PAUSE)) {
            let message = "the last attempt to read the identity provider's metadata failed";
            let fault = Fault::new(Component::IdentityProvider, FaultKind::Unavailable, message);
            return Err(IdentityError::Unavailable(fault));
        }
        match self.read().await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                (state.known, state.failed_at) = (Some((Arc::clone(&metadata), now)), None);
                Ok(metadata)
            }
            Err(error) => {
                state.failed_at = Some(now);
                match &state.known {
                    Some((known, _)) => {
                        tracing::warn!(error = %error, "identity provider metadata could not be renewed");
                        Ok(Arc::clone(known))
                    }
                    None => Err(IdentityError::Unavailable(error)),
                }
            }
        }
    }

    /// Metadata with keys that were read just now, for a token whose key is unknown; `None` if they were read a moment ago.
    pub(super) async fn with_new_keys(&self) -> Result<Option<Arc<Metadata>>, IdentityError> {
        let mut state = self.state.lock().await;
        let now = self.clock.now();
        let Some((known, read_at)) = state.known.clone() else { return Ok(None) };
        if state.keys_read_at.is_some_and(|at| (now - at).abs() < PAUSE) {
            return Ok(None);
        }
        let client = &self.client;
        let http = |request| send(client.clone(), request);
        let keys = CoreJsonWebKeySet::fetch_async(known.jwks_uri(), &http).await;
        let keys = keys.map_err(|error| IdentityError::Unavailable(unreadable(error)))?;
        let metadata = Arc::new(Metadata::clone(&known).set_jwks(keys));
        (state.known, state.keys_read_at) = (Some((Arc::clone(&metadata), read_at)), Some(now));
        Ok(Some(metadata))
    }

    async fn read(&self) -> Result<Metadata, Fault> {
        let client = &self.client;
        let http = |request| send(client.clone(), request);
        let metadata = Metadata::discover_async(self.issuer.clone(), &http).await.map_err(unreadable)?;
        let endpoints = [
            Some(metadata.authorization_endpoint().url()),
            metadata.token_endpoint().map(|endpoint| endpoint.url()),
            metadata.userinfo_endpoint().map(|endpoint| endpoint.url()),
            Some(metadata.jwks_uri().url()),
            metadata.additional_metadata().end_session_endpoint.as_ref(),
        ];
        // Otherwise keys and codes could be read and changed on the way.
        let is_secure = |url: &&Url| url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url));
        if !endpoints.into_iter().flatten().all(|url| is_secure(&url)) {
            let message = "the identity provider's metadata name an address without https";
            return Err(Fault::new(Component::IdentityProvider, FaultKind::InvalidResponse, message));
        }
        Ok(metadata)
    }
}

fn unreadable(error: DiscoveryError<HttpError>) -> Fault {
    let kind = match &error {
        DiscoveryError::Request(HttpError::Request(cause)) if cause.is_timeout() => FaultKind::Timeout,
        DiscoveryError::Request(_) => FaultKind::Unavailable,
        DiscoveryError::Response(status, ..) if status.is_server_error() => FaultKind::Unavailable,
        _ => FaultKind::InvalidResponse,
    };
    fault(kind, "the identity provider's metadata cannot be read", error)
}
