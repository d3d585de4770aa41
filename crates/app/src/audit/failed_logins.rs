//! Failed logins of unknown accounts: counted by network and hour, and written to the audit log when the hour is over.

use super::{AuditTarget, Changes, Initiator};
use crate::App;
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use docent_domain::audit::AuditAction;
use docent_domain::fault::Result;
use docent_domain::permission::RecordKind;
use docent_ports::store::UnitOfWork;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Counts a failed login.
///
/// # Errors
/// When the database cannot be reached.
pub(crate) async fn count(work: &mut dyn UnitOfWork, client: IpAddr, now: DateTime<Utc>) -> Result<()> {
    work.audit().count_failed_login(&network(client), hour(now)).await
}

/// Writes an entry for each network and each hour that is over. Several processes can do so at the same time.
///
/// # Errors
/// When the database cannot be reached.
pub(crate) async fn record(app: &App) -> Result<()> {
    let mut work = app.store.begin().await?;
    for logins in work.audit().take_failed_logins(hour(app.now())).await? {
        let changes = Changes::default()
            .added("network", logins.network)
            .added("hour", logins.hour.to_rfc3339())
            .added("attempts", logins.attempts);
        let target = AuditTarget::new(RecordKind::User, "", "unknown accounts");
        app.audit(&mut *work, &Initiator::clients(), AuditAction::LoginFailed, target, changes).await?;
    }
    work.commit().await
}

/// The start of the hour.
fn hour(now: DateTime<Utc>) -> DateTime<Utc> {
    now.duration_trunc(TimeDelta::hours(1)).unwrap_or(now)
}

/// The network of a client: /24 of IPv4, /64 of IPv6.
fn network(client: IpAddr) -> String {
    match client.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            format!("{}/24", Ipv4Addr::new(a, b, c, 0))
        }
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_network_are_counted_together() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(network("192.0.2.77"), "192.0.2.0/24");
        assert_eq!(network("::ffff:192.0.2.77"), "192.0.2.0/24");
        assert_eq!(network("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
    }
}
