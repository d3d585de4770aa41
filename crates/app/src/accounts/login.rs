//! Logging in with e-mail and password.

use super::{NewPair, TokenPair};
use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    id::FamilyId,
    text::Email,
    user::{Password, User},
};
use std::net::IpAddr;

/// Starts a family of tokens for the account with this address and password.
///
/// # Errors
/// Those of [`check_password`]; or when the key-value store cannot keep the refresh token.
pub async fn login(app: &App, email: &str, password: String, from: IpAddr) -> Result<TokenPair> {
    let user = check_password(app, email, password, from).await?;
    let pair = NewPair::of(app, user.id, app.new_id(FamilyId::generate));
    let refresh = &pair.refresh;
    app.tokens.start(user.id, refresh.family, refresh.id, refresh.expires_at, refresh.issued_at).await?;
    Ok(pair.sign(app))
}

/// The active account with this address and password.
///
/// # Errors
/// [`Error::WrongCredentials`], the same and after the same time whether the account is unknown,
/// inactive or has another password; [`Error::TooManyLogins`]; or when a store cannot be reached.
pub async fn check_password(app: &App, email: &str, password: String, from: IpAddr) -> Result<User> {
    let email = Email::parse(email).ok();
    let throttle = Throttle::of(app, email.as_ref(), from);
    // One try at a time for each key: tries made at once cannot slip past the count, and those with the
    // right password are not counted.
    let _turn = app.logins.turn(&throttle.key).await;
    throttle.check().await?;

    let known = match &email {
        Some(email) => app.store.read().await?.users().by_email(email).await?,
        None => None,
    };
    let known = known.filter(|user| user.is_active);
    let Some(mut user) = verified(app, known, password).await? else {
        throttle.count().await?;
        return Err(Error::WrongCredentials);
    };

    throttle.reset().await?;
    user.last_login_at = Some(app.clock.now());
    let mut work = app.store.begin().await?;
    work.users().update(&user).await?;
    work.commit().await?;
    Ok(user)
}

/// The account, if the password is its own. Without an account it takes as long as with one.
async fn verified(app: &App, known: Option<User>, password: String) -> Result<Option<User>> {
    let Ok(password) = Password::claimed(password) else { return Ok(None) };
    let hash = known.as_ref().map(|user| user.password.clone());
    let is_right = app.hasher.verify(password, hash).await?;
    Ok(known.filter(|_| is_right))
}

/// Counts the failed logins of one account from one address; a success forgets them.
struct Throttle<'a> {
    app: &'a App,
    key: String,
}

impl<'a> Throttle<'a> {
    fn of(app: &'a App, email: Option<&Email>, from: IpAddr) -> Self {
        Self { app, key: format!("login:{from}:{}", email.map_or("", Email::as_str)) }
    }

    async fn check(&self) -> Result<()> {
        let failures = self.app.limiter.peek(&self.key, self.app.clock.now()).await?;
        if failures.events >= self.app.settings.login_max_failures {
            return Err(Error::TooManyLogins { retry_after: failures.resets_in });
        }
        Ok(())
    }

    async fn count(&self) -> Result<()> {
        let period = self.app.settings.login_failure_period;
        self.app.limiter.hit(&self.key, period, self.app.clock.now()).await?;
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        Ok(self.app.limiter.reset(&self.key).await?)
    }
}
