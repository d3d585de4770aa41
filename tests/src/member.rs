//! A signed-in account.

use crate::app::{PASSWORD, TestApp};
use crate::reply::Reply;
use docent_app::accounts::create::Flags;
use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// An account and its tokens.
#[derive(Clone, Debug)]
pub struct Member {
    app: TestApp,
    /// The account.
    pub user: User,
    /// Its access token.
    pub access: String,
    /// Its refresh token.
    pub refresh: String,
}

impl TestApp {
    /// Creates an account and signs it in.
    pub async fn member(&self, email: &str) -> Member {
        let user = self.account(email, Flags::default()).await;
        Member::login(self, user).await
    }

    /// Creates an account without permissions and signs it in.
    pub async fn ada(&self) -> Member {
        self.member("ada@example.org").await
    }

    /// Creates a superuser and signs it in.
    pub async fn superuser(&self) -> Member {
        let flags = Flags { is_staff: true, is_superuser: true };
        let user = self.account("root@example.org", flags).await;
        Member::login(self, user).await
    }
}

impl Member {
    /// Signs an account in with [`PASSWORD`].
    pub async fn login(app: &TestApp, user: User) -> Self {
        Self::login_with(app, user, PASSWORD).await
    }

    /// Signs an account in with this password.
    pub async fn login_with(app: &TestApp, user: User, password: &str) -> Self {
        let tokens = app.login(user.email.as_str(), password).await.expect(200).json();
        let token = |name: &str| tokens[name].as_str().unwrap().to_owned();
        Self { app: app.clone(), access: token("access_token"), refresh: token("refresh_token"), user }
    }

    /// Returns the account with another credential instead of its access token.
    #[must_use]
    pub fn with_access(&self, access: String) -> Self {
        Self { access, ..self.clone() }
    }

    /// Returns the service that the account belongs to.
    pub fn app(&self) -> &TestApp {
        &self.app
    }

    /// Searches and returns the IDs of the documents found, best first, without duplicates.
    pub async fn search(&self, query: &str) -> Vec<String> {
        let grant = Actor::of(&self.user).unwrap().authorize().unwrap();
        let (scope, selection) = (Scope::SERVICE, &Selection::default());
        let request = SearchRequest { query, scope, selection, limit: 50 };
        let found = search::search(&self.app.app, grant, request).await.unwrap();
        let mut ids: Vec<String> = found.passages.iter().map(|chunk| chunk.document_id.to_string()).collect();
        ids.dedup();
        ids
    }

    /// Asks the chat agent and returns the IDs of the source documents, without duplicates.
    pub async fn sources(&self, question: &str) -> Vec<String> {
        self.sources_of(question_body(question)).await
    }

    /// Sends a request to the chat agent and returns the IDs of the source documents, without duplicates.
    pub async fn sources_of(&self, mut body: Value) -> Vec<String> {
        body["include_sources"] = json!(true);
        let stream = self.post("/agents/chat", body).await.expect(200).text;
        let sources = stream.split("\n\n").find_map(|event| event.strip_prefix("event: sources\ndata: "));
        let sources: Value = serde_json::from_str(sources.unwrap()).unwrap();
        let results = sources["results"].as_array().unwrap().iter();
        let mut ids: Vec<String> =
            results.map(|result| result["document_id"].as_str().unwrap().to_owned()).collect();
        ids.dedup();
        ids
    }

    /// Builds a request with the access token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.app.request(method, path).bearer_auth(&self.access)
    }

    /// GETs a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.app.send(self.request(Method::GET, path)).await
    }

    /// POSTs JSON.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.app.send(self.request(Method::POST, path).json(&body)).await
    }

    /// DELETEs a path.
    pub async fn delete(&self, path: &str) -> Reply {
        self.app.send(self.request(Method::DELETE, path)).await
    }

    /// PATCHes a path with JSON.
    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.app.send(self.request(Method::PATCH, path).json(&body)).await
    }

    /// PUTs JSON.
    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.app.send(self.request(Method::PUT, path).json(&body)).await
    }

    /// POSTs a form.
    pub async fn post_form(&self, path: &str, form: Form) -> Reply {
        self.app.send(self.request(Method::POST, path).multipart(form)).await
    }

    /// PUTs a form.
    pub async fn put_form(&self, path: &str, form: Form) -> Reply {
        self.app.send(self.request(Method::PUT, path).multipart(form)).await
    }

    /// Uploads a PDF.
    pub async fn upload(&self, name: &str, bytes: Vec<u8>) -> Reply {
        self.upload_to("/documents/upload", name, bytes).await
    }

    /// Uploads a PDF to this path.
    pub async fn upload_to(&self, path: &str, name: &str, bytes: Vec<u8>) -> Reply {
        self.post_form(path, form(name, "application/pdf", bytes)).await
    }

    /// Uploads a PDF, which must be accepted, and returns the document's ID.
    pub async fn add(&self, name: &str, bytes: Vec<u8>) -> String {
        let document = self.upload(name, bytes).await.expect(202).json();
        document["id"].as_str().unwrap().to_owned()
    }

    /// Returns a document.
    pub async fn document(&self, id: &str) -> Value {
        self.get(&format!("/documents/{id}")).await.expect(200).json()
    }

    /// Asks the chat agent a question.
    pub async fn ask(&self, question: &str) -> Reply {
        self.post("/agents/chat", question_body(question)).await
    }
}

/// Returns the request body of one question.
pub fn question_body(question: &str) -> Value {
    json!({ "messages": [{ "role": "user", "content": question }] })
}

/// Returns a form with one file.
pub fn form(name: &str, content_type: &str, bytes: Vec<u8>) -> Form {
    Form::new().part("file", Part::bytes(bytes).file_name(name.to_owned()).mime_str(content_type).unwrap())
}
