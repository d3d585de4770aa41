//! Accounts of an installation whose clock was ahead.

use crate::fixture::{Fixture, password};
use docent_app::accounts::login::{self, Destination};
use docent_app::accounts::sessions::{self, ClientInfo};
use docent_app::accounts::{TokenPair, authenticate, refresh};
use docent_app::audit::{self, Initiator};
use docent_app::error::{Error, Result};
use docent_domain::connection::Resource;
use docent_domain::id::SessionId;
use docent_domain::user::Password;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

impl Fixture {
    async fn tokens(&self, password: &str) -> Result<TokenPair> {
        let client = ClientInfo::new(ADDRESS, None);
        login::login(&self.0, "ada@example.org", password.to_owned(), None, &client).await
    }

    async fn browser(&self, password: &str) -> Result<SessionId> {
        let client = ClientInfo::new(ADDRESS, None);
        login::enter(&self.0, Destination::Panel, "ada@example.org", password.to_owned(), &client).await
    }

    /// Whether the access token and the browser's session are accepted.
    async fn accepts(&self, tokens: &TokenPair, browser: SessionId) -> (bool, bool) {
        let token = authenticate::bearer(&self.0, &tokens.access, Resource::Api).await;
        let session = sessions::authenticate_browser(&self.0, browser, ADDRESS).await;
        for error in [token.as_ref().err(), session.as_ref().err()].into_iter().flatten() {
            assert!(matches!(error, Error::Unauthenticated), "{error:?}");
        }
        (token.is_ok(), session.is_ok())
    }
}

#[tokio::test]
async fn account_created_while_the_clock_was_ahead_can_log_in() {
    let fixture = Fixture::new();
    fixture.superuser("ada").await;
    assert_eq!(audit::newest_ahead_of_clock(&fixture.0).await.unwrap(), None);
    let created_at = fixture.0.now();
    fixture.2.set_back(365 * DAY);
    assert_eq!(audit::newest_ahead_of_clock(&fixture.0).await.unwrap(), Some(created_at));
    let (tokens, browser) = (
        fixture.tokens(password().expose()).await.unwrap(),
        fixture.browser(password().expose()).await.unwrap(),
    );
    assert_eq!(fixture.accepts(&tokens, browser).await, (true, true));
    let renewed = refresh::refresh(&fixture.0, &tokens.refresh).await.unwrap();
    assert_eq!(fixture.accepts(&renewed, browser).await, (true, true));
    fixture.2.advance(DAY);
    assert_eq!(fixture.accepts(&renewed, browser).await, (false, false), "lifetimes are as usual");
}

#[tokio::test]
async fn new_password_ends_sessions_also_after_the_clock_was_ahead() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let ahead = (
        fixture.tokens(password().expose()).await.unwrap(),
        fixture.browser(password().expose()).await.unwrap(),
    );
    fixture.2.set_back(365 * DAY);
    assert!(!fixture.accepts(&ahead.0, ahead.1).await.1, "a browser session of the future");
    let (tokens, browser) = (
        fixture.tokens(password().expose()).await.unwrap(),
        fixture.browser(password().expose()).await.unwrap(),
    );
    let (initiator, new) = (Initiator::command_line(), Password::parse_new("battery staple".into()).unwrap());
    fixture.0.account_service().set_password(&initiator, user.id, new).await.unwrap();
    assert_eq!(fixture.accepts(&tokens, browser).await, (false, false));
    assert_eq!(fixture.accepts(&ahead.0, ahead.1).await, (false, false));
    assert!(refresh::refresh(&fixture.0, &tokens.refresh).await.is_err());
    assert!(!fixture.user(user.id).await.accepts_credentials_issued_at(user.sessions_from), "also by time");
    let (tokens, browser) =
        (fixture.tokens("battery staple").await.unwrap(), fixture.browser("battery staple").await.unwrap());
    assert_eq!(fixture.accepts(&tokens, browser).await, (true, true));
}
