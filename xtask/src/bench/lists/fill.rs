//! Fills a database with records of every listed kind.

use anyhow::{Result, ensure};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::document::{Document, Failure, FailureCode};
use docent_domain::id::UserId;
use docent_domain::job::{Job, JobState};
use docent_domain::text::Title;
use docent_ports::store::Store;
use docent_sql::{SqlOptions, SqlStore};
use docent_testkit::builders::{audit_entry, coverage, document, id, job, session, usage, user};

/// Documents per transaction.
const BATCH: u32 = 2_000;
/// Time between two documents; 100,000 of them span about four months.
const PAUSE: TimeDelta = TimeDelta::seconds(100);
const TITLES: [&str; 5] = ["Annual report", "Minutes of the meeting", "Contract", "Manual", "Tax return"];

/// Writes accounts and documents.
#[expect(clippy::disallowed_methods, reason = "the dashboard shows the last 30 days")]
pub(super) async fn fill(database: &str, users: u32, documents: u32) -> Result<()> {
    let store = SqlStore::connect(database, SqlOptions::default()).await?;
    accounts(&store, users).await?;
    let end = Utc::now();
    for first in (1..=documents).step_by(BATCH as usize) {
        let mut unit = store.begin().await?;
        for n in first..(first + BATCH).min(documents + 1) {
            let at = end - PAUSE * i32::try_from(documents - n)?;
            let owner: UserId = id(1 + n % users);
            let document = create_document(n, owner, at)?;
            unit.documents().insert(&document).await?;
            let state = JobState::Done;
            let job = job(n, document.id);
            let job = Job { owner: Some(owner), state, run_at: at, created_at: at, updated_at: at, ..job };
            unit.jobs().insert(&job).await?;
            let mut usage = usage(n, owner);
            usage.at = at;
            unit.usage().insert(&usage).await?;
            let mut entry = audit_entry(n);
            entry.at = at;
            unit.audit().append(&entry).await?;
        }
        unit.commit().await?;
    }
    store.close().await?;
    Ok(())
}

/// Writes accounts, each with a session.
pub(in super::super) async fn accounts(store: &SqlStore, users: u32) -> Result<()> {
    let mut unit = store.begin().await?;
    for n in 1..=users {
        ensure!(unit.users().insert(&user(n)).await?, "the account exists already");
        unit.sessions().insert(&session(n, id(n))).await?;
    }
    Ok(unit.commit().await?)
}

/// Creates a document: one in ten has failed, one in twenty is pending, the others are ingested.
fn create_document(n: u32, owner: UserId, at: DateTime<Utc>) -> Result<Document> {
    let title = format!("{} number {:03}, copy {}", TITLES[n as usize % TITLES.len()], n % 1_000, n / 1_000);
    let document = Document {
        owner: Some(owner),
        title: Title::parse(&title)?,
        created_at: at,
        updated_at: at,
        ..document(n)
    };
    Ok(match n % 20 {
        0 => document,
        1 | 2 => document.failed(Failure::of(FailureCode::NoText), Some(coverage()), at)?,
        _ => document.ingested(coverage(), at)?,
    })
}
