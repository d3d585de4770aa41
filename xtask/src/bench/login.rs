//! Checks that the time of a failed login does not reveal whether the account exists.
//!
//! Sends logins with wrong passwords, alternately to an existing account and to unknown ones. Prints the times of both and
//! how well a single time distinguishes them: 0.5 means not at all, 0 or 1 means always.

use super::Programs;
use super::service;
use super::service::EMAIL;
use super::wire::{Client, request};
use anyhow::{Result, ensure};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Attempts of each kind.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(4..))]
    tries: u16,
}

pub(crate) fn run(programs: Programs, load: &Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| {
        measure(program, folder, load.tries).await?;
        Ok(Vec::new())
    })
}

async fn measure(program: &Path, folder: &Path, tries: u16) -> Result<()> {
    let settings = [("DOCENT_LOGIN_MAX_FAILURES", "1000000".to_owned())];
    let (docent, _) = service::docent(program, folder, &settings).await?;
    let mut client = Client::connect(docent.address).await?;
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for n in 0..tries {
        // The order alternates.
        for is_known in [n % 2 == 0, n % 2 == 1] {
            let email = if is_known { EMAIL.to_owned() } else { format!("unknown{n:04}@example.org") };
            let took = time_failed_login(&mut client, &email).await?;
            if is_known { &mut known } else { &mut unknown }.push(took);
        }
    }
    println!("{tries} failed logins of each kind, alternating");
    println!("                       5 %      25 %    median      75 %      95 %   ms");
    print("existing account", &mut known);
    print("unknown account", &mut unknown);
    println!("distinguishable by a single time: {:.3} (0.5 is chance)", distinguishability(&known, &unknown));
    Ok(())
}

/// Milliseconds until a login with a wrong password fails.
async fn time_failed_login(client: &mut Client, email: &str) -> Result<f64> {
    let body = json!({"email": email, "password": "a wrong password"}).to_string();
    let request = request("POST", "/auth/token", None, &body);
    let began = Instant::now();
    let (status, _) = client.exchange_any(&request).await?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    ensure!(status == 401, "a login with a wrong password is answered with {status}");
    Ok(took)
}

fn print(name: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{name:<19} {:8.2}  {:8.2}  {:8.2}  {:8.2}  {:8.2}", at(5), at(25), at(50), at(75), at(95));
}

/// Share of pairs in which the second is longer.
fn distinguishability(first: &[f64], second: &[f64]) -> f64 {
    let longer: usize = first.iter().map(|a| second.iter().filter(|b| *b > a).count()).sum();
    longer as f64 / (first.len() * second.len()) as f64
}
