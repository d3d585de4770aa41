//! An in-memory installation on the testkit's fakes.

use docent_app::App;
use docent_app::settings::Settings;
use docent_ports::Ports;
use docent_testkit::fakes::blob_store::FakeBlobStore;
use docent_testkit::fakes::{self};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// An empty installation, its ports, and its files.
pub fn empty(settings: Settings) -> (Arc<App>, Ports, Arc<FakeBlobStore>) {
    let blobs = Arc::new(FakeBlobStore::default());
    let ports = Ports { blobs: Arc::clone(&blobs) as _, ..fakes::ports() };
    (Arc::new(App::new(ports.clone(), settings)), ports, blobs)
}

/// Creates a single-threaded runtime.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}
