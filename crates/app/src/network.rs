//! Client networks: the addresses that count as one client.

use std::net::{IpAddr, Ipv6Addr};

/// The networks of an address, narrowest first: an IPv4 address alone, or the /64 and the /48 of an IPv6 address.
///
/// A customer of an IPv6 provider has at least a /64, and often a /48, and can use any address in it.
pub(crate) fn networks(address: IpAddr) -> Vec<String> {
    match address.to_canonical() {
        IpAddr::V4(address) => vec![address.to_string()],
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            let network = |d, bits| format!("{}/{bits}", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0));
            vec![network(d, 64), network(0, 48)]
        }
    }
}

/// The narrowest network of an address.
pub(crate) fn network(address: IpAddr) -> String {
    networks(address).swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_share_networks() {
        let networks = |text: &str| networks(text.parse().unwrap());
        assert_eq!(networks("2001:db8:1:2:3:4:5:6"), ["2001:db8:1:2::/64", "2001:db8:1::/48"]);
        assert_eq!(networks("::ffff:192.0.2.7"), ["192.0.2.7"]);
        assert_eq!(networks("192.0.2.7"), ["192.0.2.7"]);
        assert_eq!(network("2001:db8:1:2:3:4:5:6".parse().unwrap()), "2001:db8:1:2::/64");
    }
}
