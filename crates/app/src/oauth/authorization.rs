//! Authorization requests: what an application asks an account for, and the answer.

use super::clients::{self, NoClient};
use super::resource_at;
use crate::App;
use crate::accounts::notices::Notice;
use crate::accounts::{api_keys, authenticate, random_text};
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::documents::label::ids;
use crate::error::{Error, Result};
use chrono::TimeDelta;
use docent_domain::access::Actor;
use docent_domain::api_key::{ApiKeyScope, ApiKeyScopes};
use docent_domain::audit::AuditAction;
use docent_domain::client_uri::RedirectUri;
use docent_domain::connection::Resource;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::id::{ApiKeyId, AuthorizationCodeId, CollectionId};
use docent_domain::oauth::{AuthorizationCode, CodeChallenge, OAuthClient, scopes_of};
use docent_domain::permission::RecordKind;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use thiserror::Error as ThisError;

/// How long a code can be exchanged.
const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(60);
/// Length of a code: 260 bits.
const CODE_LENGTH: usize = 52;
/// Maximum length of `state` in bytes.
const STATE_MAX: usize = 4000;

/// The parameters of a request as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthorizationParameters<'a> {
    /// `client_id`.
    pub client_id: Option<&'a str>,
    /// `redirect_uri`.
    pub redirect_uri: Option<&'a str>,
    /// `response_type`.
    pub response_type: Option<&'a str>,
    /// `scope`.
    pub scope: Option<&'a str>,
    /// `state`.
    pub state: Option<&'a str>,
    /// `code_challenge`.
    pub code_challenge: Option<&'a str>,
    /// `code_challenge_method`.
    pub code_challenge_method: Option<&'a str>,
    /// `resource`.
    pub resource: Option<&'a str>,
    /// Whether a parameter was sent more than once.
    pub has_repeated: bool,
    /// Whether the parameters are in a request object, which is not supported.
    pub has_request_object: bool,
}

/// A valid request.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest {
    /// The application.
    pub client: OAuthClient,
    /// Where the browser returns to.
    pub redirect_uri: RedirectUri,
    /// What the access is for.
    pub resource: Resource,
    /// The scopes that the application asks for.
    pub scopes: ApiKeyScopes,
    state: Option<String>,
    challenge: CodeChallenge,
}

/// Where the browser returns to, with the parameters of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The redirect URI.
    pub redirect_uri: RedirectUri,
    /// Names and values.
    pub parameters: Vec<(&'static str, String)>,
}

impl Answer {
    fn new(redirect_uri: RedirectUri, state: Option<&str>, issuer: &str) -> Self {
        let state = state.map(|state| ("state", state.to_owned()));
        Self { redirect_uri, parameters: state.into_iter().chain([("iss", issuer.to_owned())]).collect() }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.parameters.insert(0, (name, value.into()));
        self
    }

    fn error(self, code: &'static str, description: &str) -> Self {
        self.with("error_description", description).with("error", code)
    }
}

