//! The extraction worker alone, for this crate's own tests; people get it as a hidden command of
//! the `docent` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    docent_adapters::pdf::worker_main()
}
