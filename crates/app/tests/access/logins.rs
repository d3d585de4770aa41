//! Limits on failed logins.

use crate::fixture::{Fixture, email, password};
use async_trait::async_trait;
use docent_app::App;
use docent_app::accounts::login;
use docent_app::accounts::sessions::ClientInfo;
use docent_app::error::Error;
use docent_app::settings::Settings;
use docent_domain::fault::{self, Component, Fault, FaultKind};
use docent_domain::user::{Password, PasswordHash};
use docent_ports::Ports;
use docent_ports::password_hasher::PasswordHasher;
use std::sync::Arc;
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

impl Fixture {
    /// Tries to log in from `address`. Returns whether the password was checked, or else how long to wait.
    async fn guess(&self, name: &str, address: &str) -> Result<(), Duration> {
        match self.login(name, "wrong guess", address).await {
            Err(Error::InvalidCredentials) => Ok(()),
            Err(Error::TooManyFailedLogins { retry_after }) => Err(retry_after),
            other => panic!("{:?}", other.map(drop)),
        }
    }

    async fn login(&self, name: &str, password: &str, address: &str) -> Result<(), Error> {
        let client = ClientInfo { address: address.parse().unwrap(), agent: None };
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
    for n in 0..50 {
        assert_eq!(fixture.guess(&format!("account{n}"), "192.0.2.7").await, Ok(()));
    }
    assert_eq!(fixture.guess("another", "192.0.2.7").await, Err(Duration::from_secs(900)));
    assert_eq!(fixture.guess("another", "192.0.2.8").await, Ok(()));
}

#[tokio::test]
async fn full_queue_does_not_keep_the_owner_out() {
    let mut fixture = Fixture::new();
    fixture.superuser(NAME).await;
    fixture.login(NAME, password().expose(), "192.0.2.7").await.unwrap();
    let hasher = Arc::new(FullQueue(Arc::clone(&fixture.1.hasher)));
    fixture.0 = App::new(Ports { hasher, ..fixture.1.clone() }, Settings::default());
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
