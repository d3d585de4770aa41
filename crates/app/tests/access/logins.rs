//! Limits on failed logins.

use crate::fixture::{Fixture, email, password};
use async_trait::async_trait;
use docent_app::App;
use docent_app::accounts::login;
use docent_app::accounts::sessions::{self, ClientInfo};
use docent_app::error::Error;
use docent_app::settings::Settings;
use docent_domain::fault::{self, Component, Fault, FaultKind};
use docent_domain::user::{Password, PasswordHash};
use docent_ports::Ports;
use docent_ports::password_hasher::PasswordHasher;
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const NAME: &str = "ada";

/// A hasher whose queue is full but for the reserved places.
struct FullQueue(Arc<dyn PasswordHasher>);

#[async_trait]
impl PasswordHasher for FullQueue {
    async fn hash(&self, password: Password) -> fault::Result<PasswordHash> {
        self.0.hash(password).await
    }

    async fn verify(&self, _: Password, _: Option<PasswordHash>) -> fault::Result<bool> {
        Err(Fault::new(Component::Service, FaultKind::Unavailable, "the queue is full"))
    }

    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> fault::Result<bool> {
        self.0.verify(password, hash).await
    }
}

/// A hasher that is busy for a while with each ordinary call, and counts them.
struct SlowHasher {
    inner: Arc<dyn PasswordHasher>,
    running: AtomicUsize,
    most_running: AtomicUsize,
    calls: AtomicUsize,
}

#[async_trait]
impl PasswordHasher for SlowHasher {
    async fn hash(&self, password: Password) -> fault::Result<PasswordHash> {
        self.inner.hash(password).await
    }

    async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> fault::Result<bool> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let running = 1 + self.running.fetch_add(1, Ordering::Relaxed);
        self.most_running.fetch_max(running, Ordering::Relaxed);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.inner.verify(password, hash).await
    }

    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> fault::Result<bool> {
        self.inner.verify(password, hash).await
    }
}

/// A hasher whose ordinary calls never return.
struct StuckHasher(Arc<dyn PasswordHasher>);

#[async_trait]
impl PasswordHasher for StuckHasher {
    async fn hash(&self, password: Password) -> fault::Result<PasswordHash> {
        self.0.hash(password).await
    }

    async fn verify(&self, _: Password, _: Option<PasswordHash>) -> fault::Result<bool> {
        std::future::pending().await
    }

    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> fault::Result<bool> {
        self.0.verify(password, hash).await
    }
}

impl Fixture {
    /// Replaces the hasher, as after a restart with the same stores.
    fn with_hasher<H: PasswordHasher + 'static>(
        &mut self,
        hasher: impl FnOnce(Arc<dyn PasswordHasher>) -> H,
    ) -> Arc<H> {
        let hasher = Arc::new(hasher(Arc::clone(&self.1.hasher)));
        let ports = Ports { hasher: Arc::clone(&hasher) as _, ..self.1.clone() };
        self.0 = App::new(ports, Settings::default());
        hasher
    }

    /// Guesses for 50 accounts that do not exist, which locks the network out.
    async fn lock_network(&self, address: &str) {
        for n in 0..50 {
            assert_eq!(self.guess(&format!("account{n}"), address).await, Ok(()));
        }
        assert_eq!(self.guess("another", address).await, Err(Duration::from_secs(900)));
    }

    /// Tries to log in from `address`. Returns whether the password was checked, or else how long to wait.
    async fn guess(&self, name: &str, address: &str) -> Result<(), Duration> {
        match self.login(name, "wrong guess", address).await {
            Err(Error::InvalidCredentials) => Ok(()),
            Err(Error::TooManyFailedLogins { retry_after }) => Err(retry_after),
            other => panic!("{:?}", other.map(drop)),
        }
    }

    async fn login(&self, name: &str, password: &str, address: &str) -> Result<(), Error> {
        let client = ClientInfo::new(address.parse().unwrap(), None);
        login::login(&self.0, email(name).as_str(), password.to_owned(), None, &client).await.map(drop)
    }

    /// Guesses from a new address until one attempt is refused. Returns how many were checked, and the refusal.
    async fn guess_from_everywhere(&self, name: &str) -> (u32, Duration) {
        for n in 0..1000 {
            if let Err(wait) = self.guess(name, &format!("198.51.{}.{}", n / 250, n % 250)).await {
                return (n, wait);
            }
        }
        panic!("never refused");
    }
}

#[tokio::test]
async fn guesses_from_many_addresses_are_spaced_out_with_growing_pauses() {
    let fixture = Fixture::new();
    fixture.superuser(NAME).await;
    assert_eq!(fixture.guess_from_everywhere(NAME).await, (20, Duration::from_secs(1)));
    for pause in [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
        fixture.2.advance(Duration::from_secs(pause));
        assert_eq!(fixture.guess_from_everywhere(NAME).await.0, 1);
        assert_eq!(fixture.guess(NAME, "203.0.113.9").await, Err(Duration::from_secs(pause)));
    }
    assert_eq!(fixture.guess("bob", "203.0.113.9").await, Ok(()), "other accounts are not affected");
}

#[tokio::test]
async fn unknown_account_is_limited_like_an_existing_one() {
    let fixture = Fixture::new();
    assert_eq!(fixture.guess_from_everywhere("unknown").await, (20, Duration::from_secs(1)));
}

