//! IDs and redirect URIs of OAuth clients.

use crate::error::ValidationError;
use crate::id::OAuthClientId;
use std::fmt;

/// Maximum length of a URL of a client in bytes.
pub const CLIENT_URL_MAX: usize = 2000;
/// Identifies a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientId {
    /// A client that registered itself (RFC 7591).
    Registered(OAuthClientId),
    /// The URL of a client ID metadata document.
    Document(ClientUrl),
}

impl ClientId {
    /// Parses an ID.
    ///
    /// # Errors
    /// If it is neither the ID of a registered client nor a valid URL of a document.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if let Ok(id) = text.parse::<OAuthClientId>() {
            // The ID has one spelling only: it is compared as a text.
            return match id.to_string() == text {
                true => Ok(Self::Registered(id)),
                false => Err(ValidationError::new("client_id", "is not a valid client ID")),
            };
        }
        ClientUrl::parse(text).map(Self::Document)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered(id) => id.fmt(f),
            Self::Document(url) => f.write_str(url.as_str()),
        }
    }
}

/// The URL of a client ID metadata document: `https`, with a path, without user name, query, fragment and dot segments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientUrl(String);

impl ClientUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let wrong = || ValidationError::new("client_id", "is neither a registered client nor an https URL");
        let parts = UriParts::parse(text).ok_or_else(wrong)?;
        let path = parts.path;
        let has_dots = path.split('/').any(|segment| {
            let segment = segment.to_ascii_lowercase().replace("%2e", ".");
            segment == "." || segment == ".."
        });
        let is_valid = parts.scheme == "https"
            && parts.host.is_some()
            && path.len() > 1
            && !has_dots
            && !text.contains('?')
            && text.len() <= CLIENT_URL_MAX;
        if is_valid { Ok(Self(text.to_owned())) } else { Err(wrong()) }
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, with the port if there is one.
    pub fn host(&self) -> &str {
        UriParts::parse(&self.0).and_then(|parts| parts.authority).unwrap_or_default()
    }
}

/// The parts of an absolute URI. Parsed strictly: everything that browsers could read differently is refused.
struct UriParts<'a> {
    /// In lower case.
    scheme: String,
    /// Host and port.
    authority: Option<&'a str>,
    host: Option<&'a str>,
    path: &'a str,
}

impl<'a> UriParts<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let is_plain = |c: char| {
            c.is_ascii_graphic() && !matches!(c, '\\' | '#' | '"' | '<' | '>' | '`' | '^' | '|' | '{' | '}')
        };
        if !text.chars().all(is_plain) {
            return None;
        }
        let (scheme, rest) = text.split_once(':')?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        if !is_scheme {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let Some(rest) = rest.strip_prefix("//") else {
            let path = rest.split('?').next().unwrap_or_default();
            return Some(Self { scheme, authority: None, host: None, path });
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let host = host_of(authority)?;
        Some(Self {
            scheme,
            authority: Some(authority),
            host: Some(host),
            path: tail.split('?').next().unwrap_or_default(),
        })
    }
}

/// Host of an authority without user name: a name, an IPv4 address or an IPv6 address in brackets.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')?;
            let inner = rest.get(..end)?;
            inner.parse::<std::net::Ipv6Addr>().ok()?;
            (authority.get(..end + 2)?, authority.get(end + 2..)?)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let is_port = |port: &str| {
        port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok_and(|port| port > 0)
        })
    };
    let is_valid = (host.starts_with('[') || is_name(host)) && (port.is_empty() || is_port(port));
    is_valid.then_some(host)
}

/// Where the browser returns to with an authorization code.
///
/// `https`, `http` on this machine (RFC 8252, section 7.3), or a scheme of an app in the form of a reversed domain name, such
/// as `org.example.app:/callback` (section 7.1). Without user name and fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedirectUri(String);

/// What a redirect URI leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A web site, with its host and port.
    Site(String),
    /// A program on the machine of the browser.
    ThisMachine,
    /// An app with this scheme.
    App(String),
}

