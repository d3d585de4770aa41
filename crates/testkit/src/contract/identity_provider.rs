//! Contract of every identity provider.

use crate::clock::TestClock;
use crate::fakes::identity_provider::Grant;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::identity::{IdentityClaims, LogoutRequest};
use docent_domain::text::{Email, PersonName};
use docent_ports::clock::Clock;
use docent_ports::identity_provider::{AuthorizationRequest, IdentityError, IdentityProvider, Redemption};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Issues a code for a token and the request it belongs to.
pub type Issue = Box<dyn Fn(&str, Grant, AuthorizationRequest) + Send>;

/// A provider and the controls of its other side.
pub struct Subject {
    /// The provider.
    pub provider: Arc<dyn IdentityProvider>,
    /// The clock of the provider.
    pub clock: Arc<TestClock>,
    /// Issues a code.
    pub issue: Issue,
    /// Signs a logout token.
    pub sign_logout: Box<dyn Fn(&LogoutRequest) -> String + Send>,
    /// Stops or resumes answering.
    pub set_down: Box<dyn Fn(bool) + Send>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subject")
    }
}

impl Subject {
    /// The current time in whole seconds, as tokens have it.
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.clock.now().timestamp(), 0).expect("a time")
    }

    /// Claims with all values.
    fn claims(&self) -> IdentityClaims {
        IdentityClaims {
            issuer: self.provider.issuer().to_owned(),
            subject: "248289761001".to_owned(),
            email: Some(Email::parse("ada@example.org").expect("an address")),
            is_email_verified: Some(true),
            name: PersonName::parse("Ada Lovelace").ok(),
            groups: BTreeSet::from(["engineers".to_owned(), "staff".to_owned()]),
            session: Some("08a5019c".to_owned()),
            authenticated_at: Some(self.now() - TimeDelta::seconds(60)),
            methods: vec!["pwd".to_owned(), "mfa".to_owned()],
            context: Some("phr".to_owned()),
            id_token: None,
        }
    }

    fn grant(&self) -> Grant {
        Grant::new(self.claims(), self.now())
    }

    async fn redeem(&self, grant: Grant) -> Result<IdentityClaims, IdentityError> {
        (self.issue)("code", grant, request());
        self.provider.redeem(&redemption("code")).await
    }
}

fn request() -> AuthorizationRequest {
    AuthorizationRequest {
        redirect_uri: "https://docs.example.org/auth/oidc/sso/callback".to_owned(),
        state: "state-1".to_owned(),
        nonce: "nonce-1".to_owned(),
        verifier: "v".repeat(64),
        reauthenticates: false,
    }
}

fn redemption(code: &str) -> Redemption {
    let AuthorizationRequest { redirect_uri, nonce, verifier, .. } = request();
    Redemption { code: code.to_owned(), issuer: None, redirect_uri, nonce, verifier }
}

fn is_refused<T>(result: &Result<T, IdentityError>) -> bool {
    matches!(result, Err(IdentityError::Refused(_)))
}

fn is_unavailable<T>(result: &Result<T, IdentityError>) -> bool {
    matches!(result, Err(IdentityError::Unavailable(_)))
}

