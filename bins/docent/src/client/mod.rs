//! HTTP client for a running service.

mod credentials;
mod error;
pub(crate) mod retry;
mod selection;
pub(crate) mod source;
mod upload;

pub(crate) use error::ApiError;

use crate::invocation::command;
use anyhow::{Context, anyhow, bail};
use credentials::{CredentialsFile, Tokens};
use docent::cli::{DEFAULT_SERVER, RemoteArgs};
use docent_http_client::http_client;
use error::request_error;
use reqwest::header::ACCEPT;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout until a stream begins; an agent may call its model several times before the first token.
const FIRST_TOKEN_TIMEOUT: Duration = Duration::from_secs(300);
/// The most refreshes for one request: the token that another process stored may have expired too.
const MAX_REFRESHES: u32 = 2;

/// A service and the credential for it.
pub(crate) struct ServiceClient {
    http: Client,
    base: Url,
    credential: Credential,
}

/// How requests are authenticated.
enum Credential {
    ApiKey(String),
    /// A login of `docent login`, refreshed when its access token has expired.
    Login(CredentialsFile, Mutex<Tokens>),
}

impl ServiceClient {
    /// Creates a client with the API key in the arguments, or else with the stored login.
    pub(crate) fn open(args: &RemoteArgs) -> anyhow::Result<Self> {
        let base = parse_base(&args.server)?;
        let http = http_client(&base, CONNECT_TIMEOUT)?;
        // An empty variable counts as not set.
        let credential = match args.api_key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => Credential::ApiKey(key.to_owned()),
            None => {
                let credentials = CredentialsFile::at(args.credentials.as_deref())?;
                let tokens = credentials.read(&base)?.with_context(|| {
                    format!(
                        "you are not logged in at {base}: run `{}`, or set DOCENT_API_KEY",
                        login_command(&base)
                    )
                })?;
                Credential::Login(credentials, Mutex::new(tokens))
            }
        };
        Ok(Self { http, base, credential })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// An [`ApiError`] if the response is not a success.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> anyhow::Result<Response> {
        let mut url = join(&self.base, path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.send_authenticated(self.http.request(method, url).timeout(REQUEST_TIMEOUT)).await
    }

    /// Sends a GET request and parses the JSON response.
    pub(crate) async fn get(&self, path: &[&str]) -> anyhow::Result<Value> {
        let response = self.send(Method::GET, path, &[]).await?;
        response.json().await.map_err(reqwest::Error::without_url).context("reading the response")
    }

    /// Sends a POST request with a JSON body.
    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> anyhow::Result<Response> {
        self.send_json(Method::POST, path, body).await
    }

