//! JSON Web Tokens signed with HMAC-SHA256.
//!
//! `jsonwebtoken` is used without its two cryptography providers: they include RSA and elliptic curves, which are
//! never accepted, and one of them needs a C build. [`PROVIDER`] supports only HS256, so no code can accept a token
//! with another algorithm.

use chrono::{DateTime, Utc};
use docent_domain::api_key::ApiKeyScopes;
use docent_domain::id::{ApiKeyId, FamilyId, SessionId, TokenId, UserId};
use docent_domain::token::{AccessClaims, ConnectionClaims, ConnectionToken, RefreshClaims};
use docent_ports::token_signer::{TokenError, TokenSigner};
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner as Signs, JwtVerifier as Verifies, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use signature::{Signer, Verifier};
use uuid::Uuid;

/// Signs access and refresh tokens with one secret key and verifies them with it and with earlier keys.
pub struct JwtSigner {
    signing: EncodingKey,
    /// The signing key and earlier keys.
    verifying: Vec<DecodingKey>,
    validation: Validation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TokenType {
    Access,
    Refresh,
    OauthAccess,
    OauthRefresh,
}

impl From<ConnectionToken> for TokenType {
    fn from(kind: ConnectionToken) -> Self {
        match kind {
            ConnectionToken::Access => Self::OauthAccess,
            ConnectionToken::Refresh => Self::OauthRefresh,
        }
    }
}

/// The claims of all token types; times are seconds since 1970.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    sub: Uuid,
    jti: Uuid,
    iat: i64,
    exp: i64,
    #[serde(rename = "type")]
    token_type: TokenType,
    /// Only in refresh tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<Uuid>,
    /// Only in access tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<Uuid>,
    /// The API key of a connected application. Only in its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Uuid>,
    /// Only in tokens of connected applications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

impl JwtSigner {
    /// Creates a signer with `key`, whose length and quality the caller has checked.
    pub fn new(key: &[u8]) -> Self {
        // Fails if the provider is already installed by another signer of the process.
        let _ = PROVIDER.install_default();
        let mut validation = Validation::new(Algorithm::HS256);
        // `verify` checks the expiry against the caller's clock, without leeway.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        Self {
            signing: EncodingKey::from_secret(key),
            verifying: vec![DecodingKey::from_secret(key)],
            validation,
        }
    }

    /// Also accepts tokens signed with these earlier keys, which no longer sign new tokens.
    #[must_use]
    pub fn accepting(mut self, earlier: &[&[u8]]) -> Self {
        self.verifying.extend(earlier.iter().map(|key| DecodingKey::from_secret(key)));
        self
    }

    #[expect(
        clippy::expect_used,
        reason = "integers, ids and one enum always encode, and HMAC takes any key"
    )]
    fn sign(&self, claims: &Claims) -> String {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.signing).expect("a signed token")
    }

    fn verify(&self, token: &str, expected: TokenType, now: DateTime<Utc>) -> Result<Claims, TokenError> {
        let claims: Claims = self.decode(token)?;
        if claims.token_type != expected {
            return Err(TokenError::WrongType);
        }
        if instant(claims.exp)? <= now {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }

    /// Verifies the signature of a token and decodes its claims.
    pub(crate) fn decode<T: DeserializeOwned>(&self, token: &str) -> Result<T, TokenError> {
        let decode = |key| jsonwebtoken::decode(token, key, &self.validation).ok();
        let decoded = self.verifying.iter().find_map(decode);
        decoded.map(|data| data.claims).ok_or(TokenError::Invalid)
    }
}

pub(crate) fn instant(seconds: i64) -> Result<DateTime<Utc>, TokenError> {
    DateTime::from_timestamp(seconds, 0).ok_or(TokenError::Invalid)
}

impl TokenSigner for JwtSigner {
    fn sign_access(&self, claims: &AccessClaims) -> String {
        self.sign(&Claims {
            sub: claims.user.as_uuid(),
            jti: claims.id.as_uuid(),
            iat: claims.issued_at.timestamp(),
            exp: claims.expires_at.timestamp(),
            token_type: TokenType::Access,
            family: None,
            sid: claims.session.map(SessionId::as_uuid),
            key: None,
            scope: None,
        })
    }