crate::battery! {
    identity_provider_contract in identity_provider (Subject);

    async fn authorization_url_has_state_and_nonce_and_asks_again_if_wanted(subject) {
        let url = subject.provider.authorization_url(&request()).await.unwrap();
        assert!(url.contains("response_type=code") && url.contains("state=state-1") && url.contains("nonce=nonce-1"), "{url}");
        assert!(!url.contains("max_age") && !url.contains(&"v".repeat(64)), "{url}");
        let again = AuthorizationRequest { reauthenticates: true, ..request() };
        let url = subject.provider.authorization_url(&again).await.unwrap();
        assert!(url.contains("max_age=0"), "{url}");
    }

    async fn code_is_redeemed_once_for_all_claims(subject) {
        let claims = subject.redeem(subject.grant()).await.unwrap();
        assert_eq!(IdentityClaims { id_token: None, ..claims }, subject.claims());
        assert!(is_refused(&subject.provider.redeem(&redemption("code")).await));
        assert!(is_refused(&subject.provider.redeem(&redemption("unknown")).await));
    }

    async fn person_without_optional_claims_is_accepted(subject) {
        let IdentityClaims { issuer, subject: person, id_token, .. } = subject.claims();
        let bare = IdentityClaims { id_token, ..IdentityClaims::new(issuer, person) };
        let claims = subject.redeem(Grant { claims: bare.clone(), ..subject.grant() }).await.unwrap();
        assert_eq!(IdentityClaims { id_token: None, ..claims }, bare);
    }

    async fn code_of_another_request_is_refused(subject) {
        for other in [
            Redemption { verifier: "w".repeat(64), ..redemption("code") },
            Redemption { nonce: "nonce-2".to_owned(), ..redemption("code") },
            Redemption { issuer: Some("https://other.example.net".to_owned()), ..redemption("code") },
        ] {
            (subject.issue)("code", subject.grant(), request());
            assert!(is_refused(&subject.provider.redeem(&other).await), "{other:?}");
        }
        (subject.issue)("named", subject.grant(), request());
        let named = Redemption { issuer: Some(subject.provider.issuer().to_owned()), ..redemption("named") };
        assert!(subject.provider.redeem(&named).await.is_ok());
    }

    async fn tokens_for_others_and_unsigned_tokens_are_refused(subject) {
        let other = || "another".to_owned();
        let foreign = IdentityClaims { issuer: "https://other.example.net".to_owned(), ..subject.claims() };
        for grant in [
            Grant { audience: other(), ..subject.grant() },
            Grant { authorized_party: Some(other()), ..subject.grant() },
            Grant { nonce: Some(other()), ..subject.grant() },
            Grant { claims: foreign, ..subject.grant() },
            Grant { is_signed: false, ..subject.grant() },
        ] {
            let result = subject.redeem(grant.clone()).await;
            assert!(is_refused(&result), "{grant:?} {result:?}");
        }
        assert!(subject.redeem(subject.grant()).await.is_ok(), "later sign-ins work");
    }

    async fn clocks_may_differ_by_a_minute(subject) {
        let now = subject.now();
        let seconds = TimeDelta::seconds;
        for (issued, expires, is_valid) in [(0, 1, true), (-300, -50, true), (-300, -61, false), (50, 300, true), (70, 300, false)] {
            let grant = Grant { issued_at: now + seconds(issued), expires_at: now + seconds(expires), ..subject.grant() };
            let result = subject.redeem(grant).await;
            assert_eq!((result.is_ok(), is_refused(&result)), (is_valid, !is_valid), "{issued} {expires} {result:?}");
        }
    }

    async fn logout_url_names_the_session_and_the_way_back(subject) {
        let url = subject.provider.logout_url(Some("a.b.c"), "https://docs.example.org/").await.unwrap().unwrap();
        assert!(url.contains("id_token_hint=a.b.c") && url.contains("client_id=docent"), "{url}");
        assert!(url.contains("post_logout_redirect_uri=https%3A%2F%2Fdocs.example.org%2F"), "{url}");
        assert!(!subject.provider.logout_url(None, "https://docs.example.org/").await.unwrap().unwrap().contains("id_token_hint"));
    }

    async fn logout_token_names_what_ends(subject) {
        for (person, session) in [(Some("1"), None), (None, Some("s")), (Some("1"), Some("s"))] {
            let asked = LogoutRequest {
                issuer: subject.provider.issuer().to_owned(),
                subject: person.map(str::to_owned),
                provider_session: session.map(str::to_owned),
                issued_at: subject.now(),
            };
            let token = (subject.sign_logout)(&asked);
            assert_eq!(subject.provider.verify_logout(&token).await.unwrap(), asked);
        }
        for invalid in ["", "a", "a.b.c", "e30.e30."] {
            assert!(is_refused(&subject.provider.verify_logout(invalid).await), "{invalid:?}");
        }
    }

    async fn provider_that_is_down_is_unavailable_until_it_answers(subject) {
        (subject.set_down)(true);
        assert!(is_unavailable(&subject.provider.authorization_url(&request()).await));
        assert!(is_unavailable(&subject.provider.check().await));
        (subject.set_down)(false);
        subject.clock.advance(Duration::from_secs(11));
        assert!(subject.provider.check().await.is_ok());
        assert!(subject.provider.authorization_url(&request()).await.is_ok());
        (subject.issue)("code", subject.grant(), request());
        (subject.set_down)(true);
        assert!(is_unavailable(&subject.provider.redeem(&redemption("code")).await));
    }
}
