//! The worker that renders pages for browser tests; in production it is a hidden command of the `docent` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    docent_extraction::worker_main()
}
