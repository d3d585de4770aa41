//! A client of the admin panel, of the account pages and of the web chat's session, without scripts.

use crate::app::TestApp;
use crate::reply::Reply;
use crate::urlencoded::encode;
use reqwest::multipart::Form;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A browser that keeps the session cookie and submits forms. Clones are independent.
#[derive(Clone, Debug)]
pub struct Browser {
    app: TestApp,
    /// The `Cookie` header; empty without a cookie.
    pub cookie: String,
    /// What requests of the web chat name: the ID of the account; nothing on other pages.
    pub account: Option<String>,
}

impl Browser {
    /// Returns a browser without cookies.
    pub fn new(app: &TestApp) -> Self {
        Self { app: app.clone(), cookie: String::new(), account: None }
    }

    /// Returns a browser in which the web chat is signed in.
    pub async fn in_chat(app: &TestApp, email: &str, password: &str) -> Self {
        let mut browser = Self::new(app);
        let _ = browser.login_at("/account/login", email, password).await.expect(303);
        let session = browser.get("/chat/session").await.expect(200).json();
        browser.account = Some(session["account"]["id"].as_str().unwrap().to_owned());
        browser
    }

    /// Returns a copy whose requests name this account.
    #[must_use]
    pub fn with_account(&self, account: Option<&str>) -> Self {
        Self { account: account.map(str::to_owned), ..self.clone() }
    }

    /// Sends a request with the cookie, and keeps the new one if there is one.
    pub async fn send(&mut self, request: RequestBuilder) -> Reply {
        let request = if self.cookie.is_empty() { request } else { request.header("Cookie", &self.cookie) };
        let request = match &self.account {
            Some(account) => request.header("X-Docent-Account", account),
            None => request,
        };
        let reply = self.app.send(request).await;
        if let Some(cookie) = reply.headers.get("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.cookie = if pair.ends_with('=') { String::new() } else { pair.to_owned() };
        }
        reply
    }

    /// Opens a page.
    pub async fn get(&mut self, path: &str) -> Reply {
        let request = self.app.request(Method::GET, path);
        self.send(request).await
    }

    /// Sends JSON, as the script of the web chat does.
    pub async fn send_json(&mut self, method: Method, path: &str, body: &Value) -> Reply {
        let request = self.app.request(method, path).json(body);
        self.send(request).await
    }

    /// Sends DELETE.
    pub async fn delete(&mut self, path: &str) -> Reply {
        let request = self.app.request(Method::DELETE, path);
        self.send(request).await
    }

    /// Asks for the headers of a page.
    pub async fn head(&mut self, path: &str) -> Reply {
        let request = self.app.request(Method::HEAD, path);
        self.send(request).await
    }

    /// Submits a form with exactly these fields.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let request = self.app.request(Method::POST, path);
        let request =
            request.header("Content-Type", "application/x-www-form-urlencoded").body(body.join("&"));
        self.send(request).await
    }

    /// Submits a form with files.
    pub async fn post_files(&mut self, path: &str, form: Form) -> Reply {
        let request = self.app.request(Method::POST, path).multipart(form);
        self.send(request).await
    }

    /// Submits a form with files as the panel's script does, asking for JSON.
    pub async fn post_files_by_script(&mut self, path: &str, form: Form) -> Reply {
        let request =
            self.app.request(Method::POST, path).header("Accept", "application/json").multipart(form);
        self.send(request).await
    }

    /// Signs in to the panel with the login page's form.
    pub async fn login(&mut self, email: &str, password: &str) -> Reply {
        self.login_at("/admin/login", email, password).await
    }

    /// Signs in to the panel or to the account pages with the form at this path.
    pub async fn login_at(&mut self, path: &str, email: &str, password: &str) -> Reply {
        let token = form_token(&self.get(path).await.expect(200));
        let fields = [("form_token", token.as_str()), ("email", email), ("password", password)];
        self.post(path, &fields).await
    }
}

/// Returns the form token of a page.
pub fn form_token(page: &Reply) -> String {
    let (_, rest) = page.text.split_once("name=\"form_token\" value=\"").expect("a form");
    rest.split('"').next().unwrap().to_owned()
}
