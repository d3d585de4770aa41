//! Accounts: who somebody is, and for how long that is believed.

pub mod api_keys;
pub mod authenticate;
pub mod create;
pub mod groups;
pub mod login;
pub mod logout;
pub mod own;
pub mod refresh;
pub mod sessions;
pub mod turns;
pub mod users;
pub mod verification;

use crate::App;
use docent_domain::{
    id::{FamilyId, TokenId, UserId},
    token::{AccessClaims, RefreshClaims},
};
use docent_ports::entropy::Entropy;

/// What secrets are made of: 32 characters, 5 bits each.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";

/// A text that nobody can guess, with 5 bits a character.
fn random_text(entropy: &dyn Entropy, length: usize) -> String {
    let mut random = vec![0; length];
    entropy.fill(&mut random);
    random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

/// What a client gets to prove who it is.
#[derive(Clone)]
pub struct TokenPair {
    /// Short-lived; goes with every request.
    pub access: String,
    /// Long-lived; buys the next pair.
    pub refresh: String,
}

impl std::fmt::Debug for TokenPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenPair(…)")
    }
}

/// The claims of a new pair, not signed yet.
struct NewPair {
    access: AccessClaims,
    refresh: RefreshClaims,
}

impl NewPair {
    fn of(app: &App, user: UserId, family: FamilyId) -> Self {
        let issued_at = app.clock.now();
        let access_id = app.new_id(TokenId::generate);
        let refresh_id = app.new_id(TokenId::generate);
        Self {
            access: AccessClaims {
                user,
                id: access_id,
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

    fn sign(&self, app: &App) -> TokenPair {
        TokenPair {
            access: app.signer.sign_access(&self.access),
            refresh: app.signer.sign_refresh(&self.refresh),
        }
    }
}
