//! A process of the program, again and again.

use anyhow::{Context, Result, ensure};
use std::{
    fs::File,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// How long a process gets to end when it is asked to: more than the grace of its own.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is killed and started as often as one likes; all of its lives write into one log.
pub(super) struct Process {
    pub(super) log: PathBuf,
    make: Box<dyn Fn() -> Command + Send>,
    child: Option<Child>,
    /// How often it was killed.
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

    /// Kills it without a warning.
    ///
    /// # Errors
    /// When it has ended by itself before.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.check()?;
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
            self.kills += 1;
        }
        Ok(())
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it has ended by itself, with the end of its log.
    pub(super) fn check(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            let ended = child.try_wait()?;
            ensure!(ended.is_none(), "a process ended by itself: {ended:?}\n{}", self.last_lines());
        }
        Ok(())
    }

    /// Asks it to end, and waits until it has.
    pub(super) async fn terminate(&mut self) -> Result<ExitStatus> {
        self.check()?;
        let mut child = self.child.take().context("it does not run")?;
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
        ensure!(asked.success(), "no signal could be sent");
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if began.elapsed() > PATIENCE {
                child.kill()?;
                anyhow::bail!("a process does not end when it is asked to\n{}", self.last_lines());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn last_lines(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
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
