//! The program as a client of a running service, wherever that is.

mod credentials;
mod refusal;
mod upload;

pub(crate) use refusal::Refusal;

use anyhow::{Context, anyhow, bail};
use credentials::{Credentials, Tokens};
use docent::cli::{DEFAULT_SERVER, RemoteArgs};
use docent_adapters::http_client::http_client;
use refusal::unanswered;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url, header::ACCEPT};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{sync::Mutex, time::timeout};

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait for a stream to begin: an agent may ask its model several times before its first word.
const FIRST_WORD: Duration = Duration::from_secs(300);
/// How often an access token is renewed for one request: once because another process has done it, once more
/// because what that one got is too old, too.
const RENEWALS: u32 = 2;

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
    Login(Credentials, Mutex<Tokens>),
}

impl Remote {
    /// The service that was named, with the key that was named or else the login that is kept for it.
    pub(crate) fn open(args: &RemoteArgs) -> anyhow::Result<Self> {
        let base = base(&args.server)?;
        let http = http_client(&base, CONNECT)?;
        // A variable that is set to nothing counts as not set.
        let proof = match args.api_key.as_deref().filter(|key| !key.is_empty()) {
            Some(key) => Proof::Key(key.to_owned()),
            None => {
                let credentials = Credentials::of(args.credentials.as_deref())?;
                let tokens = credentials.read(&base)?.with_context(|| {
                    format!("you are not logged in at {base}: run `docent login`, or set DOCENT_API_KEY")
                })?;
                Proof::Login(credentials, Mutex::new(tokens))
            }
        };
        Ok(Self { http, base, proof })
    }

    /// Sends a request; gives the answer if it is a success, and else what the service says is wrong.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> anyhow::Result<Response> {
        let mut url = address(&self.base, path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.deliver(self.http.request(method, url).timeout(PATIENCE)).await
    }

    /// The same, for JSON that the service has.
    pub(crate) async fn get(&self, path: &[&str]) -> anyhow::Result<Value> {
        let answer = self.send(Method::GET, path, &[]).await?;
        answer.json().await.map_err(reqwest::Error::without_url).context("reading the service's answer")
    }

    /// The same, posting JSON.
    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> anyhow::Result<Response> {
        let request = self.http.post(address(&self.base, path)?).json(body).timeout(PATIENCE);
        // The protocol behind `/mcp` asks for both.
        self.deliver(request.header(ACCEPT, "application/json, text/event-stream")).await
    }

    /// The same, for an answer that comes piece by piece, as long as it takes.
    pub(crate) async fn stream(&self, path: &[&str], body: &Value) -> anyhow::Result<Response> {
        let request = self.http.post(address(&self.base, path)?).json(body);
        let began = timeout(FIRST_WORD, self.deliver(request)).await;
        began.with_context(|| format!("{} did not begin to answer in time", self.base))?
    }

    /// Sends a request, with a renewed login if it has to be. A request whose body is read as it is sent is not
    /// repeated.
    async fn deliver(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let mut next = Some(request);
        let mut renewals = 0;
        while let Some(request) = next.take() {
            let again = request.try_clone();
            let secret = self.secret().await;
            let answer = request.bearer_auth(&secret).send().await;
            let answer = answer.map_err(|error| unanswered(&self.base, error))?;
            let is_old =
                matches!(self.proof, Proof::Login(..)) && answer.status() == StatusCode::UNAUTHORIZED;
            if is_old && renewals < RENEWALS && again.is_some() {
                self.renew(&secret).await?;
                renewals += 1;
                next = again;
            } else if answer.status().is_success() {
                return Ok(answer);
            } else {
                return Err(Refusal::of(answer).await.into());
            }
        }
        bail!("the request was not sent")
    }

    async fn secret(&self) -> String {
        match &self.proof {
            Proof::Key(key) => key.clone(),
            Proof::Login(_, tokens) => tokens.lock().await.access_token.clone(),
        }
    }

    /// Gets another access token than the one that was refused.
    async fn renew(&self, refused: &str) -> anyhow::Result<()> {
        let Proof::Login(credentials, tokens) = &self.proof else { return Ok(()) };
        let mut tokens = tokens.lock().await;
        // Another request has done it.
        if tokens.access_token != refused {
            return Ok(());
        }
        // So may another process have; the refresh token that it replaced would count as stolen.
        if let Some(kept) = credentials.read(&self.base)?
            && kept.access_token != refused
        {
            *tokens = kept;
            return Ok(());
        }
        let url = address(&self.base, &["auth", "refresh"])?;
        let body = json!({ "refresh_token": tokens.refresh_token });
        let answer = self.http.post(url).json(&body).timeout(PATIENCE).send().await;
        let answer = answer.map_err(|error| unanswered(&self.base, error))?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            bail!("the login at {} is over: run `docent login`", self.base);
        }
        if !answer.status().is_success() {
            return Err(Refusal::of(answer).await.into());
        }
        *tokens = Tokens::of(&answer.json().await.context("reading the new tokens")?, &tokens.email)?;
        credentials.write(&self.base, Some(&tokens))
    }
}

