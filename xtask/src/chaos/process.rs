//! A process that is killed and restarted.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time for a process to end after SIGTERM; more than its own grace period.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// A process that can be killed and restarted; all its runs append to one log.
pub(super) struct Process {
    pub(super) log: PathBuf,
    make: Box<dyn Fn() -> Command + Send>,
    child: Option<Child>,
    /// Number of kills.
    pub(super) kills: u32,
}

impl Process {
    pub(super) fn new(log: PathBuf, make: impl Fn() -> Command + Send + 'static) -> Self {
        Self { log, make: Box::new(make), child: None, kills: 0 }
    }

    pub(super) fn start(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut command = (self.make)();
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.child = Some(command.spawn().with_context(|| format!("{:?}", command.get_program()))?);
        Ok(())
    }

    /// Kills the process.
    ///
    /// # Errors
    /// If it has already ended by itself.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.check()?;
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
            self.kills += 1;
        }
        Ok(())
    }

    /// Checks that the process is running.
    ///
    /// # Errors
    /// If it has ended by itself, with the end of its log.
    pub(super) fn check(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            let ended = child.try_wait()?;
            ensure!(
                ended.is_none(),
                "a process ended by itself: {ended:?}\n{}",
                crate::last_lines(&self.log)
            );
        }
        Ok(())
    }

    /// Sends SIGTERM and waits for the end of the process.
    pub(super) async fn terminate(&mut self) -> Result<ExitStatus> {
        self.check()?;
        let mut child = self.child.take().context("the process is not running")?;
        let signal = Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
        ensure!(signal.success(), "sending SIGTERM failed");
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if began.elapsed() > STOP_TIMEOUT {
                child.kill()?;
                anyhow::bail!("a process did not end after SIGTERM\n{}", crate::last_lines(&self.log));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
