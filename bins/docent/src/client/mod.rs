//! The program as a client of a running service, wherever that is.

mod credentials;

use crate::cli::RemoteArgs;
use anyhow::{Context, anyhow, bail};
use credentials::{Credentials, Tokens};
use docent_adapters::http_client::http_client;
use reqwest::{Client, Method, Response, StatusCode, Url, header::ACCEPT};
use serde_json::{Value, json};
use std::time::Duration;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service, and who one is there.
pub(crate) struct Remote {
    http: Client,
    base: Url,
    proof: Proof,
}

/// What one proves with who one is.
enum Proof {
    /// An API key.
    Key(String),
    /// What `docent login` got, renewed when it is too old.
    Login(Credentials, Tokens),
}

impl Remote {
    /// The service that was named, with the key that was named or else the login that is kept for it.
    pub(crate) fn open(args: &RemoteArgs) -> anyhow::Result<Self> {
        let base = base(&args.server)?;
        let http = http_client(&base, CONNECT)?;
        let proof = match &args.api_key {
            Some(key) => Proof::Key(key.clone()),
            None => {
                let credentials = Credentials::of(args.credentials.as_deref())?;
                let tokens = credentials.read(&base)?.with_context(|| {
                    format!("you are not logged in at {base}: run `docent login`, or set DOCENT_API_KEY")
                })?;
                Proof::Login(credentials, tokens)
            }
        };
        Ok(Self { http, base, proof })
    }

    /// Sends a request; gives the answer if it is a success, and else what the service says is wrong.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> anyhow::Result<Response> {
        let mut url = address(&self.base, path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.deliver(&method, &url, None).await
    }

    /// The same, posting JSON.
    pub(crate) async fn post(&mut self, path: &[&str], body: &Value) -> anyhow::Result<Response> {
        let url = address(&self.base, path)?;
        self.deliver(&Method::POST, &url, Some(body)).await
    }

    async fn deliver(
        &mut self,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
    ) -> anyhow::Result<Response> {
        let answer = self.try_once(method, url, body).await?;
        let answer = match (&self.proof, answer.status()) {
            (Proof::Login(..), StatusCode::UNAUTHORIZED) => {
                self.renew().await?;
                self.try_once(method, url, body).await?
            }
            _ => answer,
        };
        if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }

    async fn try_once(&self, method: &Method, url: &Url, body: Option<&Value>) -> anyhow::Result<Response> {
        let secret = match &self.proof {
            Proof::Key(key) => key,
            Proof::Login(_, tokens) => &tokens.access_token,
        };
        let request = self.http.request(method.clone(), url.clone()).bearer_auth(secret).timeout(PATIENCE);
        let request = match body {
            // The protocol behind `/mcp` asks for both.
            Some(body) => request.json(body).header(ACCEPT, "application/json, text/event-stream"),
            None => request,
        };
        request.send().await.map_err(|error| unreachable(&self.base, error))
    }

    async fn renew(&mut self) -> anyhow::Result<()> {
        let Proof::Login(credentials, tokens) = &mut self.proof else { return Ok(()) };
        let url = address(&self.base, &["auth", "refresh"])?;
        let body = json!({ "refresh_token": tokens.refresh_token });
        let answer = self.http.post(url).json(&body).timeout(PATIENCE).send().await;
        let answer = answer.map_err(|error| unreachable(&self.base, error))?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            bail!("the login at {} is over: run `docent login`", self.base);
        }
        if !answer.status().is_success() {
            return Err(refusal(answer).await);
        }
        *tokens = Tokens::of(&answer.json().await.context("reading the new tokens")?, &tokens.email)?;
        credentials.write(&self.base, Some(tokens))
    }
}

