//! Throughput of document requests, compared with an empty handler and optionally with another build.
//!
//! Each runs as a separate process with one worker per core and responses of the same size. One single-threaded client
//! queries them in turns, so that other load on the machine affects all equally. The client shares the cores, which lowers
//! all rates; the CPU time per request excludes it.

use super::Programs;
use super::figures::Figure;
use super::peer::Role;
use super::service::{self, Peer};
use super::wire::{Client, request};
use anyhow::{Context, Result, ensure};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Another build of `docent`, for example from before a change, measured in the same rounds.
    #[arg(long, value_name = "PROGRAM")]
    pub(super) beside: Option<PathBuf>,
    /// Concurrent connections, each with one request at a time.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) connections: u16,
    /// Number of rounds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) rounds: u16,
    /// Seconds per server and round.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) seconds: u16,
}

/// Numbers of documents, measured one after the other.
const SIZES: [usize; 3] = [1, 1_000, 20_000];
const WARM_UP: Duration = Duration::from_millis(500);

pub(crate) fn run(programs: Programs, load: Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| measure(program, folder, &load).await)
}

/// A build of the service with documents.
struct Docent {
    name: &'static str,
    peer: Peer,
    token: String,
    ids: Vec<String>,
}

impl Docent {
    async fn start(name: &'static str, program: &Path, folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (peer, token) = service::docent(program, folder, &[]).await?;
        Ok(Self { name, peer, token, ids: Vec::new() })
    }

    /// Adds documents up to a number.
    async fn fill(&mut self, documents: usize) -> Result<()> {
        let mut client = Client::connect(self.peer.address).await?;
        for n in self.ids.len()..documents {
            let body = format!("{{\"title\": \"Document {n:08}\"}}");
            let document = client.json("POST", "/documents", Some(&self.token), &body).await?;
            self.ids.push(document["id"].as_str().context("a response without ID")?.to_owned());
        }
        Ok(())
    }

    /// Builds a request for each document.
    fn requests(&self) -> Rc<Vec<Vec<u8>>> {
        let get = |id: &String| request("GET", &format!("/documents/{id}"), Some(&self.token), "");
        Rc::new(self.ids.iter().map(get).collect())
    }
}

pub(super) async fn measure(program: &Path, folder: &Path, load: &Load) -> Result<Vec<Figure>> {
    let mut docents = vec![Docent::start("docent", program, &folder.join("docent")).await?];
    if let Some(beside) = &load.beside {
        docents.push(Docent::start("docent beside", beside, &folder.join("beside")).await?);
    }
    docents[0].fill(1).await?;
    let request = docents[0].requests()[0].clone();
    let size = Client::connect(docents[0].peer.address).await?.exchange(&request).await?;
    let bare = bare(size.head, size.body, &request).await?;
    let &Load { connections, rounds, seconds, .. } = load;
    println!(
        "GET /documents/{{id}}, {} bytes back, {connections} connections, {rounds} rounds of {seconds} s",
        size.head + size.body
    );
    println!("                     requests/s     p50 ms     p99 ms   CPU us/request");
    let mut figures = Vec::new();
    for documents in SIZES {
        for docent in &mut docents {
            docent.fill(documents).await?;
        }
        let requests: Vec<_> = docents.iter().map(Docent::requests).collect();
        let mut docent_rounds: Vec<Rounds> = docents.iter().map(|_| Rounds::default()).collect();
        let mut bare_rounds = Rounds::default();
        for _ in 0..rounds {
            let time = Duration::from_secs(seconds.into());
            for ((docent, requests), rounds) in docents.iter().zip(&requests).zip(&mut docent_rounds) {
                rounds.add(measure_round(&docent.peer, requests, connections, time).await?);
            }
            bare_rounds.add(measure_round(&bare, &requests[0], connections, time).await?);
        }
        println!("{documents} documents");
        for (docent, rounds) in docents.iter().zip(&docent_rounds) {
            rounds.print(docent.name);
        }
        bare_rounds.print("empty handler");
        for (docent, rounds) in docents.iter().zip(&docent_rounds) {
            rounds.print_ratio(docent.name, &bare_rounds);
        }
        let figure = |what: &str, value| Figure::new(format!("{what}, {documents} documents"), value);
        let rounds = &docent_rounds[0];
        figures.push(figure(
            "GET of a document, rate relative to an empty handler",
            rounds.rate() / bare_rounds.rate(),
        ));
        figures.push(figure("GET of a document, CPU us", rounds.cpu_us()));
    }
    Ok(figures)
}

