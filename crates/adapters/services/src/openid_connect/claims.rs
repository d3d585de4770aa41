//! Types of the protocol crate with all claims, and what is read from them.

use chrono::{DateTime, Utc};
use docent_domain::identity::{IdentityClaims, SUBJECT_MAX};
use docent_domain::text::{Email, PersonName};
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, IdTokenFields,
    LocalizedClaim, StandardErrorResponse, StandardTokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::Deref;

/// Maximum number of groups that are read.
const MAX_GROUPS: usize = 1_000;

/// Claims that the protocol crate does not know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MoreClaims(Map<String, Value>);

impl AdditionalClaims for MoreClaims {}

impl MoreClaims {
    /// Whether there is a claim with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The texts of a claim, which is a list or one text.
    fn texts(&self, name: &str) -> BTreeSet<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self.0.get(name) {
            Some(Value::Array(values)) => values.iter().filter_map(text).take(MAX_GROUPS).collect(),
            Some(value) => text(value).into_iter().collect(),
            None => BTreeSet::new(),
        }
    }
}

pub(super) type IdTokenClaims = openidconnect::IdTokenClaims<MoreClaims, CoreGenderClaim>;

pub(super) type TokenResponse = StandardTokenResponse<
    IdTokenFields<
        MoreClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

/// The protocol crate's client, with the endpoints that discovery finds.
pub(super) type Client = openidconnect::Client<
    MoreClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    TokenResponse,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The text of a claim, in no particular language.
fn text<T: Deref<Target = String>>(claim: Option<&LocalizedClaim<T>>) -> Option<String> {
    claim?.get(None).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A name of its parts, for providers that send no whole one.
fn full_name(given: Option<String>, family: Option<String>) -> Option<String> {
    match (given, family) {
        (Some(given), Some(family)) => Some(format!("{given} {family}")),
        (given, family) => given.or(family),
    }
}

/// What the checked claims say about the person. An address counts as verified only if the claims that contain it say so.
pub(super) fn identity(
    claims: &IdTokenClaims,
    more: Option<&UserInfoClaims<MoreClaims, CoreGenderClaim>>,
    groups_claim: &str,
) -> IdentityClaims {
    let (email, is_email_verified) = match (claims.email(), more) {
        (Some(email), _) => (Some(email), claims.email_verified()),
        (None, Some(more)) => (more.email(), more.email_verified()),
        (None, None) => (None, None),
    };
    let name = text(claims.name())
        .or_else(|| text(more?.name()))
        .or_else(|| full_name(text(claims.given_name()), text(claims.family_name())))
        .or_else(|| full_name(text(more?.given_name()), text(more?.family_name())));
    let own = claims.additional_claims();
    let groups = match more {
        Some(more) if !own.has(groups_claim) => more.additional_claims().texts(groups_claim),
        Some(_) | None => own.texts(groups_claim),
    };
    let session = own.texts("sid").pop_first();
    let context = claims.auth_context_ref().map(|context| context.to_string());
    let methods = claims.auth_method_refs().into_iter().flatten();
    IdentityClaims {
        issuer: claims.issuer().to_string(),
        subject: claims.subject().to_string(),
        email: email.and_then(|email| Email::parse(email).ok()),
        is_email_verified,
        name: name.and_then(|name| PersonName::parse(&name).ok()),
        groups,
        session: session.filter(|session| !session.is_empty() && session.len() <= SUBJECT_MAX),
        authenticated_at: claims.auth_time().map(|at: DateTime<Utc>| at),
        methods: methods.map(|method| method.to_string()).collect(),
        context,
        id_token: None,
    }
}