/// Logs in, and keeps what the service gives for later commands.
pub(crate) async fn log_in(args: &RemoteArgs, email: &str, password: &str) -> anyhow::Result<()> {
    let base = base(&args.server)?;
    let http = http_client(&base, CONNECT)?;
    let body = json!({ "email": email, "password": password });
    let request = http.post(address(&base, &["auth", "token"])?).json(&body).timeout(PATIENCE);
    let answer = request.send().await.map_err(|error| unreachable(&base, error))?;
    if !answer.status().is_success() {
        return Err(refusal(answer).await);
    }
    let tokens = Tokens::of(&answer.json().await.context("reading the tokens")?, email)?;
    Credentials::of(args.credentials.as_deref())?.write(&base, Some(&tokens))
}

/// Ends the login that is kept, at the service and here.
pub(crate) async fn log_out(args: &RemoteArgs) -> anyhow::Result<()> {
    let base = base(&args.server)?;
    let credentials = Credentials::of(args.credentials.as_deref())?;
    let Some(tokens) = credentials.read(&base)? else { return Ok(()) };
    let http = http_client(&base, CONNECT)?;
    let mut remote = Remote { http, base, proof: Proof::Login(credentials, tokens) };
    // The refresh token ends the login, and the access token beside it may be too old.
    remote.renew().await?;
    let Proof::Login(credentials, tokens) = &remote.proof else { return Ok(()) };
    let request = remote.http.post(address(&remote.base, &["auth", "logout"])?);
    let request = request.bearer_auth(&tokens.access_token).timeout(PATIENCE);
    let answer = request.json(&json!({ "refresh_token": tokens.refresh_token })).send().await;
    let answer = answer.map_err(|error| unreachable(&remote.base, error))?;
    if !answer.status().is_success() {
        return Err(refusal(answer).await);
    }
    credentials.write(&remote.base, None)
}

fn base(server: &str) -> anyhow::Result<Url> {
    let wrong = || anyhow!("{server:?} is no http or https address of a service");
    let url = Url::parse(server.trim_end_matches('/')).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !url.username().is_empty() {
        return Err(wrong());
    }
    Ok(url)
}

fn address(base: &Url, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    let segments = url.path_segments_mut();
    segments.map_err(|()| anyhow!("{base} is no address of a service"))?.pop_if_empty().extend(path);
    Ok(url)
}

fn unreachable(base: &Url, error: reqwest::Error) -> anyhow::Error {
    anyhow::Error::new(error.without_url()).context(format!("{base} cannot be reached"))
}

/// What the service says is wrong.
async fn refusal(answer: Response) -> anyhow::Error {
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    // What is wrong with which field says more than that something is.
    let fields: Vec<String> = body["errors"].as_array().into_iter().flatten().map(field).collect();
    match body["detail"].as_str() {
        Some(detail) if fields.is_empty() => anyhow!("{}", printable(detail)),
        Some(detail) => anyhow!("{}", printable(&format!("{detail}: {}", fields.join("; ")))),
        None => anyhow!("the service answered {status}"),
    }
}

/// Text of a server, without what a terminal would take for a command.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// One entry of a 422's `errors`, as a sentence.
fn field(error: &Value) -> String {
    let steps = error["loc"].as_array().into_iter().flatten();
    let steps = steps.filter(|step| *step != "body");
    let place = steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
    let place = place.collect::<Vec<_>>().join(".");
    format!("{place} {}", error["msg"].as_str().unwrap_or("is wrong"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_field_is_told() {
        let error = json!({ "loc": ["body", "document_ids", 1], "msg": "must be a UUID" });
        assert_eq!(field(&error), "document_ids.1 must be a UUID");
    }

    #[test]
    fn a_service_may_be_below_a_path() {
        let at = |server: &str| address(&base(server).unwrap(), &["documents", "a b"]).unwrap().to_string();
        assert_eq!(at("http://localhost:8000"), "http://localhost:8000/documents/a%20b");
        assert_eq!(at("https://example.org/docent/"), "https://example.org/docent/documents/a%20b");
        for wrong in ["", "localhost:8000", "ftp://example.org", "http://user:secret@example.org"] {
            assert!(base(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_server_gives_the_terminal_no_commands() {
        assert_eq!(printable("a\u{1b}]0;title\u{7}b\nü"), "a ]0;title b ü");
    }
}
