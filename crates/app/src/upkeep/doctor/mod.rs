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

use super::progress::Progress;
use crate::App;
use async_trait::async_trait;
use docent_ports::error::{Fault, Part};

/// Is told what is found, one by one.
#[async_trait]
pub trait Listener: Send {
    /// This part answers, and this is what there is to say about it.
    fn works(&mut self, part: Part, note: &str);

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
            Part::Database,
            docent_ports::error::FaultKind::Unavailable,
            "without its records nothing can be compared",
        );
        return vec![LeftOut { what: "records, chunks and files", fault }];
    }
    let mut note = |what, result: Result<(), Fault>| {
        if let Err(fault) = result {
            left_out.push(LeftOut { what, fault });
        }
    };
    note("generations of the index", survey::generations(app, listener).await);
    note("jobs", survey::jobs(app, listener).await);
    note("documents without chunks", survey::records_of_chunks(app, progress, listener).await);
    note("chunks without documents", survey::chunks(app, progress, listener).await);
    note("documents without files", survey::records_of_files(app, progress, listener).await);
    note("files without documents", survey::files(app, progress, listener).await);
    left_out
}
