//! The job ledger in SQL.

use super::entities::jobs::{ActiveModel, Column, DONE, Entity, LEASED, QUEUED};
use super::record::Record;
use super::transaction::Transaction;
use super::values::{counted, instant, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{DocumentId, JobId, LeaseId, UserId};
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::listing::{JobFilter, JobStateName, Page, PageRequest};
use docent_ports::jobs::{JobCounts, JobReader, JobWriter};
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType, Query};
use sea_orm::{
    ColumnTrait, EntityTrait, NotSet, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set,
    UpdateMany,
};

#[async_trait]
impl JobReader for Transaction {
    async fn get(&mut self, id: JobId) -> Result<Option<Job>> {
        self.fetch_one("read a job", Entity::find_by_id(id.as_uuid())).await
    }

    async fn of_document(&mut self, document: DocumentId) -> Result<Vec<Job>> {
        let query = Entity::find()
            .filter(Column::DocumentId.eq(document.as_uuid()))
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id);
        let query = self.for_update(query);
        self.fetch_all("read a document's jobs", query).await
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
        // As `Job::has_failed`.
        let has_failed = || Column::Kind.eq(JobKind::Ingest.as_str()).and(Column::LastError.is_not_null());
        let is_in = |state| match state {
            JobStateName::Queued => Column::State.eq(QUEUED),
            JobStateName::Leased => Column::State.eq(LEASED),
            JobStateName::Done => Column::State.eq(DONE),
            JobStateName::Succeeded => Column::State.eq(DONE).and(has_failed().not()),
            JobStateName::Failed => Column::State.eq(DONE).and(has_failed()),
        };
        let rows = Entity::find()
            .apply_if(filter.state, |rows, state| rows.filter(is_in(state)))
            .apply_if(filter.kind, |rows, kind| rows.filter(Column::Kind.eq(kind.as_str())));
        self.list_newest("list jobs", rows, [Column::UpdatedAt, Column::Id], page).await
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>> {
        let query =
            Entity::find().select_only().column_as(Column::DueAt.min(), "next").into_tuple::<Option<i64>>();
        let next = self.run("find when the next job is due", |db| Box::pin(query.one(db))).await?;
        next.flatten().map(|micros| instant(micros, "job's time")).transpose()
    }

    async fn has_waiting(&mut self, reason: &str, due_after: DateTime<Utc>) -> Result<bool> {
        let query = Entity::find()
            .select_only()
            .column(Column::State)
            .filter(Column::DueAt.gt(micros(due_after)))
            .filter(Column::WaitingReason.eq(reason))
            .limit(1)
            .into_tuple::<String>();
        let waiting = self.run("find a waiting job", |db| Box::pin(query.one(db))).await?;
        Ok(waiting.is_some())
    }
}

#[async_trait]
impl JobWriter for Transaction {
    async fn insert(&mut self, job: &Job) -> Result<()> {
        let turn = self.turn(job).await?;
        let insert = Entity::insert(ActiveModel { turn: Set(turn), ..job.to_row()? });
        self.insert_rows("add a job", insert).await?;
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
        rows.into_iter().next().map(Record::from_row).transpose()
    }

    async fn renew(&mut self, job: JobId, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        let update = with_lease(job, lease).col_expr(Column::DueAt, Expr::val(micros(until)));
        Ok(self.update_rows("renew a lease", update).await? > 0)
    }

    async fn settle(&mut self, job: &Job, lease: LeaseId) -> Result<bool> {
        if matches!(job.state, JobState::Leased { .. }) {
            let message = "a settled job must be queued or done";
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
            ..job.to_row()?
        };
        let update = with_lease(job.id, lease).set(outcome);
        Ok(self.update_rows("settle a job", update).await? > 0)
    }

    async fn restart_ingestion(&mut self, document: DocumentId, now: DateTime<Utc>) -> Result<bool> {
        let update = queued_at(now)
            .col_expr(Column::Attempts, Expr::val(0))
            .col_expr(Column::Interruptions, Expr::val(0))
            .col_expr(Column::LastError, Expr::val(None::<String>))
            .col_expr(Column::WaitingSince, Expr::val(None::<i64>))
            .col_expr(Column::WaitingReason, Expr::val(None::<String>))
            .filter(Column::DocumentId.eq(document.as_uuid()))
            .filter(Column::Kind.eq(JobKind::Ingest.as_str()))
            .filter(Column::State.ne(DONE));
        Ok(self.update_rows("restart an ingestion", update).await? > 0)
    }

    async fn release_all(&mut self, now: DateTime<Utc>) -> Result<u64> {
        let update = queued_at(now)
            .col_expr(Column::Interruptions, Expr::col(Column::Interruptions).add(1))
            .filter(Column::State.eq(LEASED));
        self.update_rows("release all jobs", update).await
    }

    async fn purge_done(&mut self, before: DateTime<Utc>) -> Result<u64> {
        let delete =
            Entity::delete_many().filter(Column::State.eq(DONE)).filter(Column::UpdatedAt.lt(micros(before)));
        self.delete_rows("purge jobs", delete).await
    }
}

/// Puts jobs back into the queue, due at once.
fn queued_at(now: DateTime<Utc>) -> UpdateMany<Entity> {
    let now = micros(now);
    Entity::update_many()
        .col_expr(Column::State, Expr::val(QUEUED))
        .col_expr(Column::LeaseId, Expr::val(None::<uuid::Uuid>))
        .col_expr(Column::DueAt, Expr::val(now))
        .col_expr(Column::RunAt, Expr::val(now))
        .col_expr(Column::UpdatedAt, Expr::val(now))
}

impl Transaction {
    /// The turn of a new job: one after its owner's last job, but not before the first waiting job. Jobs that are
    /// added at the same instant may get the same turn, which is harmless.
    async fn turn(&mut self, job: &Job) -> Result<i64> {
        let waiting = || Entity::find().select_only().filter(Column::DueAt.is_not_null());
        let now = waiting().column_as(Column::Turn.min(), "turn").into_tuple::<Option<i64>>();
        let now = self.run("find the first turn", |db| Box::pin(now.one(db))).await?;
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

/// The id of the next job. On PostgreSQL concurrent callers skip each other's locked rows and take different
/// jobs. SQLite has one writer at a time, and its query is built without the lock.
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

/// An update of the job that matches nothing once the lease is lost.
fn with_lease(job: JobId, lease: LeaseId) -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::Id.eq(job.as_uuid())).filter(Column::LeaseId.eq(lease.as_uuid()))
}
