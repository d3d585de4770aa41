use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, JobId, LeaseId, UserId};
use docent_domain::job::{Job, JobKind, JobState, Wait};
use docent_domain::trace::TraceParent;
use sea_orm::entity::prelude::*;

pub const QUEUED: &str = "queued";
pub const LEASED: &str = "leased";
pub const DONE: &str = "done";

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub kind: String,
    pub document_id: Uuid,
    pub owner_id: Option<Uuid>,
    pub state: String,
    pub lease_id: Option<Uuid>,
    pub due_at: Option<i64>,
    pub attempts: i64,
    pub interruptions: i64,
    pub run_at: i64,
    pub last_error: Option<String>,
    pub waiting_since: Option<i64>,
    pub waiting_reason: Option<String>,
    pub traceparent: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub turn: i64,
}

no_relations!();

impl Record for Job {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let (state, lease, due_at) = match self.state {
            JobState::Queued => (QUEUED, None, Some(self.run_at)),
            JobState::Leased { lease, until } => (LEASED, Some(lease), Some(until)),
            JobState::Done => (DONE, None, None),
        };
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            kind: self.kind.as_str().to_owned(),
            document_id: self.document.as_uuid(),
            owner_id: self.owner.map(UserId::as_uuid),
            state: state.to_owned(),
            lease_id: lease.map(LeaseId::as_uuid),
            due_at: due_at.map(micros),
            attempts: i64::from(self.attempts),
            interruptions: i64::from(self.interruptions),
            run_at: micros(self.run_at),
            last_error: self.last_error.clone(),
            waiting_since: self.wait.as_ref().map(|wait| micros(wait.since)),
            waiting_reason: self.wait.as_ref().map(|wait| wait.reason.clone()),
            traceparent: self.trace.as_ref().map(|trace| trace.as_str().to_owned()),
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
            // The ledger assigns it when the job is inserted.
            turn: 0,
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        let when = |micros| instant(micros, "job's time");
        let state = match (row.state.as_str(), row.lease_id, row.due_at) {
            (QUEUED, None, Some(_)) => JobState::Queued,
            (LEASED, Some(lease), Some(until)) => {
                JobState::Leased { lease: LeaseId::from_uuid(lease), until: when(until)? }
            }
            (DONE, None, None) => JobState::Done,
            _ => return Err(corrupt("job's state")),
        };
        Ok(Job {
            id: JobId::from_uuid(row.id),
            kind: JobKind::parse(&row.kind).ok_or_else(|| corrupt("job's kind"))?,
            document: DocumentId::from_uuid(row.document_id),
            owner: row.owner_id.map(UserId::from_uuid),
            state,
            attempts: counted(row.attempts, "job's counter")?,
            interruptions: counted(row.interruptions, "job's counter")?,
            run_at: when(row.run_at)?,
            last_error: row.last_error,
            wait: match (row.waiting_since, row.waiting_reason) {
                (Some(since), Some(reason)) => Some(Wait { since: when(since)?, reason }),
                _ => None,
            },
            // A label for traces is no reason to leave a job undone: one that cannot be read is left out.
            trace: row.traceparent.as_deref().and_then(TraceParent::parse),
            created_at: when(row.created_at)?,
            updated_at: when(row.updated_at)?,
        })
    }
}
