//! Proxies that are not trusted.

use std::net::IpAddr;
use std::sync::OnceLock;

/// Peers outside the trusted proxies that sent `X-Forwarded-For` or `Forwarded`. A proxy that is not trusted makes all its clients
/// share one address, and with it the limits of requests and of failed logins.
#[derive(Debug, Default)]
pub struct UntrustedProxies {
    /// The first peer with a private address, which is probably a proxy.
    private: OnceLock<IpAddr>,
    /// The first peer with a public address. Any client can send the headers.
    public: OnceLock<IpAddr>,
}

impl UntrustedProxies {
    /// Records the peer of a request with such a header. Logs the first of each kind.
    pub(crate) fn note(&self, peer: IpAddr) {
        let is_first = self.of_kind(peer).set(peer).is_ok();
        if is_first {
            tracing::warn!(
                %peer,
                "X-Forwarded-For or Forwarded from a peer outside DOCENT_TRUSTED_PROXIES is ignored; if it is a proxy, add it: until \
                 then its clients share one address and its limits"
            );
        }
    }

    fn of_kind(&self, peer: IpAddr) -> &OnceLock<IpAddr> {
        let is_private = match peer {
            IpAddr::V4(peer) => peer.is_loopback() || peer.is_private() || peer.is_link_local(),
            IpAddr::V6(peer) => peer.is_loopback() || peer.is_unique_local() || peer.is_unicast_link_local(),
        };
        if is_private { &self.private } else { &self.public }
    }

    /// The first such peer with a private address since the start of the process. Others are only logged: they can be clients, whose
    /// address must not be trusted.
    pub fn first(&self) -> Option<IpAddr> {
        self.private.get().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_proxies_have_private_addresses() {
        let proxies = UntrustedProxies::default();
        assert_eq!(proxies.first(), None);
        for (peer, first) in [
            ("203.0.113.9", None),
            ("203.0.113.10", None),
            ("fd00::7", Some("fd00::7")),
            ("10.0.0.1", Some("fd00::7")),
        ] {
            proxies.note(peer.parse().unwrap());
            assert_eq!(proxies.first(), first.map(|first| first.parse().unwrap()));
        }
    }
}
