//! Accounts and tokens.

use super::{
    Profile,
    declare::{Default, Defaults, section, text},
    reader::{Context, Refusal},
    secret::Secret,
    selector::choices,
    value::{lasting, within},
};
use std::time::Duration;

/// Keys that documentation shows. Whoever copies one signs tokens with a key that everybody knows.
const EXAMPLES: [&str; 2] =
    ["change-me-change-me-change-me-change-me", "replace-this-with-a-random-value-of-32-or-more-characters"];
const KEY_CHARACTERS: usize = 32;

choices! {
    /// A way to prove who one is.
    AuthBackend "list of choices" {
        /// Bearer tokens from `POST /auth/token`.
        Jwt = "jwt",
        /// API keys.
        ApiKey = "api_key",
    }
}

section! {
    /// Accounts, tokens and logins.
    Accounts "Accounts and tokens" {
        /// Signs access tokens, refresh tokens and the admin session cookie. In production a random
        /// value of 32 or more characters.
        secret_key: Option<Secret> = SECRET_KEY, strong_key;
        /// Earlier secret keys. Tokens that were signed with one of them are good until they expire; new ones are never
        /// signed with it, and cookies of the panel not verified by it: staff log in again.
        secret_key_previous: Vec<Secret> = text("[]"), strong_keys;
        /// The ways to prove who one is: `jwt` (bearer tokens from `POST /auth/token`), `api_key` (keys that staff make).
        auth_backends: Vec<AuthBackend> = text("[\"jwt\"]"), some_backend;
        /// How long an access token lives.
        access_token_ttl: Duration = text("15m"), lasting;
        /// How long a refresh token lives.
        refresh_token_ttl: Duration = text("30d"), lasting;
        /// How long a refresh token stays usable after its first use, for clients that did not get the answer.
        refresh_rotation_grace: Duration = text("30s");
        /// How long a link to choose a new password is good.
        password_reset_ttl: Duration = text("1h"), lasting;
        /// How long a link to confirm an address is good.
        email_verification_ttl: Duration = text("3d"), lasting;
        /// Failed logins by account and client address before they are refused with 429.
        login_max_failures: u32 = text("10"), within(1..=1_000_000);
        /// The time in which they are counted.
        login_failure_period: Duration = text("15m"), lasting;
    }
}

const SECRET_KEY: Defaults = Defaults {
    dev: Default::Unset("random, made on the first run and kept in `data_dir`"),
    serve: Default::Unset("must be set, unless `debug` is true"),
};

fn strong_key(key: &Option<Secret>, context: &Context) -> Result<(), Refusal> {
    if context.profile == Profile::Dev || context.debug {
        return Ok(());
    }
    let Some(key) = key else { return Err(weak("must be set")) };
    strength(key)
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn strong_keys(keys: &Vec<Secret>, context: &Context) -> Result<(), Refusal> {
    if context.profile == Profile::Dev || context.debug {
        return Ok(());
    }
    keys.iter().try_for_each(strength)
}

fn strength(key: &Secret) -> Result<(), Refusal> {
    match key.expose() {
        key if EXAMPLES.contains(&key) => Err(weak("is an example out of the documentation")),
        key if key.chars().count() < KEY_CHARACTERS => {
            Err(weak(&format!("has fewer than {KEY_CHARACTERS} characters")))
        }
        _ => Ok(()),
    }
}

fn weak(wrong: &str) -> Refusal {
    let accepted = format!(
        "a random value of {KEY_CHARACTERS} or more characters, such as what `openssl rand -base64 48` prints"
    );
    Refusal { wrong: wrong.to_owned(), accepted }
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn some_backend(backends: &Vec<AuthBackend>, _: &Context) -> Result<(), Refusal> {
    if backends.is_empty() {
        let accepted = "a list of jwt and api_key with at least one of them".to_owned();
        return Err(Refusal { wrong: "is empty, so that nobody could log in".to_owned(), accepted });
    }
    Ok(())
}
