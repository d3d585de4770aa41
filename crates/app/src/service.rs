//! State of the installation for operators: components, versions, disk space, jobs and the last backup.

use crate::App;
pub use crate::agent::UnsearchedAnswers;
use crate::error::Result;
use crate::maintenance::diagnostics;
use crate::settings::SearchMode;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Grant, ViewJobs};
use docent_domain::audit::AuditAction;
use docent_domain::fault::{Component, Fault};
use docent_domain::listing::{AuditFilter, JobFilter, JobStateName, PageRequest};
use docent_ports::blob_store::DiskSpace;
use docent_ports::jobs::JobCounts;
pub use docent_ports::store::Schema;
use std::time::Duration;

/// How long a version is waited for.
const VERSION_TIMEOUT: Duration = Duration::from_secs(2);
/// A due job that no worker has taken for this long means that none is running.
const WORKER_DELAY: TimeDelta = TimeDelta::minutes(1);

/// Components in the order in which they are shown.
const COMPONENTS: [Component; 10] = [
    Component::Database,
    Component::KeyValueStore,
    Component::BlobStore,
    Component::VectorStore,
    Component::Embedder,
    Component::ChatModel,
    Component::Reranker,
    Component::Recognizer,
    Component::MailServer,
    Component::IdentityProvider,
];

/// A component of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackEnd {
    /// The component.
    pub component: Component,
    /// What is connected: name and version, or model. `None` if it is part of the program or does not say.
    pub name: Option<String>,
    /// Address of the chat model.
    pub address: Option<String>,
    /// What does not work without it and how to connect it, if it is not configured.
    pub missing: Option<&'static str>,
    /// Whether it can be tested.
    pub is_testable: bool,
}

/// State of the installation.
#[derive(Debug)]
pub struct Installation {
    /// All components.
    pub back_ends: Vec<BackEnd>,
    /// The database schema.
    pub schema: Result<Schema, Fault>,
    /// Space of the file system that has the uploaded files; `None` for an object store.
    pub space: Result<Option<DiskSpace>, Fault>,
    /// Unfinished jobs; `None` if the database cannot be read.
    pub queue: Option<Queue>,
    /// Time of the last finished `docent backup` in the audit log.
    pub last_backup: Option<DateTime<Utc>>,
    /// Recent answers for which the model did not search, if these are many.
    pub unsearched: Option<UnsearchedAnswers>,
}

/// The job queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Numbers of jobs.
    pub counts: JobCounts,
    /// When a worker last took or finished a job.
    pub last_activity: Option<DateTime<Utc>>,
    /// Since when a job is due that no worker takes.
    pub neglected_since: Option<DateTime<Utc>>,
}

/// The result of a test.
#[derive(Debug)]
pub struct Tested {
    /// The component.
    pub component: Component,
    /// How long it took.
    pub duration: TimeDelta,
    /// Details, or what failed.
    pub result: Result<Option<String>, Fault>,
}

/// Reads the state of the installation. Components that do not respond are not an error.
pub async fn overview(app: &App, grant: &Grant<ViewJobs>) -> Installation {
    let (back_ends, schema, space, queue, last_backup) =
        tokio::join!(back_ends(app), app.store.schema(), app.blobs.space(), queue(app), last_backup(app));
    Installation {
        back_ends,
        schema,
        space,
        queue: queue.inspect_err(|error| tracing::warn!(%error, "the job queue cannot be read")).ok(),
        last_backup: last_backup.ok().flatten(),
        unsearched: unsearched_answers(app, grant),
    }
}

/// The recent answers of this process for which the model did not search, if these are many and the service
/// leaves the decision to it.
pub fn unsearched_answers(app: &App, _grant: &Grant<ViewJobs>) -> Option<UnsearchedAnswers> {
    app.process.searches.unsearched().filter(|_| app.settings.agent_search == SearchMode::Model)
}

/// Tests a component by using it.
pub async fn test(app: &App, _grant: &Grant<ViewJobs>, component: Component) -> Tested {
    let begun = app.now();
    let result = diagnostics::check_one(app, component).await;
    Tested { component, duration: app.now() - begun, result }
}

