//! The dashboard: numbers of documents and jobs, recent failures and token usage.

use crate::App;
use crate::error::Result;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use docent_domain::access::{Actor, Grant, UseAdminPanel, ViewDocuments, ViewJobs, ViewUsageRecords};
use docent_domain::document::Document;
use docent_domain::listing::{DocumentFilter, PageRequest, Period, UsageFilter, UsageGrouping};
use docent_domain::scope::Scope;
use docent_domain::usage::TokenUsage;
use docent_ports::documents::{DocumentCounts, DocumentDay};
use docent_ports::jobs::JobCounts;
use docent_ports::store::ReadView;

const RECENT: u64 = 5;
/// The number of days shown, including today.
pub const DAYS: u64 = 30;

/// The dashboard's numbers, from one snapshot. Parts that the actor may not see are none.
#[derive(Debug)]
pub struct Overview {
    /// The days shown, oldest first.
    pub days: Vec<NaiveDate>,
    /// Documents.
    pub documents: Option<Documents>,
    /// Waiting and running jobs.
    pub jobs: Option<JobCounts>,
    /// Tokens used for answers on each day; days without any are omitted.
    pub tokens: Option<Vec<(NaiveDate, TokenUsage)>>,
}

/// Document statistics.
#[derive(Debug)]
pub struct Documents {
    /// Counts by state.
    pub counts: DocumentCounts,
    /// Counts by day of creation; days without any are omitted.
    pub days: Vec<DocumentDay>,
    /// The most recently created failed documents.
    pub failures: Vec<Document>,
}

/// Reads the numbers that the actor may see.
///
/// # Errors
/// When the database cannot be reached.
pub async fn overview(app: &App, actor: &Actor, _grant: Grant<UseAdminPanel>) -> Result<Overview> {
    let today = app.now().date_naive();
    let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
    let from = first.and_time(NaiveTime::MIN).and_utc();
    let mut view = app.store.read().await?;
    let mut overview = Overview {
        days: first.iter_days().take_while(|day| *day <= today).collect(),
        documents: None,
        jobs: None,
        tokens: None,
    };
    if let Ok(grant) = actor.authorize::<ViewDocuments>() {
        overview.documents = Some(documents(&mut *view, Scope::everything(grant), from).await?);
    }
    if actor.authorize::<ViewJobs>().is_ok() {
        overview.jobs = Some(view.jobs().counts().await?);
    }
    if actor.authorize::<ViewUsageRecords>().is_ok() {
        overview.tokens = Some(tokens(&mut *view, from).await?);
    }
    Ok(overview)
}

async fn documents(view: &mut dyn ReadView, scope: Scope, from: DateTime<Utc>) -> Result<Documents> {
    let failed = DocumentFilter { status: Some("failed"), limit: Some(RECENT), ..DocumentFilter::of(scope) };
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
