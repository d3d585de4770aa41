//! `GET /admin/audit` and `GET /admin/audit/{id}`

use super::kinds;
use super::tables::EntryRow;
use crate::paging::PageNumber;
use crate::panel::listing::{List, filters, find_of_account};
use crate::signed_in::page::{PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use docent_app::audit as use_case;
use docent_domain::access::ViewAuditLog;
use docent_domain::audit::AuditAction;
use docent_domain::listing::{AuditFilter, Period};
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct AuditPage {
    #[serde(flatten)]
    list: List<EntryRow>,
    /// Query values and labels of the actions.
    actions: Vec<(&'static str, String)>,
    /// Query values and labels of the kinds of records.
    kinds: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
pub(super) struct AuditEntryPage {
    entry: EntryRow,
    changes: Vec<ChangeRow>,
}

const FILTERS: [&str; 6] = ["who", "deed", "kind", "record", "from", "to"];

fn day(text: &str) -> Option<NaiveDate> {
    text.parse().ok()
}

fn start(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

pub(super) async fn audit(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewAuditLog>()?;
    let (app, now) = (&context.app, context.app.now());
    let filter = AuditFilter {
        actor: None,
        action: query.parse("deed", "must be a known action", AuditAction::parse),
        kind: query.parse("kind", "must be a kind of record", RecordKind::parse),
        record: query.text("record").map(str::to_owned),
        period: Period {
            from: query.parse("from", "must be a date such as 2030-12-31", day).map(start),
            // The last day is included.
            to: query
                .parse("to", "must be a date such as 2030-12-31", day)
                .and_then(|day| day.checked_add_days(Days::new(1)))
                .map(start),
        },
    };
    let number = PageNumber::of(&query);
    let filters = filters(&query, FILTERS);
    query.done()?;
    let find =
        async |actor| use_case::list(app, grant, &AuditFilter { actor, ..filter }, number.page()).await;
    let found = find_of_account(app, filters[0].1.as_deref(), find).await?;
    let rows = found.records.iter().map(|entry| EntryRow::of(entry, &staff, now)).collect();
    let list = List::of("audit", number, filters, found.total, rows);
    staff.show(&context, "audit", AuditPage::of(list))
}

impl AuditPage {
    fn of(list: List<EntryRow>) -> Self {
        let action = |action: &AuditAction| (action.name(), kinds::action(*action));
        let kind = |kind: &RecordKind| (kind.name(), kinds::title(*kind));
        Self {
            list,
            actions: AuditAction::ALL.iter().map(action).collect(),
            kinds: RecordKind::ALL.iter().map(kind).collect(),
        }
    }
}

#[derive(Serialize)]
struct ChangeRow {
    field: String,
    before: Option<String>,
    after: Option<String>,
}

pub(super) async fn entry(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let grant = staff.authorize::<ViewAuditLog>()?;
    let id = id_of(RecordKind::AuditEntry, &id)?;
    let entry = use_case::get(&context.app, grant, id).await?;
    let changes = entry.changes.iter().map(|(field, change)| ChangeRow {
        field: field.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
    });
    let page =
        AuditEntryPage { changes: changes.collect(), entry: EntryRow::of(&entry, &staff, context.app.now()) };
    staff.show(&context, "audit", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for AuditPage {
        fn samples() -> Vec<Self> {
            List::sample_pages(FILTERS, EntryRow::samples).map(Self::of).into()
        }
    }

    impl Samples for AuditEntryPage {
        fn samples() -> Vec<Self> {
            let change = |before: Option<&str>, after: Option<&str>| ChangeRow {
                field: "email".to_owned(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            };
            let changes = || vec![change(Some("a"), None), change(None, Some("b"))];
            let entries = EntryRow::samples().into_iter();
            let mut pages: Vec<_> = entries.map(|entry| Self { entry, changes: changes() }).collect();
            pages[0].changes.clear();
            pages
        }
    }
}
