//! What staff see first: how much there is, what waits, and what went wrong lately.

use crate::{App, error::Result};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use docent_domain::{
    access::{Actor, Grant, UseAdminPanel, ViewDocuments, ViewJobs, ViewUsageRecords},
    document::Document,
    usage::TokenUsage,
};
pub use docent_ports::{documents::DocumentCounts, jobs::JobCounts};
use docent_ports::{
    documents::{DocumentDay, DocumentFilter},
    page::{PageRequest, Period},
    store::ReadView,
    usage::{UsageFilter, UsageGrouping},
};

const RECENT: u64 = 5;
/// Days that are looked back on, today among them.
pub const DAYS: u64 = 30;

/// The numbers, all of one instant; each part is there for who may see it.
#[derive(Debug)]
pub struct Overview {
    /// The days that are looked back on, the first one first.
    pub days: Vec<NaiveDate>,
    /// What there is.
    pub documents: Option<Documents>,
    /// Work that waits or is under way.
    pub jobs: Option<JobCounts>,
    /// What answers cost on each day; days without any are left out.
    pub tokens: Option<Vec<(NaiveDate, TokenUsage)>>,
}

/// Documents in numbers.
#[derive(Debug)]
pub struct Documents {
    /// By state.
    pub counts: DocumentCounts,
    /// By the day of their creation; days without any are left out.
    pub days: Vec<DocumentDay>,
    /// The newest ones that failed.
    pub failures: Vec<Document>,
}

/// Reads the numbers that the actor may see.
///
/// # Errors
/// When the database cannot be reached.
pub async fn overview(app: &App, actor: &Actor, _grant: Grant<UseAdminPanel>) -> Result<Overview> {
    let today = app.clock.now().date_naive();
    let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
    let from = first.and_time(NaiveTime::MIN).and_utc();
    let mut view = app.store.read().await?;
    let mut overview = Overview {
        days: first.iter_days().take_while(|day| *day <= today).collect(),
        documents: None,
        jobs: None,
        tokens: None,
    };
    if actor.authorize::<ViewDocuments>().is_ok() {
        overview.documents = Some(documents(&mut *view, from).await?);
    }
    if actor.authorize::<ViewJobs>().is_ok() {
        overview.jobs = Some(view.jobs().counts().await?);
    }
    if actor.authorize::<ViewUsageRecords>().is_ok() {
        overview.tokens = Some(tokens(&mut *view, from).await?);
    }
    Ok(overview)
}

async fn documents(view: &mut dyn ReadView, from: DateTime<Utc>) -> Result<Documents> {
    let failed = DocumentFilter { status: Some("failed"), limit: Some(RECENT), ..DocumentFilter::default() };
    Ok(Documents {
        counts: view.documents().counts().await?,
        days: view.documents().days(from).await?,
        failures: view.documents().list(&failed).await?,
    })
}

async fn tokens(view: &mut dyn ReadView, from: DateTime<Utc>) -> Result<Vec<(NaiveDate, TokenUsage)>> {
    let filter = UsageFilter { period: Period { from: Some(from), to: None }, ..UsageFilter::default() };
    let by_day = UsageGrouping { by_day: true, ..UsageGrouping::default() };
    let sums = view.usage().sums(&filter, by_day, PageRequest { offset: 0, limit: DAYS + 1 }).await?;
    Ok(sums.records.into_iter().filter_map(|sum| Some((sum.day?, sum.tokens))).collect())
}