/// Starts an empty handler with responses of the same size.
async fn bare(head: usize, body: usize, request: &[u8]) -> Result<Peer> {
    let start = |filler| Peer::in_role(&Role::Bare { body, filler }.arguments());
    let plain = start(0)?;
    let least = Client::connect(plain.address).await?.exchange(request).await?.head;
    let filler = head.saturating_sub(least + "x-filler: \r\n".len());
    let bare = start(filler)?;
    let size = Client::connect(bare.address).await?.exchange(request).await?;
    ensure!(size.head + size.body == head + body, "the empty handler answers with {size:?}");
    Ok(bare)
}

/// The measurements of one server in one round.
struct Round {
    /// Microseconds per request.
    times: Vec<u32>,
    wall: Duration,
    cpu: Duration,
}

impl Round {
    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.wall.as_secs_f64()
    }
}

#[derive(Default)]
struct Rounds {
    rounds: Vec<Round>,
}

impl Rounds {
    fn add(&mut self, round: Round) {
        self.rounds.push(round);
    }

    fn requests(&self) -> usize {
        self.rounds.iter().map(|round| round.times.len()).sum()
    }

    fn rate(&self) -> f64 {
        let wall: Duration = self.rounds.iter().map(|round| round.wall).sum();
        self.requests() as f64 / wall.as_secs_f64()
    }

    /// Microseconds of CPU time per request.
    fn cpu_us(&self) -> f64 {
        let cpu: Duration = self.rounds.iter().map(|round| round.cpu).sum();
        cpu.as_secs_f64() * 1e6 / self.requests() as f64
    }

    fn print_ratio(&self, name: &str, bare: &Self) {
        let ratios = self.rounds.iter().zip(&bare.rounds).map(|(ours, theirs)| ours.rate() / theirs.rate());
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "  rate of {name} relative to the empty handler {:.2} (rounds {:.2} to {:.2})",
            self.rate() / bare.rate(),
            ratios[0],
            ratios[ratios.len() - 1]
        );
    }

    fn print(&self, name: &str) {
        let mut times: Vec<u32> = self.rounds.iter().flat_map(|round| round.times.iter().copied()).collect();
        times.sort_unstable();
        let ms = |percent: usize| f64::from(times[times.len() * percent / 100]) / 1e3;
        println!("  {name:<16} {:12.0} {:10.2} {:10.2} {:12.1}", self.rate(), ms(50), ms(99), self.cpu_us());
    }
}

async fn measure_round(
    peer: &Peer,
    requests: &Rc<Vec<Vec<u8>>>,
    connections: u16,
    time: Duration,
) -> Result<Round> {
    send_requests(peer.address, requests, connections, WARM_UP).await?;
    let (began, cpu) = (Instant::now(), peer.cpu()?);
    let times = send_requests(peer.address, requests, connections, time).await?;
    let round = Round { times, wall: began.elapsed(), cpu: peer.cpu()?.saturating_sub(cpu) };
    ensure!(!round.times.is_empty(), "no request was answered");
    Ok(round)
}

async fn send_requests(
    address: SocketAddr,
    requests: &Rc<Vec<Vec<u8>>>,
    connections: u16,
    time: Duration,
) -> Result<Vec<u32>> {
    let until = Instant::now() + time;
    let connection = |n: usize| {
        let requests = Rc::clone(requests);
        async move {
            let mut client = Client::connect(address).await?;
            let mut times = Vec::new();
            // The step is coprime to the number of documents, so that all of them are requested.
            let mut next = n.wrapping_mul(7_919) % requests.len();
            let mut now = Instant::now();
            while now < until {
                client.exchange(&requests[next]).await?;
                let then = std::mem::replace(&mut now, Instant::now());
                times.push(u32::try_from((now - then).as_micros()).unwrap_or(u32::MAX));
                next = (next + 7_919) % requests.len();
            }
            anyhow::Ok(times)
        }
    };
    let tasks: Vec<_> = (0..connections.into()).map(|n| tokio::task::spawn_local(connection(n))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    Ok(times)
}
