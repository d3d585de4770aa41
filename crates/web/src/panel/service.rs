//! `GET /admin/service`, and `POST` to test its components

use super::model::UnsearchedView;
use crate::language::{self, component_name, fault_sentence, t};
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::{Time, size};
use chrono::{DateTime, Utc};
use docent_app::service::{self as use_case, BackEnd, Installation, Queue, Schema, Tested};
use docent_domain::access::{ViewAuditLog, ViewJobs};
use docent_domain::fault::Component;
use docent_http::context::Context;
use docent_http::error::sentence;
use docent_http::{Query, State};
use futures::future::join_all;
use serde::Serialize;

/// Percentage of free space below which the page warns.
const LOW_SPACE: u64 = 10;

#[derive(Serialize)]
pub(super) struct ServicePage {
    version: &'static str,
    schema: String,
    is_schema_current: bool,
    space: SpaceView,
    queue: Option<QueueView>,
    last_backup: Option<Time>,
    rows: Vec<BackEndRow>,
    /// Whether components were tested.
    is_tested: bool,
    /// Number of components whose test failed.
    failed: usize,
    may_view_audit: bool,
    /// Peer whose forwarding headers are ignored.
    untrusted_proxy: Option<String>,
    unsearched: Option<UnsearchedView>,
}

/// Space for uploaded files.
#[derive(Serialize)]
struct SpaceView {
    text: String,
    is_low: bool,
}

#[derive(Serialize)]
struct QueueView {
    queued: u64,
    running: u64,
    oldest: Option<Time>,
    last_activity: Option<Time>,
    /// Since when a due job is not taken by any worker.
    neglected: Option<Time>,
}

impl QueueView {
    fn of(queue: &Queue, now: DateTime<Utc>) -> Self {
        let time = |at: Option<DateTime<Utc>>| at.map(|at| Time::of(at, now));
        Self {
            queued: queue.counts.queued,
            running: queue.counts.leased,
            oldest: time(queue.counts.oldest),
            last_activity: time(queue.last_activity),
            neglected: time(queue.neglected_since),
        }
    }
}

#[derive(Serialize)]
struct BackEndRow {
    code: &'static str,
    name: String,
    connected: Option<String>,
    /// What is missing without it, if it is not configured.
    missing: Option<String>,
    is_testable: bool,
    result: Option<TestView>,
}

/// What is connected, for components that say so.
fn name_of(back_end: &BackEnd) -> Option<String> {
    let name = back_end.name.as_deref()?;
    Some(match &back_end.address {
        Some(address) => t!("connected-model", model = name, address = address.as_str()),
        None => name.to_owned(),
    })
}

/// What is connected, for components that do not say so themselves; `None` if they are part of the service.
fn kind_of(component: Component, installation: &Installation) -> Option<String> {
    match (component, &installation.space) {
        (Component::BlobStore, Ok(Some(_))) => Some(t!("connected-folder")),
        (Component::BlobStore, Ok(None)) => Some(t!("connected-object-store")),
        (Component::MailServer, _) => Some(t!("connected-mail-server")),
        _ => None,
    }
}

/// Result of a test.
#[derive(Serialize)]
struct TestView {
    is_ok: bool,
    message: String,
    milliseconds: i64,
}

impl From<Tested> for TestView {
    fn from(tested: Tested) -> Self {
        let (is_ok, message) = match tested.result {
            Ok(note) => (true, note.unwrap_or_else(|| t!("component-works"))),
            Err(fault) => (false, format!("{}.", sentence(&fault.report()))),
        };
        Self { is_ok, message, milliseconds: tested.duration.num_milliseconds() }
    }
}

pub(super) async fn show(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    query.done()?;
    let installation = use_case::overview(&context.app, &grant).await;
    let page = page_of(&staff, &context, &installation, Vec::new());
    staff.show(&context, "service", page)
}

pub(super) async fn test(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let (grant, app) = (staff.authorize::<ViewJobs>()?, &context.app);
    let mut components = use_case::testable(app).await;
    if !form.text("component").is_empty() {
        components.retain(|component| component.code() == form.text("component"));
    }
    let tested =
        join_all(components.into_iter().map(|component| use_case::test(app, &grant, component))).await;
    let installation = use_case::overview(app, &grant).await;
    staff.show(&context, "service", page_of(&staff, &context, &installation, tested))
}