    fn sign_refresh(&self, claims: &RefreshClaims) -> String {
        self.sign(&Claims {
            sub: claims.user.as_uuid(),
            jti: claims.id.as_uuid(),
            iat: claims.issued_at.timestamp(),
            exp: claims.expires_at.timestamp(),
            token_type: TokenType::Refresh,
            family: Some(claims.family.as_uuid()),
            sid: None,
            key: None,
            scope: None,
        })
    }

    fn sign_connection(&self, kind: ConnectionToken, claims: &ConnectionClaims) -> String {
        self.sign(&Claims {
            sub: claims.user.as_uuid(),
            jti: claims.id.as_uuid(),
            iat: claims.issued_at.timestamp(),
            exp: claims.expires_at.timestamp(),
            token_type: kind.into(),
            family: None,
            sid: None,
            key: Some(claims.api_key.as_uuid()),
            scope: Some(claims.scopes.to_string()),
        })
    }

    fn verify_access(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError> {
        let claims = self.verify(token, TokenType::Access, now)?;
        Ok(AccessClaims {
            user: UserId::from_uuid(claims.sub),
            id: TokenId::from_uuid(claims.jti),
            session: claims.sid.map(SessionId::from_uuid),
            issued_at: instant(claims.iat)?,
            expires_at: instant(claims.exp)?,
        })
    }

    fn verify_refresh(&self, token: &str, now: DateTime<Utc>) -> Result<RefreshClaims, TokenError> {
        let claims = self.verify(token, TokenType::Refresh, now)?;
        Ok(RefreshClaims {
            user: UserId::from_uuid(claims.sub),
            id: TokenId::from_uuid(claims.jti),
            family: FamilyId::from_uuid(claims.family.ok_or(TokenError::Invalid)?),
            issued_at: instant(claims.iat)?,
            expires_at: instant(claims.exp)?,
        })
    }

    fn verify_connection(
        &self,
        kind: ConnectionToken,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<ConnectionClaims, TokenError> {
        let claims = self.verify(token, kind.into(), now)?;
        let scopes = claims.scope.ok_or(TokenError::Invalid)?;
        Ok(ConnectionClaims {
            user: UserId::from_uuid(claims.sub),
            id: TokenId::from_uuid(claims.jti),
            api_key: ApiKeyId::from_uuid(claims.key.ok_or(TokenError::Invalid)?),
            scopes: ApiKeyScopes::parse(scopes.split(' ')).map_err(|_| TokenError::Invalid)?,
            issued_at: instant(claims.iat)?,
            expires_at: instant(claims.exp)?,
        })
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if algorithm != Algorithm::HS256 {
            return Err(new_error(ErrorKind::UnsupportedAlgorithm));
        }
        Hmac::new_from_slice(key).map(Self).map_err(|_| new_error(ErrorKind::InvalidKeyFormat))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self.0.clone().chain_update(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        // Compares in constant time.
        let verified = self.0.clone().chain_update(message).verify_slice(signature);
        verified.map_err(|_| signature::Error::new())
    }
}

impl Signs for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl Verifies for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use docent_ports::clock::Clock;
    use docent_testkit::clock::TestClock;
    use serde_json::json;
    use std::sync::Arc;

    pub(crate) const KEY: &[u8] = b"a key that only this test has, long enough";

    docent_testkit::token_signer_contract!(async { (Arc::new(JwtSigner::new(KEY)) as _, ()) });

    pub(crate) fn now() -> DateTime<Utc> {
        TestClock::default().now()
    }

    fn claims() -> serde_json::Value {
        let id = Uuid::nil();
        json!({"sub": id, "jti": id, "iat": now().timestamp(), "exp": now().timestamp() + 900, "type": "access"})
    }

    fn base64url(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let sextets = |group: &[u8]| {
            let word = group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
                << (8 * (3 - group.len()));
            (0..=group.len())
                .map(|i| DIGITS[(word >> (18 - 6 * i) & 63) as usize] as char)
                .collect::<String>()
        };
        bytes.chunks(3).map(sextets).collect()
    }

    /// Creates a token without the code under test.
    pub(crate) fn forge(header: &serde_json::Value, claims: &serde_json::Value, key: &[u8]) -> String {
        let parts = [header, claims].map(|part| base64url(part.to_string().as_bytes()));
        let message = parts.join(".");
        let mac = Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(&message).finalize();
        format!("{message}.{}", base64url(&mac.into_bytes()))
    }

    fn verify(token: &str) -> Result<AccessClaims, TokenError> {
        JwtSigner::new(KEY).verify_access(token, now())
    }

    #[test]
    fn token_of_another_implementation_with_the_same_key_is_valid() {
        let token = forge(&json!({"alg": "HS256", "typ": "JWT"}), &claims(), KEY);
        assert_eq!(verify(&token).unwrap().expires_at, now() + chrono::TimeDelta::seconds(900));
    }

    #[test]
    fn token_signed_with_another_key_is_rejected() {
        let token = forge(&json!({"alg": "HS256"}), &claims(), b"another key of sufficient length.....");
        assert_eq!(verify(&token), Err(TokenError::Invalid));
    }

    // Invariant: An earlier secret key verifies tokens and never signs them.
    #[test]
    fn earlier_key_verifies_and_does_not_sign() {
        const NEW: &[u8] = b"a newer key of sufficient length.............";
        let header = json!({"alg": "HS256"});
        let signer = JwtSigner::new(NEW).accepting(&[b"an even older key of sufficient length", KEY]);
        let old = forge(&header, &claims(), KEY);
        let read = signer.verify_access(&old, now()).unwrap();
        let signed = signer.sign_access(&read);
        assert!(JwtSigner::new(NEW).verify_access(&signed, now()).is_ok());
        assert_eq!(verify(&signed), Err(TokenError::Invalid));
        assert_eq!(JwtSigner::new(NEW).verify_access(&old, now()), Err(TokenError::Invalid));
        let foreign = forge(&header, &claims(), b"another key of sufficient length.....");
        assert_eq!(signer.verify_access(&foreign, now()), Err(TokenError::Invalid));
        assert_eq!(signer.verify_access(&old, read.expires_at), Err(TokenError::Expired));
    }

    // Invariant: Tokens are accepted with HS256 only.
    #[test]
    fn only_hs256_is_accepted() {
        for algorithm in ["none", "None", "hs256", "HS384", "HS512", "RS256", "PS256", "ES256", "EdDSA", ""] {
            let token = forge(&json!({"alg": algorithm}), &claims(), KEY);
            assert_eq!(verify(&token), Err(TokenError::Invalid), "{algorithm}");
            let unsigned = token.rsplit_once('.').unwrap().0.to_owned() + ".";
            assert_eq!(verify(&unsigned), Err(TokenError::Invalid), "{algorithm}, unsigned");
        }
    }

    #[test]
    fn missing_or_mistyped_claim_is_rejected() {
        let header = json!({"alg": "HS256"});
        for claim in ["sub", "jti", "iat", "exp", "type"] {
            let mut without = claims();
            without.as_object_mut().unwrap().remove(claim);
            assert_eq!(verify(&forge(&header, &without, KEY)), Err(TokenError::Invalid), "without {claim}");
            let mut mistyped = claims();
            mistyped[claim] = json!([1]);
            assert_eq!(verify(&forge(&header, &mistyped, KEY)), Err(TokenError::Invalid), "mistyped {claim}");
        }
        let mut far = claims();
        far["exp"] = json!(i64::MAX);
        assert_eq!(verify(&forge(&header, &far, KEY)), Err(TokenError::Invalid));
    }

    #[test]
    fn refresh_token_without_family_is_rejected() {
        let mut refresh = claims();
        refresh["type"] = json!("refresh");
        let token = forge(&json!({"alg": "HS256"}), &refresh, KEY);
        assert_eq!(JwtSigner::new(KEY).verify_refresh(&token, now()), Err(TokenError::Invalid));
    }

    #[test]
    fn token_contains_exactly_the_documented_claims() {
        let id = |n| Uuid::from_u128(n);
        let token = JwtSigner::new(KEY).sign_refresh(&RefreshClaims {
            user: UserId::from_uuid(id(1)),
            id: TokenId::from_uuid(id(2)),
            family: FamilyId::from_uuid(id(3)),
            issued_at: now(),
            expires_at: now() + chrono::TimeDelta::days(30),
        });
        let data = jsonwebtoken::dangerous::insecure_decode::<serde_json::Value>(&token).unwrap();
        assert_eq!(data.header.alg, Algorithm::HS256);
        let expected = json!({
            "sub": id(1), "jti": id(2), "family": id(3), "type": "refresh",
            "iat": now().timestamp(), "exp": now().timestamp() + 30 * 86_400,
        });
        assert_eq!(data.claims, expected);
    }
}
