//! Limits on failed logins.
//!
//! Failures are counted per account and client network, per network over all accounts, and per account over all
//! networks. The first counter locks the account out in this network. The other two apply to attempts from networks
//! that the account has never logged in from: the second locks them out, the third spaces them out. In a network where
//! its owner has logged in before, an account is locked out only by guesses of its own password in that network.
//!
//! Attempts from unknown networks are checked one at a time per network, and do not delay those from known ones.

use crate::App;
use crate::error::{Error, Result};
use crate::network::{network, networks};
use crate::rate_limit::counter_key;
use docent_domain::id::UserId;
use docent_domain::text::Email;
use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;

/// A lockout within this time after another one lasts twice as long. Also the period in which the failures of an
/// account over all networks are counted.
const MEMORY: Duration = Duration::from_secs(24 * 60 * 60);
/// The limit of a /48 network, in limits of a /64 network.
const WIDE_NETWORK_FACTOR: u64 = 4;
/// The limit of a network over all accounts, in limits of one account.
const NETWORK_FACTOR: u64 = 5;
/// The failures over all networks after which attempts from unknown networks are spaced out, in limits of one network.
const ACCOUNT_FACTOR: u64 = 2;
/// The addresses of an account that make networks known.
const KNOWN_ADDRESSES: u64 = 200;

/// The limits that apply to one attempt.
pub(super) struct LoginLimits<'a> {
    app: &'a App,
    /// Of this account and network, and of this network.
    counters: Vec<Counter>,
    /// The failures of the account over all networks.
    account: String,
    /// Widest network of the client.
    network: String,
    /// Whether the account has logged in from this network before.
    is_known: bool,
}

/// A number of failures that locks out when it reaches its limit.
struct Counter {
    key: String,
    limit: u64,
    /// Whether a successful login resets it.
    is_of_account: bool,
}

impl<'a> LoginLimits<'a> {
    /// The limits of an attempt to log in with this email address, if it is valid, from this client. An unknown account
    /// costs the same reads as an existing one.
    ///
    /// # Errors
    /// [`Error::TooManyFailedLogins`] when the account is locked out in this network, or when the database cannot be reached.
    pub(super) async fn new(app: &'a App, email: Option<&Email>, address: IpAddr) -> Result<Self> {
        let account = account_key(email);
        let counters = counters(app, email, address);
        // Before the networks are read, which costs more.
        check_failures(app, counters.iter().filter(|counter| counter.is_of_account)).await?;
        let user = match email {
            Some(email) => app.store.read().await?.users().by_email(email).await?.map(|user| user.id),
            None => None,
        };
        let user = user.unwrap_or_else(|| app.new_id(UserId::generate));
        let is_known = known_networks(app, user).await?.contains(&network(address));
        let network = networks(address).into_iter().next_back().unwrap_or_default();
        Ok(Self { app, counters, account, network, is_known })
    }

    /// Whether the account has logged in from this network before.
    pub(super) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// Waits for the turn of this attempt, which ends when the guards are dropped. Concurrent attempts cannot bypass the
    /// limits, successful ones do not count, and one network cannot occupy the hasher.
    pub(super) async fn turn(&self) -> Vec<OwnedMutexGuard<()>> {
        let (locks, account, network) = (&self.app.process.logins, &self.account, &self.network);
        if self.is_known {
            return vec![locks.lock(&format!("{account} {network}")).await];
        }
        // In this order, an attempt that has the account's lock checks a password and does not wait in the queue of its
        // network. So the queue of one network does not delay the account's attempts from others.
        let network = locks.lock(network).await;
        vec![network, locks.lock(account).await]
    }

    /// Checks that this attempt is not locked out and not too early.
    pub(super) async fn check(&self) -> Result<()> {
        let applies = |counter: &&Counter| counter.is_of_account || !self.is_known;
        check_failures(self.app, self.counters.iter().filter(applies)).await?;
        if self.is_known {
            return Ok(());
        }
        let pause = self.app.limiter.peek(&pause_key(&self.account), self.app.now()).await?;
        if pause.events == 0 {
            return Ok(());
        }
        Err(Error::TooManyFailedLogins { retry_after: pause.resets_in })
    }

