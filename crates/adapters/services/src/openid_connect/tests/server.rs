//! An identity provider on a local port.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use docent_domain::identity::LogoutRequest;
use docent_ports::identity_provider::AuthorizationRequest;
use docent_testkit::fakes::identity_provider::Grant;
use openidconnect::core::{
    CoreEdDsaPrivateSigningKey, CoreJsonWebKey, CoreJwsSigningAlgorithm, CoreRsaPrivateSigningKey,
};
use openidconnect::url::form_urlencoded;
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(super) const CLIENT: &str = "docent";

/// A signing key.
pub(super) enum Key {
    Ed25519(u8, Box<CoreEdDsaPrivateSigningKey>),
    Rsa(Box<CoreRsaPrivateSigningKey>),
}

impl Key {
    /// The key of this number.
    pub(super) fn ed25519(n: u8) -> Self {
        // PKCS #8 of the seed.
        let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        der.extend([n; 32]);
        let label = "PRIVATE KEY";
        let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
        let id = Some(JsonWebKeyId::new(format!("key-{n}")));
        Self::Ed25519(n, Box::new(CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, id).unwrap()))
    }

    pub(super) fn rsa() -> Self {
        let id = Some(JsonWebKeyId::new("rsa".to_owned()));
        Self::Rsa(Box::new(CoreRsaPrivateSigningKey::from_pem(include_str!("rsa.pem"), id).unwrap()))
    }

    fn name(&self) -> String {
        match self {
            Self::Ed25519(n, _) => format!("key-{n}"),
            Self::Rsa(_) => "rsa".to_owned(),
        }
    }

    fn algorithm(&self) -> CoreJwsSigningAlgorithm {
        match self {
            Self::Ed25519(..) => CoreJwsSigningAlgorithm::EdDsa,
            Self::Rsa(_) => CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
        }
    }

    fn public(&self) -> CoreJsonWebKey {
        match self {
            Self::Ed25519(_, key) => key.as_verification_key(),
            Self::Rsa(key) => key.as_verification_key(),
        }
    }

    fn sign(&self, message: &str) -> Vec<u8> {
        match self {
            Self::Ed25519(_, key) => key.sign(&self.algorithm(), message.as_bytes()).unwrap(),
            Self::Rsa(key) => key.sign(&self.algorithm(), message.as_bytes()).unwrap(),
        }
    }
}

/// What the provider answers, and what it was asked.
pub(super) struct Wire {
    pub(super) key: Key,
    /// The key that is published, if it is another one.
    pub(super) published: Option<Key>,
    /// The algorithm in headers of tokens, if it is another one than that of the key.
    pub(super) algorithm: Option<CoreJwsSigningAlgorithm>,
    /// Metadata that replace the usual ones.
    pub(super) metadata: Value,
    pub(super) userinfo: Value,
    /// Answer of the token endpoint, if it is not the usual one.
    pub(super) token_answer: Option<String>,
    pub(super) is_down: bool,
    pub(super) key_reads: usize,
    pub(super) metadata_reads: usize,
    /// The last form that the token endpoint received, and whether the client authenticated in a header.
    pub(super) token_form: String,
    pub(super) has_authorization: bool,
    /// Codes with their tokens, PKCE challenges and redirect URIs.
    codes: HashMap<String, (String, String, String)>,
}

pub(super) struct Server {
    pub(super) issuer: String,
    wire: Mutex<Wire>,
}

fn merged(mut into: Value, changes: &Value) -> Value {
    let target: &mut Map<String, Value> = into.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => target.remove(name),
            value => target.insert(name.clone(), value.clone()),
        };
    }
    into
}

