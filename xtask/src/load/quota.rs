//! One account takes everything while another one asks.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, ask, closing, exchange};
use super::sampler::{median, slowest};
use crate::bench::wire::upload;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout_at};

pub(super) const SECOND: (&str, &str) = ("other@example.org", "a second pass phrase for measurements");
const PATIENCE: Duration = Duration::from_secs(30);
/// Questions of the other account without the attack.
const QUIET: usize = 10;

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let settings = [("DOCENT_ACCOUNT_LIMITS", "page_images_per_hour=100".to_owned())];
    let target = Target::new(program, folder, &settings).await?;
    target.installation.create_account_of(SECOND.0, SECOND.1)?;
    let login = json!({ "email": SECOND.0, "password": SECOND.1 });
    let other = target.json("POST", "/auth/token", &login).await?;
    let other = other["access_token"].as_str().context("no access token")?.to_owned();
    let pages: Vec<String> = (0..50).map(|n| format!("Page {n} of the zebra.")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let mut client = target.client().await?;
    let size = client.exchange(&upload("a.pdf", &docent_testkit::pdf::pdf(&pages), &target.token)).await?;
    let document: Value = serde_json::from_slice(&client.received()[size.head..])?;
    let document = document["id"].as_str().context("a document without ID")?.to_owned();
    sleep(Duration::from_secs(2)).await;

    let address = target.peer.address;
    let mut quiet_answers = Vec::new();
    for _ in 0..QUIET {
        quiet_answers.push(answer(address, &other).await?);
    }
    let quiet = target.quiet().await?;
    let (statuses, end) = (Statuses::default(), tokio::time::Instant::now() + bounds.duration);
    let attackers = (0..bounds.clients).map(|n| {
        let (statuses, token, document) = (statuses.clone(), target.token.clone(), document.clone());
        spawn_local(async move {
            let attack = async {
                for round in 0_u32.. {
                    let request = match n % 4 {
                        0 => {
                            let width = 100 + (n * 13 + round) % 2900;
                            let path =
                                format!("/documents/{document}/pages/{}?width={width}", 1 + round % 50);
                            closing("GET", &path, &format!("Authorization: Bearer {token}\r\n"), "")
                        }
                        _ => long_question(&token),
                    };
                    match exchange(address, &request).await {
                        Ok(response) => {
                            statuses.add(response.status);
                            if response.status == 429 {
                                sleep(Duration::from_millis(50)).await;
                            }
                        }
                        Err(_) => sleep(Duration::from_millis(200)).await,
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let mut answers = Vec::new();
    let attack = async {
        let attackers = all(attackers.collect());
        let asking = async {
            loop {
                if let Ok(took) = answer(address, &other).await {
                    answers.push(took);
                }
                sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = attackers => {}
            () = asking => {}
        }
    };
    let sample = target.measure(bounds.duration, attack).await?;
    sample.print(&format!("{} clients of one account", bounds.clients), &quiet, &statuses.print());
    println!(
        "  answer for the other account: median {:.0} ms -> {:.0} ms, slowest {:.0} ms -> {:.0} ms ({} answers)",
        median(&mut quiet_answers),
        median(&mut answers),
        slowest(&quiet_answers),
        slowest(&answers),
        answers.len(),
    );
    Ok(())
}

/// A question whose tokens take a while to count.
fn long_question(token: &str) -> Vec<u8> {
    close(ask(token, &"zebra crossing ".repeat(4_000), None))
}

fn close(request: Vec<u8>) -> Vec<u8> {
    String::from_utf8_lossy(&request).replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes()
}

/// Asks a question; returns the time until the end of the answer in milliseconds.
async fn answer(address: std::net::SocketAddr, token: &str) -> Result<f64> {
    let began = Instant::now();
    let request = close(ask(token, "Where is the zebra?", None));
    let response = tokio::time::timeout(PATIENCE, exchange(address, &request)).await??;
    anyhow::ensure!(response.status == 200, "{}", response.text);
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