    /// Sends a request with a JSON body.
    pub(crate) async fn send_json(
        &self,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> anyhow::Result<Response> {
        let request = self.http.request(method, join(&self.base, path)?).json(body).timeout(REQUEST_TIMEOUT);
        // MCP requires both types.
        self.send_authenticated(request.header(ACCEPT, "application/json, text/event-stream")).await
    }

    /// Sends a POST request whose response is a stream, without a total timeout.
    pub(crate) async fn stream(&self, path: &[&str], body: &Value) -> anyhow::Result<Response> {
        let request = self.http.post(join(&self.base, path)?).json(body);
        let started = timeout(FIRST_TOKEN_TIMEOUT, self.send_authenticated(request)).await;
        started.with_context(|| format!("{} did not start answering in time", self.base))?
    }

    /// Sends a request and, if the login has expired, refreshes it and repeats the request. Streamed bodies cannot be
    /// repeated.
    async fn send_authenticated(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let mut next = Some(request);
        let mut refreshes = 0;
        while let Some(request) = next.take() {
            let repeat = request.try_clone();
            let secret = self.secret().await;
            let response = request.bearer_auth(&secret).send().await;
            let response = response.map_err(|error| request_error(&self.base, error))?;
            let is_expired = matches!(self.credential, Credential::Login(..))
                && response.status() == StatusCode::UNAUTHORIZED;
            if is_expired && refreshes < MAX_REFRESHES && repeat.is_some() {
                self.refresh(&secret).await?;
                refreshes += 1;
                next = repeat;
            } else if response.status().is_success() {
                return Ok(response);
            } else {
                return Err(ApiError::read(response).await.into());
            }
        }
        bail!("the request was not sent")
    }

    async fn secret(&self) -> String {
        match &self.credential {
            Credential::ApiKey(key) => key.clone(),
            Credential::Login(_, tokens) => tokens.lock().await.access_token.clone(),
        }
    }

    /// Replaces an access token that was rejected.
    async fn refresh(&self, rejected: &str) -> anyhow::Result<()> {
        let Credential::Login(credentials, tokens) = &self.credential else { return Ok(()) };
        let mut tokens = tokens.lock().await;
        // Another request has refreshed it.
        if tokens.access_token != rejected {
            return Ok(());
        }
        // Another process may have too. Using its replaced refresh token would count as token theft.
        if let Some(stored) = credentials.read(&self.base)?
            && stored.access_token != rejected
        {
            *tokens = stored;
            return Ok(());
        }
        let url = join(&self.base, &["auth", "refresh"])?;
        let body = json!({ "refresh_token": tokens.refresh_token });
        let response = self.http.post(url).json(&body).timeout(REQUEST_TIMEOUT).send().await;
        let response = response.map_err(|error| request_error(&self.base, error))?;
        if response.status() == StatusCode::UNAUTHORIZED {
            bail!("the login at {} has expired: run `{}`", self.base, login_command(&self.base));
        }
        if !response.status().is_success() {
            return Err(ApiError::read(response).await.into());
        }
        *tokens = Tokens::parse(&response.json().await.context("reading the new tokens")?, &tokens.email)?;
        credentials.write(&self.base, Some(&tokens))
    }
}

/// Logs in and stores the tokens for later commands. Returns false if the account has a second factor and `code` is
/// missing.
pub(crate) async fn log_in(
    args: &RemoteArgs,
    email: &str,
    password: &str,
    code: Option<&str>,
) -> anyhow::Result<bool> {
    let base = parse_base(&args.server)?;
    let http = http_client(&base, CONNECT_TIMEOUT)?;
    let body = json!({ "email": email, "password": password, "code": code });
    let request = http.post(join(&base, &["auth", "token"])?).json(&body).timeout(REQUEST_TIMEOUT);
    let response = request.send().await.map_err(|error| request_error(&base, error))?;
    if !response.status().is_success() {
        let error = ApiError::read(response).await;
        return if error.code.as_deref() == Some("code_required") { Ok(false) } else { Err(error.into()) };
    }
    let tokens = Tokens::parse(&response.json().await.context("reading the tokens")?, email)?;
    CredentialsFile::at(args.credentials.as_deref())?.write(&base, Some(&tokens))?;
    Ok(true)
}

/// Logs out of the service and removes the stored login.
pub(crate) async fn log_out(args: &RemoteArgs) -> anyhow::Result<()> {
    let base = parse_base(&args.server)?;
    let credentials = CredentialsFile::at(args.credentials.as_deref())?;
    let Some(tokens) = credentials.read(&base)? else { return Ok(()) };
    let access_token = tokens.access_token.clone();
    let remote = ServiceClient {
        http: http_client(&base, CONNECT_TIMEOUT)?,
        base,
        credential: Credential::Login(credentials, Mutex::new(tokens)),
    };
    // Logging out needs a valid access token, and the stored one may have expired.
    remote.refresh(&access_token).await?;
    let Credential::Login(credentials, tokens) = &remote.credential else { return Ok(()) };
    let tokens = tokens.lock().await;
    let request = remote.http.post(join(&remote.base, &["auth", "logout"])?);
    let request = request.bearer_auth(&tokens.access_token).timeout(REQUEST_TIMEOUT);
    let response = request.json(&json!({ "refresh_token": tokens.refresh_token })).send().await;
    let response = response.map_err(|error| request_error(&remote.base, error))?;
    if !response.status().is_success() {
        return Err(ApiError::read(response).await.into());
    }
    credentials.write(&remote.base, None)
}

/// The command that logs in to a service.
fn login_command(base: &Url) -> String {
    let url = base.as_str().trim_end_matches('/');
    let server = if url == DEFAULT_SERVER { String::new() } else { format!(" --server {url}") };
    command(&format!("login{server} EMAIL"))
}

fn parse_base(server: &str) -> anyhow::Result<Url> {
    let server = if server.is_empty() { DEFAULT_SERVER } else { server };
    let wrong = || anyhow!("{server:?} is not an http or https URL of a service");
    let url = Url::parse(server.trim_end_matches('/')).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !url.username().is_empty() {
        return Err(wrong());
    }
    Ok(url)
}

fn join(base: &Url, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    let segments = url.path_segments_mut();
    segments.map_err(|()| anyhow!("{base} is not the URL of a service"))?.pop_if_empty().extend(path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::wire::{FakeLlm, Reply};
    use tempfile::TempDir;

    /// A scripted service and a logged-in client.
    async fn logged_in() -> (FakeLlm, TempDir, ServiceClient) {
        let (fake, folder) = (FakeLlm::start().await, TempDir::new().unwrap());
        let args = RemoteArgs {
            server: format!("http://{}", fake.address()),
            api_key: None,
            credentials: Some(folder.path().join("credentials.json")),
        };
        store_login(&args, "first");
        let remote = ServiceClient::open(&args).unwrap();
        (fake, folder, remote)
    }

    fn store_login(args: &RemoteArgs, name: &str) {
        let credentials = CredentialsFile::at(args.credentials.as_deref()).unwrap();
        let answer =
            json!({ "access_token": format!("{name} access"), "refresh_token": format!("{name} refresh") });
        let tokens = Tokens::parse(&answer, "ada@example.org").unwrap();
        credentials.write(&parse_base(&args.server).unwrap(), Some(&tokens)).unwrap();
    }

    fn unauthorized() -> Reply {
        Reply::json(401, r#"{"detail": "Could not validate credentials"}"#)
    }

    #[tokio::test]
    async fn tokens_refreshed_by_another_process_are_reused() {
        let (fake, folder, remote) = logged_in().await;
        let args = RemoteArgs {
            server: remote.base.to_string(),
            api_key: None,
            credentials: Some(folder.path().join("credentials.json")),
        };
        store_login(&args, "second");
        fake.script(unauthorized());
        fake.script(Reply::json(200, "[]"));
        remote.get(&["documents"]).await.unwrap();
        let sent: Vec<String> = fake
            .requests()
            .iter()
            .map(|request| request.header("authorization").unwrap().to_owned())
            .collect();
        assert_eq!(sent, ["Bearer first access", "Bearer second access"]);
    }

    #[tokio::test]
    async fn concurrent_requests_refresh_once() {
        let (fake, _folder, remote) = logged_in().await;
        fake.script(unauthorized());
        remote.refresh("another one").await.unwrap();
        assert!(fake.requests().is_empty(), "the current token is not the rejected one");
        fake.script(Reply::json(200, r#"{"access_token": "new access", "refresh_token": "new refresh"}"#));
        fake.script(Reply::json(200, "[]"));
        remote.get(&["documents"]).await.unwrap();
        remote.refresh("first access").await.unwrap();
        let paths: Vec<String> = fake.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/documents", "/auth/refresh", "/documents"]);
    }

    #[tokio::test]
    async fn request_fails_after_repeated_rejection() {
        let (fake, _folder, remote) = logged_in().await;
        for name in ["a", "b"] {
            fake.script(unauthorized());
            fake.script(Reply::json(
                200,
                format!(r#"{{"access_token": "{name}", "refresh_token": "{name}"}}"#),
            ));
        }
        fake.script(unauthorized());
        let error = remote.get(&["documents"]).await.unwrap_err();
        assert!(error.downcast_ref::<ApiError>().is_some(), "{error:#}");
        assert_eq!((fake.requests().len(), fake.unused()), (5, 0));
    }

    #[test]
    fn urls_are_joined_to_base_path() {
        let at =
            |server: &str| join(&parse_base(server).unwrap(), &["documents", "a b"]).unwrap().to_string();
        assert_eq!(at("http://localhost:8000"), "http://localhost:8000/documents/a%20b");
        assert_eq!(at("https://example.org/docent/"), "https://example.org/docent/documents/a%20b");
        assert_eq!(at(""), format!("{DEFAULT_SERVER}/documents/a%20b"), "an empty value counts as not set");
        for wrong in ["localhost:8000", "ftp://example.org", "http://user:secret@example.org"] {
            assert!(parse_base(wrong).is_err(), "{wrong:?}");
        }
    }
}
