//! HTTP settings.

use crate::metrics::Metrics;
use docent_app::rate_limit::Quota;
use ipnet::IpNet;
use sha2::{Digest, Sha256, Sha512};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// HTTP settings. The configuration reference has their external names.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// `app` of `GET /status`.
    pub app_name: String,
    /// `debug` of `GET /status`.
    pub debug: bool,
    /// `framework_version` of `GET /status`.
    pub framework_version: &'static str,
    /// Rate limit per client, if any.
    pub rate_limit: Option<Quota>,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may call the API: `https://app.example.org`, without a path.
    pub cors_allowed_origins: Vec<String>,
    /// Base URL of links in responses, if it is configured; otherwise links name the host of the request.
    pub public_url: Option<String>,
    /// Signs the session cookie of the panel, the account pages and the web chat.
    pub session_key: SessionKey,
    /// Interval of comments on idle streams, which keep the connection open through proxies.
    pub ping_interval: Duration,
    /// How long a resumable answer continues without a reader, and how long it is available after its end.
    pub resume_grace: Duration,
    /// Maximum size of a JSON body in bytes.
    pub max_json_bytes: usize,
    /// Timeout for pauses of a client that sends a body.
    pub body_timeout: Duration,
    /// Serves `GET /metrics`, if given.
    pub metrics: Option<MetricsEndpoint>,
    /// Number of server threads. Default: the number of processors.
    pub workers: Option<usize>,
}

impl HttpSettings {
    /// Creates settings with defaults.
    pub fn new(app_name: impl Into<String>, session_key: SessionKey) -> Self {
        Self {
            app_name: app_name.into(),
            debug: false,
            framework_version: env!("CARGO_PKG_VERSION"),
            rate_limit: Some(Quota { limit: 300, window: Duration::from_secs(60) }),
            trusted_proxies: Vec::new(),
            cors_allowed_origins: Vec::new(),
            public_url: None,
            session_key,
            ping_interval: Duration::from_secs(15),
            resume_grace: Duration::from_secs(60),
            max_json_bytes: 4 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            metrics: None,
            workers: None,
        }
    }
}

/// Settings of `GET /metrics`.
#[derive(Clone)]
pub struct MetricsEndpoint {
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// Required bearer token. Without one the endpoint is public.
    pub token: Option<String>,
}

impl MetricsEndpoint {
    /// Whether `token` allows access. Compares in constant time.
    pub fn admits(&self, token: Option<&str>) -> bool {
        let Some(wanted) = &self.token else { return true };
        let Some(token) = token else { return false };
        let (token, wanted) = (Sha256::digest(token), Sha256::digest(wanted));
        token.iter().zip(wanted.iter()).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
    }
}

impl fmt::Debug for MetricsEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetricsEndpoint(…)")
    }
}

/// The key of the session cookie, redacted in debug output.
#[derive(Clone)]
pub struct SessionKey([u8; 64]);

impl SessionKey {
    /// Derives the key from the secret key of the service, so that cookies and tokens are not interchangeable.
    pub fn derive(secret: &[u8]) -> Self {
        let mut digest = Sha512::new();
        digest.update(b"docent admin session\0");
        digest.update(secret);
        Self(digest.finalize().into())
    }

    /// The key.
    pub fn bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_endpoint_requires_its_token_if_set() {
        let metrics = Arc::new(Metrics::new(chrono::DateTime::UNIX_EPOCH));
        let open = MetricsEndpoint { metrics, token: None };
        assert!(open.admits(None) && open.admits(Some("x")));
        let closed = MetricsEndpoint { token: Some("secret".to_owned()), ..open };
        assert!(closed.admits(Some("secret")));
        for token in [None, Some(""), Some("secre"), Some("secret "), Some("Secret")] {
            assert!(!closed.admits(token), "{token:?}");
        }
        assert!(!format!("{closed:?}").contains("secret"));
    }
}
