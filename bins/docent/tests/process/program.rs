//! The program as a child process.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// Longer than any step takes, even on a busy machine.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);
pub(super) const SECRET: &str = "0123456789abcdef0123456789abcdef";

pub(super) fn docent(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docent"));
    command
        .env_clear()
        .env("DOCENT_DATA_DIR", folder.join("data"))
        .env("DOCENT_BIND_ADDRESS", "127.0.0.1:0")
        .env("DOCENT_RATE_LIMIT_REQUESTS", "1000000")
        .env("DOCENT_SEARCH_LIMIT", "12")
        // Tests that need tesseract are live tests.
        .env("DOCENT_OCR", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

pub(super) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, work).await.expect("the step timed out")
}

/// Runs a command to its end; returns status, standard output and standard error.
pub(super) async fn run(command: &mut Command) -> (ExitStatus, String, String) {
    let output = in_time(command.output()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status, text(output.stdout), text(output.stderr))
}

/// A serving process.
pub(super) struct Serving {
    pub(super) child: Child,
    stdout: BufReader<ChildStdout>,
    /// Output until it started listening.
    pub(super) printed: String,
    pub(super) base: String,
}

impl Serving {
    pub(super) async fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while !printed.to_lowercase().contains("listening on http://") {
            let read = in_time(stdout.read_line(&mut printed)).await.unwrap();
            assert!(read > 0, "the process ended early: {printed}\n{}", rest(&mut child).await);
        }
        let base = printed.split("http://").last().unwrap().split_whitespace().next().unwrap();
        Self { child, base: format!("http://{base}"), stdout, printed }
    }

    pub(super) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub(super) async fn terminate(mut self) -> (ExitStatus, String) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
        let status = in_time(self.child.wait()).await.unwrap();
        let mut printed = self.printed;
        in_time(self.stdout.read_to_string(&mut printed)).await.unwrap();
        (status, printed)
    }
}

pub(super) async fn rest(child: &mut Child) -> String {
    let mut text = String::new();
    in_time(child.stderr.take().unwrap().read_to_string(&mut text)).await.unwrap();
    text
}
