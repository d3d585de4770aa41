//! The service as a whole.

use super::declare::{section, text};
use std::path::PathBuf;

section! {
    /// The service as a whole.
    Service "Service" {
        /// The name that `GET /status` returns.
        app_name: String = text("Docent");
        /// For development: allows weak secrets. Must be false in production.
        debug: bool = text("false");
        /// Where the embedded back ends and the local blob store keep their files.
        data_dir: PathBuf = text("./docent-data");
    }
}
