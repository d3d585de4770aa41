//! OAuth clients: registration, and the client with an ID.

use super::documents::{DocumentError, client_name};
use crate::App;
use crate::error::Error;
use crate::network::network;
use crate::rate_limit::counter_key;
use docent_domain::client_uri::{ClientId, RedirectUri};
use docent_domain::id::OAuthClientId;
use docent_domain::oauth::{OAuthClient, REDIRECT_URIS_MAX, RegisteredClient};
use std::net::IpAddr;
use std::time::Duration;
use thiserror::Error as ThisError;

/// Registrations that one network can make in [`REGISTRATION_PERIOD`].
const REGISTRATIONS_MAX: u64 = 300;
const REGISTRATION_PERIOD: Duration = Duration::from_secs(60 * 60);

/// What a client says about itself to register.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'a> {
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Where it wants to be returned to.
    pub redirect_uris: &'a [String],
}

/// Why a client is not registered.
#[derive(Debug, ThisError)]
pub enum RegistrationError {
    /// A redirect URI is not allowed.
    #[error("{0}")]
    RedirectUri(String),
    /// Another field is not valid.
    #[error("{0}")]
    Metadata(&'static str),
    /// Too many registrations from this network.
    #[error("too many registrations")]
    TooMany {
        /// How long to wait before the next one.
        retry_after: Duration,
    },
    /// A store cannot be reached.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Registers a public client.
///
/// # Errors
/// See [`RegistrationError`].
pub async fn register(
    app: &App,
    registration: Registration<'_>,
    address: IpAddr,
) -> Result<RegisteredClient, RegistrationError> {
    let uris = registration.redirect_uris;
    if uris.is_empty() || uris.len() > REDIRECT_URIS_MAX {
        return Err(RegistrationError::RedirectUri(format!(
            "redirect_uris needs 1 to {REDIRECT_URIS_MAX} URIs"
        )));
    }
    let parse = |uri: &String| {
        let error = |invalid: docent_domain::error::ValidationError| invalid.reason;
        RedirectUri::parse(uri)
            .map_err(|invalid| RegistrationError::RedirectUri(format!("a redirect URI {}", error(invalid))))
    };
    let redirect_uris = uris.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let name = client_name(registration.name, "Application");
    let name = name.ok_or(RegistrationError::Metadata("client_name contains control characters"))?;
    let (key, now) = (counter_key("oauth-register", &[&network(address)]), app.now());
    let count = app.limiter.hit(&key, REGISTRATION_PERIOD, now).await.map_err(Error::from)?;
    if count.events > REGISTRATIONS_MAX {
        return Err(RegistrationError::TooMany { retry_after: count.resets_in });
    }
    let id = app.new_id(OAuthClientId::generate);
    let client = RegisteredClient { id, name, redirect_uris, created_at: now, last_used_at: None };
    let store = async {
        let mut work = app.store.begin().await?;
        work.oauth().insert_client(&client).await?;
        work.commit().await
    };
    store.await.map_err(Error::from)?;
    Ok(client)
}

/// Why there is no client.
#[derive(Debug, ThisError)]
pub(super) enum NoClient {
    /// The ID is not valid, or no client has it.
    #[error("no client has this ID")]
    Unknown,
    /// The document of the client cannot be used.
    #[error("{0}")]
    Document(#[from] DocumentError),
    /// The database cannot be reached.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The client with this ID. The document of a client that is named by its URL is fetched.
pub(super) async fn find(app: &App, id: &str) -> Result<OAuthClient, NoClient> {
    match ClientId::parse(id).map_err(|_| NoClient::Unknown)? {
        ClientId::Registered(id) => {
            let mut view = app.store.read_latest().await.map_err(Error::from)?;
            let client = view.oauth().client(id).await.map_err(Error::from)?.ok_or(NoClient::Unknown)?;
            let RegisteredClient { name, redirect_uris, .. } = client;
            Ok(OAuthClient { id: ClientId::Registered(id), name, redirect_uris })
        }
        ClientId::Document(url) => {
            Ok(app.process.client_documents.client(&*app.client_metadata, &url, app.now()).await?)
        }
    }
}
