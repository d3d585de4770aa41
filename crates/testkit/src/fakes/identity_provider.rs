//! Identity provider without HTTP: tests issue codes with the claims that a person would have.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::identity::{IdentityClaims, LogoutRequest};
use docent_ports::clock::Clock;
use docent_ports::identity_provider::{AuthorizationRequest, IdentityError, IdentityProvider, Redemption};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The issuer of the fake.
pub const ISSUER: &str = "https://idp.example.org";
/// The client ID under which the service is registered.
pub const CLIENT: &str = "docent";
const SKEW: TimeDelta = TimeDelta::seconds(60);

/// What a provider puts into the token for a code. The fields besides the claims are those that a client must check.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Claims of the person.
    pub claims: IdentityClaims,
    /// Audience of the token.
    pub audience: String,
    /// Client that the token was issued to, if it names one.
    pub authorized_party: Option<String>,
    /// Nonce of the token; `None` for that of the request.
    pub nonce: Option<String>,
    /// Time of issue.
    pub issued_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
    /// Whether the signature is valid.
    pub is_signed: bool,
}

impl Grant {
    /// A valid token that is issued now and expires in five minutes.
    pub fn new(claims: IdentityClaims, now: DateTime<Utc>) -> Self {
        Self {
            claims,
            audience: CLIENT.to_owned(),
            authorized_party: None,
            nonce: None,
            issued_at: now,
            expires_at: now + TimeDelta::minutes(5),
            is_signed: true,
        }
    }
}

/// An identity provider in memory.
pub struct FakeIdentityProvider {
    clock: Arc<dyn Clock>,
    issuer: String,
    /// Codes that were issued and not redeemed, each with the request it belongs to.
    codes: Mutex<HashMap<String, (Grant, AuthorizationRequest)>>,
    logouts: Mutex<HashMap<String, LogoutRequest>>,
    asked: Mutex<Vec<AuthorizationRequest>>,
    is_down: AtomicBool,
}

impl fmt::Debug for FakeIdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeIdentityProvider({:?})", self.issuer)
    }
}

impl FakeIdentityProvider {
    /// Creates a provider with the issuer [`ISSUER`].
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_issuer(clock, ISSUER)
    }

    /// Creates a provider with another issuer.
    pub fn with_issuer(clock: Arc<dyn Clock>, issuer: &str) -> Self {
        Self {
            clock,
            issuer: issuer.to_owned(),
            codes: Mutex::default(),
            logouts: Mutex::default(),
            asked: Mutex::default(),
            is_down: AtomicBool::new(false),
        }
    }

    /// Issues a code for the last request, as if the person had signed in.
    pub fn issue(&self, code: &str, grant: Grant) {
        let request = self.asked.lock().unwrap().last().cloned().expect("a request");
        self.issue_for(code, grant, request);
    }

    /// Issues a code for this request.
    pub fn issue_for(&self, code: &str, grant: Grant, request: AuthorizationRequest) {
        self.codes.lock().unwrap().insert(code.to_owned(), (grant, request));
    }

    /// Makes a logout token valid for this request.
    pub fn sign_logout(&self, token: &str, request: LogoutRequest) {
        self.logouts.lock().unwrap().insert(token.to_owned(), request);
    }

    /// Stops or resumes answering.
    pub fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Returns the requests for which authorization URLs were made.
    pub fn asked(&self) -> Vec<AuthorizationRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn answers(&self) -> Result<(), IdentityError> {
        if self.is_down.load(Ordering::Relaxed) {
            let message = "the identity provider does not answer";
            let fault = Fault::new(Component::IdentityProvider, FaultKind::Unavailable, message);
            return Err(IdentityError::Unavailable(fault));
        }
        Ok(())
    }
}

fn refuse<T>(reason: &str) -> Result<T, IdentityError> {
    Err(IdentityError::Refused(reason.to_owned()))
}

#[async_trait]
impl IdentityProvider for FakeIdentityProvider {
    fn issuer(&self) -> &str {
        &self.issuer
    }

    async fn authorization_url(&self, request: &AuthorizationRequest) -> Result<String, IdentityError> {
        self.answers()?;
        self.asked.lock().unwrap().push(request.clone());
        let max_age = if request.reauthenticates { "&max_age=0" } else { "" };
        let AuthorizationRequest { state, nonce, .. } = request;
        let query = format!("response_type=code&client_id={CLIENT}&state={state}&nonce={nonce}{max_age}");
        Ok(format!("{}/authorize?{query}", self.issuer))
    }

    async fn redeem(&self, redemption: &Redemption) -> Result<IdentityClaims, IdentityError> {
        self.answers()?;
        if redemption.issuer.as_ref().is_some_and(|issuer| *issuer != self.issuer) {
            return refuse("the response is of another issuer");
        }
        let Some((grant, request)) = self.codes.lock().unwrap().remove(&redemption.code) else {
            return refuse("the code is unknown or was used");
        };
        if (&redemption.verifier, &redemption.redirect_uri) != (&request.verifier, &request.redirect_uri) {
            return refuse("the code belongs to another request");
        }
        let now = self.clock.now();
        let is_current = grant.issued_at <= now + SKEW && now < grant.expires_at + SKEW;
        let is_ours = grant.audience == CLIENT
            && grant.authorized_party.as_ref().is_none_or(|party| party == CLIENT)
            && grant.claims.issuer == self.issuer;
        let has_nonce = *grant.nonce.as_ref().unwrap_or(&request.nonce) == redemption.nonce;
        if !(grant.is_signed && is_current && is_ours && has_nonce) {
            return refuse("the token is not valid");
        }
        Ok(grant.claims)
    }

    async fn logout_url(
        &self,
        id_token: Option<&str>,
        return_to: &str,
    ) -> Result<Option<String>, IdentityError> {
        self.answers()?;
        let hint = id_token.map(|token| format!("id_token_hint={token}&")).unwrap_or_default();
        let return_to = return_to.replace(':', "%3A").replace('/', "%2F");
        Ok(Some(format!(
            "{}/logout?{hint}client_id={CLIENT}&post_logout_redirect_uri={return_to}",
            self.issuer
        )))
    }

    async fn verify_logout(&self, token: &str) -> Result<LogoutRequest, IdentityError> {
        self.answers()?;
        match self.logouts.lock().unwrap().get(token) {
            Some(request) => Ok(request.clone()),
            None => refuse("the logout token is not valid"),
        }
    }

    async fn check(&self) -> Result<(), IdentityError> {
        self.answers()
    }
}