impl Server {
    pub(super) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}/realm", listener.local_addr().unwrap());
        let wire = Wire {
            key: Key::ed25519(1),
            published: None,
            algorithm: None,
            metadata: json!({}),
            userinfo: json!({}),
            token_answer: None,
            is_down: false,
            key_reads: 0,
            metadata_reads: 0,
            token_form: String::new(),
            has_authorization: false,
            codes: HashMap::new(),
        };
        let server = Arc::new(Self { issuer, wire: Mutex::new(wire) });
        let serving = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Arc::clone(&serving);
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        server
    }

    pub(super) fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap()
    }

    fn token(&self, kind: &str, claims: &Value, is_signed: bool) -> String {
        let wire = self.wire();
        let algorithm = wire.algorithm.clone().unwrap_or_else(|| wire.key.algorithm());
        let header = json!({ "alg": algorithm, "kid": wire.key.name(), "typ": kind });
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(claims));
        let mut signature = wire.key.sign(&message);
        if !is_signed {
            signature[0] ^= 1;
        }
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    pub(super) fn id_token(&self, grant: &Grant, nonce: &str) -> String {
        let claims = &grant.claims;
        let texts = |all: Vec<String>| (!all.is_empty()).then_some(all);
        let all = json!({
            "iss": claims.issuer,
            "sub": claims.subject,
            "aud": grant.audience,
            "azp": grant.authorized_party,
            "nonce": grant.nonce.as_deref().unwrap_or(nonce),
            "iat": grant.issued_at.timestamp(),
            "exp": grant.expires_at.timestamp(),
            "email": claims.email.as_ref().map(|email| email.as_str()),
            "email_verified": claims.email.as_ref().and(claims.is_email_verified),
            "name": claims.name.as_ref().map(|name| name.as_str()),
            "groups": texts(claims.groups.iter().cloned().collect()),
            "sid": claims.session,
            "auth_time": claims.authenticated_at.map(|at| at.timestamp()),
            "amr": texts(claims.methods.clone()),
            "acr": claims.context,
        });
        self.token("JWT", &merged(json!({}), &all), grant.is_signed)
    }

    /// Issues a code.
    pub(super) fn issue(&self, code: &str, grant: &Grant, request: &AuthorizationRequest) {
        let token = self.id_token(grant, &request.nonce);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&request.verifier));
        let known = (token, challenge, request.redirect_uri.clone());
        let mut wire = self.wire();
        wire.codes.insert(code.to_owned(), known);
        if wire.userinfo.get("email").is_none() {
            wire.userinfo = json!({ "sub": grant.claims.subject });
        }
    }

    /// A logout token, with other claims if there are `changes`.
    pub(super) fn logout_token(&self, request: &LogoutRequest, changes: Value) -> String {
        let claims = json!({
            "iss": request.issuer,
            "aud": CLIENT,
            "iat": request.issued_at.timestamp(),
            "exp": request.issued_at.timestamp() + 120,
            "jti": "1",
            "sub": request.subject,
            "sid": request.provider_session,
            "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
        });
        self.token("logout+jwt", &merged(merged(json!({}), &claims), &changes), true)
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let text = String::from_utf8_lossy(&request).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length:")
                        .map(|n| n.trim().parse::<usize>().unwrap())
                });
                if body.len() >= length.unwrap_or(0) {
                    let (status, answer) = self.answer(head, body);
                    let answer = format!(
                        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}",
                        answer.len()
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                    return;
                }
            }
            match stream.read(&mut buffer).await {
                Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
                _ => return,
            }
        }
    }

    fn answer(&self, head: &str, body: &str) -> (u16, String) {
        let path = head.split(' ').nth(1).unwrap_or_default().strip_prefix("/realm").unwrap_or_default();
        let mut wire = self.wire();
        if wire.is_down {
            return (503, String::new());
        }
        match path {
            "/.well-known/openid-configuration" => {
                wire.metadata_reads += 1;
                let at = |path: &str| format!("{}{path}", self.issuer);
                let metadata = json!({
                    "issuer": self.issuer,
                    "authorization_endpoint": at("/authorize"),
                    "token_endpoint": at("/token"),
                    "userinfo_endpoint": at("/userinfo"),
                    "jwks_uri": at("/keys"),
                    "end_session_endpoint": at("/logout"),
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256", "EdDSA", "unknown"],
                });
                (200, merged(metadata, &wire.metadata).to_string())
            }
            "/keys" => {
                wire.key_reads += 1;
                let key = wire.published.as_ref().unwrap_or(&wire.key).public();
                (200, json!({ "keys": [{ "kty": "unknown", "kid": "x" }, key] }).to_string())
            }
            "/token" => {
                let form: HashMap<_, _> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
                wire.has_authorization = head.to_ascii_lowercase().contains("\r\nauthorization: basic ");
                body.clone_into(&mut wire.token_form);
                if let Some(answer) = &wire.token_answer {
                    return (200, answer.clone());
                }
                let known = form.get("code").and_then(|code| wire.codes.remove(code));
                let challenge = form
                    .get("code_verifier")
                    .map(|verifier| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)));
                match known {
                    Some((token, expected, redirect))
                        if challenge.as_ref() == Some(&expected)
                            && form.get("redirect_uri") == Some(&redirect) =>
                    {
                        let answer = json!({ "access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": token });
                        (200, answer.to_string())
                    }
                    _ => (400, json!({ "error": "invalid_grant" }).to_string()),
                }
            }
            "/userinfo" => (200, wire.userinfo.to_string()),
            _ => (404, String::new()),
        }
    }
}
