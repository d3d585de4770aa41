//! Copying an installation into an archive, and making one from it.
//!
//! The entries of an archive, in their order:
//!
//! ```text
//! manifest.json               the format, the program, the embedding model, how many records to expect
//! groups/000001.jsonl         groups, one a line, a page an entry
//! users/000001.jsonl          accounts with their password hashes and rights likewise
//! api_keys/000001.jsonl       API keys, without their secrets, likewise
//! conversations/000001.jsonl  conversations likewise
//! messages/ID/000001.jsonl    what was said in one of them, in its order
//! webhooks/000001.jsonl       webhooks with their secrets likewise
//! audit/000001.jsonl          the audit log
//! usage/000001.jsonl          the usage ledger likewise
//! documents/ID/file.pdf       a document's file
//! documents/ID/chunks.jsonl   its chunks as they are indexed, where it is ingested
//! documents/ID/vectors.f32    their dense vectors, little-endian, where there are any
//! documents/ID/record.json    its record, with the SHA-256 of each of its entries; the last of them
//! end.json                    the SHA-256 over everything before
//! ```
//!
//! Sessions, refresh tokens, verification tokens and counters are left out: everybody logs in again, and links in
//! letters are asked for anew. So is what webhooks were told and what they are still to be told. So are jobs: what they promise is read
//! off the documents' states.

mod access_lines;
mod conversation_lines;
mod entries;
mod lines;
mod pages;
mod restore;
mod save;
mod webhook_lines;

pub use lines::Manifest;
pub use restore::{Restored, restore};
pub use save::{Saved, Scope, save};

use docent_ports::error::{Component, Fault, FaultKind};
use thiserror::Error;

/// The format of archives that this program writes, and the only one it reads.
const FORMAT: u32 = 1;

const MANIFEST: &str = "manifest.json";
const END: &str = "end.json";
/// The most bytes of an entry that is held in memory.
const HELD_MAX: u64 = 1 << 30;

/// The most characters of a reason to refuse an archive.
const REASON_MAX: usize = 400;

/// Why there is no backup, or nothing was restored.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The archive cannot be used.
    #[error("the archive is refused: {0}")]
    Archive(String),
    /// There is something already where the archive was to be restored.
    #[error("only an empty installation can be restored into, and this one has {0}")]
    NotEmpty(String),
    /// A part does not work.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What is quoted of an archive may be long, or speak to a terminal.
fn refused(why: impl Into<String>) -> BackupError {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    BackupError::Archive(why.into().chars().map(visible).take(REASON_MAX).collect())
}

fn unwritable(error: serde_json::Error) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "writing a record").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_short_and_says_nothing_to_a_terminal() {
        let text = refused(format!("it holds `\u{1b}[2J{}`", "x".repeat(10_000))).to_string();
        assert!(text.starts_with("the archive is refused: it holds ` [2Jxxx"), "{text}");
        assert!(text.chars().count() < 500);
    }
}
