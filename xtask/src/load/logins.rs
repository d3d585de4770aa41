//! A stranger guesses passwords, while the owner of an account signs in from the same address.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, closing, exchange};
use super::sampler::{median, slowest};
use anyhow::{Result, ensure};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout_at};

const OWNER: (&str, &str) = ("owner@example.org", "the pass phrase of another account");
/// Pause between the owner's sign-ins.
const PAUSE: Duration = Duration::from_millis(100);
/// Sign-ins of the owner without the attack.
const QUIET: usize = 40;
/// How long an attacker waits after a refusal.
const REFUSED: Duration = Duration::from_millis(20);

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    target.installation.create_account_of(OWNER.0, OWNER.1)?;
    let address = target.peer.address;
    let mut quiet_times = Vec::new();
    for _ in 0..QUIET {
        let (status, took) = sign_in(address, OWNER.0, OWNER.1).await?;
        ensure!(status == 200, "a sign-in without an attack is answered with {status}");
        quiet_times.push(took);
        sleep(PAUSE).await;
    }
    let quiet = target.quiet().await?;
    let (guesses, end) = (Statuses::default(), tokio::time::Instant::now() + bounds.duration);
    let attackers = (0..bounds.clients).map(|n| {
        let guesses = guesses.clone();
        spawn_local(async move {
            let attack = async {
                for round in 0_u32.. {
                    let email = format!("account{n}-{round}@example.org");
                    let status =
                        sign_in(address, &email, "a wrong password").await.map_or(0, |answer| answer.0);
                    guesses.add(status);
                    if status != 401 {
                        sleep(REFUSED).await;
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let (sign_ins, mut times) = (Statuses::default(), Vec::new());
    let attack = async {
        let attackers = all(attackers.collect());
        let owner = async {
            loop {
                let answer = sign_in(address, OWNER.0, OWNER.1).await;
                sign_ins.add(answer.as_ref().map_or(0, |answer| answer.0));
                times.extend(answer.ok().filter(|answer| answer.0 == 200).map(|answer| answer.1));
                sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = attackers => {}
            () = owner => {}
        }
    };
    let sample = target.measure(bounds.duration, attack).await?;
    sample.print(&format!("{} guessers of passwords", bounds.clients), &quiet, &guesses.print());
    println!(
        "  sign-in of the owner from the same address: median {:.0} -> {:.0} ms, slowest {:.0} -> {:.0} ms{}",
        median(&mut quiet_times),
        median(&mut times),
        slowest(&quiet_times),
        slowest(&times),
        sign_ins.print(),
    );
    Ok(())
}

/// Signs in; returns the status and the time in milliseconds.
async fn sign_in(address: SocketAddr, email: &str, password: &str) -> Result<(u16, f64)> {
    let began = Instant::now();
    let body = json!({ "email": email, "password": password }).to_string();
    let request = closing("POST", "/auth/token", "Content-Type: application/json\r\n", &body);
    let response = exchange(address, &request).await?;
    Ok((response.status, began.elapsed().as_secs_f64() * 1e3))
}
