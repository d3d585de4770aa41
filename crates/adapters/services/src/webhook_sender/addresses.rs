//! Classifies IP addresses by whether webhooks may be sent to them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The hosts that webhooks may be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedHosts {
    /// Hosts on the public internet.
    Public,
    /// Also private networks and this machine. Link-local addresses, metadata services of clouds and addresses without a
    /// host remain forbidden.
    PublicAndPrivate,
}

impl AllowedHosts {
    /// Whether an address is allowed.
    pub(super) fn allows(self, address: IpAddr) -> bool {
        let address = embedded_v4(address);
        if METADATA.contains(&address) {
            return false;
        }
        match self {
            Self::Public => is_public(address),
            Self::PublicAndPrivate => is_public(address) || can_be_private_host(address),
        }
    }
}

/// Returns the IPv4 address embedded in an IPv6 address, if any: mapped (`::ffff:0:0/96`), compatible (`::/96`),
/// translated (NAT64, `64:ff9b::/96`) and 6to4 (`2002::/16`).
fn embedded_v4(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let v4 = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(one, two, three, four))
    };
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => v4(g, h),
        // `::` and `::1` belong to IPv6.
        (0, 0, 0, 0, 0, 0) if g != 0 || h > 1 => v4(g, h),
        (0x2002, ..) => v4(b, c),
        _ => address,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !SPECIAL_V4.iter().any(|(network, bits)| contains_v4(*network, *bits, v4)),
        // The range allocated for global unicast, without special-purpose blocks.
        IpAddr::V6(v6) => {
            contains_v6([0x2000, 0, 0], 3, v6)
                && !SPECIAL_V6.iter().any(|(network, bits)| contains_v6(*network, *bits, v6))
        }
    }
}

/// Whether an address can belong to a host of a private network or to this machine.
fn can_be_private_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let has_no_host = v4.is_unspecified() || v4.is_broadcast() || v4.is_multicast();
            !has_no_host && !v4.is_link_local()
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local(),
    }
}

/// Metadata services of clouds, which serve credentials, in addition to the link-local 169.254.169.254.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

const SPECIAL_V4: [([u8; 4], u32); 15] = [
    // This network.
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    // Shared by customers of a provider.
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Link-local; clouds serve credentials at 169.254.169.254.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    // Assignments of protocols.
    ([192, 0, 0, 0], 24),
    // Documentation.
    ([192, 0, 2, 0], 24),
    // Relays of 6to4.
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    // Measurements.
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Multicast.
    ([224, 0, 0, 0], 4),
    // Reserved, and broadcast.
    ([240, 0, 0, 0], 4),
];

/// Parts of `2000::/3`, by their first three segments.
const SPECIAL_V6: [([u16; 3], u32); 3] = [
    // Assignments of protocols, such as Teredo, which carries IPv4 addresses.
    ([0x2001, 0, 0], 23),
    // Documentation.
    ([0x2001, 0xdb8, 0], 32),
    ([0x3fff, 0, 0], 20),
];

fn contains_v4(network: [u8; 4], bits: u32, address: Ipv4Addr) -> bool {
    let different = u32::from_be_bytes(network) ^ address.to_bits();
    different.leading_zeros() >= bits
}

fn contains_v6([a, b, c]: [u16; 3], bits: u32, address: Ipv6Addr) -> bool {
    let different = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).to_bits() ^ address.to_bits();
    different.leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2002:101:101::1",
    ];

    /// Possible hosts that are not public.
    const PRIVATE: &[&str] = &[
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "240.0.0.1",
        "0.1.2.3",
        "::1",
        "fc00::1",
        "fdff::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::1",
        "2002:c0a8:1::",
    ];

    /// Addresses without a host, and metadata services.
    const NEVER: &[&str] = &[
        "0.0.0.0",
        "255.255.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "239.255.255.255",
        "::",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:a9fe:a9fe::",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "3fff:0fff::1",
        "4000::1",
        "100::1",
    ];

    fn allowed(hosts: AllowedHosts, text: &&str) -> bool {
        hosts.allows(text.parse().unwrap())
    }

    // Invariant: No webhook reaches a host that is not public, even if its name resolves differently later.
    #[test]
    fn public_allows_only_public_addresses() {
        for text in PUBLIC {
            assert!(
                allowed(AllowedHosts::Public, text) && allowed(AllowedHosts::PublicAndPrivate, text),
                "{text}"
            );
        }
        for text in PRIVATE.iter().chain(NEVER) {
            assert!(!allowed(AllowedHosts::Public, text), "{text}");
        }
    }

    #[test]
    fn metadata_services_are_never_allowed() {
        for text in PRIVATE {
            assert!(allowed(AllowedHosts::PublicAndPrivate, text), "{text}");
        }
        for text in NEVER {
            assert!(!allowed(AllowedHosts::PublicAndPrivate, text), "{text}");
        }
    }
}
