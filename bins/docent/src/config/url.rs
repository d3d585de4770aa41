//! URLs of back ends and front ends.

use super::secret::Secret;
use super::value::Value;
use std::fmt;
use std::net::IpAddr;
use url::Url;

/// The base URL of an HTTP service, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl(String);

impl HttpUrl {
    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, if it is another machine and the connection has no TLS.
    pub(super) fn plaintext_host(&self) -> Option<String> {
        let rest = self.0.strip_prefix("http://")?;
        let url = ConnectionUrl::parse("http", rest).ok()?;
        (!url.is_local()).then(|| url.host())
    }

    /// Returns the path, which is empty for the root of a host.
    pub(super) fn path(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or("", |at| &rest[at..])
    }
}

impl Value for HttpUrl {
    const KIND: &'static str = "URL";

    fn accepted() -> String {
        "a URL such as http://127.0.0.1:6333 or https://api.example.com/v1".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("is not a URL ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has the scheme {:?}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("contains a user name or password; keys have their own settings".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("has a query or fragment".to_owned());
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The origin of a browser front end: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Returns the origin as browsers send it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for Origin {
    const KIND: &'static str = "origin";
    const LIST_KIND: &'static str = "list of origins";

    fn accepted() -> String {
        "an origin such as https://app.example.com".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let HttpUrl(url) = HttpUrl::parse(text)?;
        let is_bare = url.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
        if is_bare { Ok(Self(url)) } else { Err("has a path".to_owned()) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The URL of a store, which may contain a password. Only its host and path are shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionUrl {
    url: Secret,
    shown: String,
}

impl ConnectionUrl {
    /// Parses `scheme://` followed by the rest of a URL.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, String> {
        let text = format!("{scheme}://{rest}");
        let mut url = Url::parse(&text).map_err(|error| format!("is not a URL ({error})"))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err("has no host".to_owned());
        }
        // The rest of a password with an unescaped `/` or `#` ends up after the host, where it would be shown.
        if url.path().contains('@') || url.fragment().is_some() {
            return Err("has @ or # after its host; in a password write / # @ as %2F %23 %40".to_owned());
        }
        let hidden = url.set_password(None).and_then(|()| url.set_username(""));
        hidden.map_err(|()| "is not the URL of a server".to_owned())?;
        // A query may contain a password too.
        url.set_query(None);
        Ok(Self { url: Secret::new(text), shown: url.to_string() })
    }

    /// The scheme.
    pub fn scheme(&self) -> &str {
        self.shown.split(':').next().unwrap_or_default()
    }

    /// The host: a name, an address, or the directory of a Unix socket.
    pub fn host(&self) -> String {
        let Ok(url) = Url::parse(self.expose()) else { return String::new() };
        let host = self.parameter("host").or_else(|| url.host_str().map(str::to_owned));
        host.unwrap_or_default().replace("%2F", "/").replace("%2f", "/")
    }

    /// Whether the host is this machine.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        is_loopback || host.starts_with('/') || host == "localhost" || host.ends_with(".localhost")
    }

    /// The value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let url = Url::parse(self.expose()).ok()?;
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// Returns the complete URL, with the password.
    pub fn expose(&self) -> &str {
        self.url.expose()
    }
}

impl fmt::Debug for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for ConnectionUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}
