//! Shows how far a long command has come: a bar on a terminal, a line now and then elsewhere. Both go to
//! standard error, for standard output is the command's answer.

use docent_app::maintenance::progress::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often a line is written where there is no terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Shows progress to whoever started the command.
pub(crate) struct Shown {
    is_terminal: bool,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: &'static str,
    bar: ProgressBar,
    told: Instant,
}

impl Shown {
    pub(crate) fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), stage: Mutex::new(None) }
    }

    /// Writes a line to standard output without breaking the bar.
    pub(crate) fn say(&self, line: &str) {
        let write = || {
            // Whoever closed standard output wants to read no more.
            let _ = writeln!(std::io::stdout(), "{line}");
        };
        match &*self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(stage) if self.is_terminal => stage.bar.suspend(write),
            _ => write(),
        }
    }
}

fn line(stage: &Stage) {
    let (name, done) = (stage.name, stage.bar.position());
    let _ = match stage.bar.length() {
        Some(steps) => writeln!(std::io::stderr(), "{name}: {done} of {steps}"),
        None => writeln!(std::io::stderr(), "{name}: {done}"),
    };
}

impl Progress for Shown {
    fn begin(&self, name: &'static str, steps: Option<u64>) {
        let bar = if self.is_terminal { ProgressBar::no_length() } else { ProgressBar::hidden() };
        if let Some(steps) = steps {
            bar.set_length(steps);
        }
        let form = if steps.is_some() { "{msg} [{bar:30}] {pos} of {len}" } else { "{msg} {spinner} {pos}" };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_message(name);
        let stage = Stage { name, bar, told: Instant::now() };
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }

    fn advance(&self, steps: u64) {
        if let Some(stage) = &mut *self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            stage.bar.inc(steps);
            if !self.is_terminal && stage.told.elapsed() >= EVERY {
                stage.told = Instant::now();
                line(stage);
            }
        }
    }

    fn end(&self) {
        if let Some(stage) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stage.bar.finish_and_clear();
            line(&stage);
        }
    }
}