/// Why a request is refused.
#[derive(Debug, ThisError)]
pub enum AuthorizationError {
    /// The client is unknown.
    #[error("no application has this client ID")]
    UnknownClient,
    /// The document of the client cannot be used.
    #[error("{0}")]
    ClientDocument(String),
    /// The redirect URI is missing, or the client may not be returned to there.
    #[error("the redirect URI is not one of the application")]
    RedirectUri,
    /// Another error, which is sent to the application.
    #[error("the request is not valid")]
    Answered(Answer),
    /// A store cannot be reached.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Checks a request to the service at `base`. Errors are sent to the application only after its redirect URI is known to be its own.
///
/// # Errors
/// See [`AuthorizationError`].
pub async fn check(
    app: &App,
    base: &str,
    parameters: AuthorizationParameters<'_>,
) -> Result<AuthorizationRequest, AuthorizationError> {
    let client = clients::find(app, parameters.client_id.unwrap_or_default()).await;
    let client = client.map_err(|error| match error {
        NoClient::Unknown => AuthorizationError::UnknownClient,
        NoClient::Document(reason) => AuthorizationError::ClientDocument(reason.to_string()),
        NoClient::Failed(error) => AuthorizationError::Failed(error),
    })?;
    let redirect_uri = parameters.redirect_uri.and_then(|uri| RedirectUri::parse(uri).ok());
    let redirect_uri =
        redirect_uri.filter(|uri| client.allows(uri)).ok_or(AuthorizationError::RedirectUri)?;
    let state = parameters.state.filter(|state| state.len() <= STATE_MAX);
    let refuse = |(code, description)| {
        let answer = Answer::new(redirect_uri.clone(), state, base);
        AuthorizationError::Answered(answer.error(code, description))
    };
    let (challenge, resource, scopes) = check_fields(base, &parameters).map_err(refuse)?;
    Ok(AuthorizationRequest {
        client,
        redirect_uri,
        resource,
        scopes,
        state: state.map(str::to_owned),
        challenge,
    })
}

/// Error code and description.
type Refusal = (&'static str, &'static str);

fn check_fields(
    base: &str,
    parameters: &AuthorizationParameters<'_>,
) -> Result<(CodeChallenge, Resource, ApiKeyScopes), Refusal> {
    let invalid = |description| ("invalid_request", description);
    if parameters.has_repeated {
        return Err(invalid("a parameter was sent more than once"));
    }
    if parameters.has_request_object {
        return Err(("request_not_supported", "request objects are not supported"));
    }
    if parameters.state.is_some_and(|state| state.len() > STATE_MAX) {
        return Err(invalid("state is too long"));
    }
    match parameters.response_type {
        Some("code") => {}
        Some(_) => return Err(("unsupported_response_type", "response_type must be code")),
        None => return Err(invalid("response_type is missing")),
    }
    let challenge = parameters.code_challenge.ok_or_else(|| invalid("code_challenge is missing"))?;
    if parameters.code_challenge_method != Some("S256") {
        return Err(invalid("code_challenge_method must be S256"));
    }
    let challenge = CodeChallenge::parse(challenge).map_err(|_| invalid("code_challenge is not valid"))?;
    let resource = match parameters.resource {
        Some(url) => {
            resource_at(base, url).ok_or(("invalid_target", "resource is not one of this service"))?
        }
        // The narrowest.
        None => Resource::Mcp,
    };
    let scopes = requested_scopes(parameters.scope, resource);
    let scopes = scopes.ok_or(("invalid_scope", "scope names no scope of the resource"))?;
    Ok((challenge, resource, scopes))
}

/// The scopes of a request that have an effect on the resource: `read` if it names none. Unknown ones are ignored, as clients
/// ask for those of OpenID Connect too.
fn requested_scopes(text: Option<&str>, resource: Resource) -> Option<ApiKeyScopes> {
    let named: Vec<&str> = text.unwrap_or_default().split_ascii_whitespace().collect();
    if named.is_empty() {
        return Some(ApiKeyScopes::default().with(ApiKeyScope::Read));
    }
    let known = named.into_iter().filter_map(ApiKeyScope::parse);
    let scopes = known.fold(ApiKeyScopes::default(), ApiKeyScopes::with).intersection(scopes_of(resource));
    (!scopes.is_empty()).then_some(scopes)
}

/// What the account allows.
#[derive(Clone, Debug)]
pub struct Consent {
    /// Some of the requested scopes.
    pub scopes: ApiKeyScopes,
    /// Collections that the access is limited to; `None` for all of the account.
    pub collections: Option<BTreeSet<CollectionId>>,
}

/// Allows the access: returns to the application with a code. The owner of the account is notified.
///
/// # Errors
/// [`Error::ProofNeeded`] if the proof of identity of the session is too old; [`Error::SecondFactorRequired`] for an account
/// without the second factor that it must have; [`Error::Invalid`] without a scope, or for one that
/// was not asked for; [`Error::NotFound`] for a collection that the actor cannot read; [`Error::Forbidden`] for an actor that uses
/// an API key; or when the database cannot be reached.
pub async fn allow(
    app: &App,
    base: &str,
    actor: &Actor,
    request: AuthorizationRequest,
    consent: Consent,
) -> Result<Answer> {
    if consent.scopes.is_empty() || !request.scopes.includes(consent.scopes) {
        return Err(ValidationError::of("scopes", Rule::Scopes).into());
    }
    let owner =
        api_keys::ensure_can_add(app, actor, actor.user(), consent.scopes, consent.collections.as_ref())
            .await?;
    // A second factor of an identity provider counts for its session alone, and applications have none.
    authenticate::ensure_second_factor(app, &owner)?;
    let secret = random_text(&*app.entropy, CODE_LENGTH);
    let now = app.now();
    let code = AuthorizationCode {
        id: app.new_id(AuthorizationCodeId::generate),
        sha256: Sha256::digest(secret.as_bytes()).into(),
        user: actor.user(),
        client: request.client.id.to_string(),
        name: request.client.name,
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge,
        resource: request.resource,
        scopes: consent.scopes,
        collections: consent.collections,
        api_key: app.new_id(ApiKeyId::generate),
        created_at: owner.time_of_issue(now),
        expires_at: now + CODE_LIFETIME,
        used_at: None,
    };
    let changes = Changes::default()
        .added("account", owner.email.as_str())
        .added("client", &code.client)
        .added("redirect_uri", code.redirect_uri.as_str())
        .added("resource", code.resource.name())
        .added("scopes", code.scopes)
        .field("collections", None, code.collections.as_ref().map(ids));
    let target = AuditTarget::new(RecordKind::ApiKey, code.api_key, code.name.as_str());
    let mut work = app.store.begin().await?;
    work.oauth().insert_code(&code).await?;
    app.audit(&mut *work, &Initiator::actor(actor), AuditAction::Add, target, changes).await?;
    work.commit().await?;
    app.notify(&owner.email, Notice::ApplicationConnected { code: &code });
    Ok(Answer::new(request.redirect_uri, request.state.as_deref(), base).with("code", secret))
}

/// Refuses the access: returns to the application with an error.
pub fn deny(base: &str, request: AuthorizationRequest) -> Answer {
    let answer = Answer::new(request.redirect_uri, request.state.as_deref(), base);
    answer.error("access_denied", "the access was not allowed")
}
