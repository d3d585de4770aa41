//! The job ledger in SQL.

use super::{
    entities::jobs::{ActiveModel, Column, Entity, Model},
    fault::corrupt,
    session::Session,
    values::{counted, instant, micros},
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    id::{DocumentId, JobId, LeaseId, UserId},
    job::{Job, JobKind, JobState},
    trace::TraceParent,
};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    jobs::{JobCounts, JobFilter, JobReader, JobStateName, JobWriter},
    page::{Page, PageRequest},
};
use sea_orm::{
    ColumnTrait, EntityTrait, NotSet, Order, QueryFilter, QueryOrder, QuerySelect, Select, Set, UpdateMany,
    sea_query::{Expr, ExprTrait, LockBehavior, LockType, Query},
};

const QUEUED: &str = "queued";
const LEASED: &str = "leased";
const DONE: &str = "done";

#[async_trait]
impl JobReader for Session {
    async fn get(&mut self, id: JobId) -> Result<Option<Job>> {
        let query = self.hold(Entity::find_by_id(id.as_uuid()));
        let row = self.run("read a job", |db| Box::pin(query.one(db))).await?;
        row.map(from_row).transpose()
    }

    async fn of_document(&mut self, document: DocumentId) -> Result<Vec<Job>> {
        let query = Entity::find()
            .filter(Column::DocumentId.eq(document.as_uuid()))
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id);
        let query = self.hold(query);
        let rows = self.run("read a document's jobs", |db| Box::pin(query.all(db))).await?;
        rows.into_iter().map(from_row).collect()
    }

    async fn counts(&mut self) -> Result<JobCounts> {
        let query = Entity::find()
            .select_only()
            .column(Column::State)
            .column_as(Column::Id.count(), "jobs")
            .column_as(Column::CreatedAt.min(), "oldest")
            .filter(Column::State.is_in([QUEUED, LEASED]))
            .group_by(Column::State)
            .into_tuple::<(String, i64, i64)>();
        let rows = self.run("count jobs", |db| Box::pin(query.all(db))).await?;
        let mut counts = JobCounts::default();
        for (state, jobs, oldest) in rows {
            let jobs = counted(jobs, "job count")?;
            if state == QUEUED {
                counts.queued = jobs;
            } else {
                counts.leased = jobs;
            }
            let oldest = instant(oldest, "job's time")?;
            counts.oldest = Some(counts.oldest.map_or(oldest, |other| Ord::min(other, oldest)));
        }
        Ok(counts)
    }

    async fn list(&mut self, filter: JobFilter, page: PageRequest) -> Result<Page<Job>> {
        let mut rows = Entity::find();
        if let Some(state) = filter.state {
            rows = rows.filter(Column::State.eq(match state {
                JobStateName::Queued => QUEUED,
                JobStateName::Leased => LEASED,
                JobStateName::Done => DONE,
            }));
        }
        if let Some(kind) = filter.kind {
            rows = rows.filter(Column::Kind.eq(kind.as_str()));
        }
        let order = |rows: Select<Entity>| rows.order_by_desc(Column::UpdatedAt).order_by_desc(Column::Id);
        self.listed("list jobs", rows, order, page, from_row).await
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>> {
        let query =
            Entity::find().select_only().column_as(Column::DueAt.min(), "next").into_tuple::<Option<i64>>();
        let next = self.run("find when the next job is due", |db| Box::pin(query.one(db))).await?;
        next.flatten().map(|micros| instant(micros, "job's time")).transpose()
    }
}

#[async_trait]
impl JobWriter for Session {
    async fn insert(&mut self, job: &Job) -> Result<()> {
        let turn = self.turn(job).await?;
        let insert = Entity::insert(ActiveModel { turn: Set(turn), ..to_row(job) });
        self.run("add a job", |db| Box::pin(insert.exec_without_returning(db))).await?;
        Ok(())
    }

    async fn lease(
        &mut self,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<Job>> {
        let interrupted = Expr::case(Column::State.eq(LEASED), 1).finally(0);
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::val(LEASED))
            .col_expr(Column::LeaseId, Expr::val(lease.as_uuid()))
            .col_expr(Column::DueAt, Expr::val(micros(until)))
            .col_expr(Column::Interruptions, Expr::col(Column::Interruptions).add(interrupted))
            .col_expr(Column::UpdatedAt, Expr::val(micros(now)))
            .filter(Expr::col(Column::Id).eq(next(now)));
        let rows = self.run("lease a job", |db| Box::pin(update.exec_with_returning(db))).await?;
        rows.into_iter().next().map(from_row).transpose()
    }