/// The components that can be tested.
pub async fn testable(app: &App) -> Vec<Component> {
    let all = back_ends(app).await.into_iter();
    all.filter(|back_end| back_end.is_testable).map(|back_end| back_end.component).collect()
}

async fn back_ends(app: &App) -> Vec<BackEnd> {
    let mut all = Vec::new();
    for component in COMPONENTS {
        let missing = missing(app, component).await;
        let name = if missing.is_some() { None } else { name(app, component).await };
        let is_testable = missing.is_none() && component != Component::MailServer;
        let address = app.model.address().filter(|_| component == Component::ChatModel);
        all.push(BackEnd { component, name, address, missing, is_testable });
    }
    all
}

/// What is missing without the component, if it is not configured.
async fn missing(app: &App, component: Component) -> Option<&'static str> {
    match component {
        Component::MailServer if !app.mailer.is_configured() => Some(
            "There are no emails: new addresses are not confirmed, users cannot reset their passwords themselves, and are not \
             notified of new sign-ins. Staff create links on the page of a user. Set DOCENT_SMTP_URL and DOCENT_MAIL_FROM to send emails.",
        ),
        Component::Recognizer if app.recognizer.detected().await.is_none() => Some(
            "Text on images is not recognised: scans fail. Install tesseract (Debian package tesseract-ocr), set DOCENT_OCR to \
             auto if it is off, and retry the failed documents.",
        ),
        Component::ChatModel if app.model.address().is_none() => Some(
            "No language model is connected: answers are quotes from documents. Set DOCENT_LLM_BASE_URL and DOCENT_LLM_MODEL to \
             connect one.",
        ),
        Component::Reranker if app.reranker.is_none() => Some(
            "Passages keep the order in which the search finds them. Set DOCENT_RERANK_BASE_URL to let a model order them.",
        ),
        Component::IdentityProvider if app.identity_providers.is_empty() => Some(
            "Accounts sign in with passwords alone. Set DOCENT_OIDC_ISSUER and DOCENT_OIDC_CLIENT_ID to let them sign in at an \
             identity provider (OpenID Connect).",
        ),
        _ => None,
    }
}

/// What is connected. A component that does not say so in time has no name.
async fn name(app: &App, component: Component) -> Option<String> {
    let version = async {
        match component {
            Component::Database => app.store.version().await.ok().flatten(),
            Component::KeyValueStore => app.tokens.version().await.ok().flatten(),
            Component::VectorStore => app.collections.version().await.ok().flatten(),
            Component::Embedder => Some(app.active_generation().await.ok()?.model),
            Component::ChatModel => Some(app.model.model().to_owned()),
            Component::Reranker => app.reranker.as_ref().map(|reranker| reranker.model().to_owned()),
            Component::Recognizer => Some(app.recognizer.detected().await?.name().to_owned()),
            Component::IdentityProvider => {
                let issuers = app.identity_providers.iter().map(|known| known.provider.issuer());
                Some(issuers.collect::<Vec<_>>().join(", "))
            }
            Component::BlobStore | Component::MailServer | Component::Extractor | Component::Service => None,
        }
    };
    tokio::time::timeout(VERSION_TIMEOUT, version).await.ok().flatten()
}

async fn queue(app: &App) -> Result<Queue> {
    let mut view = app.store.read().await?;
    let counts = view.jobs().counts().await?;
    let one = PageRequest { offset: 0, limit: 1 };
    let mut last_activity = None;
    for state in [JobStateName::Leased, JobStateName::Done] {
        let filter = JobFilter { state: Some(state), kind: None };
        let latest = view.jobs().list(filter, one).await?.records.first().map(|job| job.updated_at);
        last_activity = last_activity.max(latest);
    }
    let due = view.jobs().next_due().await?;
    let neglected_since = due.filter(|due| *due < app.now() - WORKER_DELAY && counts.leased == 0);
    Ok(Queue { counts, last_activity, neglected_since })
}

async fn last_backup(app: &App) -> Result<Option<DateTime<Utc>>> {
    let filter = AuditFilter { action: Some(AuditAction::Backup), ..AuditFilter::default() };
    let page = app.store.read().await?.audit().list(&filter, PageRequest { offset: 0, limit: 1 }).await?;
    Ok(page.records.first().map(|entry| entry.at))
}