fn page_of(
    staff: &Staff,
    context: &Context,
    installation: &Installation,
    mut tested: Vec<Tested>,
) -> ServicePage {
    let now = context.app.now();
    let failed = tested.iter().filter(|tested| tested.result.is_err()).count();
    let is_tested = !tested.is_empty();
    let mut result_of = |component: Component| {
        let found = tested.iter().position(|tested| tested.component == component);
        found.map(|at| TestView::from(tested.swap_remove(at)))
    };
    let row = |back_end: &BackEnd| BackEndRow {
        code: back_end.component.code(),
        name: component_name(back_end.component),
        connected: name_of(back_end).or_else(|| {
            back_end.missing.is_none().then(|| kind_of(back_end.component, installation)).flatten()
        }),
        missing: back_end.missing.map(|_| language::named("missing-", back_end.component.code())),
        is_testable: back_end.is_testable,
        result: result_of(back_end.component),
    };
    let rows = installation.back_ends.iter().map(row).collect();
    let (schema, is_schema_current) = match &installation.schema {
        Ok(schema) => (schema_text(*schema), schema.is_current()),
        Err(fault) => (fault_sentence(fault), false),
    };
    ServicePage {
        version: env!("CARGO_PKG_VERSION"),
        schema,
        is_schema_current,
        space: space_of(installation),
        queue: installation.queue.as_ref().map(|queue| QueueView::of(queue, now)),
        last_backup: installation.last_backup.map(|at| Time::of(at, now)),
        rows,
        is_tested,
        failed,
        may_view_audit: staff.can::<ViewAuditLog>(),
        untrusted_proxy: context.untrusted_proxies.first().map(|peer| peer.to_string()),
        unsearched: installation.unsearched.map(UnsearchedView::from),
    }
}

/// What the schema of the database is.
fn schema_text(schema: Schema) -> String {
    match schema {
        Schema::Current => t!("schema-current"),
        Schema::Newer => t!("schema-newer"),
        Schema::Older => t!("schema-older"),
        Schema::Missing => t!("schema-missing"),
    }
}

fn space_of(installation: &Installation) -> SpaceView {
    match &installation.space {
        Ok(Some(space)) => {
            let percent = (space.free.saturating_mul(100)).checked_div(space.total).unwrap_or(0);
            let (free, total) = (size(space.free), size(space.total));
            let text = t!("space-free", free = free, total = total, percent = percent);
            SpaceView { text, is_low: percent < LOW_SPACE }
        }
        Ok(None) => SpaceView { text: t!("space-unknown"), is_low: false },
        Err(fault) => SpaceView { text: fault_sentence(fault), is_low: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ServicePage {
        fn samples() -> Vec<Self> {
            let row = |connected: Option<&str>, missing: Option<String>, result| BackEndRow {
                code: "database",
                name: "Database".to_owned(),
                connected: connected.map(str::to_owned),
                is_testable: missing.is_none(),
                missing,
                result,
            };
            let result = |is_ok| Some(TestView { is_ok, message: "Works".to_owned(), milliseconds: 12 });
            let rows = || {
                vec![
                    row(Some("SQLite 3.50"), None, result(true)),
                    row(None, None, result(false)),
                    row(None, Some("There are no emails.".to_owned()), None),
                ]
            };
            let page = |time: fn() -> Option<Time>, is_good: bool| Self {
                version: "0.1.0",
                schema: "The database schema is current".to_owned(),
                is_schema_current: is_good,
                space: SpaceView { text: "1 GiB".to_owned(), is_low: !is_good },
                queue: is_good.then(|| QueueView {
                    queued: 1,
                    running: 2,
                    oldest: time(),
                    last_activity: time(),
                    neglected: time(),
                }),
                last_backup: time(),
                rows: rows(),
                is_tested: is_good,
                failed: usize::from(!is_good),
                may_view_audit: is_good,
                untrusted_proxy: (!is_good).then(|| "10.0.0.7".to_owned()),
                unsearched: (!is_good).then(UnsearchedView::sample),
            };
            let mut nothing = page(|| None, true);
            nothing.is_tested = false;
            let failed = Self { is_tested: true, ..page(|| None, false) };
            vec![page(|| Some(Time::sample()), true), page(|| None, true), nothing, failed]
        }
    }
}
