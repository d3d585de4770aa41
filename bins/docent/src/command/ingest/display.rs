//! Progress of uploads and ingestion on standard error: bars on a terminal, one line per change elsewhere.

use crate::output::sanitize;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// Interval of the spinner.
const TICK: Duration = Duration::from_millis(200);

/// Displays the progress of a run.
pub(super) struct UploadDisplay {
    is_terminal: bool,
    bars: MultiProgress,
    /// Number of documents being ingested, with `--wait`.
    ingesting: ProgressBar,
}

/// The upload of one file.
pub(super) struct Transfer<'a> {
    display: &'a UploadDisplay,
    name: String,
    bar: ProgressBar,
}

impl UploadDisplay {
    pub(super) fn new() -> Self {
        let ingesting = ProgressBar::hidden();
        set_style(&ingesting, "{spinner} {wide_msg}");
        Self { is_terminal: std::io::stderr().is_terminal(), bars: MultiProgress::new(), ingesting }
    }

    /// Shows the start of an upload.
    pub(super) fn start_upload(&self, path: &Path, size: u64) -> Transfer<'_> {
        let name = sanitize(&path.display().to_string());
        let bar = match self.is_terminal {
            true => self.bars.add(ProgressBar::new(size)),
            false => ProgressBar::hidden(),
        };
        set_style(&bar, "{bar:20} {bytes:>10} of {total_bytes:>10}  {wide_msg}");
        bar.set_message(name.clone());
        self.print_without_terminal(&format!("uploading {name}"));
        Transfer { display: self, name, bar }
    }

    /// Shows the number of documents being ingested.
    pub(super) fn set_ingesting(&self, count: usize) {
        match (self.is_terminal, count) {
            (true, 0) => self.ingesting.finish_and_clear(),
            (true, _) => {
                if self.ingesting.is_hidden() {
                    self.bars.insert(0, self.ingesting.clone());
                    self.ingesting.enable_steady_tick(TICK);
                }
                self.ingesting.set_message(format!("ingesting {count} documents"));
            }
            (false, _) => {}
        }
    }

    /// Writes other output without disturbing the bars.
    pub(super) fn write<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bars.suspend(write)
    }

    /// Prints a message.
    pub(super) fn print_message(&self, words: &str) {
        self.write(|| eprintln!("docent: {words}"));
    }

    /// Removes the bars.
    pub(super) fn finish(&self) {
        self.ingesting.finish_and_clear();
        // Failing to clear the bars is not an error of the command.
        let _ = self.bars.clear();
    }

    /// Prints what a bar would show, if there is no terminal.
    fn print_without_terminal(&self, words: &str) {
        if !self.is_terminal {
            eprintln!("docent: {words}");
        }
    }
}

impl Transfer<'_> {
    /// Returns a callback for the number of bytes sent.
    pub(super) fn progress_callback(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |bytes| bar.set_position(bytes)
    }

    /// Shows that the upload will be retried after a pause.
    pub(super) fn set_waiting(&self, wait: Duration, why: &anyhow::Error) {
        let words = format!("{}: retrying in {} s ({why:#})", self.name, wait.as_secs());
        self.bar.set_message(words.clone());
        self.display.print_without_terminal(&words);
    }

    /// Shows the start of another attempt.
    pub(super) fn restart(&self) {
        self.bar.set_position(0);
        self.bar.set_message(self.name.clone());
    }

    /// Shows that the upload is complete.
    pub(super) fn set_uploaded(&self) {
        self.display.print_without_terminal(&format!("uploaded {}", self.name));
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.display.bars.remove(&self.bar);
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    // Falls back to the library's default style.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
