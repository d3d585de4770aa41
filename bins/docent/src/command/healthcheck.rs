//! `docent healthcheck`: checks whether the server on this machine is ready, for containers without an HTTP client.

use crate::invocation::local_address;
use crate::output;
use anyhow::{Context, bail};
use docent::cli::HealthcheckArgs;
use docent::config::{Environment, Settings};
use docent_http_client::http_client;
use reqwest::{StatusCode, Url};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// Longer than the server gives each of its own checks.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes of the body that are read; it is printed for diagnosis only.
const MAX_BODY: usize = 16 * 1024;

/// Succeeds if the server answers `/health/ready` with 200.
pub(crate) async fn run(args: HealthcheckArgs) -> anyhow::Result<()> {
    let result = check(&args).await;
    if args.installation.output.json {
        output::print(args.installation.output, String::new, || as_json(&result))?;
    } else if let Ok(body) = &result {
        println!("{body}");
    }
    result.map(drop)
}

/// Returns the body of a ready server's answer.
async fn check(args: &HealthcheckArgs) -> anyhow::Result<String> {
    let address = match args.address {
        Some(address) => address,
        None => {
            let settings = Settings::load(args.installation.profile(), &Environment::of_process())?.settings;
            settings.http.bind_address
        }
    };
    let address = local_address(address);
    let answer = tokio::time::timeout(TIMEOUT, get_ready(address)).await;
    let answer = answer.with_context(|| format!("no answer from {address} in {} s", TIMEOUT.as_secs()))?;
    match answer.with_context(|| format!("GET http://{address}/health/ready"))? {
        (StatusCode::OK, body) => Ok(body),
        (status, body) => bail!("status {}: {body}", status.as_u16()),
    }
}

fn as_json(result: &anyhow::Result<String>) -> Value {
    match result {
        Ok(body) => {
            let answer = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body.as_str()));
            json!({ "ready": true, "answer": answer })
        }
        Err(error) => json!({ "ready": false, "why": format!("{error:#}") }),
    }
}

async fn get_ready(address: SocketAddr) -> anyhow::Result<(StatusCode, String)> {
    // Every bind address is on this machine: a client for localhost uses no proxy and loads no certificates.
    let client = http_client(&Url::parse("http://localhost")?, TIMEOUT)?;
    let response = client.get(format!("http://{address}/health/ready")).send().await;
    let mut response = response.map_err(reqwest::Error::without_url)?;
    let (status, mut body) = (response.status(), Vec::new());
    while let Some(chunk) = response.chunk().await?
        && body.len() < MAX_BODY
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(MAX_BODY);
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent::cli::{InstallationArgs, OutputArgs};
    use docent_testkit::wire::{FakeLlm, Reply};

    #[tokio::test]
    async fn only_status_200_is_healthy() {
        let server = FakeLlm::start().await;
        let args = HealthcheckArgs {
            address: Some(server.address()),
            installation: InstallationArgs { output: OutputArgs::default(), dev: true },
        };
        server.script(Reply::json(200, "{}"));
        assert_eq!(check(&args).await.unwrap(), "{}");
        assert_eq!(server.requests()[0].path, "/health/ready");
        server.script(Reply::json(503, r#"{"status": "down"}"#));
        assert_eq!(check(&args).await.unwrap_err().to_string(), r#"status 503: {"status": "down"}"#);
        for other in ["", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1"] {
            server.script(Reply::raw(other));
            assert!(check(&args).await.is_err(), "{other:?}");
        }
    }
}
