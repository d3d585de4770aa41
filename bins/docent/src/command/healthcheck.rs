//! `docent healthcheck`: asks a running server, for containers that have no other client.

use crate::output;
use anyhow::{Context, bail, ensure};
use docent::{
    cli::HealthcheckArgs,
    config::{Environment, Profile, Settings},
};
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Over the time that the server gives each of its own checks.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is read of an answer; the body is for whoever looks into a failure.
const MAX_ANSWER: u64 = 16 * 1024;

/// Succeeds when the server on this machine says that it is ready.
pub(crate) async fn run(args: HealthcheckArgs) -> anyhow::Result<()> {
    let asked = asked(&args).await;
    if args.output.json {
        output::result(args.output, String::new, || as_json(&asked))?;
    } else if let Ok(answer) = &asked {
        println!("{answer}");
    }
    asked.map(drop)
}

/// The body of the answer of a server that is ready.
async fn asked(args: &HealthcheckArgs) -> anyhow::Result<String> {
    let address = match args.address {
        Some(address) => address,
        None => {
            let settings = Settings::load(Profile::from(args.profile), &Environment::of_process())?.settings;
            settings.http.bind_address
        }
    };
    let address = reachable(address);
    let answer = tokio::time::timeout(PATIENCE, ask(address)).await;
    let answer = answer.with_context(|| format!("no answer from {address} in {} s", PATIENCE.as_secs()))?;
    judge(&answer.with_context(|| format!("asking {address}"))?)
}

fn as_json(asked: &anyhow::Result<String>) -> Value {
    match asked {
        Ok(body) => {
            let answer = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body.as_str()));
            json!({ "ready": true, "answer": answer })
        }
        Err(error) => json!({ "ready": false, "why": format!("{error:#}") }),
    }
}

/// Where to ask a server that listens here: one that listens everywhere is asked on this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /health/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn judge(answer: &str) -> anyhow::Result<String> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let mut start = head.lines().next().unwrap_or_default().split(' ');
    ensure!(start.next().is_some_and(|version| version.starts_with("HTTP/1.")), "that is no HTTP server");
    match start.next() {
        Some("200") => Ok(body.to_owned()),
        status => bail!("status {}: {body}", status.unwrap_or("missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_asked_here() {
        let here = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(here("0.0.0.0:8000"), "127.0.0.1:8000");
        assert_eq!(here("[::]:8000"), "[::1]:8000");
        assert_eq!(here("10.1.2.3:80"), "10.1.2.3:80");
    }

    #[test]
    fn only_200_is_healthy() {
        assert!(judge("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}").is_ok());
        let unready = judge("HTTP/1.1 503 Service Unavailable\r\n\r\n{\"status\": \"down\"}").unwrap_err();
        assert_eq!(unready.to_string(), "status 503: {\"status\": \"down\"}");
        for odd in ["", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1"] {
            assert!(judge(odd).is_err(), "{odd:?}");
        }
    }
}
