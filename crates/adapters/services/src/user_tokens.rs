//! Tokens of LibreChat: JSON Web Tokens with the ID of a user, signed with HMAC-SHA256 and a shared secret.

use crate::token_signer::{JwtSigner, instant};
use chrono::{DateTime, Utc};
use docent_domain::external_file::ExternalId;
use docent_ports::token_signer::TokenError;
use docent_ports::user_tokens::UserTokenVerifier;
use serde::Deserialize;

/// Verifies tokens with a shared secret.
pub struct JwtUserTokens(JwtSigner);

/// The claims that are read. Both are required.
#[derive(Deserialize)]
struct Claims {
    id: String,
    /// Seconds since 1970.
    exp: i64,
}

impl JwtUserTokens {
    /// Creates a verifier with a secret, whose length the caller has checked.
    pub fn new(secret: &[u8]) -> Self {
        Self(JwtSigner::new(secret))
    }
}

impl UserTokenVerifier for JwtUserTokens {
    fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<ExternalId, TokenError> {
        let claims: Claims = self.0.decode(token)?;
        if instant(claims.exp)? <= now {
            return Err(TokenError::Expired);
        }
        ExternalId::parse(&claims.id).map_err(|_| TokenError::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_signer::tests::{KEY, forge, now};
    use serde_json::{Value, json};

    fn verify(header: &Value, claims: &Value, key: &[u8]) -> Result<String, TokenError> {
        let id = JwtUserTokens::new(KEY).verify(&forge(header, claims, key), now())?;
        Ok(id.as_str().to_owned())
    }

    fn claims() -> Value {
        json!({ "id": "65f0c0ffee", "iat": now().timestamp(), "exp": now().timestamp() + 300 })
    }

    #[test]
    fn token_names_the_user_until_it_expires() {
        let header = json!({ "alg": "HS256", "typ": "JWT" });
        assert_eq!(verify(&header, &claims(), KEY).as_deref(), Ok("65f0c0ffee"));
        let mut expired = claims();
        expired["exp"] = json!(now().timestamp());
        assert_eq!(verify(&header, &expired, KEY), Err(TokenError::Expired));
    }

    // Invariant: Tokens are accepted with HS256 only.
    #[test]
    fn other_algorithms_and_secrets_are_rejected() {
        for algorithm in ["none", "None", "HS384", "HS512", "RS256", "ES256", ""] {
            let rejected = verify(&json!({ "alg": algorithm }), &claims(), KEY);
            assert_eq!(rejected, Err(TokenError::Invalid), "{algorithm}");
        }
        let foreign = verify(&json!({ "alg": "HS256" }), &claims(), b"another secret of sufficient length");
        assert_eq!(foreign, Err(TokenError::Invalid));
        let (header, body) = (json!({ "alg": "none" }), claims());
        let unsigned = forge(&header, &body, KEY);
        let unsigned = &unsigned[..=unsigned.rfind('.').unwrap()];
        assert_eq!(JwtUserTokens::new(KEY).verify(unsigned, now()).map(|_| ()), Err(TokenError::Invalid));
    }

    // Invariant: A token of LibreChat without an expiry is refused.
    #[test]
    fn token_without_expiry_or_user_is_rejected() {
        let header = json!({ "alg": "HS256" });
        let exp = now().timestamp() + 300;
        for wrong in [
            json!({ "id": "a" }),
            json!({ "id": "a", "exp": null }),
            json!({ "id": "a", "exp": "2099-01-01" }),
            json!({ "exp": exp }),
            json!({ "id": "", "exp": exp }),
            json!({ "id": 7, "exp": exp }),
            json!({ "id": "a\nb", "exp": exp }),
            json!({ "id": "a", "exp": i64::MAX }),
        ] {
            assert_eq!(verify(&header, &wrong, KEY), Err(TokenError::Invalid), "{wrong}");
        }
    }

    #[test]
    fn token_of_this_service_is_rejected() {
        let own =
            json!({ "sub": "0", "jti": "0", "iat": 0, "exp": now().timestamp() + 300, "type": "access" });
        assert_eq!(verify(&json!({ "alg": "HS256" }), &own, KEY), Err(TokenError::Invalid));
    }
}