impl RedirectUri {
    /// Parses a URI.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let wrong = |reason: &str| Err(ValidationError::new("redirect_uri", reason));
        if text.len() > CLIENT_URL_MAX {
            return wrong("is too long");
        }
        let Some(parts) = UriParts::parse(text) else {
            return wrong("is not a valid absolute URI without user name and fragment");
        };
        match parts.scheme.as_str() {
            "https" if parts.host.is_some() => {}
            "http" if parts.host.is_some_and(is_loopback) => {}
            "https" | "http" => return wrong("must use https, or http for a program on the same machine"),
            scheme if scheme.contains('.') && !parts.path.is_empty() => {}
            _ => return wrong("has a scheme that is neither https nor a reversed domain name"),
        }
        Ok(Self(text.to_owned()))
    }

    /// The URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this registered URI allows a requested one: equal, except for the port on this machine.
    pub fn allows(&self, requested: &Self) -> bool {
        self == requested
            || self.without_local_port().is_some_and(|own| requested.without_local_port() == Some(own))
    }

    /// The URI without its port, if it leads to this machine over `http`.
    fn without_local_port(&self) -> Option<(String, &str)> {
        let parts = UriParts::parse(&self.0)?;
        let (host, authority) = (parts.host?, parts.authority?);
        if parts.scheme != "http" || !is_loopback(host) {
            return None;
        }
        let at = "http://".len() + authority.len();
        Some((host.to_ascii_lowercase(), self.0.get(at..)?))
    }

    /// What it leads to.
    pub fn target(&self) -> RedirectTarget {
        let Some(parts) = UriParts::parse(&self.0) else { return RedirectTarget::ThisMachine };
        match (parts.host, parts.authority) {
            _ if !matches!(parts.scheme.as_str(), "http" | "https") => RedirectTarget::App(parts.scheme),
            (Some(host), _) if is_loopback(host) => RedirectTarget::ThisMachine,
            (_, authority) => RedirectTarget::Site(authority.unwrap_or_default().to_owned()),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || matches!(host, "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> RedirectUri {
        RedirectUri::parse(text).unwrap()
    }

    #[test]
    fn redirect_uris_are_https_loopback_or_apps() {
        for valid in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://example.org",
            "https://example.org:8443/cb?a=b",
            "http://127.0.0.1/cb",
            "http://localhost:3118/callback",
            "http://[::1]:80/cb",
            "org.example.app:/callback",
            "org.example.app://host/callback",
        ] {
            assert!(RedirectUri::parse(valid).is_ok(), "{valid}");
        }
        for invalid in [
            "",
            "/callback",
            "//example.org/cb",
            "http://example.org/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://localhost.evil.example/cb",
            "http://127.0.0.1@evil.example/cb",
            "https://user@example.org/cb",
            "https://example.org/cb#fragment",
            "https://example.org/c b",
            "https://example.org\\@evil.example/",
            "https:///cb",
            "https:example.org",
            "https://exa\u{e4}mple.org/",
            "https://example.org:99999/",
            "https://example.org:/",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://example.org/x",
            "app:/callback",
            "org.example.app:",
            "https://example.org/\u{0}",
            &format!("https://example.org/{}", "a".repeat(CLIENT_URL_MAX)),
        ] {
            assert!(RedirectUri::parse(invalid).is_err(), "{invalid:?}");
        }
    }

    #[test]
    fn only_the_port_of_this_machine_may_differ() {
        for (known, requested, is_allowed) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", true),
            ("http://localhost:1/cb", "http://localhost:2/cb", true),
            ("http://[::1]/cb", "http://[::1]:5000/cb", true),
            ("http://localhost/cb", "http://127.0.0.1:2/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/other", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb?a=b", false),
            ("https://example.org/cb", "https://example.org/cb", true),
            ("https://example.org/cb", "https://example.org/cb/", false),
            ("https://example.org/cb", "https://example.org:444/cb", false),
            ("https://example.org/cb", "https://example.org/cb?x=y", false),
            ("https://localhost/cb", "https://localhost:444/cb", false),
        ] {
            assert_eq!(uri(known).allows(&uri(requested)), is_allowed, "{known} {requested}");
        }
    }

    #[test]
    fn targets_of_redirect_uris() {
        let site = RedirectTarget::Site("example.org:444".to_owned());
        let app = RedirectTarget::App("org.example.app".to_owned());
        for (text, target) in [
            ("https://example.org:444/cb", site),
            ("http://localhost:5000/cb", RedirectTarget::ThisMachine),
            ("http://[::1]:5000/cb", RedirectTarget::ThisMachine),
            ("org.example.app:/cb", app),
        ] {
            assert_eq!(uri(text).target(), target, "{text}");
        }
    }

    #[test]
    fn client_ids_are_uuids_or_https_urls_with_a_path() {
        let id = "067e6162-3b6f-7ae2-a171-2470b63dff00";
        assert!(matches!(ClientId::parse(id), Ok(ClientId::Registered(_))));
        let url = "https://client.example/oauth/client.json";
        let ClientId::Document(parsed) = ClientId::parse(url).unwrap() else { panic!("a document") };
        assert_eq!((parsed.as_str(), parsed.host()), (url, "client.example"));
        for invalid in [
            "",
            "client",
            "067E6162-3B6F-7AE2-A171-2470B63DFF00",
            "http://client.example/c",
            "https://client.example",
            "https://client.example/",
            "https://client.example/a/../b",
            "https://client.example/a/%2E%2e/b",
            "https://client.example/a?b",
            "https://client.example/a#b",
            "https://u:p@client.example/a",
            "https:/client.example/a",
        ] {
            assert!(ClientId::parse(invalid).is_err(), "{invalid:?}");
        }
    }
}
