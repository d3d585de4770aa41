//! The worker that draws pages, for tests that look at them; people get it as a hidden command of the `docent` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    docent_adapters::pdf::worker_main()
}
