//! The extraction worker as a separate binary for tests; the `docent` binary contains it as a hidden command.

use std::process::ExitCode;

fn main() -> ExitCode {
    docent_adapters::pdf::worker_main()
}