/// Logs in, and keeps what the service gives for later commands.
pub(crate) async fn log_in(args: &RemoteArgs, email: &str, password: &str) -> anyhow::Result<()> {
    let base = base(&args.server)?;
    let http = http_client(&base, CONNECT)?;
    let body = json!({ "email": email, "password": password });
    let request = http.post(address(&base, &["auth", "token"])?).json(&body).timeout(PATIENCE);
    let answer = request.send().await.map_err(|error| unanswered(&base, error))?;
    if !answer.status().is_success() {
        return Err(Refusal::of(answer).await.into());
    }
    let tokens = Tokens::of(&answer.json().await.context("reading the tokens")?, email)?;
    Credentials::of(args.credentials.as_deref())?.write(&base, Some(&tokens))
}

/// Ends the login that is kept, at the service and here.
pub(crate) async fn log_out(args: &RemoteArgs) -> anyhow::Result<()> {
    let base = base(&args.server)?;
    let credentials = Credentials::of(args.credentials.as_deref())?;
    let Some(tokens) = credentials.read(&base)? else { return Ok(()) };
    let old = tokens.access_token.clone();
    let remote = Remote {
        http: http_client(&base, CONNECT)?,
        base,
        proof: Proof::Login(credentials, Mutex::new(tokens)),
    };
    // The refresh token ends the login, and the access token beside it may be too old.
    remote.renew(&old).await?;
    let Proof::Login(credentials, tokens) = &remote.proof else { return Ok(()) };
    let tokens = tokens.lock().await;
    let request = remote.http.post(address(&remote.base, &["auth", "logout"])?);
    let request = request.bearer_auth(&tokens.access_token).timeout(PATIENCE);
    let answer = request.json(&json!({ "refresh_token": tokens.refresh_token })).send().await;
    let answer = answer.map_err(|error| unanswered(&remote.base, error))?;
    if !answer.status().is_success() {
        return Err(Refusal::of(answer).await.into());
    }
    credentials.write(&remote.base, None)
}

fn base(server: &str) -> anyhow::Result<Url> {
    let server = if server.is_empty() { DEFAULT_SERVER } else { server };
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

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::wire::{FakeLlm, Reply};
    use tempfile::TempDir;

    /// A service that is played, and somebody who is logged in there.
    async fn logged_in() -> (FakeLlm, TempDir, Remote) {
        let (fake, folder) = (FakeLlm::start().await, TempDir::new().unwrap());
        let args = RemoteArgs {
            server: format!("http://{}", fake.address()),
            api_key: None,
            credentials: Some(folder.path().join("credentials.json")),
        };
        keep(&args, "first");
        let remote = Remote::open(&args).unwrap();
        (fake, folder, remote)
    }

    fn keep(args: &RemoteArgs, name: &str) {
        let credentials = Credentials::of(args.credentials.as_deref()).unwrap();
        let answer =
            json!({ "access_token": format!("{name} access"), "refresh_token": format!("{name} refresh") });
        let tokens = Tokens::of(&answer, "ada@example.org").unwrap();
        credentials.write(&base(&args.server).unwrap(), Some(&tokens)).unwrap();
    }

    fn refused() -> Reply {
        Reply::json(401, r#"{"detail": "Could not validate credentials"}"#)
    }

    #[tokio::test]
    async fn what_another_process_has_renewed_is_taken_up_and_not_renewed_again() {
        let (fake, folder, remote) = logged_in().await;
        let args = RemoteArgs {
            server: remote.base.to_string(),
            api_key: None,
            credentials: Some(folder.path().join("credentials.json")),
        };
        keep(&args, "second");
        fake.script(refused());
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
    async fn requests_at_once_renew_a_login_once() {
        let (fake, _folder, remote) = logged_in().await;
        fake.script(refused());
        remote.renew("another one").await.unwrap();
        assert!(fake.requests().is_empty(), "the token at hand is not the one that was refused");
        fake.script(Reply::json(200, r#"{"access_token": "new access", "refresh_token": "new refresh"}"#));
        fake.script(Reply::json(200, "[]"));
        remote.get(&["documents"]).await.unwrap();
        remote.renew("first access").await.unwrap();
        let paths: Vec<String> = fake.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/documents", "/auth/refresh", "/documents"]);
    }

    #[tokio::test]
    async fn a_login_that_is_refused_however_often_it_is_renewed_is_given_up() {
        let (fake, _folder, remote) = logged_in().await;
        for name in ["a", "b"] {
            fake.script(refused());
            fake.script(Reply::json(
                200,
                format!(r#"{{"access_token": "{name}", "refresh_token": "{name}"}}"#),
            ));
        }
        fake.script(refused());
        let error = remote.get(&["documents"]).await.unwrap_err();
        assert!(error.downcast_ref::<Refusal>().is_some(), "{error:#}");
        assert_eq!((fake.requests().len(), fake.unused()), (5, 0));
    }

    #[test]
    fn a_service_may_be_below_a_path() {
        let at = |server: &str| address(&base(server).unwrap(), &["documents", "a b"]).unwrap().to_string();
        assert_eq!(at("http://localhost:8000"), "http://localhost:8000/documents/a%20b");
        assert_eq!(at("https://example.org/docent/"), "https://example.org/docent/documents/a%20b");
        assert_eq!(at(""), format!("{DEFAULT_SERVER}/documents/a%20b"), "set to nothing is not set");
        for wrong in ["localhost:8000", "ftp://example.org", "http://user:secret@example.org"] {
            assert!(base(wrong).is_err(), "{wrong:?}");
        }
    }
}
