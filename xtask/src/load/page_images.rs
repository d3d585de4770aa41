//! One account has hostile pages drawn while another one reads.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, closing, exchange};
use super::quota::SECOND;
use super::sampler::{median, slowest};
use crate::bench::wire::upload;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout, timeout_at};

/// Pages of the hostile file, which have the same content, and widths that are requested of each.
const PAGES: u32 = 30;
const WIDTHS: u32 = 30;
/// Paths of a form that the content repeats, and how often: 12,000 paths in a file of a few KB.
const PATHS: u32 = 100;
const REPEATED: u32 = 120;
/// Pages of the other account's file.
const OTHER_PAGES: usize = 200;
/// Images for the other account without the attack.
const QUIET: u32 = 20;
/// Pause between two images for the other account.
const PAUSE: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(120);
/// Attackers wait this long after a refusal.
const REFUSED: Duration = Duration::from_millis(50);

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let settings = [("DOCENT_ACCOUNT_LIMITS", "page_images_per_hour=0".to_owned())];
    let target = Target::new(program, folder, &settings).await?;
    target.installation.create_account_of(SECOND.0, SECOND.1)?;
    let login = json!({ "email": SECOND.0, "password": SECOND.1 });
    let other = target.json("POST", "/auth/token", &login).await?;
    let other = other["access_token"].as_str().context("no access token")?.to_owned();
    let hostile = add(&target, "hostile.pdf", &hostile_pdf(), &target.token).await?;
    let texts: Vec<String> =
        (0..OTHER_PAGES).map(|n| format!("Page {n} of the zebra.\n").repeat(40)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let own = add(&target, "own.pdf", &docent_testkit::pdf::pdf(&texts), &other).await?;
    sleep(Duration::from_secs(2)).await;

    let address = target.peer.address;
    // Each image is another one, so that none is cached.
    let draw = async |n: u32| {
        let (page, width) = (1 + n % OTHER_PAGES as u32, 1000 + n / OTHER_PAGES as u32);
        let path = format!("/documents/{own}/pages/{page}?width={width}");
        let (began, request) = (Instant::now(), get(&path, &other));
        let response = timeout(PATIENCE, exchange(address, &request)).await??;
        ensure!(response.status == 200, "{}", response.text);
        anyhow::Ok(began.elapsed().as_secs_f64() * 1e3)
    };
    let (mut quiet_images, mut images, mut failed) = (Vec::new(), Vec::new(), 0_u32);
    for n in 0..QUIET {
        quiet_images.push(draw(n).await?);
        sleep(PAUSE).await;
    }
    let quiet = target.quiet().await?;
    // The last image for the other account is waited for, and the attack goes on meanwhile.
    let (statuses, longest) = (Statuses::default(), bounds.duration + PATIENCE);
    let (began, end) = (Instant::now(), tokio::time::Instant::now() + longest);
    let attackers = (0..bounds.clients).map(|client| {
        let (statuses, token, hostile) = (statuses.clone(), target.token.clone(), hostile.clone());
        spawn_local(async move {
            let attack = async {
                for round in 0_u32.. {
                    let image = client + round * 7;
                    let (page, width) = (1 + image / WIDTHS % PAGES, 2000 - image % WIDTHS);
                    let path = format!("/documents/{hostile}/pages/{page}?width={width}");
                    let status = exchange(address, &get(&path, &token)).await.map_or(0, |found| found.status);
                    statuses.add(status);
                    if status != 200 {
                        sleep(REFUSED).await;
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let attack = async {
        let attackers = all(attackers.collect());
        let reading = async {
            for n in (QUIET..).take_while(|_| began.elapsed() < bounds.duration) {
                match draw(n).await {
                    Ok(took) => images.push(took),
                    Err(_) => failed += 1,
                }
                sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = attackers => {}
        }
    };
    let sample = target.measure(longest, attack).await?;
    sample.print(&format!("{} clients: page images", bounds.clients), &quiet, &statuses.print());
    println!(
        "  page image for the other account: median {:.0} ms -> {:.0} ms, slowest {:.0} ms -> {:.0} ms ({} images, {failed} failed)",
        median(&mut quiet_images),
        median(&mut images),
        slowest(&quiet_images),
        slowest(&images),
        images.len(),
    );
    Ok(())
}

/// Uploads a file and returns the ID of its document.
async fn add(target: &Target, name: &str, file: &[u8], token: &str) -> Result<String> {
    let mut client = target.client().await?;
    let size = client.exchange(&upload(name, file, token)).await?;
    let document: Value = serde_json::from_slice(&client.received()[size.head..])?;
    Ok(document["id"].as_str().context("a document without ID")?.to_owned())
}

fn get(path: &str, token: &str) -> Vec<u8> {
    closing("GET", path, &format!("Authorization: Bearer {token}\r\n"), "")
}

/// A small file whose pages take all the time that a drawing has: large paths that are blended with what is below them.
fn hostile_pdf() -> Vec<u8> {
    let mut form = String::from("/B gs ");
    for n in 0..PATHS {
        // Writing to a string cannot fail.
        let _ = write!(form, "0 .{:02} 1 rg {n} 0 m 595 {n} l 595 842 l h f ", n % 100);
    }
    let content = "/F Do ".repeat(REPEATED as usize);
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: String = (0..PAGES).map(|n| format!("{} 0 R ", 5 + n)).collect();
    objects.push(format!("<< /Type /Pages /Kids [{kids}] /Count {PAGES} >>"));
    objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    objects.push(format!(
        "<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Length {} /Resources << /ExtGState << /B << /BM /Luminosity \
         /ca 0.5 >> >> >> >>\nstream\n{form}\nendstream",
        form.len()
    ));
    for _ in 0..PAGES {
        objects.push(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R \
             /Resources << /XObject << /F 4 0 R >> >> >>"
                .to_owned(),
        );
    }
    docent_testkit::pdf::assemble(&objects)
}
