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
    options: Vec<String>,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until the output of a server has this text.
fn wait_for_line(process: &mut Child, text: &str) {
    let log = BufReader::new(process.stdout.take().unwrap());
    let is_there = log.lines().map_while(Result::ok).any(|line| line.contains(text));
    assert!(is_there, "the server did not start");
}

/// A Redis Sentinel of a test's own, which makes a replica the primary after a fraction of a second.
#[derive(Debug)]
pub struct RedisSentinel {
    _folder: TempDir,
    port: u16,
    process: Child,
}

impl RedisSentinel {
    /// Starts a sentinel for the group with this name, whose primary is `primary`.
    ///
    /// # Panics
    /// When `redis-server` is not installed.
    pub fn start(name: &str, primary: &RedisServer) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let file = folder.path().join("sentinel.conf");
        let (primary, password) = (primary.port, RedisServer::PASSWORD);
        let settings = format!(
            "bind 127.0.0.1\nport {port}\nsentinel monitor {name} 127.0.0.1 {primary} 1\n\
             sentinel auth-pass {name} \"{password}\"\nsentinel down-after-milliseconds {name} 300\n\
             sentinel failover-timeout {name} 3000\n"
        );
        std::fs::write(&file, settings).unwrap();
        let mut process = Command::new("redis-server")
            .arg(&file)
            .arg("--sentinel")
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed");
        wait_for_line(&mut process, "Sentinel ID is");
        Self { _folder: folder, port, process }
    }

    /// Its host and port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for RedisSentinel {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl RedisServer {
    /// What clients have to know.
    pub const PASSWORD: &str = "correct horse";

    /// Starts an empty server.
    ///
    /// # Panics
    /// When `redis-server` is not installed.
    pub fn start() -> Self {
        Self::start_with(Vec::new())
    }

    /// Starts a server that copies another.
    ///
    /// # Panics
    /// Like [`start`](Self::start).
    pub fn start_replica_of(primary: &Self) -> Self {
        let port = primary.port.to_string();
        Self::start_with(
            ["--masterauth", Self::PASSWORD, "--replicaof", "127.0.0.1", &port].map(str::to_owned).into(),
        )
    }

    fn start_with(options: Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let process = Self::spawn(&folder, port, &options);
        Self { folder, port, process, options }
    }

    /// Starts the process and waits for the line that says that it takes connections.
    fn spawn(folder: &TempDir, port: u16, options: &[String]) -> Child {
        let mut process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--requirepass", Self::PASSWORD])
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(folder.path())
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("redis-server is installed");
        wait_for_line(&mut process, "Ready to accept connections");
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
        self.process = Self::spawn(&self.folder, self.port, &self.options);
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
