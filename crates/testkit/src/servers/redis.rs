//! Redis.

use super::signal;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A Redis server of a test's own, which keeps each write on disk.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    process: Child,
}

impl RedisServer {
    /// What clients have to know.
    pub const PASSWORD: &str = "correct horse";

    /// Starts an empty server.
    ///
    /// # Panics
    /// When `redis-server` is not installed.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Self::spawn(&folder, port);
        Self { folder, port, process }
    }

    /// Starts the process and waits for the line that says that it takes connections.
    fn spawn(folder: &TempDir, port: u16) -> Child {
        let mut process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--requirepass", Self::PASSWORD])
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed");
        let log = BufReader::new(process.stdout.take().unwrap());
        let ready =
            log.lines().map_while(Result::ok).any(|line| line.contains("Ready to accept connections"));
        assert!(ready, "the server did not start");
        process
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of one of its databases.
    pub fn url(&self, database: u8) -> String {
        format!("redis://:{}@127.0.0.1:{}/{database}", Self::PASSWORD.replace(' ', "%20"), self.port)
    }

    /// Ends it without a warning.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again, with what it had.
    pub fn restart(&mut self) {
        self.process = Self::spawn(&self.folder, self.port);
    }

    /// Makes it stand still; its connections stay open.
    pub fn pause(&self) {
        signal(&self.process, "-STOP");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        signal(&self.process, "-CONT");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have been killed by the test already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
