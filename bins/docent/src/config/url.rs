//! Addresses of back ends and front ends.

use super::{secret::Secret, value::Value};
use std::fmt;
use url::Url;

/// The base address of an HTTP service, without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl(String);

impl HttpUrl {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for HttpUrl {
    const KIND: &'static str = "URL";

    fn accepted() -> String {
        "an address such as http://127.0.0.1:6333 or https://api.example.com/v1".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("is no URL ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has the scheme {:?}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("holds a user name or password; keys have settings of their own".to_owned());
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

/// Where a browser front end is served from: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin as browsers send it.
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

/// The address of a store, which may hold a password. Only its host and path are shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionUrl {
    url: Secret,
    shown: String,
}

impl ConnectionUrl {
    /// Reads an address that begins with `scheme://`; it is kept with that scheme.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, String> {
        let text = format!("{scheme}://{rest}");
        let mut url = Url::parse(&text).map_err(|error| format!("is no URL ({error})"))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err("names no host".to_owned());
        }
        // The rest of a password that holds `/` or `#` ends up behind the host, where it would be shown.
        if url.path().contains('@') || url.fragment().is_some() {
            return Err("has @ or # behind its host; in a password write / # @ as %2F %23 %40".to_owned());
        }
        let hidden = url.set_password(None).and_then(|()| url.set_username(""));
        hidden.map_err(|()| "is no URL of a server".to_owned())?;
        // A query may hold a password too.
        url.set_query(None);
        Ok(Self { url: Secret::new(text), shown: url.to_string() })
    }

    /// The whole address.
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
