//! How the service appears over HTTP.

use crate::metrics::Metrics;
use docent_app::rate_limit::Quota;
use ipnet::IpNet;
use sha2::{Digest, Sha256, Sha512};
use std::{fmt, sync::Arc, time::Duration};

/// See the configuration reference for what each one is called outside.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// `app` of `GET /status`.
    pub app_name: String,
    /// `debug` of `GET /status`.
    pub debug: bool,
    /// `framework_version` of `GET /status`.
    pub framework_version: &'static str,
    /// Requests that one client may make; no limit when not given.
    pub rate_limit: Option<Quota>,
    /// Peers whose word about whom they speak for is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may call the API: `https://app.example.org`, without a path.
    pub cors_allowed_origins: Vec<String>,
    /// Signs the admin panel's session cookie.
    pub session_key: SessionKey,
    /// How often an idle stream sends a comment, so that proxies keep it open.
    pub ping_interval: Duration,
    /// How long an answer that a client may come back to goes on without one, and is kept when it is over.
    pub resume_grace: Duration,
    /// The most bytes of a JSON body.
    pub max_json_bytes: usize,
    /// How long a client may pause while it sends a body.
    pub body_timeout: Duration,
    /// Serves `GET /metrics`, if given.
    pub metrics: Option<MetricsEndpoint>,
    /// Threads that serve requests; as many as there are processors when not given.
    pub workers: Option<usize>,
}

impl HttpSettings {
    /// The defaults around what has none.
    pub fn new(app_name: impl Into<String>, session_key: SessionKey) -> Self {
        Self {
            app_name: app_name.into(),
            debug: false,
            framework_version: env!("CARGO_PKG_VERSION"),
            rate_limit: Some(Quota { limit: 300, window: Duration::from_secs(60) }),
            trusted_proxies: Vec::new(),
            cors_allowed_origins: Vec::new(),
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

/// What `GET /metrics` shows, and to whom.
#[derive(Clone)]
pub struct MetricsEndpoint {
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// The bearer token that it asks for; everybody may read without one.
    pub token: Option<String>,
}

impl MetricsEndpoint {
    /// Whether whoever shows `token` may read. Takes the same time wherever a wrong one differs.
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

/// The key of the session cookie. It shows nothing of itself in logs.
#[derive(Clone)]
pub struct SessionKey([u8; 64]);

impl SessionKey {
    /// Derives it from the service's secret key, so that a cookie is no token and a token no cookie.
    pub fn derive(secret: &[u8]) -> Self {
        let mut digest = Sha512::new();
        digest.update(b"docent admin session\0");
        digest.update(secret);
        Self(digest.finalize().into())
    }

    /// The key itself.
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
    fn metrics_are_for_holders_of_their_token_or_for_all() {
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
