//! The authorization server: applications get access by a link.

mod authorize;
mod clients;
mod connections;
mod metadata;
mod tokens;

use crate::account::{ADA, at_account};
use docent_app::accounts::create::Flags;
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::reply::Reply;
use docent_tests::urlencoded::encode;
use reqwest::Method;
use serde_json::{Value, json};

const CALLBACK: &str = "https://client.example/callback";
/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Registers a client with this redirect URI, and returns its ID.
pub(crate) async fn register(app: &TestApp, redirect_uri: &str) -> String {
    let body = json!({ "client_name": "<b>Reader", "redirect_uris": [redirect_uri] });
    let reply = app.post("/oauth/register", body).await.expect(201);
    assert_eq!(reply.header("cache-control"), "no-store");
    reply.json()["client_id"].as_str().unwrap().to_owned()
}

fn url_of(app: &TestApp, path: &str) -> String {
    format!("http://{}{path}", app.address)
}

/// The path of a request for `/mcp` with these parameters; `changes` replace, add or, if empty, remove some.
pub(crate) fn authorize_path(app: &TestApp, client: &str, changes: &[(&str, &str)]) -> String {
    let resource = url_of(app, "/mcp");
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("state", "a state&more"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", resource.as_str()),
    ];
    parameters.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    parameters.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
    let pairs: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    format!("/oauth/authorize?{}", pairs.join("&"))
}

/// An account that is signed in, and a registered client.
pub(crate) struct Case {
    pub(crate) app: TestApp,
    browser: Browser,
    user: User,
    client: String,
}

impl Case {
    async fn new(app: TestApp) -> Self {
        app.account(ADA, Flags::default()).await;
        let browser = at_account(&app, ADA).await;
        Self::of(app, browser).await
    }

    /// [`ADA`], who is signed in with this browser.
    pub(crate) async fn of(app: TestApp, browser: Browser) -> Self {
        let email = Email::parse(ADA).unwrap();
        let user = app.ports.store.read().await.unwrap().users().by_email(&email).await.unwrap().unwrap();
        let client = register(&app, CALLBACK).await;
        Self { app, browser, user, client }
    }

    fn path(&self, changes: &[(&str, &str)]) -> String {
        authorize_path(&self.app, &self.client, changes)
    }

    /// Opens the page and submits its form with these fields.
    async fn answer(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let page = self.browser.get(path).await.expect(200);
        let token = form_token(&page);
        let fields: Vec<_> =
            [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.browser.post(path, &fields).await
    }

    /// Allows a request with these scopes, and returns the code.
    async fn code_of(&mut self, path: &str, scopes: &[&str]) -> String {
        let scopes = scopes.iter().map(|scope| ("scopes", *scope));
        let fields: Vec<_> = [("decision", "allow")].into_iter().chain(scopes).collect();
        let reply = self.answer(path, &fields).await.expect(303);
        parameter(reply.header("location"), "code").expect("a code")
    }

    /// Allows reading `/mcp`, and returns the code.
    async fn code(&mut self) -> String {
        let path = self.path(&[]);
        self.code_of(&path, &["read"]).await
    }

    /// Exchanges a code; `changes` replace, add or, if empty, remove fields.
    async fn exchange(&self, code: &str, changes: &[(&str, &str)]) -> Reply {
        let resource = url_of(&self.app, "/mcp");
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", self.client.as_str()),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
            ("resource", resource.as_str()),
        ];
        token(&self.app, &fields, changes).await
    }

    async fn refresh(&self, refresh_token: &str, changes: &[(&str, &str)]) -> Reply {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", self.client.as_str()),
            ("refresh_token", refresh_token),
        ];
        token(&self.app, &fields, changes).await
    }

    /// Connects the client to `/mcp`, and returns its access and refresh token.
    pub(crate) async fn connect(&mut self) -> (String, String) {
        let code = self.code().await;
        tokens_of(&self.exchange(&code, &[]).await.expect(200))
    }

    /// Connects the client to the API with these scopes.
    async fn connect_to_api(&mut self, scopes: &[&str]) -> (String, String) {
        let api = url_of(&self.app, "");
        let path = self.path(&[("resource", &api), ("scope", "read ingest chat admin openid")]);
        let code = self.code_of(&path, scopes).await;
        tokens_of(&self.exchange(&code, &[("resource", &api)]).await.expect(200))
    }
}

/// Sends a form to the token endpoint.
async fn token(app: &TestApp, fields: &[(&str, &str)], changes: &[(&str, &str)]) -> Reply {
    let mut fields = fields.to_vec();
    fields.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    fields.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
    app.submit("/oauth/token", &fields).await
}

fn tokens_of(reply: &Reply) -> (String, String) {
    let text = |name: &str| reply.json()[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

/// Checks that this is an error of OAuth with this code.
fn is_error(reply: &Reply, code: &str) {
    assert_eq!((reply.status, &reply.json()["error"]), (400, &json!(code)), "{}", reply.text);
    assert!(!reply.json()["error_description"].as_str().unwrap().is_empty());
    assert_eq!(reply.header("cache-control"), "no-store");
}

/// The value of a parameter in the query of a URL.
fn parameter(url: &str, name: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Lists the tools of `/mcp`.
pub(crate) async fn use_mcp(app: &TestApp, access: &str) -> Reply {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let request = app.request(Method::POST, "/mcp").header("Accept", "application/json, text/event-stream");
    app.send(request.json(&body).bearer_auth(access)).await
}

async fn list_documents(app: &TestApp, access: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").bearer_auth(access)).await
}

/// Metadata of a path.
async fn metadata_at(app: &TestApp, path: &str) -> Value {
    app.get(path).await.expect(200).json()
}
