//! Domain values with sensible defaults, for tests that care about one or two of their fields.
//!
//! Everything about them follows from a number: `document(1)` and `document(2)` differ in id, title
//! and time of creation, and `document(1)` is the same everywhere.

use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    chat::AgentName,
    document::{BlobKey, Document, StoredFile},
    extraction::Coverage,
    id::{DocumentId, GenerationId, JobId, LeaseId, UsageId, UserId},
    job::{Job, JobKind},
    text::{Email, FileName, Title},
    usage::{TokenUsage, UsageRecord},
    user::{PasswordHash, User},
};

/// The `n`th second after 2026-01-01T00:00:00Z, which is where [`crate::clock::TestClock`] starts.
pub fn at(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).expect("a valid instant") + TimeDelta::seconds(n)
}

/// The `n`th id of any kind: `let id: DocumentId = id(1)`. Ids sort like their numbers.
pub fn id<T: FromNumber>(n: u32) -> T {
    T::from_number(n)
}

/// Ids that [`id`] makes.
pub trait FromNumber {
    /// The id of a number.
    fn from_number(n: u32) -> Self;
}

macro_rules! ids_from_numbers {
    ($($id:ty),*) => {$(
        impl FromNumber for $id {
            fn from_number(n: u32) -> Self {
                let mut random = [0; 10];
                random[6..].copy_from_slice(&n.to_be_bytes());
                Self::generate(at(0), random)
            }
        }
    )*};
}

ids_from_numbers!(DocumentId, GenerationId, JobId, LeaseId, UsageId, UserId);

/// An active account without further rights: `user1@example.org`.
pub fn user(n: u32) -> User {
    User {
        id: id(n),
        email: Email::parse(&format!("user{n}@example.org")).expect("an address"),
        password: PasswordHash::from_phc(format!("$argon2id$v=19$m=8,t=1,p=1$c2FsdA${n}")),
        is_active: true,
        is_staff: false,
        is_superuser: false,
        created_at: at(i64::from(n)),
        last_login_at: None,
    }
}

/// A pending document with a file, created in the `n`th second, of no account: `Document 1`.
pub fn document(n: u32) -> Document {
    let document_id: DocumentId = id(n);
    let created_at = at(i64::from(n));
    let file = StoredFile {
        blob: BlobKey::of_document(document_id),
        name: FileName::reduce(&format!("document-{n}.pdf")),
        bytes: 1000 + u64::from(n),
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
    };
    let title = Title::parse(&format!("Document {n}")).expect("a title");
    Document { owner: None, ..Document::new(document_id, id(0), title, Some(file), created_at) }
}

/// The coverage of a document of three pages, the second of them empty.
pub fn coverage() -> Coverage {
    Coverage {
        pages: 3,
        empty_pages: vec![2],
        unreliable_pages: vec![],
        truncated_pages: vec![3],
        characters: 4000,
        chunks: 2,
        tokens: 1024,
    }
}

/// A queued job that ingests a document and is due in the `n`th second.
pub fn job(n: u32, document: DocumentId) -> Job {
    Job::new(id(n), JobKind::Ingest, document, None, at(i64::from(n)))
}

/// One answer of the agent `chat` to an account: 10 tokens read, 5 written.
pub fn usage(n: u32, user: UserId) -> UsageRecord {
    UsageRecord {
        id: id(n),
        user,
        api_key: None,
        conversation: None,
        agent: AgentName::parse("chat").expect("a name"),
        model: "test-model".to_owned(),
        tokens: TokenUsage { prompt: 10, completion: 5 },
        at: at(i64::from(n)),
    }
}
