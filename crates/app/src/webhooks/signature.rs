//! Signing messages as Standard Webhooks has it, and writing secrets as it does.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_domain::webhook::WebhookSecret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What every secret begins with.
pub const SECRET_START: &str = "whsec_";

/// The secret as its holder keeps it: `whsec_` and the bytes in base64.
pub fn secret_text(secret: &WebhookSecret) -> String {
    format!("{SECRET_START}{}", STANDARD.encode(secret.expose()))
}

/// The value of `webhook-signature`: `v1,` and the HMAC-SHA256 of `ID.TIMESTAMP.BODY` in base64, for each secret,
/// with a space between them.
pub fn signatures<'s>(
    secrets: impl Iterator<Item = &'s WebhookSecret>,
    id: &str,
    timestamp: i64,
    body: &str,
) -> String {
    let sign = |secret: &WebhookSecret| {
        // HMAC fills a key that is shorter than the hash's block up with zeros.
        let mut key = [0; 64];
        key[..32].copy_from_slice(secret.expose());
        let mut mac = Hmac::<Sha256>::new(&key.into());
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    };
    secrets.map(sign).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values were computed with Python's `hmac` and `base64`.
    #[test]
    fn a_signature_is_what_others_compute() {
        let secrets = [WebhookSecret::from_bytes([7; 32]), WebhookSecret::from_bytes([8; 32])];
        assert_eq!(secret_text(&secrets[0]), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        let one = "v1,KH5PG1dlvAGKPf+KDQa0S8CJYXM19oybgMvQE/gqmis=";
        let two = "v1,suN0lVAoG6PH+Gy+yg7djSyD99qMgIfANnh2nSaGafc=";
        let body = "{\"title\":\"Grüße\"}";
        assert_eq!(signatures(secrets[..1].iter(), "m1", 1_767_225_600, body), one);
        assert_eq!(signatures(secrets.iter(), "m1", 1_767_225_600, body), format!("{one} {two}"));
    }
}
