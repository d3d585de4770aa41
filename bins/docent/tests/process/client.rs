//! HTTP client for the tests.

use super::program::{Serving, TIMEOUT, in_time};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A logged-in client of a serving process.
pub(super) struct Client {
    pub(super) http: reqwest::Client,
    pub(super) base: String,
    pub(super) token: String,
}

impl Client {
    pub(super) async fn log_in(serving: &Serving, email: &str, password: &str) -> Self {
        Self::log_in_at(serving.base.clone(), email, password).await
    }

    pub(super) async fn log_in_at(base: String, email: &str, password: &str) -> Self {
        let http = client();
        let body = json!({ "email": email, "password": password });
        let response = http.post(format!("{base}/auth/token")).json(&body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let pair: Value = response.json().await.unwrap();
        Self { http, base, token: pair["access_token"].as_str().unwrap().to_owned() }
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.token);
        request.send().await.unwrap().json().await.unwrap()
    }

    pub(super) async fn upload(&self, file: &Path) -> String {
        self.upload_to("", file).await
    }

    /// Uploads a file with a query such as `?collection_id=…`.
    pub(super) async fn upload_to(&self, query: &str, file: &Path) -> String {
        let bytes = std::fs::read(file).unwrap();
        let part = reqwest::multipart::Part::bytes(bytes)
            .file_name(file.file_name().unwrap().to_str().unwrap().to_owned())
            .mime_str("application/pdf")
            .unwrap();
        let form = reqwest::multipart::Form::new().part("file", part);
        let request =
            self.http.post(format!("{}/documents/upload{query}", self.base)).bearer_auth(&self.token);
        let response = request.multipart(form).send().await.unwrap();
        assert_eq!(response.status(), 202);
        response.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// Asks the chat agent; returns the text of the answer and its sources.
    pub(super) async fn ask(&self, question: &str) -> (String, Vec<Value>) {
        let body = json!({ "messages": [{ "role": "user", "content": question }], "include_sources": true });
        let request = self.http.post(format!("{}/agents/chat", self.base)).bearer_auth(&self.token);
        let stream = request.json(&body).send().await.unwrap().text().await.unwrap();
        parse_answer(&stream)
    }

    /// Searches each document separately, since a search over all omits copies; returns the chunk IDs by document.
    pub(super) async fn found(&self, question: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::new();
        for (id, _) in self.settled().await {
            let body = json!({ "query": question, "limit": 50, "document_ids": [id] });
            let request = self.http.post(format!("{}/search", self.base)).bearer_auth(&self.token);
            let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
            let results = answer["results"].as_array().unwrap().iter();
            found.insert(id, results.map(|result| result["chunk_id"].to_string()).collect());
        }
        found
    }

    /// Waits until no document is pending; returns IDs and statuses.
    pub(super) async fn settled(&self) -> Vec<(String, String)> {
        in_time(async {
            loop {
                let documents = self.get("/documents").await;
                let field = |document: &Value, name: &str| document[name].as_str().unwrap().to_owned();
                let states: Vec<_> = documents
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|document| (field(document, "id"), field(document, "status")))
                    .collect();
                if states.iter().all(|(_, state)| state != "pending") {
                    return states;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await
    }
}

/// Creates an HTTP client with a timeout.
pub(super) fn client() -> reqwest::Client {
    // The adapters enable TLS without a crypto provider, so one must be installed, though these tests use no TLS.
    // Another client of the process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().tls_certs_only([]).timeout(TIMEOUT).no_proxy().build().unwrap()
}

/// One of the test PDFs.
pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pdf").join(name)
}

/// Parses the stream of an answer; returns its text and sources.
pub(super) fn parse_answer(stream: &str) -> (String, Vec<Value>) {
    let (mut answer, mut sources) = (String::new(), Vec::new());
    for event in stream.split("\n\n") {
        if let Some(token) = event.strip_prefix("data: ") {
            answer += &serde_json::from_str::<String>(token).unwrap();
        } else if let Some(found) = event.strip_prefix("event: sources\ndata: ") {
            let found: Value = serde_json::from_str(found).unwrap();
            sources = found["results"].as_array().unwrap().clone();
        }
    }
    (answer, sources)
}
