//! Address and user agent of the client.

use crate::context;
use crate::error::ApiError;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header::{self, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use ipnet::IpNet;
use std::future::{Ready, ready};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The client of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// IP address.
    pub address: IpAddr,
    /// Whether a trusted proxy reports TLS.
    pub is_secure: bool,
}

impl Client {
    /// Determines the client and stores it in the request for [`FromRequest`].
    pub fn remember(request: &ServiceRequest) -> Result<Self, ApiError> {
        let context = context::from_service(request)?;
        let peer = request.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
        let client = Self::of(peer, request.headers(), &context.settings.trusted_proxies);
        if is_forwarded(request.headers())
            && !is_trusted(peer.to_canonical(), &context.settings.trusted_proxies)
        {
            context.untrusted_proxies.note(client.address);
        }
        request.extensions_mut().insert(client);
        Ok(client)
    }

    /// Returns the peer, unless it is a trusted proxy. Then it returns the last forwarded address that is not a trusted proxy; addresses
    /// before it are claims of that client.
    ///
    /// Any `X-Forwarded-For`, even an empty or unreadable one, disables `Forwarded`: proxies that write the former forward the latter
    /// unchanged, so clients can forge it.
    fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let mut address = peer.to_canonical();
        if !is_trusted(address, trusted) {
            return Self { address, is_secure: false };
        }
        let (chain, protocol) = forwarded(headers);
        for step in chain.iter().rev() {
            // Nothing before an unreadable entry can be trusted.
            let Some(step) = step.and_then(parse_address) else { break };
            address = step.to_canonical();
            if !is_trusted(address, trusted) {
                break;
            }
        }
        Self { address, is_secure: protocol.is_some_and(|protocol| protocol.eq_ignore_ascii_case("https")) }
    }
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|net| net.contains(&address))
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key("x-forwarded-for") || headers.contains_key(header::FORWARDED)
}

/// The header `User-Agent`, if it is valid UTF-8.
pub struct UserAgent(pub Option<String>);

impl FromRequest for UserAgent {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        ready(Ok(Self(agent.map(str::to_owned))))
    }
}

/// Returns the forwarded addresses, client first, and the protocol reported by the last proxy. An entry that is not text or names no
/// address is `None`.
fn forwarded(headers: &HeaderMap) -> (Vec<Option<&str>>, Option<&str>) {
    let chain: Vec<_> = list(headers, "x-forwarded-for").collect();
    if !chain.is_empty() {
        return (chain, list(headers, "x-forwarded-proto").last().flatten());
    }
    let elements: Vec<_> = list(headers, header::FORWARDED.as_str()).collect();
    let chain = elements.iter().map(|element| parameter((*element)?, "for")).collect();
    (chain, elements.last().and_then(|element| parameter((*element)?, "proto")))
}

/// Returns the entries of all headers with this name; those that are not UTF-8 are `None`.
fn list<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = Option<&'a str>> {
    let entries = headers.get_all(name).flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    entries.map(|entry| str::from_utf8(entry).ok().map(str::trim))
}

/// Returns the value of `name` in `for=192.0.2.60;proto=https`.
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

/// Reads an address, with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

impl FromRequest for Client {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().copied().ok_or_else(ApiError::internal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn client(peer: &str, headers: &[(&'static str, &'static str)]) -> (String, bool) {
        let bytes: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        client_of_bytes(peer, &bytes)
    }

    fn client_of_bytes(peer: &str, headers: &[(&'static str, &[u8])]) -> (String, bool) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap());
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let client = Client::of(peer.parse().unwrap(), &map, &trusted);
        (client.address.to_string(), client.is_secure)
    }

    // Invariant: The client address is taken from headers of trusted proxies only.
    #[test]
    fn forwarded_headers_of_an_untrusted_peer_are_ignored() {
        let headers = [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "https")];
        assert_eq!(client("203.0.113.9", &headers), ("203.0.113.9".into(), false));
    }

    #[test]
    fn trusted_proxy_provides_the_client_address() {
        let one = |value| client("10.0.0.1", &[("x-forwarded-for", value)]).0;
        assert_eq!(one("192.0.2.1"), "192.0.2.1");
        assert_eq!(one("6.6.6.6, 192.0.2.1"), "192.0.2.1", "addresses sent by the client are ignored");
        assert_eq!(one("192.0.2.1, 10.0.0.7"), "192.0.2.1", "proxies before proxies are skipped");
        assert_eq!(one("192.0.2.1, unknown"), "10.0.0.1");
        assert_eq!(one("192.0.2.1:4711"), "192.0.2.1");
        assert_eq!(one("[2001:db8::1]:80"), "2001:db8::1");
        assert_eq!(one("10.0.0.9"), "10.0.0.9");
    }

    #[test]
    fn forwarded_is_used_without_x_forwarded_for() {
        let standard = ("forwarded", "for=6.6.6.6, for=\"[2001:db8::7]\";proto=https;by=10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", &[standard]), ("2001:db8::7".into(), true));
        assert_eq!(client("10.0.0.1", &[standard, ("x-forwarded-for", "192.0.2.1")]).0, "192.0.2.1");
    }

    #[test]
    fn unreadable_x_forwarded_for_disables_forwarded_and_ends_the_walk() {
        let forged = ("forwarded", b"for=6.6.6.6;proto=https".as_slice());
        let of = |value| client_of_bytes("10.0.0.1", &[forged, ("x-forwarded-for", value)]);
        for unreadable in [b"\xff".as_slice(), b"", b" ", b"6.6.6.6, \xc3\x28", b"6.6.6.6,"] {
            assert_eq!(of(unreadable), ("10.0.0.1".into(), false), "{unreadable:?}");
        }
        assert_eq!(of(b"6.6.6.6, \xff, 192.0.2.1").0, "192.0.2.1", "what the proxy appends is trusted");
    }

    #[test]
    fn forwarded_element_without_an_address_ends_the_walk() {
        let headers = [("forwarded", "for=6.6.6.6, proto=https")];
        assert_eq!(client("10.0.0.1", &headers), ("10.0.0.1".into(), true));
    }
}
