//! How the service appears over HTTP.

use docent_app::rate_limit::Quota;
use ipnet::IpNet;
use sha2::{Digest, Sha512};
use std::{fmt, time::Duration};

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
    /// The most bytes of a JSON body.
    pub max_json_bytes: usize,
    /// How long a client may pause while it sends a body.
    pub body_timeout: Duration,
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
            max_json_bytes: 4 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            workers: None,
        }
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

    pub(crate) fn cookie_key(&self) -> actix_web::cookie::Key {
        actix_web::cookie::Key::derive_from(&self.0)
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}
