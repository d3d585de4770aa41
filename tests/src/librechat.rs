//! A client that sends the requests of LibreChat, with tokens that it signs itself.

use crate::app::TestApp;
use crate::reply::Reply;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::pin::pin;

/// The shared secret.
pub const SECRET: &str = "a secret that LibreChat and this service share";

/// Signs a token with HMAC-SHA256 (RFC 2104), without the code under test.
pub fn sign(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let padded = |byte: u8| {
        let mut block = [byte; 64];
        block.iter_mut().zip(secret).for_each(|(block, secret)| *block ^= secret);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(&message).finalize();
    let mac = Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac))
}

/// A user of LibreChat.
#[derive(Clone, Debug)]
pub struct LibreChatUser {
    app: TestApp,
    id: String,
}

impl TestApp {
    /// A user of LibreChat with this ID.
    pub fn librechat(&self, id: &str) -> LibreChatUser {
        LibreChatUser { app: self.clone(), id: id.to_owned() }
    }
}

impl LibreChatUser {
    /// The token that LibreChat makes for each of its requests. It is valid for five minutes.
    pub fn token(&self) -> String {
        let now = self.app.app.now().timestamp();
        sign(
            &json!({ "alg": "HS256", "typ": "JWT" }),
            &json!({ "id": self.id, "iat": now, "exp": now + 300 }),
            SECRET.as_bytes(),
        )
    }

    /// Builds a request.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.request(method, &format!("/librechat{path}")).bearer_auth(self.token())
    }

    /// The request of `uploadVectors`: the ID before the file, and other fields after it.
    pub fn embed_request(
        &self,
        id: &str,
        name: &str,
        bytes: Vec<u8>,
        entity: Option<&str>,
    ) -> RequestBuilder {
        let mut form = Form::new().text("file_id", id.to_owned()).part("file", part(name, bytes));
        if let Some(entity) = entity {
            form = form.text("entity_id", entity.to_owned());
        }
        let form =
            form.text("storage_metadata", json!({ "source": "local", "path": "/uploads" }).to_string());
        self.request(Method::POST, "/embed").header("accept", "application/json").multipart(form)
    }

    /// Uploads a file, and runs jobs until the upload is answered.
    pub async fn embed(&self, id: &str, name: &str, bytes: Vec<u8>) -> Reply {
        self.app.while_jobs_run(self.app.send(self.embed_request(id, name, bytes, None))).await
    }

    /// The request of the tool `file_search`.
    pub async fn query(&self, id: &str, query: &str, entity: Option<&str>) -> Reply {
        let mut body = json!({ "file_id": id, "query": query, "k": 5 });
        if let Some(entity) = entity {
            body["entity_id"] = json!(entity);
        }
        self.app.send(self.request(Method::POST, "/query").json(&body)).await
    }

    /// The request of `createContextHandlers` with the full context.
    pub async fn context(&self, id: &str) -> Reply {
        self.app.send(self.request(Method::GET, &format!("/documents/{id}/context"))).await
    }

    /// The request of `deleteVectors`.
    pub async fn delete(&self, ids: &[&str]) -> Reply {
        let request = self.request(Method::DELETE, "/documents").header("accept", "application/json");
        self.app.send(request.json(&ids)).await
    }

    /// The request of `parseText`.
    pub async fn text(&self, id: &str, name: &str, bytes: Vec<u8>) -> Reply {
        let form = Form::new().text("file_id", id.to_owned()).part("file", part(name, bytes));
        let request = self.request(Method::POST, "/text").header("accept", "application/json");
        self.app.send(request.multipart(form)).await
    }
}

/// A file with the content type that the package `form-data` names by its extension.
fn part(name: &str, bytes: Vec<u8>) -> Part {
    let content_type = match name.rsplit_once('.') {
        Some((_, "pdf")) => "application/pdf",
        Some((_, "md")) => "text/markdown",
        Some((_, "txt")) => "text/plain",
        _ => "application/octet-stream",
    };
    Part::bytes(bytes).file_name(name.to_owned()).mime_str(content_type).unwrap()
}

impl TestApp {
    /// Runs jobs until some work is done.
    pub async fn while_jobs_run<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            if let std::task::Poll::Ready(done) = futures::poll!(work.as_mut()) {
                return done;
            }
            self.run_jobs().await;
            tokio::task::yield_now().await;
        }
    }
}
