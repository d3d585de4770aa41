//! Whether the parts of an installation work, and whether what they hold agrees.
//!
//! Everything is looked at page by page, beside a running service: what seems wrong is looked at again before
//! it is told, since it may have been work under way. What is mended is checked once more first, too.

mod finding;
mod parts;
mod repair;
mod survey;

pub use finding::Finding;
pub use repair::{Mended, mend};
pub(crate) use survey::document_of;

use super::progress::{Progress, Unseen};
use crate::App;
use async_trait::async_trait;
use docent_ports::error::{Component, Fault};

/// Is told what is found, one by one.
#[async_trait]
pub trait Listener: Send {
    /// This part answers, and this is what there is to say about it.
    fn works(&mut self, part: Component, note: &str);

    /// This part is open in another process, which is as it should be while that one serves.
    fn in_use(&mut self, part: Component);

    /// This was found.
    async fn found(&mut self, finding: Finding);
}

/// A check that could not be made, and why.
#[derive(Debug)]
pub struct LeftOut {
    /// What was not checked.
    pub what: &'static str,
    /// What stood in the way.
    pub fault: Fault,
}

/// Examines the installation; gives the checks that could not be made.
pub async fn examine(app: &App, progress: &dyn Progress, listener: &mut dyn Listener) -> Vec<LeftOut> {
    let standing = parts::examine(app, listener).await;
    let mut left_out = Vec::new();
    if !standing.records {
        let fault = Fault::new(
            Component::Database,
            docent_ports::error::FaultKind::Unavailable,
            "without its records nothing can be compared",
        );
        return vec![LeftOut { what: "records, chunks and files", fault }];
    }
    let out = &mut left_out;
    note(out, "generations of the index", survey::generations(app, listener).await);
    note(out, JOBS, survey::jobs(app, listener).await);
    note(out, "documents without chunks", survey::records_of_chunks(app, progress, listener).await);
    note(out, CHUNKS, survey::chunks(app, progress, listener).await);
    note(out, "documents without files", survey::records_of_files(app, progress, listener).await);
    note(out, FILES, survey::files(app, progress, listener).await);
    left_out
}

/// Looks for what is left by runners that died, were late or could not reach a store: everything that a
/// running service may mend by itself. Gives the checks that could not be made.
pub(crate) async fn look_for_leftovers(app: &App, listener: &mut dyn Listener) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    let out = &mut left_out;
    note(out, JOBS, survey::jobs(app, listener).await);
    note(out, CHUNKS, survey::chunks(app, &Unseen, listener).await);
    note(out, FILES, survey::files(app, &Unseen, listener).await);
    left_out
}

const JOBS: &str = "jobs";
const CHUNKS: &str = "chunks without documents";
const FILES: &str = "files without documents";

fn note(left_out: &mut Vec<LeftOut>, what: &'static str, result: Result<(), Fault>) {
    if let Err(fault) = result {
        left_out.push(LeftOut { what, fault });
    }
}
