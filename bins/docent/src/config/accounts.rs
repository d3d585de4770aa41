//! Accounts and tokens.

use super::Profile;
use super::check::{Context, Refusal, positive};
use super::declare::{Default, Defaults, both, text, unset, variable};
use super::oidc::PasswordLogin;
use super::reader::Reader;
use super::secret::Secret;
use super::section::section;
use super::selector::choices;
use docent_domain::identity::ProviderName;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// Keys shown in documentation, which are public and therefore rejected.
const EXAMPLE_KEYS: [&str; 2] =
    ["change-me-change-me-change-me-change-me", "replace-this-with-a-random-value-of-32-or-more-characters"];
/// The `JWT_SECRET` in LibreChat's example settings, which many installations have copied.
const LIBRECHAT_EXAMPLE: &str = "16f8c0ef4a5d391b26034086c628469d3f9f497f08163ab9b40137092f2909ef";
const MIN_KEY_CHARACTERS: usize = 32;
/// Length of the output of the hash function.
const MIN_SHARED_SECRET_BYTES: usize = 32;
/// Random keys have more different characters, also in hexadecimal.
const MIN_DIFFERENT_CHARACTERS: usize = 10;

choices! {
    /// An authentication method.
    AuthBackend "list of choices" {
        /// Bearer tokens from `POST /auth/token`.
        Jwt = "jwt",
        /// API keys.
        ApiKey = "api_key",
    }
}

choices! {
    /// The accounts that must have a second factor.
    Require2fa "choice" {
        /// None.
        No = "none",
        /// Accounts with access to the admin panel.
        Staff = "staff",
        /// All accounts.
        Everyone = "all",
    }
}

choices! {
    /// The collection of documents that are added without naming one.
    DefaultCollection "choice" {
        /// That of everyone.
        Everyone = "everyone",
        /// The personal one of the account.
        Personal = "personal",
    }
}

choices! {
    /// Who can open a collection to all accounts.
    OpenCollections "choice" {
        /// Its managers with the permission.
        Permission = "permission",
        /// All of its managers.
        Managers = "managers",
    }
}

section! {
    /// Accounts, tokens and logins.
    Accounts "Manage accounts and sign-in" {
        /// Key that signs access tokens, refresh tokens and the admin session cookie. In production a random
        /// value of 32 or more characters. `docent worker` does not need it.
        secret_key: Option<Secret> = SECRET_KEY, check_key;
        /// Previous secret keys. Tokens signed with one of them remain valid until they expire, and new tokens are not
        /// signed with them. Panel session cookies signed with them are rejected: staff sign in again.
        secret_key_previous: Vec<Secret> = text("[]"), check_keys;
        /// Authentication methods: `jwt` (bearer tokens from `POST /auth/token`), `api_key` (API keys). With `jwt` alone API
        /// keys are rejected.
        auth_backends: Vec<AuthBackend> = text("jwt,api_key"), check_not_empty;
        /// Whether accounts can connect applications by a link (OAuth): assistants to `/mcp`, and other programs to the API.
        /// Without it there is no metadata, no registration of clients and no page that asks for the access, and access that
        /// was given before is refused.
        oauth: bool = text("true");
        /// Secret that LibreChat signs its tokens with: its `JWT_SECRET`, at least 32 bytes. With it, LibreChat can use the service as its RAG
        /// API (`RAG_API_URL`) below `/librechat`, and each of its users gets an account. A program with the secret can read, add and
        /// delete the files of all of these accounts.
        librechat_jwt_secret: Option<Secret> = unset("LibreChat is not connected"), check_shared_secret;
        /// Lifetime of an access token.
        access_token_ttl: Duration = text("15m"), positive;
        /// Lifetime of a refresh token, also of a connected application.
        refresh_token_ttl: Duration = text("30d"), positive;
        /// How long a login or a connected application can be extended with refresh tokens.
        session_lifetime: Duration = text("90d"), positive;
        /// The accounts that must have a second factor (an authenticator app): `none`, `staff` or `all`. Such an
        /// account without one can only sign in to `/account` to set it up; its tokens and API keys are refused until then.
        require_2fa: Require2fa = text("none");
        /// The collection of documents that are added without naming one: `everyone` or `personal` (that of the account).
        default_collection: DefaultCollection = text("everyone");
        /// Who can open a collection to all accounts (`role_of_all`): `permission` (its managers who have the permission
        /// `collections.open_collection`) or `managers` (all of its managers, for small teams: each account can then show
        /// its documents to all others).
        open_collections: OpenCollections = text("permission");
        /// The accounts that can sign in with their password: `on` (all), `off` (none), or email addresses, such as those of superusers
        /// for times when the identity provider does not answer. Others sign in at an identity provider.
        password_login: PasswordLogin = text("on");
        /// Names of further identity providers, such as `entra,google`. Their settings are those of `oidc_issuer` with the name inserted:
        /// `DOCENT_OIDC_ENTRA_ISSUER`, and the redirect URI ends with `/auth/oidc/entra/callback`.
        oidc_providers: Vec<ProviderName> = text("[]");
        /// Age at which entries of the audit log are exported to `audit_export_dir` and removed, once a day in one process;
        /// `0` to keep them. `docent audit prune` does the same on demand.
        audit_retention: Duration = text("0"), check_retention;
        /// Directory for exported entries of the audit log, one file per export.
        audit_export_dir: PathBuf = both(Default::Computed {
            words: "`audit` in `data_dir`",
            text: |context| context.data_dir.join("audit").display().to_string(),
        });
    }
}