    async fn renew(&mut self, job: JobId, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        let update = held(job, lease).col_expr(Column::DueAt, Expr::val(micros(until)));
        let result = self.run("renew a lease", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn settle(&mut self, job: &Job, lease: LeaseId) -> Result<bool> {
        if matches!(job.state, JobState::Leased { .. }) {
            let message = "a job was settled that is neither queued nor done";
            return Err(Fault::new(Component::Database, FaultKind::Internal, message));
        }
        let outcome = ActiveModel {
            id: NotSet,
            kind: NotSet,
            document_id: NotSet,
            owner_id: NotSet,
            traceparent: NotSet,
            created_at: NotSet,
            turn: NotSet,
            ..to_row(job)
        };
        let update = held(job.id, lease).set(outcome);
        let result = self.run("settle a job", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected > 0)
    }

    async fn release_all(&mut self, now: DateTime<Utc>) -> Result<u64> {
        let now = micros(now);
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::val(QUEUED))
            .col_expr(Column::LeaseId, Expr::val(None::<uuid::Uuid>))
            .col_expr(Column::DueAt, Expr::val(now))
            .col_expr(Column::RunAt, Expr::val(now))
            .col_expr(Column::Interruptions, Expr::col(Column::Interruptions).add(1))
            .col_expr(Column::UpdatedAt, Expr::val(now))
            .filter(Column::State.eq(LEASED));
        let result = self.run("release all jobs", |db| Box::pin(update.exec(db))).await?;
        Ok(result.rows_affected)
    }

    async fn purge_done(&mut self, before: DateTime<Utc>) -> Result<u64> {
        let delete =
            Entity::delete_many().filter(Column::State.eq(DONE)).filter(Column::UpdatedAt.lt(micros(before)));
        let result = self.run("purge jobs", |db| Box::pin(delete.exec(db))).await?;
        Ok(result.rows_affected)
    }
}

impl Session {
    /// One after the last of its owner, but not before what is waiting now. Owners who add jobs at the same
    /// instant may get the same turn twice, which is no harm.
    async fn turn(&mut self, job: &Job) -> Result<i64> {
        let waiting = || Entity::find().select_only().filter(Column::DueAt.is_not_null());
        let now = waiting().column_as(Column::Turn.min(), "turn").into_tuple::<Option<i64>>();
        let now = self.run("see whose turn it is", |db| Box::pin(now.one(db))).await?;
        let now = now.flatten().unwrap_or_default();
        if job.kind == JobKind::Delete {
            return Ok(now);
        }
        let owner = job.owner.map(UserId::as_uuid);
        let owner = owner.map_or_else(|| Column::OwnerId.is_null(), |owner| Column::OwnerId.eq(owner));
        let last = waiting().filter(owner).column_as(Column::Turn.max(), "turn").into_tuple::<Option<i64>>();
        let last = self.run("find an owner's last job", |db| Box::pin(last.one(db))).await?;
        Ok(last.flatten().map_or(now, |last| Ord::max(now, last + 1)))
    }
}

/// The id of the job whose turn it is. The lock is PostgreSQL's: callers that lease at the
/// same time each take another one. SQLite has one writer at a time, and leaves the lock out.
fn next(now: DateTime<Utc>) -> Expr {
    let select = Query::select()
        .column(Column::Id)
        .from(Entity)
        .and_where(Column::DueAt.lte(micros(now)))
        .order_by(Column::Turn, Order::Asc)
        .order_by(Column::DueAt, Order::Asc)
        .order_by(Column::Id, Order::Asc)
        .limit(1)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        .take();
    Expr::SubQuery(None, Box::new(select.into()))
}

/// A change of the job that does nothing once the lease was lost.
fn held(job: JobId, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(job.as_uuid())).filter(Column::LeaseId.eq(lease.as_uuid()))
}

fn to_row(job: &Job) -> ActiveModel {
    let (state, lease, due_at) = match job.state {
        JobState::Queued => (QUEUED, None, Some(job.run_at)),
        JobState::Leased { lease, until } => (LEASED, Some(lease), Some(until)),
        JobState::Done => (DONE, None, None),
    };
    ActiveModel {
        id: Set(job.id.as_uuid()),
        kind: Set(job.kind.as_str().to_owned()),
        document_id: Set(job.document.as_uuid()),
        owner_id: Set(job.owner.map(UserId::as_uuid)),
        state: Set(state.to_owned()),
        lease_id: Set(lease.map(LeaseId::as_uuid)),
        due_at: Set(due_at.map(micros)),
        attempts: Set(i64::from(job.attempts)),
        interruptions: Set(i64::from(job.interruptions)),
        run_at: Set(micros(job.run_at)),
        last_error: Set(job.last_error.clone()),
        traceparent: Set(job.trace.as_ref().map(|trace| trace.as_str().to_owned())),
        created_at: Set(micros(job.created_at)),
        updated_at: Set(micros(job.updated_at)),
        turn: NotSet,
    }
}

pub(super) fn from_row(row: Model) -> Result<Job> {
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
        // A label for traces is no reason to leave a job undone: one that cannot be read is left out.
        trace: row.traceparent.as_deref().and_then(TraceParent::parse),
        created_at: when(row.created_at)?,
        updated_at: when(row.updated_at)?,
    })
}
