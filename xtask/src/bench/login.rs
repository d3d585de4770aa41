//! Whether the time of a refused login tells if there is such an account.
//!
//! Logins with a wrong password go to one account that exists and to as many that do not, in turns, one at a
//! time. Beside the times of both it prints how well one answer's time tells them apart: 0.5 is chance, 0 and 1
//! are certainty.

use super::{
    service,
    service::EMAIL,
    start,
    wire::{Client, request},
};
use anyhow::{Result, ensure};
use serde_json::json;
use std::{path::Path, process::ExitCode, time::Instant};
use tokio::task::LocalSet;

/// How often is tried.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Tries of each kind.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(4..))]
    tries: u16,
}

pub(crate) fn run(root: &Path, load: &Load) -> Result<ExitCode> {
    let program = start::build(root)?;
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, measure(&program, folder.path(), load.tries))?;
    Ok(ExitCode::SUCCESS)
}

async fn measure(program: &Path, folder: &Path, tries: u16) -> Result<()> {
    let settings = [("DOCENT_LOGIN_MAX_FAILURES", "1000000".to_owned())];
    let (docent, _) = service::docent(program, folder, &settings).await?;
    let mut client = Client::connect(docent.address).await?;
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for n in 0..tries {
        // Which of the two is first changes, so that neither always comes after the other.
        for of_known in [n % 2 == 0, n % 2 == 1] {
            let email = if of_known { EMAIL.to_owned() } else { format!("unknown{n:04}@example.org") };
            let took = refused(&mut client, &email).await?;
            if of_known { &mut known } else { &mut unknown }.push(took);
        }
    }
    println!("{tries} refused logins of each kind, in turns");
    println!("                       5 %      25 %    median      75 %      95 %   ms");
    print("account that exists", &mut known);
    print("no such account", &mut unknown);
    println!("told apart by one answer's time: {:.3} (0.5 is chance)", told_apart(&known, &unknown));
    Ok(())
}

/// The milliseconds until a login with a wrong password is refused.
async fn refused(client: &mut Client, email: &str) -> Result<f64> {
    let body = json!({"email": email, "password": "not the pass phrase of anybody"}).to_string();
    let request = request("POST", "/auth/token", None, &body);
    let began = Instant::now();
    let (status, _) = client.response(&request).await?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    ensure!(status == 401, "a login with a wrong password is answered with {status}");
    Ok(took)
}

fn print(name: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{name:<19} {:8.2}  {:8.2}  {:8.2}  {:8.2}  {:8.2}", at(5), at(25), at(50), at(75), at(95));
}

/// The share of pairs of which the second took longer.
fn told_apart(first: &[f64], second: &[f64]) -> f64 {
    let longer: usize = first.iter().map(|a| second.iter().filter(|b| *b > a).count()).sum();
    longer as f64 / (first.len() * second.len()) as f64
}
