//! Client ID metadata documents and their cache.

use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::api_key::{ApiKeyName, KEY_NAME_MAX};
use docent_domain::client_uri::{ClientId, ClientUrl, RedirectUri};
use docent_domain::oauth::{OAuthClient, REDIRECT_URIS_MAX};
use docent_ports::client_metadata::{ClientMetadataError, ClientMetadataSource};
use lru::LruCache;
use serde::Deserialize;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// How long a document is used without fetching it again.
const KEEP: TimeDelta = TimeDelta::minutes(10);
/// How long a failure is remembered, so that repeated requests do not fetch each time.
const KEEP_FAILURE: TimeDelta = TimeDelta::seconds(30);
/// Maximum number of documents in memory.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Why a document names no client. The message is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum DocumentError {
    /// The document could not be fetched.
    #[error("{0}")]
    Fetch(#[from] ClientMetadataError),
    /// The document is not valid.
    #[error("{0}")]
    Invalid(&'static str),
}

/// Fields of a document that are used. Others are ignored.
#[derive(Deserialize)]
struct Metadata {
    client_id: String,
    client_name: String,
    redirect_uris: Vec<String>,
    #[serde(default)]
    client_secret: Option<serde::de::IgnoredAny>,
}

type Known = (DateTime<Utc>, Result<OAuthClient, DocumentError>);

/// The documents that were fetched last.
pub(crate) struct ClientDocuments(Mutex<LruCache<String, Known>>);

impl Default for ClientDocuments {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl ClientDocuments {
    /// The client of a document, from the cache if it was fetched a short time ago.
    pub(super) async fn client(
        &self,
        source: &dyn ClientMetadataSource,
        url: &ClientUrl,
        now: DateTime<Utc>,
    ) -> Result<OAuthClient, DocumentError> {
        if let Some((until, known)) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(url.as_str())
            && now < *until
        {
            return known.clone();
        }
        let client = source.fetch(url).await.map_err(DocumentError::from).and_then(|json| parse(url, &json));
        let until = now + if client.is_ok() { KEEP } else { KEEP_FAILURE };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.put(url.as_str().to_owned(), (until, client.clone()));
        client
    }
}

fn parse(url: &ClientUrl, json: &[u8]) -> Result<OAuthClient, DocumentError> {
    let invalid = DocumentError::Invalid;
    let metadata: Metadata = serde_json::from_slice(json).map_err(|_| {
        invalid("the document is not a JSON object with client_id, client_name and redirect_uris")
    })?;
    if metadata.client_id != url.as_str() {
        return Err(invalid("the client_id in the document is not its URL"));
    }
    if metadata.client_secret.is_some() {
        return Err(invalid("the document contains a secret"));
    }
    // A document can name URIs for other servers, which accept other forms.
    let uris = metadata.redirect_uris.iter().take(REDIRECT_URIS_MAX);
    let redirect_uris: Vec<_> = uris.filter_map(|uri| RedirectUri::parse(uri).ok()).collect();
    if redirect_uris.is_empty() {
        return Err(invalid("the document has no valid redirect URI"));
    }
    let name = client_name(Some(&metadata.client_name), url.host());
    let name = name.ok_or(invalid("the document has no valid name"))?;
    Ok(OAuthClient { id: ClientId::Document(url.clone()), name, redirect_uris })
}

/// The name that a client gave itself, shortened, or else `otherwise`.
pub(super) fn client_name(given: Option<&str>, otherwise: &str) -> Option<ApiKeyName> {
    let shorten = |name: &str| name.trim().chars().take(KEY_NAME_MAX).collect::<String>();
    let given = given.map(shorten).filter(|name| !name.is_empty());
    ApiKeyName::parse(&given.unwrap_or_else(|| shorten(otherwise))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::fakes::client_metadata::FakeClientMetadata;

    const URL: &str = "https://client.example/c.json";

    fn document(id: &str, name: &str, more: &str) -> String {
        let uris = r#"["http://127.0.0.1/cb", "cursor://x"]"#;
        format!(r#"{{"client_id": "{id}", "client_name": "{name}", "redirect_uris": {uris}{more}}}"#)
    }

    #[test]
    fn document_must_name_its_url_and_a_redirect_uri() {
        let url = ClientUrl::parse(URL).unwrap();
        let named = |name: &str, more: &str| parse(&url, document(URL, name, more).as_bytes());
        let client = named(" Reader ", r#", "jwks": {}"#).unwrap();
        assert_eq!((client.name.as_str(), client.redirect_uris.len()), ("Reader", 1));
        assert_eq!(named("", "").unwrap().name.as_str(), "client.example");
        assert!(named(r"a\u0000b", "").is_err());
        assert!(named("a", r#", "client_secret": "x""#).is_err());
        assert!(parse(&url, document("https://client.example/d.json", "a", "").as_bytes()).is_err());
        assert!(parse(&url, b"<html>").is_err());
        let without_name = format!(r#"{{"client_id": "{URL}", "redirect_uris": ["http://127.0.0.1/cb"]}}"#);
        assert!(parse(&url, without_name.as_bytes()).is_err());
        let nowhere = format!(
            r#"{{"client_id": "{URL}", "client_name": "a", "redirect_uris": ["javascript:alert(1)"]}}"#
        );
        assert!(parse(&url, nowhere.as_bytes()).is_err());
    }

    #[tokio::test]
    async fn documents_and_failures_are_fetched_again_after_a_time() {
        let (source, cache, url) =
            (FakeClientMetadata::default(), ClientDocuments::default(), ClientUrl::parse(URL).unwrap());
        let at = |seconds| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        assert!(cache.client(&source, &url, at(0)).await.is_err());
        source.set(URL, Ok(&document(URL, "a", "")));
        assert!(cache.client(&source, &url, at(29)).await.is_err());
        assert!(cache.client(&source, &url, at(30)).await.is_ok());
        source.set(URL, Err(ClientMetadataError::Timeout));
        assert!(cache.client(&source, &url, at(629)).await.is_ok());
        assert!(cache.client(&source, &url, at(630)).await.is_err());
        assert_eq!(source.fetches(), 3);
    }
}