#[tokio::test]
async fn guesses_of_others_do_not_lock_the_owner_out() {
    let fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    fixture.guess_from_everywhere(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    let unknown = fixture.login(NAME, password().expose(), "192.0.2.8").await;
    assert!(matches!(unknown, Err(Error::TooManyFailedLogins { .. })));
}

#[tokio::test]
async fn new_password_ends_the_pause() {
    let fixture = Fixture::new();
    let admin = fixture.superuser(NAME).await;
    let user = fixture.superuser("bob").await;
    fixture.guess_from_everywhere("bob").await;
    let actor = fixture.actor(&admin).await;
    let new = Password::parse_new("battery staple".to_owned()).unwrap();
    let grant = actor.authorize().unwrap();
    docent_app::accounts::users::set_password(&fixture.0, &actor, grant, user.id, new).await.unwrap();
    fixture.login("bob", "battery staple", "192.0.2.8").await.unwrap();
}

#[tokio::test]
async fn addresses_of_one_ipv6_customer_share_limits() {
    let fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "2001:db8::1").await.unwrap();
    for n in 1..=10 {
        assert_eq!(fixture.guess(NAME, &format!("2001:db8::{n:x}")).await, Ok(()));
    }
    let refused = Err(Duration::from_secs(900));
    assert_eq!(fixture.guess(NAME, "2001:db8::ffff").await, refused, "the same /64");
    // Each /64 of the /48 has its own limit, until they reach the one of the /48 together. They are known networks
    // here, so that the limit of the account does not hide it.
    for subnet in [1, 2, 3, 4, 9] {
        fixture.login(NAME, password().expose(), &format!("2001:db8:0:{subnet}::1")).await.unwrap();
    }
    for n in 0..40 {
        assert_eq!(fixture.guess(NAME, &format!("2001:db8:0:{}::1", 1 + n / 10)).await, Ok(()), "{n}");
    }
    assert_eq!(fixture.guess(NAME, "2001:db8:0:9::1").await, refused, "another /64");
}

#[tokio::test]
async fn guesses_for_many_accounts_from_one_network_are_limited() {
    let fixture = Fixture::new();
    fixture.lock_network("192.0.2.7").await;
    assert_eq!(fixture.guess("another", "192.0.2.8").await, Ok(()));
}

#[tokio::test]
async fn locked_network_refuses_no_account_that_is_known_there() {
    let fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.superuser("bob").await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    fixture.login("bob", password().expose(), "192.0.2.8").await.unwrap();
    fixture.lock_network("192.0.2.7").await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    let elsewhere = fixture.login("bob", password().expose(), "192.0.2.7").await;
    assert!(matches!(elsewhere, Err(Error::TooManyFailedLogins { .. })), "unknown in this network");
    fixture.login("bob", password().expose(), "192.0.2.8").await.unwrap();
    for _ in 0..10 {
        assert_eq!(fixture.guess(NAME, "192.0.2.7").await, Ok(()));
    }
    let guessed = fixture.login(NAME, password().expose(), "192.0.2.7").await;
    assert!(matches!(guessed, Err(Error::TooManyFailedLogins { .. })), "its own limit remains");
}

#[tokio::test]
async fn network_stays_known_after_the_session_has_ended() {
    let fixture = Fixture::new();
    let user = fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    let actor = fixture.actor(&user).await;
    sessions::revoke_all(&fixture.0, &actor, user.id).await.unwrap();
    fixture.lock_network("192.0.2.7").await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
}

#[tokio::test]
async fn waiting_attempts_of_strangers_do_not_delay_the_owner() {
    let mut fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    fixture.with_hasher(StuckHasher);
    let attempts = [(NAME, "192.0.2.8"), (NAME, "192.0.2.9"), ("another", "192.0.2.7")];
    let mut attempts: Vec<_> =
        attempts.iter().map(|(name, address)| Box::pin(fixture.guess(name, address))).collect();
    for attempt in &mut attempts {
        assert!(futures::poll!(attempt).is_pending());
    }
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
}

#[tokio::test]
async fn concurrent_attempts_of_one_network_are_checked_one_at_a_time_within_the_limit() {
    let mut fixture = Fixture::new();
    let hasher = fixture.with_hasher(|inner| SlowHasher {
        inner,
        running: AtomicUsize::new(0),
        most_running: AtomicUsize::new(0),
        calls: AtomicUsize::new(0),
    });
    let names: Vec<String> = (0..70).map(|n| format!("account{n}")).collect();
    let answers = join_all(names.iter().map(|name| fixture.guess(name, "192.0.2.7"))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 50);
    assert_eq!(hasher.calls.load(Ordering::Relaxed), 50);
    assert_eq!(hasher.most_running.load(Ordering::Relaxed), 1);
    let networks = ["198.51.100.1", "198.51.100.2", "198.51.100.3"];
    join_all(networks.map(|address| fixture.guess("another", address))).await;
    assert_eq!(hasher.most_running.load(Ordering::Relaxed), 1, "one account");
    join_all([("one", networks[0]), ("two", networks[1])].map(|(name, from)| fixture.guess(name, from)))
        .await;
    assert_eq!(hasher.most_running.load(Ordering::Relaxed), 2, "other accounts and networks");
}

#[tokio::test]
async fn full_queue_does_not_keep_the_owner_out() {
    let mut fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    fixture.with_hasher(FullQueue);
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    assert_eq!(fixture.guess(NAME, "192.0.2.7").await, Ok(()));
    for (name, address) in [(NAME, "198.51.100.7"), ("unknown", "192.0.2.7")] {
        let refused = fixture.login(name, password().expose(), address).await;
        assert!(
            matches!(refused, Err(Error::Fault(fault)) if fault.kind() == FaultKind::Unavailable),
            "{name}"
        );
    }
}
