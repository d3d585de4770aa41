//! What the load benchmarks run against: `docent serve` on the built-in stores, and this program in
//! another role; both are processes of their own.

use super::{start, wire::Client};
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);
const EMAIL: &str = "bench@example.org";
const PASSWORD: &str = "the benchmark's own pass phrase";

/// A process that ends with its owner.
pub(super) struct Peer {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Peer {
    /// Starts this program in a role, which prints its address first.
    pub(super) fn in_role(arguments: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("path of this program")?;
        let mut child =
            Command::new(program).arg("bench-peer").args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().context("its output")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("the peer's address, not {line:?}"))?;
        Ok(Self { child, address })
    }

    /// Processor time so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).context("on Linux only")?;
        // The name in parentheses may hold anything; after it the times are the 12th and 13th field.
        let (_, fields) = stat.rsplit_once(") ").context("fields of a process")?;
        let ticks: Vec<u64> = fields.split(' ').skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
        // Linux counts hundredths of a second for programs, whatever it does inside.
        Ok(Duration::from_millis(ticks.iter().sum::<u64>() * 10))
    }

    /// Resident memory now, in KiB.
    pub(super) fn resident_kib(&self) -> Result<u64> {
        start::resident_kib(self.child.id())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts `docent serve` in this folder, with an account, and logs in. The token lives for an hour.
pub(super) async fn docent(
    program: &Path,
    folder: &Path,
    settings: &[(&str, String)],
) -> Result<(Peer, String)> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let database = format!("sqlite://{}", folder.join("docent.db").display());
    let log = folder.join("log");
    let command = |arguments: &[&str]| -> Result<Command> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("DOCENT_DATA_DIR", folder.join("data"))
            .env("DOCENT_DATABASE_URL", &database)
            .env("DOCENT_REDIS_URL", "memory://")
            .env("DOCENT_VECTOR_DB", "embedded")
            .env("DOCENT_SECRET_KEY", "a key of the benchmark, that nothing else uses")
            .env("DOCENT_BIND_ADDRESS", address.to_string())
            .env("DOCENT_ACCESS_TOKEN_TTL", "1h")
            .env("DOCENT_RATE_LIMIT_REQUESTS", u32::MAX.to_string())
            .envs(settings.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::options().create(true).append(true).open(&log)?);
        Ok(command)
    };
    let told = || fs::read_to_string(&log).unwrap_or_default();
    ensure!(command(&["migrate"])?.status()?.success(), "docent migrate: {}", told());
    let mut create =
        command(&["createsuperuser", EMAIL, "--password-stdin"])?.stdin(Stdio::piped()).spawn()?;
    create.stdin.take().context("its input")?.write_all(format!("{PASSWORD}\n").as_bytes())?;
    ensure!(create.wait()?.success(), "docent createsuperuser: {}", told());

    let mut peer = Peer { child: command(&["serve"])?.spawn()?, address };
    let began = Instant::now();
    let mut client = loop {
        if let Ok(client) = Client::connect(address).await {
            break client;
        }
        if let Some(status) = peer.child.try_wait()? {
            bail!("docent ended: {status}\n{}", told());
        }
        ensure!(began.elapsed() < PATIENCE, "docent does not answer");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let body = serde_json::json!({"email": EMAIL, "password": PASSWORD}).to_string();
    let answer = client.json("POST", "/auth/token", None, &body).await?;
    let token = answer["access_token"].as_str().context("no access token")?;
    Ok((peer, token.to_owned()))
}
