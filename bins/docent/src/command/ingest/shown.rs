//! How far uploads and ingestions have come: on a terminal bars that are drawn anew, elsewhere a line for each
//! change. Both go to standard error, for standard output is for results.

use crate::output::printable;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{io::IsTerminal, path::Path, time::Duration};

/// How often a wait is seen to go on.
const TICK: Duration = Duration::from_millis(200);

/// Shows progress to whoever started the command.
pub(super) struct Shown {
    is_terminal: bool,
    bars: MultiProgress,
    /// What is being ingested, when that is waited for.
    ingesting: ProgressBar,
}

/// One file on its way.
pub(super) struct Transfer<'a> {
    shown: &'a Shown,
    name: String,
    bar: ProgressBar,
}

impl Shown {
    pub(super) fn new() -> Self {
        let ingesting = ProgressBar::hidden();
        set_style(&ingesting, "{spinner} {wide_msg}");
        Self { is_terminal: std::io::stderr().is_terminal(), bars: MultiProgress::new(), ingesting }
    }

    /// Shows that a file is being uploaded.
    pub(super) fn uploading(&self, path: &Path, size: u64) -> Transfer<'_> {
        let name = printable(&path.display().to_string());
        let bar = match self.is_terminal {
            true => self.bars.add(ProgressBar::new(size)),
            false => ProgressBar::hidden(),
        };
        set_style(&bar, "{bar:20} {bytes:>10} of {total_bytes:>10}  {wide_msg}");
        bar.set_message(name.clone());
        self.tell(&format!("uploading {name}"));
        Transfer { shown: self, name, bar }
    }

    /// Shows how many documents are waited for.
    pub(super) fn ingesting(&self, count: usize) {
        match (self.is_terminal, count) {
            (true, 0) => self.ingesting.finish_and_clear(),
            (true, _) => {
                if self.ingesting.is_hidden() {
                    self.bars.insert(0, self.ingesting.clone());
                    self.ingesting.enable_steady_tick(TICK);
                }
                self.ingesting.set_message(format!("{count} being ingested"));
            }
            (false, _) => {}
        }
    }

    /// Writes what is not drawn, without breaking the bars.
    pub(super) fn write<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bars.suspend(write)
    }

    /// Says something besides.
    pub(super) fn say(&self, words: &str) {
        self.write(|| eprintln!("docent: {words}"));
    }

    /// Takes the bars away.
    pub(super) fn end(&self) {
        self.ingesting.finish_and_clear();
        // A terminal that takes no more is no reason to fail.
        let _ = self.bars.clear();
    }

    /// Says what a bar would show.
    fn tell(&self, words: &str) {
        if !self.is_terminal {
            eprintln!("docent: {words}");
        }
    }
}

impl Transfer<'_> {
    /// What is to be told how many bytes have gone out.
    pub(super) fn position(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |bytes| bar.set_position(bytes)
    }

    /// Shows that the file waits, and what for.
    pub(super) fn waiting(&self, wait: Duration, why: &anyhow::Error) {
        let words = format!("{}: trying again in {} s ({why:#})", self.name, wait.as_secs());
        self.bar.set_message(words.clone());
        self.shown.tell(&words);
    }

    /// Shows that it goes on.
    pub(super) fn again(&self) {
        self.bar.set_position(0);
        self.bar.set_message(self.name.clone());
    }

    /// Shows that the service has it.
    pub(super) fn uploaded(&self) {
        self.shown.tell(&format!("uploaded {}", self.name));
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.shown.bars.remove(&self.bar);
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    // The templates are ours; a bar without one has the library's.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
