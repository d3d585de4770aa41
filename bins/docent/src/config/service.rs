//! General settings.

use super::declare::text;
use super::section::section;
use std::path::PathBuf;

section! {
    /// General settings.
    Service "Service" {
        /// Name returned by `GET /status`.
        app_name: String = text("Docent");
        /// For development: allows weak secrets. Must be false in production.
        debug: bool = text("false");
        /// Directory for files of the embedded back ends and the local blob store.
        data_dir: PathBuf = text("./docent-data");
    }
}
