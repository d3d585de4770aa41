//! PostgreSQL.

use std::fs::{File, read_dir};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use tempfile::TempDir;

/// User ID of the unprivileged system account: PostgreSQL refuses to run as root.
const UNPRIVILEGED: u32 = 65_534;

/// A PostgreSQL server of a test's own.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl PostgresServer {
    /// The password of the account `docent`.
    pub const PASSWORD: &str = "correct horse";

    /// Makes an empty server with the account `docent` and starts it.
    pub fn start() -> Self {
        let mut server = Self::make();
        server.restart();
        server
    }

    /// The same, with a certificate for `localhost`; connections without encryption are refused.
    pub fn start_with_tls() -> Self {
        let mut server = Self::make();
        make_certificate(server.folder.path(), "data/server.key", "data/server.crt");
        let data = server.folder.path().join("data");
        std::fs::write(data.join("pg_hba.conf"), "hostssl all all all scram-sha-256\n").unwrap();
        std::fs::write(data.join("postgresql.auto.conf"), "ssl = on\n").unwrap();
        server.restart();
        server
    }

    /// The certificate that a client has to trust.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("data/server.crt")
    }

    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        if is_root(folder.path()) {
            chown(folder.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let password = folder.path().join("password");
        std::fs::write(&password, Self::PASSWORD).unwrap();
        let made = command("initdb", folder.path())
            .args(["--auth=scram-sha-256", "--username=docent", "--encoding=UTF8", "--locale=C"])
            .args(["--no-sync", "--pgdata", "data", "--pwfile", "password"])
            .stdout(File::create(folder.path().join("initdb.log")).unwrap())
            .status()
            .expect("PostgreSQL is installed");
        assert!(made.success(), "the server could not be made");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { folder, port, process: None }
    }

    /// The address of a database, for this account.
    pub fn url(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{}@127.0.0.1:{}/{database}", password.replace(' ', "%20"), self.port)
    }

    /// Starts the process and waits for the line that says that it takes connections.
    pub fn restart(&mut self) {
        let mut process = command("postgres", self.folder.path())
            .args(["-D", "data", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "lc_messages=C"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(process.stderr.take().unwrap());
        let (says, said) = mpsc::channel();
        // The log is read on to its end: a server whose log is full stands still.
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                // The receiver is gone once the server is ready.
                let _ = says.send(line);
            }
        });
        self.process = Some(process);
        let mut lines = said.iter();
        assert!(lines.any(|line| line.contains("ready to accept connections")), "the server did not start");
    }

    /// Ends all sessions and the server.
    pub fn stop(&mut self) {
        self.end("-INT");
    }

    fn end(&mut self, signal: &str) {
        if let Some(mut process) = self.process.take() {
            super::signal(&process, signal);
            let _ = process.wait();
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.end("-QUIT");
    }
}

/// Makes a key and its certificate for `localhost` in a folder.
pub(super) fn make_certificate(folder: &Path, key: &str, certificate: &str) {
    let made = command("openssl", folder)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", key, "-out", certificate])
        .stderr(Stdio::null())
        .status()
        .expect("openssl is installed, as the packages of PostgreSQL and nginx demand");
    assert!(made.success(), "the certificate could not be made");
}

/// A program of PostgreSQL's, run in this folder by an account that may.
fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(find(program));
    command.current_dir(folder).env("LC_ALL", "C");
    if folder.metadata().unwrap().uid() == UNPRIVILEGED {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

fn is_root(made_by_us: &Path) -> bool {
    made_by_us.metadata().unwrap().uid() == 0
}

/// The variable with the folder of PostgreSQL's programs, if it is not that of Debian's newest version.
const PROGRAMS: &str = "DOCENT_TEST_POSTGRES_PROGRAMS";

/// Debian keeps the server's programs beside the versions of others, and not on the path.
fn find(program: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the environment is the only configuration of tests")]
    let chosen = std::env::var(PROGRAMS).ok().map(|folder| Path::new(&folder).join(program));
    if let Some(chosen) = chosen.filter(|path| path.is_file()) {
        return chosen;
    }
    let mut versions: Vec<PathBuf> = read_dir("/usr/lib/postgresql")
        .map(|folders| folders.filter_map(|folder| Some(folder.ok()?.path())).collect())
        .unwrap_or_default();
    versions.sort();
    let found =
        versions.iter().rev().map(|version| version.join("bin").join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| PathBuf::from(program))
}
