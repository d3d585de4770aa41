//! Accounts: invitations, authentication, sessions, API keys, groups and email verification.

mod access;
pub mod api_keys;
mod application_token;
pub mod authenticate;
pub mod create;
pub mod email_change;
pub mod group_members;
pub mod groups;
pub mod invitation_acceptance;
pub mod invitations;
pub mod keyed_locks;
pub mod librechat;
pub mod login;
mod login_limits;
pub mod logout;
pub(crate) mod notices;
pub mod profile;
pub mod refresh;
pub mod second_factor;
pub mod sessions;
pub mod single_sign_on;
pub mod users;
pub mod verification;

use crate::audit::{self, AuditTarget, Changes, Initiator};
use crate::{App, ids};
use chrono::{DateTime, Utc};
use docent_domain::audit::AuditAction;
use docent_domain::fault::Result;
use docent_domain::id::{AuditId, FamilyId, SessionId, TokenId, UserId};
use docent_domain::text::Email;
use docent_domain::token::{AccessClaims, RefreshClaims};
use docent_domain::user::User;
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use docent_ports::password_hasher::PasswordHasher;
use docent_ports::store::{Store, UnitOfWork};
use std::time::Duration;

/// Whether there are any accounts.
///
/// # Errors
/// When the database cannot be reached.
pub async fn any_exist(app: &App) -> Result<bool> {
    Ok(app.store.read().await?.users().count().await? > 0)
}

/// The account with this email address.
///
/// # Errors
/// When the database cannot be reached.
pub async fn find_by_email(app: &App, email: &Email) -> Result<Option<User>> {
    app.store.read().await?.users().by_email(email).await
}

/// How long a replaced refresh token, of a session or of a connected application, stays usable, so that clients can retry a
/// lost response.
pub(crate) const ROTATION_GRACE: Duration = Duration::from_secs(30);

/// Alphabet of random secrets: 32 characters, 5 bits each.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";

/// Manages accounts and API keys without permission checks: those are the caller's.
///
/// The command line builds it from the few ports it needs, without an [`App`].
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct AccountService<'a> {
    /// The database.
    pub store: &'a dyn Store,
    /// Hashes passwords.
    pub hasher: &'a dyn PasswordHasher,
    /// The current time.
    pub clock: &'a dyn Clock,
    /// Random bytes.
    pub entropy: &'a dyn Entropy,
}

impl App {
    /// The service that manages this application's accounts and API keys.
    pub fn account_service(&self) -> AccountService<'_> {
        AccountService {
            store: &*self.store,
            hasher: &*self.hasher,
            clock: &*self.clock,
            entropy: &*self.entropy,
        }
    }
}

impl AccountService<'_> {
    fn new_id<Id>(&self, generate: impl FnOnce(DateTime<Utc>, [u8; 10]) -> Id) -> Id {
        ids::new_id(self.clock, self.entropy, generate)
    }

    pub(crate) async fn audit(
        &self,
        work: &mut dyn UnitOfWork,
        initiator: &Initiator,
        action: AuditAction,
        target: AuditTarget,
        changes: Changes,
    ) -> Result<()> {
        let id = self.new_id(AuditId::generate);
        audit::append(work, id, self.clock.now(), initiator, action, target, changes).await
    }
}

/// A random text of `length` characters with 5 bits of entropy each.
pub(crate) fn random_text(entropy: &dyn Entropy, length: usize) -> String {
    let mut random = vec![0; length];
    entropy.fill(&mut random);
    random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

/// The tokens that a login or a refresh issues.
#[derive(Clone)]
pub struct TokenPair {
    /// The access token: short-lived, sent with every request.
    pub access: String,
    /// The refresh token: long-lived, exchanged for the next pair.
    pub refresh: String,
}

impl std::fmt::Debug for TokenPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenPair(…)")
    }
}

/// The claims of a new token pair, before they are signed.
struct NewPair {
    access: AccessClaims,
    refresh: RefreshClaims,
}

impl NewPair {
    fn new(app: &App, user: UserId, family: FamilyId) -> Self {
        let issued_at = app.now();
        let access_id = app.new_id(TokenId::generate);
        let refresh_id = app.new_id(TokenId::generate);
        Self {
            access: AccessClaims {
                user,
                id: access_id,
                session: Some(SessionId::of_family(family)),
                issued_at,
                expires_at: issued_at + app.settings.access_token_ttl,
            },
            refresh: RefreshClaims {
                user,
                id: refresh_id,
                family,
                issued_at,
                expires_at: issued_at + app.settings.refresh_token_ttl,
            },
        }
    }

    /// Lets both tokens expire at this time, if they would expire later.
    fn end_by(&mut self, end: DateTime<Utc>) {
        self.access.expires_at = self.access.expires_at.min(end);
        self.refresh.expires_at = self.refresh.expires_at.min(end);
    }

    /// Signs the tokens for their account.
    fn sign(mut self, app: &App, user: &User) -> TokenPair {
        self.access.issued_at = user.time_of_issue(self.access.issued_at);
        self.refresh.issued_at = user.time_of_issue(self.refresh.issued_at);
        TokenPair {
            access: app.signer.sign_access(&self.access),
            refresh: app.signer.sign_refresh(&self.refresh),
        }
    }
}
