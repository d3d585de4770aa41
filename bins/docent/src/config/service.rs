//! General settings.

use super::check::at_most_a_day;
use super::declare::text;
use super::section::section;
use std::path::PathBuf;
use std::time::Duration;

section! {
    /// General settings.
    Service "Start and stop the service" {
        /// Name returned by `GET /status`.
        app_name: String = text("Docent");
        /// For development: allows weak secrets. Must be false in production.
        debug: bool = text("false");
        /// Directory for files of the embedded back ends and the local blob store.
        data_dir: PathBuf = text("./docent-data");
        /// Time after SIGTERM in which `/health/ready` returns 503 and new requests are still served, until load balancers send no
        /// more. Jobs are not started in it.
        shutdown_drain: Duration = text("0s"), at_most_a_day;
        /// Time after the drain for requests, streamed answers and jobs in progress. Then answers end with an error event, and jobs
        /// are continued by another process or after the next start. A second signal ends the process immediately.
        shutdown_timeout: Duration = text("10s"), at_most_a_day;
    }
}
