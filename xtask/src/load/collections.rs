//! An account opens thousands of collections to all, which other accounts did not ask for.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, closing, closing_json, exchange};
use crate::bench::wire::{Client, request, upload};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout_at};

/// Collections that the account and a superuser try to open, more than can be open.
const OPEN: usize = 15_000;
/// Documents of a superuser, first in the collection of everyone and then in the open ones.
const DOCUMENTS: usize = 1_500;
const EVERYONE: &str = "00000000-0000-0000-0000-000000000001";
const PASSWORD: &str = "a second pass phrase for measurements";
const ATTACKER: &str = "attacker@example.org";
const OTHER: &str = "other@example.org";
/// Measured requests of each kind, after a few others.
const REQUESTS: usize = 100;
const WARM_UP: usize = 5;

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    for account in [ATTACKER, OTHER] {
        target.installation.create_user_of(account, PASSWORD)?;
    }
    let (attacker, other) = (login(&target, ATTACKER).await?, login(&target, OTHER).await?);
    target
        .client()
        .await?
        .exchange(&upload("a.pdf", &docent_testkit::pdf::pdf(&["A zebra."]), &other))
        .await?;
    let mut client = target.client().await?;
    let own =
        client.json("POST", "/collections", Some(&other), &json!({ "name": "Own" }).to_string()).await?;
    let own = own["id"].as_str().context("a collection without ID")?.to_owned();
    // With as many documents as later, so that the lists and the index are of the same size.
    let documents = fill(&target).await?;

    let quiet = Figures::measure(&target, &other).await?;
    let sample = target.quiet().await?;
    let (statuses, opened) = (Statuses::default(), Rc::new(Cell::new(0)));
    let end = tokio::time::Instant::now() + bounds.duration;
    let address = target.peer.address;
    let attackers = (0..bounds.clients).map(|_| {
        let (statuses, opened, token) = (statuses.clone(), Rc::clone(&opened), attacker.clone());
        spawn_local(async move {
            let body = json!({ "name": "Warranty update", "role_of_all": "viewer" }).to_string();
            let request = closing_json("POST", "/collections", &token, &body);
            let attack = async {
                while opened.get() < OPEN {
                    let status = exchange(address, &request).await.map_or(0, |response| response.status);
                    statuses.add(status);
                    opened.set(opened.get() + usize::from(status == 201));
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let attacked = target.measure(bounds.duration, all(attackers.collect())).await?;
    attacked.print(&format!("{} openers of collections", bounds.clients), &sample, &statuses.print());
    println!("  opened by an account without permissions: {} collections", opened.get());

    let by_superuser = open_in_panel(&target, OPEN.saturating_sub(opened.get())).await?;
    println!("  opened by a superuser in the panel: {by_superuser} collections");
    let places = spread(&target, &documents).await?;
    println!("  with {DOCUMENTS} documents in {places} of them");
    let figures = Figures::measure(&target, &other).await?;
    figures.print(&quiet);
    let (pages, place) = place_of(&target, &other, &own).await?;
    println!("  the other account's own collection is on page {place} of {pages} of GET /collections");
    Ok(())
}

async fn login(target: &Target, email: &str) -> Result<String> {
    let login = json!({ "email": email, "password": PASSWORD });
    let answer = target.json("POST", "/auth/token", &login).await?;
    Ok(answer["access_token"].as_str().context("no access token")?.to_owned())
}

/// Opens collections without an owner, until one is refused. Returns how many it opened.
async fn open_in_panel(target: &Target, number: usize) -> Result<usize> {
    let (address, cookie) = (target.peer.address, target.panel_cookie().await?);
    let head = format!("Cookie: {cookie}\r\n");
    let form = exchange(address, &closing("GET", "/admin/collections/add", &head, "")).await?;
    let token = form.text.split_once("name=\"form_token\" value=\"").context("no form")?.1;
    let token = token.split('"').next().unwrap_or_default();
    let head = format!("{head}Content-Type: application/x-www-form-urlencoded\r\n");
    let fields = format!("form_token={token}&name=Open&description=&role_of_all=viewer&owner=");
    let request = closing("POST", "/admin/collections/add", &head, &fields);
    for opened in 0..number {
        let response = exchange(address, &request).await?;
        if response.status == 422 {
            return Ok(opened);
        }
        ensure!(response.status == 303, "{}", response.text);
    }
    Ok(number)
}

/// Adds documents to the collection of everyone, and waits until they can be searched. Returns their IDs.
async fn fill(target: &Target) -> Result<Vec<String>> {
    let (token, mut client, mut added) = (&target.token, target.client().await?, Vec::new());
    for n in 0..DOCUMENTS {
        let pdf = docent_testkit::pdf::pdf(&[&format!("Pump {n} of the plant.")]);
        let size = client.exchange(&upload(&format!("{n}.pdf"), &pdf, token)).await?;
        let document: Value = serde_json::from_slice(&client.received()[size.head..])?;
        let id = document["id"].as_str().context("a document without ID")?.to_owned();
        move_to(&mut client, token, &id, &[EVERYONE]).await?;
        added.push(id);
    }
    wait_for_jobs(&mut client, token, &added).await?;
    Ok(added)
}

/// Moves documents to the open collections, each to others, and waits until searches know it. Returns the number of these collections.
async fn spread(target: &Target, documents: &[String]) -> Result<usize> {
    let (token, mut open) = (&target.token, Vec::new());
    each_page(target, token, |list| {
        let found = list.iter().filter(|collection| collection["name"] == "Open");
        open.extend(found.filter_map(|collection| collection["id"].as_str().map(str::to_owned)));
    })
    .await?;
    ensure!(!open.is_empty(), "no collection is open");
    let mut client = target.client().await?;
    let per_document = open.len().div_ceil(documents.len()).max(1);
    let mut places = open.chunks(per_document).cycle();
    for id in documents {
        let places: Vec<&str> = places.next().into_iter().flatten().map(String::as_str).collect();
        move_to(&mut client, token, id, &places).await?;
    }
    // Labels are written at once, and looked for again after five seconds.
    sleep(Duration::from_secs(8)).await;
    Ok(open.len())
}

async fn move_to(client: &mut Client, token: &str, document: &str, collections: &[&str]) -> Result<()> {
    let body = json!({ "collection_ids": collections }).to_string();
    client.json("PATCH", &format!("/documents/{document}"), Some(token), &body).await.map(drop)
}

/// Waits until these documents have been ingested.
async fn wait_for_jobs(client: &mut Client, token: &str, documents: &[String]) -> Result<()> {
    for id in documents {
        while client.json("GET", &format!("/documents/{id}"), Some(token), "").await?["status"] == "pending" {
            sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// The number of pages of the list of collections, and on which one a collection is; 0 for none.
async fn place_of(target: &Target, token: &str, id: &str) -> Result<(usize, usize)> {
    let (mut pages, mut place) = (0, 0);
    each_page(target, token, |list| {
        pages += 1;
        if list.iter().any(|collection| collection["id"] == id) {
            place = pages;
        }
    })
    .await?;
    Ok((pages, place))
}

/// Reads the list of collections page by page.
async fn each_page(target: &Target, token: &str, mut read: impl FnMut(&[Value])) -> Result<()> {
    let mut cursor = String::new();
    loop {
        let mut client = target.client().await?;
        let size =
            client.exchange(&request("GET", &format!("/collections?{cursor}"), Some(token), "")).await?;
        let head = String::from_utf8_lossy(&client.received()[..size.head]).to_ascii_lowercase();
        let body: Value = serde_json::from_slice(&client.received()[size.head..])?;
        read(body.as_array().context("no list of collections")?);
        let next = head.lines().find_map(|line| line.strip_prefix("x-next-cursor:"));
        let Some(next) = next else { return Ok(()) };
        cursor = format!("cursor={}", next.trim());
    }
}

/// Latencies of the other account's requests in milliseconds.
struct Figures(Vec<(&'static str, Vec<f64>)>);

impl Figures {
    async fn measure(target: &Target, token: &str) -> Result<Self> {
        let search = json!({ "query": "Where is the zebra?" }).to_string();
        let requests = [
            ("GET /documents", request("GET", "/documents?limit=100", Some(token), "")),
            ("POST /search", request("POST", "/search", Some(token), &search)),
            ("GET /collections", request("GET", "/collections?q=Own", Some(token), "")),
        ];
        let mut figures = Vec::new();
        for (name, request) in requests {
            let mut client: Client = target.client().await?;
            let mut times = Vec::with_capacity(REQUESTS);
            for n in 0..WARM_UP + REQUESTS {
                let began = Instant::now();
                client.exchange(&request).await?;
                if n >= WARM_UP {
                    times.push(began.elapsed().as_secs_f64() * 1e3);
                }
            }
            times.sort_by(f64::total_cmp);
            figures.push((name, times));
        }
        Ok(Self(figures))
    }

    fn print(&self, quiet: &Self) {
        let at = |times: &[f64], percent: usize| times[(times.len() - 1) * percent / 100];
        for ((name, after), (_, before)) in self.0.iter().zip(&quiet.0) {
            let [p50, quiet_p50] = [after, before].map(|times| at(times, 50));
            let [slowest, quiet_slowest] = [after, before].map(|times| at(times, 100));
            println!(
                "  {name:<18} of another account p50 {quiet_p50:.1} -> {p50:.1} ms ({:.2} times), slowest {quiet_slowest:.1} -> {slowest:.1} ms ({:.2} times)",
                p50 / quiet_p50,
                slowest / quiet_slowest,
            );
        }
    }
}
