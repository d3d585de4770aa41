//! Response times of the lists of the API and the panel with many records, on both databases.
//!
//! The records are written to the database before the service starts: accounts, documents in all states with their jobs,
//! usage, sessions and the audit log. Then one client requests the lists in turns. The orphan sweep is off, because the
//! documents have no files.

pub(super) mod fill;

use super::Programs;
use super::service::{EMAIL, Installation, PASSWORD, Peer};
use super::wire::{Client, find, request};
use anyhow::{Context, Result, ensure};
use docent_testkit::servers::PostgresServer;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Documents, each with a job, a usage record and an audit log entry.
    #[arg(long, default_value_t = 100_000)]
    documents: u32,
    /// Accounts, each with a session.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    users: u32,
    /// Requests per list.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
}

pub(crate) fn run(programs: Programs, load: &Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| {
        let sqlite = format!("sqlite://{}", folder.join("lists.db").display());
        measure("SQLite", program, &folder.join("sqlite"), sqlite, load).await?;
        let server = PostgresServer::start();
        let postgres = server.url("docent", PostgresServer::PASSWORD, "postgres");
        measure("PostgreSQL", program, &folder.join("postgres"), postgres, load).await?;
        Ok(Vec::new())
    })
}

/// Names and paths of the lists; `{last}` is the number of the last page of documents.
const API: [(&str, &str); 5] = [
    ("a page of documents", "/documents?limit=50"),
    ("failed documents", "/documents?limit=50&status=failed"),
    ("frequent title", "/documents?limit=50&q=annual"),
    ("unique title", "/documents?limit=50&q=number+077%2C"),
    ("unknown title", "/documents?limit=50&q=nowhere+to+be+found"),
];
const PANEL: [(&str, &str); 22] = [
    ("dashboard", "/admin"),
    ("documents", "/admin/documents"),
    ("documents, middle page", "/admin/documents?page={middle}"),
    ("documents, last page", "/admin/documents?page={last}"),
    ("documents, by title", "/admin/documents?order=title"),
    ("documents, largest first", "/admin/documents?order=largest"),
    ("documents, oldest first", "/admin/documents?order=oldest"),
    ("failed documents", "/admin/documents?status=failed"),
    ("failed, by title, middle page", "/admin/documents?status=failed&order=title&page={tenth}"),
    ("documents of an account", "/admin/documents?owner=user7%40example.org"),
    ("documents, frequent title", "/admin/documents?q=annual"),
    ("documents, unique title", "/admin/documents?q=number+077%2C"),
    ("documents, unknown title", "/admin/documents?q=nowhere+to+be+found"),
    ("users", "/admin/users"),
    ("users, last login first", "/admin/users?order=last-login"),
    ("users, searched", "/admin/users?q=user77"),
    ("jobs", "/admin/jobs"),
    ("completed jobs", "/admin/jobs?state=done"),
    ("sessions", "/admin/sessions"),
    ("usage", "/admin/usage"),
    ("audit log", "/admin/audit"),
    ("audit log, deletions", "/admin/audit?deed=delete"),
];

async fn measure(name: &str, program: &Path, folder: &Path, database: String, load: &Load) -> Result<()> {
    let settings =
        [("DOCENT_DATABASE_URL", database.clone()), ("DOCENT_INGEST_SWEEP_INTERVAL", "0".to_owned())];
    let installation = Installation::new(program, folder, &settings)?;
    installation.run(&["migrate"])?;
    installation.create_account()?;
    let began = Instant::now();
    fill::fill(&database, load.users, load.documents).await?;
    let filled = began.elapsed().as_secs_f64();
    let (docent, token) = installation.serve().await?;
    println!("{name}: {} documents, {} accounts, filled in {filled:.0} s", load.documents, load.users);
    println!("                                     median      95 %   slowest   ms");
    let cookie = log_in(&docent).await?;
    let pages = u64::from(load.documents).div_ceil(50).max(1);
    let path = |path: &str| {
        path.replace("{last}", &pages.to_string())
            .replace("{middle}", &pages.div_ceil(2).to_string())
            .replace("{tenth}", &pages.div_ceil(20).to_string())
    };
    let api = API.iter().map(|(name, list)| (*name, request("GET", list, Some(&token), "")));
    let panel = PANEL.iter().map(|(name, list)| (*name, with_cookie(&path(list), &cookie)));
    let lists: Vec<_> = api.chain(panel).collect();
    let mut times = vec![Vec::new(); lists.len()];
    let mut client = Client::connect(docent.address).await?;
    for _ in 0..load.rounds {
        for ((_, request), times) in lists.iter().zip(&mut times) {
            let began = Instant::now();
            client.exchange(request).await?;
            times.push(began.elapsed());
        }
    }
    for ((name, _), times) in lists.iter().zip(&mut times) {
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let at = |percent: usize| ms(times[(times.len() - 1) * percent / 100]);
        println!("  {name:<33} {:8.1}  {:8.1}  {:8.1}", at(50), at(95), at(100));
    }
    docent.stop()
}

fn with_cookie(path: &str, cookie: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n").into_bytes()
}

/// Logs in to the panel and returns the session cookie.
async fn log_in(docent: &Peer) -> Result<String> {
    let mut client = Client::connect(docent.address).await?;
    let (_, size) = client.exchange_any(&request("GET", "/admin/login", None, "")).await?;
    let cookie = cookie(&client)?;
    let page = std::str::from_utf8(&client.received()[size.head..])?;
    let (_, token) = page.split_once("name=\"form_token\" value=\"").context("the page has no form token")?;
    let token = token.split('"').next().unwrap_or_default();
    let form = format!(
        "form_token={token}&next=%2Fadmin&email={}&password={}",
        EMAIL.replace('@', "%40"),
        PASSWORD.replace(' ', "+").replace('\'', "%27")
    );
    let login = format!(
        "POST /admin/login HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nContent-Type: \
         application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let (status, _) = client.exchange_any(login.as_bytes()).await?;
    ensure!(status == 303, "the login to the panel returned {status}");
    self::cookie(&client)
}

/// The cookie set by the last response.
fn cookie(client: &Client) -> Result<String> {
    let response = client.received();
    let head = &response[..find(response, b"\r\n\r\n").context("a response without head")?];
    let line = std::str::from_utf8(head)?
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("set-cookie").then_some(value)
        })
        .context("a response without cookie")?;
    Ok(line.trim().split(';').next().unwrap_or_default().to_owned())
}