/// Entries of the last day are never removed.
fn check_retention(age: &Duration, _: &Context) -> Result<(), Refusal> {
    const MIN: Duration = Duration::from_secs(24 * 60 * 60);
    if age.is_zero() || *age >= MIN {
        return Ok(());
    }
    Err(Refusal { wrong: "is too short".to_owned(), accepted: "0, or at least 1d".to_owned() })
}

const SECRET_KEY: Defaults = Defaults {
    dev: Default::Unset("random, created on the first run and stored in `data_dir`"),
    serve: Default::Unset("must be set, unless `debug` is true"),
};

fn check_key(key: &Option<Secret>, context: &Context) -> Result<(), Refusal> {
    if context.profile == Profile::Dev || context.debug {
        return Ok(());
    }
    match key {
        Some(key) => check_strength(key),
        None if context.profile == Profile::Worker => Ok(()),
        None => Err(weak_key("must be set")),
    }
}

/// A secret of another program is checked by its length alone: it decides how it is made.
fn check_shared_secret(secret: &Option<Secret>, _: &Context) -> Result<(), Refusal> {
    match secret {
        Some(secret) if secret.expose().len() < MIN_SHARED_SECRET_BYTES => {
            Err(weak_shared_secret(format!("has fewer than {MIN_SHARED_SECRET_BYTES} bytes")))
        }
        Some(secret) if secret.expose() == LIBRECHAT_EXAMPLE => {
            Err(weak_shared_secret("is the example of LibreChat, which is public".to_owned()))
        }
        Some(_) | None => Ok(()),
    }
}

fn weak_shared_secret(wrong: String) -> Refusal {
    let accepted =
        format!("the JWT_SECRET of LibreChat, a random value of {MIN_SHARED_SECRET_BYTES} or more bytes");
    Refusal { wrong, accepted }
}

/// Refuses a secret of LibreChat with which it could sign tokens of this service.
pub(super) fn check_distinct_secrets(reader: &mut Reader<'_>, accounts: &Accounts) {
    let mut own = accounts.secret_key.iter().chain(&accounts.secret_key_previous);
    if let Some(shared) = &accounts.librechat_jwt_secret
        && own.any(|key| key.expose() == shared.expose())
    {
        let wrong = "is a secret key of this service, so that LibreChat could sign its tokens";
        reader.refuse(variable("librechat_jwt_secret"), wrong, "another secret");
    }
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn check_keys(keys: &Vec<Secret>, context: &Context) -> Result<(), Refusal> {
    if context.profile == Profile::Dev || context.debug {
        return Ok(());
    }
    keys.iter().try_for_each(check_strength)
}

fn check_strength(key: &Secret) -> Result<(), Refusal> {
    let key = key.expose();
    let characters: Vec<char> = key.chars().collect();
    if EXAMPLE_KEYS.contains(&key) {
        return Err(weak_key("is an example from the documentation"));
    }
    if characters.len() < MIN_KEY_CHARACTERS {
        return Err(weak_key(&format!("has fewer than {MIN_KEY_CHARACTERS} characters")));
    }
    if characters.iter().collect::<HashSet<_>>().len() < MIN_DIFFERENT_CHARACTERS {
        return Err(weak_key(&format!("has fewer than {MIN_DIFFERENT_CHARACTERS} different characters")));
    }
    let repeats = |unit| characters.iter().zip(characters.iter().skip(unit)).all(|(a, b)| a == b);
    if (1..MIN_KEY_CHARACTERS / 2).any(repeats) {
        return Err(weak_key("repeats a short text"));
    }
    Ok(())
}

fn weak_key(wrong: &str) -> Refusal {
    let accepted = format!(
        "a random value of {MIN_KEY_CHARACTERS} or more characters, such as the output of `openssl rand -base64 48`"
    );
    Refusal { wrong: wrong.to_owned(), accepted }
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn check_not_empty(backends: &Vec<AuthBackend>, _: &Context) -> Result<(), Refusal> {
    if backends.is_empty() {
        let accepted = "a list with at least one of jwt and api_key".to_owned();
        return Err(Refusal { wrong: "is empty, so that no login is possible".to_owned(), accepted });
    }
    Ok(())
}
