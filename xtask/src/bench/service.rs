//! Processes of the load benchmarks: `docent serve` with the built-in stores, and this program in another role.

use super::start;
use super::wire::Client;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const EMAIL: &str = "bench@example.org";
pub(crate) const PASSWORD: &str = "a pass phrase for measurements";

/// A process that is killed on drop.
pub(crate) struct Peer {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Peer {
    /// Starts this program in a role; it prints its address first.
    pub(crate) fn in_role(arguments: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("path of this program")?;
        let mut child =
            Command::new(program).arg("bench-peer").args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = child.stdout.take().context("the output of the process")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse().with_context(|| format!("expected an address, got {line:?}"))?;
        Ok(Self { child, address })
    }

    /// The process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits for the end of the process.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = self.child.id().to_string();
        ensure!(Command::new("kill").args(["-TERM", &pid]).status()?.success(), "kill -TERM {pid}");
        self.child.wait()?;
        Ok(())
    }

    /// CPU time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(self.times()?.0)
    }

    /// CPU time of the process and of its ended children.
    pub(crate) fn times(&self) -> Result<(Duration, Duration)> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))
            .context("reading CPU times works on Linux only")?;
        // The name in parentheses can contain anything; the times are the 12th to 15th fields after it.
        let (_, fields) = stat.rsplit_once(") ").context("unexpected format of /proc/PID/stat")?;
        let ticks: Vec<u64> = fields.split(' ').skip(11).take(4).map(str::parse).collect::<Result<_, _>>()?;
        let [user, system, of_children @ ..] = ticks.as_slice() else {
            bail!("unexpected format of /proc/PID/stat")
        };
        Ok((ticks_to_time(user + system), ticks_to_time(of_children.iter().sum())))
    }

    /// Resident memory now, in KiB.
    pub(crate) fn resident_kib(&self) -> Result<u64> {
        start::resident_kib(self.child.id())
    }
}

/// Converts clock ticks, which are hundredths of a second on Linux.
pub(crate) fn ticks_to_time(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 10)
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An installation with the built-in stores, unless its settings override them.
pub(crate) struct Installation {
    program: PathBuf,
    folder: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl Installation {
    /// An installation without a schema, in a directory.
    pub(crate) fn new(program: &Path, folder: &Path, settings: &[(&'static str, String)]) -> Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { program: program.to_owned(), folder: folder.to_owned(), settings: settings.to_vec() })
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let database = format!("sqlite://{}", self.folder.join("docent.db").display());
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("DOCENT_DATA_DIR", self.folder.join("data"))
            .env("DOCENT_DATABASE_URL", &database)
            .env("DOCENT_REDIS_URL", "memory://")
            .env("DOCENT_VECTOR_DB", "embedded")
            .env("DOCENT_EMBEDDING_PROVIDER", "builtin")
            .env("DOCENT_SECRET_KEY", "a key of the benchmark, that nothing else uses")
            .env("DOCENT_ACCESS_TOKEN_TTL", "1h")
            .env("DOCENT_RATE_LIMIT_REQUESTS", u32::MAX.to_string())
            .envs(self.settings.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::options().create(true).append(true).open(self.log())?);
        Ok(command)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments)?.status()?;
        ensure!(status.success(), "docent {}: {}", arguments.join(" "), crate::last_lines(&self.log()));
        Ok(())
    }

    /// Creates the account that [`Self::serve`] logs in with.
    pub(crate) fn create_account(&self) -> Result<()> {
        self.create_account_of(EMAIL, PASSWORD)
    }

    /// Creates a superuser.
    pub(crate) fn create_account_of(&self, email: &str, password: &str) -> Result<()> {
        self.create(&["createsuperuser", email, "--password-stdin"], password)
    }

    /// Creates an account without permissions.
    pub(crate) fn create_user_of(&self, email: &str, password: &str) -> Result<()> {
        self.create(&["users", "create", email, "--password-stdin"], password)
    }

    fn create(&self, arguments: &[&str], password: &str) -> Result<()> {
        let mut command = self.command(arguments)?;
        let mut create = command.stdin(Stdio::piped()).spawn()?;
        create
            .stdin
            .take()
            .context("the input of the command")?
            .write_all(format!("{password}\n").as_bytes())?;
        ensure!(create.wait()?.success(), "docent {}: {}", arguments[0], crate::last_lines(&self.log()));
        Ok(())
    }

    /// Starts `docent serve` and logs in. The token is valid for an hour.
    pub(crate) async fn serve(&self) -> Result<(Peer, String)> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let mut command = self.command(&["serve"])?;
        let child = command.env("DOCENT_BIND_ADDRESS", address.to_string()).spawn()?;
        let mut peer = Peer { child, address };
        let began = Instant::now();
        let mut client = loop {
            if let Ok(client) = Client::connect(address).await {
                break client;
            }
            if let Some(status) = peer.child.try_wait()? {
                bail!("docent ended: {status}\n{}", crate::last_lines(&self.log()));
            }
            ensure!(began.elapsed() < START_TIMEOUT, "docent did not answer in time");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let body = serde_json::json!({"email": EMAIL, "password": PASSWORD}).to_string();
        let answer = client.json("POST", "/auth/token", None, &body).await;
        // It listens before it has checked everything.
        let answer = answer.with_context(|| format!("docent serve: {}", crate::last_lines(&self.log())))?;
        let token = answer["access_token"].as_str().context("no access token")?;
        Ok((peer, token.to_owned()))
    }
}

/// Creates an installation with an account, starts `docent serve` and logs in. The token is valid for an hour.
pub(crate) async fn docent(
    program: &Path,
    folder: &Path,
    settings: &[(&'static str, String)],
) -> Result<(Peer, String)> {
    let installation = Installation::new(program, folder, settings)?;
    installation.run(&["migrate"])?;
    installation.create_account()?;
    installation.serve().await
}
