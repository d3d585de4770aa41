//! Logout tokens (OpenID Connect Back-Channel Logout 1.0).

use super::ALGORITHMS;
use super::metadata::Metadata;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::identity::{LogoutRequest, SUBJECT_MAX};
use openidconnect::core::CoreJwsSigningAlgorithm;
use openidconnect::{JsonWebKey, JsonWebKeyId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// Age at which a token without an expiry time is refused.
const MAX_AGE: TimeDelta = TimeDelta::minutes(10);

#[derive(Deserialize)]
struct Header {
    alg: CoreJwsSigningAlgorithm,
    kid: Option<JsonWebKeyId>,
    typ: Option<String>,
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    iat: i64,
    exp: Option<i64>,
    jti: String,
    sub: Option<String>,
    sid: Option<String>,
    events: Map<String, Value>,
    nonce: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn contains(&self, client: &str) -> bool {
        match self {
            Self::One(audience) => audience == client,
            Self::Several(audiences) => audiences.iter().any(|audience| audience == client),
        }
    }
}

/// Why a token is refused.
pub(super) enum Refusal {
    /// No known key fits.
    UnknownKey,
    /// Another reason.
    Invalid(&'static str),
}

/// Checks a token with the known keys.
pub(super) fn verify(
    token: &str,
    metadata: &Metadata,
    client: &str,
    skew: TimeDelta,
    now: DateTime<Utc>,
) -> Result<LogoutRequest, Refusal> {
    let malformed = || Refusal::Invalid("the token is malformed");
    let (message, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
    let (header, payload) = message.split_once('.').ok_or_else(malformed)?;
    let header: Header = decode(header).ok_or_else(malformed)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed())?;
    let is_type = |typ: &str| typ.eq_ignore_ascii_case("JWT") || typ.eq_ignore_ascii_case("logout+jwt");
    if header.crit.is_some() || !header.typ.as_deref().is_none_or(is_type) {
        return Err(Refusal::Invalid("the token is of another type"));
    }
    if !ALGORITHMS.contains(&header.alg) {
        return Err(Refusal::Invalid("the token's algorithm is not allowed"));
    }
    let fits = |key: &Option<&JsonWebKeyId>| header.kid.is_none() || *key == header.kid.as_ref();
    let mut keys = metadata.jwks().keys().iter().filter(|key| fits(&key.key_id()));
    if !keys.any(|key| key.verify_signature(&header.alg, message.as_bytes(), &signature).is_ok()) {
        return Err(Refusal::UnknownKey);
    }
    let claims: Claims = decode(payload).ok_or_else(malformed)?;
    check(&claims, metadata.issuer().as_str(), client, skew, now).map_err(Refusal::Invalid)
}

fn decode<T: DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

fn check(
    claims: &Claims,
    issuer: &str,
    client: &str,
    skew: TimeDelta,
    now: DateTime<Utc>,
) -> Result<LogoutRequest, &'static str> {
    if claims.iss != issuer {
        return Err("the token is of another issuer");
    }
    if !claims.aud.contains(client) {
        return Err("the token is for another client");
    }
    let instant = |seconds| DateTime::from_timestamp(seconds, 0).ok_or("the token's time is invalid");
    let issued_at = instant(claims.iat)?;
    let expires_at = claims.exp.map_or(Ok(issued_at + MAX_AGE), instant)?;
    if issued_at > now + skew || expires_at + skew <= now {
        return Err("the token has expired or is not valid yet");
    }
    // A nonce would make an ID token of it.
    if claims.nonce.is_some()
        || claims.jti.is_empty()
        || !claims.events.get(EVENT).is_some_and(Value::is_object)
    {
        return Err("the token is no logout token");
    }
    if claims.sub.is_none() && claims.sid.is_none() {
        return Err("the token names neither a subject nor a session");
    }
    let bounded = |text: &Option<String>| text.as_ref().is_none_or(|text| text.len() <= SUBJECT_MAX);
    if !bounded(&claims.sub) || !bounded(&claims.sid) {
        return Err("the token's subject or session is too long");
    }
    Ok(LogoutRequest {
        issuer: claims.iss.clone(),
        subject: claims.sub.clone(),
        provider_session: claims.sid.clone(),
        issued_at,
    })
}