    /// Counts a failure.
    pub(super) async fn record_failure(&self) -> Result<()> {
        let (period, now) = (self.app.settings.login_failure_period, self.app.now());
        for counter in &self.counters {
            let failures = self.app.limiter.hit(&counter.key, period, now).await?;
            if failures.events == counter.limit {
                let lockouts = self.app.limiter.hit(&counter.lockouts_key(), MEMORY, now).await?;
                let length = doubled(period, lockouts.events - 1).min(MEMORY);
                self.app.limiter.hit(&counter.lockout_key(), length, now).await?;
            }
        }
        let failures = self.app.limiter.hit(&self.account, MEMORY, now).await?;
        let tolerated = self.app.settings.login_max_failures.saturating_mul(ACCOUNT_FACTOR);
        if let Some(excess) = failures.events.checked_sub(tolerated) {
            self.app.limiter.reset(&pause_key(&self.account)).await?;
            let pause = doubled(Duration::from_secs(1), excess).min(period);
            self.app.limiter.hit(&pause_key(&self.account), pause, now).await?;
        }
        Ok(())
    }

    /// Forgets this network's failures for this account.
    pub(super) async fn record_success(&self) -> Result<()> {
        for counter in self.counters.iter().filter(|counter| counter.is_of_account) {
            self.app.limiter.reset(&counter.key).await?;
            self.app.limiter.reset(&counter.lockouts_key()).await?;
        }
        Ok(())
    }
}

/// The counters of an attempt to log in with this email address from this client.
fn counters(app: &App, email: Option<&Email>, address: IpAddr) -> Vec<Counter> {
    let email = email.map_or("", Email::as_str);
    let max = app.settings.login_max_failures;
    let mut counters = Vec::new();
    for (tier, network) in networks(address).iter().enumerate() {
        let limit = if tier == 0 { max } else { max.saturating_mul(WIDE_NETWORK_FACTOR) };
        let of_account = counter_key("login", &[email, network]);
        let of_network = counter_key("login-network", &[network]);
        counters.push(Counter { key: of_account, limit, is_of_account: true });
        let limit = limit.saturating_mul(NETWORK_FACTOR);
        counters.push(Counter { key: of_network, limit, is_of_account: false });
    }
    counters
}

/// Checks that none of these counters locks out.
async fn check_failures(app: &App, counters: impl Iterator<Item = &Counter>) -> Result<()> {
    let now = app.now();
    let mut wait = Duration::ZERO;
    for counter in counters {
        let lockout = app.limiter.peek(&counter.lockout_key(), now).await?;
        let failures = app.limiter.peek(&counter.key, now).await?;
        let is_full = failures.events >= counter.limit;
        let window_end = if is_full { failures.resets_in } else { Duration::ZERO };
        wait = wait.max(lockout.resets_in).max(window_end);
    }
    if wait.is_zero() { Ok(()) } else { Err(Error::TooManyFailedLogins { retry_after: wait }) }
}

/// The networks that an account has logged in from.
pub(super) async fn known_networks(app: &App, user: UserId) -> Result<HashSet<String>> {
    let addresses = app.store.read().await?.sessions().addresses(user, KNOWN_ADDRESSES).await?;
    Ok(addresses.into_iter().map(network).collect())
}

impl Counter {
    /// The key of the current lockout.
    fn lockout_key(&self) -> String {
        format!("{}:lock", self.key)
    }

    /// The key that counts recent lockouts.
    fn lockouts_key(&self) -> String {
        format!("{}:locks", self.key)
    }
}

/// Forgets the failures of an account over all networks, because its password has changed. If the key-value store
/// cannot be reached, they count until they expire.
pub(super) async fn forget_failures(app: &App, email: &Email) {
    let account = account_key(Some(email));
    for key in [pause_key(&account), account] {
        if let Err(fault) = app.limiter.reset(&key).await {
            app.note(&fault);
        }
    }
}

fn account_key(email: Option<&Email>) -> String {
    counter_key("login-account", &[email.map_or("", Email::as_str)])
}

/// The key of the pause between attempts from unknown networks.
fn pause_key(account: &str) -> String {
    format!("{account}:pause")
}

/// `duration`, doubled this many times.
fn doubled(duration: Duration, times: u64) -> Duration {
    let times = u32::try_from(times).unwrap_or(u32::MAX).min(16);
    duration.saturating_mul(2_u32.saturating_pow(times))
}
