//! Strangers register OAuth clients and guess codes and refresh tokens.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, closing, exchange};
use anyhow::{Result, ensure};
use std::path::Path;
use std::rc::Rc;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout_at};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const JSON: &str = "Content-Type: application/json\r\n";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    let quiet = target.quiet().await?;
    let (registered, guesses) = (Statuses::default(), Statuses::default());
    let (end, address) = (Instant::now() + bounds.duration, target.peer.address);
    let granted = Rc::new(std::cell::Cell::new(0_u64));
    let clients = (0..bounds.clients).map(|n| {
        let (registered, guesses, granted) = (registered.clone(), guesses.clone(), Rc::clone(&granted));
        spawn_local(async move {
            let attack = async {
                for round in 0_u64.. {
                    let body = r#"{"redirect_uris": ["http://127.0.0.1/callback"]}"#;
                    let request = closing("POST", "/oauth/register", JSON, body);
                    registered.add(exchange(address, &request).await.map_or(0, |answer| answer.status));
                    for guess in [
                        format!(
                            "grant_type=authorization_code&code=guess{n}x{round}&code_verifier={VERIFIER}"
                        ),
                        format!("grant_type=refresh_token&refresh_token=guess{n}x{round}"),
                    ] {
                        let request =
                            closing("POST", "/oauth/token", FORM, &format!("{guess}&client_id=guess"));
                        let status = exchange(address, &request).await.map_or(0, |answer| answer.status);
                        granted.set(granted.get() + u64::from(status == 200));
                        guesses.add(status);
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let sample = target.measure(bounds.duration, all(clients.collect())).await?;
    let details = format!("{}; registrations{}", guesses.print(), registered.print());
    sample.print(&format!("{} guessers of codes and tokens", bounds.clients), &quiet, &details);
    ensure!(granted.get() == 0, "{} guesses were answered with tokens", granted.get());
    Ok(())
}
