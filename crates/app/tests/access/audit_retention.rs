//! Removal of old entries of the audit log.

use crate::fixture::Fixture;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docent_app::Error;
use docent_app::audit::Initiator;
use docent_app::maintenance::audit_retention::remove_before;
use docent_domain::audit::{AuditAction, AuditEntry};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::listing::{AuditFilter, PageRequest};
use docent_ports::audit::{AuditExport, FinishedExport};
use docent_testkit::builders::audit_entry;
use std::sync::{Arc, Mutex};

/// Lines, and whether the export was finished. Fails to finish if asked to.
#[derive(Clone, Default)]
struct Lines {
    text: Arc<Mutex<(String, bool)>>,
    fails: bool,
}

#[async_trait]
impl AuditExport for Lines {
    async fn write(&mut self, lines: String) -> Result<()> {
        self.text.lock().unwrap().0.push_str(&lines);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<Box<dyn FinishedExport>> {
        if self.fails {
            return Err(Fault::new(Component::Service, FaultKind::Full, "no space"));
        }
        self.text.lock().unwrap().1 = true;
        Ok(self)
    }
}

#[async_trait]
impl FinishedExport for Lines {
    async fn delete(self: Box<Self>) -> Result<()> {
        *self.text.lock().unwrap() = Default::default();
        Ok(())
    }
}

/// An export during which another run exports and removes the same entries.
struct Overtaken {
    lines: Lines,
    fixture: Arc<Fixture>,
}

#[async_trait]
impl AuditExport for Overtaken {
    async fn write(&mut self, lines: String) -> Result<()> {
        self.lines.write(lines).await
    }

    async fn finish(self: Box<Self>) -> Result<Box<dyn FinishedExport>> {
        let (by, before) = (Initiator::command_line(), at(&self.fixture, 9));
        let other = remove_before(&self.fixture.0, &by, before, "other", Box::new(Lines::default())).await;
        assert_eq!(other.unwrap(), 3);
        Box::new(self.lines).finish().await
    }
}

async fn log(fixture: &Fixture) -> Vec<AuditEntry> {
    let page = PageRequest { offset: 0, limit: 2000 };
    fixture.1.store.read().await.unwrap().audit().list(&AuditFilter::default(), page).await.unwrap().records
}

/// The `n`th second of two days ago.
fn at(fixture: &Fixture, n: u32) -> DateTime<Utc> {
    fixture.0.now() - TimeDelta::days(2) + TimeDelta::seconds(n.into())
}

async fn with_entries(entries: u32) -> Fixture {
    let fixture = Fixture::new();
    let mut unit = fixture.1.store.begin().await.unwrap();
    for n in 1..=entries {
        unit.audit().append(&AuditEntry { at: at(&fixture, n), ..audit_entry(n) }).await.unwrap();
    }
    unit.commit().await.unwrap();
    fixture
}

#[tokio::test]
async fn old_entries_are_exported_and_then_removed() {
    let fixture = with_entries(1200).await;
    let (lines, by) = (Lines::default(), Initiator::command_line());
    let removed =
        remove_before(&fixture.0, &by, at(&fixture, 1101), "a.jsonl", Box::new(lines.clone())).await.unwrap();
    assert_eq!(removed, 1100);
    let (text, is_finished) = lines.text.lock().unwrap().clone();
    let exported: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times: Vec<_> = exported.iter().map(|entry| entry["at"].as_i64().unwrap()).collect();
    assert_eq!(times, (1..=1100).map(|n| at(&fixture, n).timestamp_micros()).collect::<Vec<_>>());
    assert!(is_finished);
    let left = log(&fixture).await;
    let removal = left.iter().find(|entry| entry.record == "removal").unwrap();
    assert_eq!(removal.action, AuditAction::Delete);
    assert_eq!(removal.changes["entries"].after.as_deref(), Some("1100"));
    assert_eq!(removal.changes["export"].after.as_deref(), Some("a.jsonl"));
    assert!(left.iter().all(|entry| entry.at >= at(&fixture, 1101)));
}

// Invariant: Entries of the audit log are removed only after their export and with a record of the removal.
#[tokio::test]
async fn nothing_is_removed_when_the_export_fails_or_the_time_is_recent() {
    let fixture = with_entries(3).await;
    let before = log(&fixture).await;
    let (failing, by) = (Lines { fails: true, ..Lines::default() }, Initiator::command_line());
    assert!(remove_before(&fixture.0, &by, at(&fixture, 9), "a", Box::new(failing)).await.is_err());
    let recent = fixture.0.now() - TimeDelta::minutes(59);
    let refused = remove_before(&fixture.0, &by, recent, "a", Box::new(Lines::default())).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let lines = Lines::default();
    let removed = remove_before(&fixture.0, &by, at(&fixture, 1), "a", Box::new(lines.clone())).await;
    assert_eq!(
        (removed.unwrap(), lines.text.lock().unwrap().1),
        (0, false),
        "without entries no export is left"
    );
    assert_eq!(log(&fixture).await, before);
}

#[tokio::test]
async fn export_is_deleted_when_another_run_has_removed_its_entries() {
    let fixture = Arc::new(with_entries(3).await);
    let (lines, by) = (Lines::default(), Initiator::command_line());
    let export = Box::new(Overtaken { lines: lines.clone(), fixture: Arc::clone(&fixture) });
    let late = remove_before(&fixture.0, &by, at(&fixture, 9), "late", export).await;
    assert!(matches!(late, Err(Error::EntriesRemovedElsewhere)), "{late:?}");
    assert_eq!(*lines.text.lock().unwrap(), (String::new(), false));
    let removals: Vec<_> =
        log(&fixture).await.into_iter().filter(|entry| entry.record == "removal").collect();
    assert_eq!(removals.len(), 1);
    assert_eq!(removals[0].changes["export"].after.as_deref(), Some("other"));
}
