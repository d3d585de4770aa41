//! Backup: saves an installation to an archive and restores it.
//!
//! The entries of an archive, in order:
//!
//! ```text
//! manifest.json               format, program, embedding model and numbers of records
//! groups/000001.jsonl         groups: one per line, one page per entry
//! users/000001.jsonl          accounts with their password hashes and permissions
//! api_keys/000001.jsonl       API keys, without their secrets
//! conversations/000001.jsonl  conversations
//! messages/ID/000001.jsonl    the messages of a conversation, in order
//! webhooks/000001.jsonl       webhooks with their secrets
//! audit/000001.jsonl          the audit log
//! usage/000001.jsonl          the usage ledger
//! documents/ID/file.pdf       a document's file
//! documents/ID/chunks.jsonl   its indexed chunks, if it is ingested
//! documents/ID/vectors.f32    their dense vectors, little-endian, if there are any
//! documents/ID/record.json    its record with the SHA-256 of each of its entries; always its last entry
//! end.json                    the SHA-256 of everything before it
//! ```
//!
//! Records are in the forms of [`docent_ports::records`].
//!
//! Not included: sessions, refresh tokens, verification tokens, rate limits and webhook deliveries. After a restore,
//! users log in again and request new links. Jobs are derived from the states of the documents.

mod entries;
mod manifest;
mod pages;
mod restore;
mod save;

use docent_domain::audit::AuditEntry;
use docent_domain::error::ValidationError;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_ports::records::Stored;
pub use manifest::Manifest;
pub use restore::{RestoreSummary, restore};
pub use save::{BackupOptions, BackupSummary, save};

use thiserror::Error;

/// The archive format that this program writes, and the only one that it reads.
const FORMAT: u32 = 1;

const MANIFEST: &str = "manifest.json";
/// Entry with the file of a document.
const FILE: &str = "file.pdf";
/// Entry with the file that is to replace it.
const REPLACEMENT: &str = "replacement.pdf";
const END: &str = "end.json";
/// The maximum size of an entry that is read into memory.
const ENTRY_MAX: u64 = 1 << 30;

/// The maximum length of the reason why an archive is rejected, in characters.
const REASON_MAX: usize = 400;

/// Why a backup or restore failed.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The archive cannot be used.
    #[error("the archive is not valid: {0}")]
    Archive(String),
    /// The installation to restore into is not empty.
    #[error("an archive can only be restored into an empty installation; this one has {0}")]
    NotEmpty(String),
    /// A component failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The error for an invalid archive. Quoted content is shortened and its control characters are removed.
fn invalid_archive(reason: impl Into<String>) -> BackupError {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    BackupError::Archive(reason.into().chars().map(visible).take(REASON_MAX).collect())
}

fn invalid_record(error: ValidationError) -> BackupError {
    invalid_archive(format!("a record is not valid: {error}"))
}

/// Encodes an entry of the audit log as it is in archives: one JSON object on a line.
pub(crate) fn audit_line(entry: &AuditEntry) -> Result<String, Fault> {
    Ok(serde_json::to_string(&entry.to_form()).map_err(not_serializable)? + "\n")
}

fn not_serializable(error: serde_json::Error) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "a record could not be serialized").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_archive_error_is_short_and_has_no_control_characters() {
        let text = invalid_archive(format!("it holds `\u{1b}[2J{}`", "x".repeat(10_000))).to_string();
        assert!(text.starts_with("the archive is not valid: it holds ` [2Jxxx"), "{text}");
        assert!(text.chars().count() < 500);
    }
}
