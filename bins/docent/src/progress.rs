//! Progress of a long command on standard error: a bar on a terminal, occasional lines elsewhere.

use docent_app::maintenance::progress::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of progress lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Displays progress of the current stage.
pub(crate) struct ProgressDisplay {
    is_terminal: bool,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: &'static str,
    bar: ProgressBar,
    last_line: Instant,
}

impl ProgressDisplay {
    pub(crate) fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), stage: Mutex::new(None) }
    }

    /// Prints a line to standard output without disturbing the bar.
    pub(crate) fn print(&self, line: &str) {
        let write = || {
            // A closed standard output does not stop the command.
            let _ = writeln!(std::io::stdout(), "{line}");
        };
        match &*self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(stage) if self.is_terminal => stage.bar.suspend(write),
            _ => write(),
        }
    }
}

fn print_stage(stage: &Stage) {
    let (name, done) = (stage.name, stage.bar.position());
    let _ = match stage.bar.length() {
        Some(steps) => writeln!(std::io::stderr(), "{name}: {done} of {steps}"),
        None => writeln!(std::io::stderr(), "{name}: {done}"),
    };
}

impl Progress for ProgressDisplay {
    fn begin(&self, name: &'static str, steps: Option<u64>) {
        let bar = if self.is_terminal { ProgressBar::no_length() } else { ProgressBar::hidden() };
        if let Some(steps) = steps {
            bar.set_length(steps);
        }
        let template =
            if steps.is_some() { "{msg} [{bar:30}] {pos} of {len}" } else { "{msg} {spinner} {pos}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(name);
        let stage = Stage { name, bar, last_line: Instant::now() };
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }

    fn advance(&self, steps: u64) {
        if let Some(stage) = &mut *self.stage.lock().unwrap_or_else(PoisonError::into_inner) {
            stage.bar.inc(steps);
            if !self.is_terminal && stage.last_line.elapsed() >= LINE_INTERVAL {
                stage.last_line = Instant::now();
                print_stage(stage);
            }
        }
    }

    fn end(&self) {
        if let Some(stage) = self.stage.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stage.bar.finish_and_clear();
            print_stage(&stage);
        }
    }
}
