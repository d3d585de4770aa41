//! `GET /admin/audit` and `GET /admin/audit/{id}`

use super::{api_keys::account_of, kinds, tables::EntryRow};
use crate::panel::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, PageResult, id_of},
    session::Staff,
};
use actix_web::{http::StatusCode, web::Path};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use docent_app::audit as use_case;
use docent_domain::{
    access::ViewAuditLog,
    audit::AuditAction,
    listing::{AuditFilter, Page, Period},
    permission::RecordKind,
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

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
    let mut filter = AuditFilter {
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
    let asked = FILTERS.map(|name| (name, query.text(name).map(str::to_owned)));
    query.done()?;
    let filters = asked.each_ref().map(|(name, value)| (*name, value.as_deref()));
    let found = match account_of(app, filters[0].1).await? {
        Some(None) => Page::default(),
        by => {
            filter.actor = by.flatten();
            use_case::list(app, grant, &filter, number.page()).await?
        }
    };
    let rows: Vec<_> = found.records.iter().map(|entry| EntryRow::of(entry, &staff, now)).collect();
    let mut values = staff.page("audit");
    for (name, value) in filters {
        values.insert(name, value.unwrap_or_default());
    }
    let path = format!("{ROOT}/audit");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters));
    values.insert("is_filtered", &filters.iter().any(|(_, value)| value.is_some()));
    values.insert("entries", &rows);
    let deeds: Vec<_> =
        AuditAction::ALL.iter().map(|deed| (deed.name(), deed.name().replace('_', " "))).collect();
    values.insert("deeds", &deeds);
    let kinds: Vec<_> = RecordKind::ALL.iter().map(|kind| (kind.name(), kinds::title(*kind))).collect();
    values.insert("kinds", &kinds);
    page::show_values(&context, StatusCode::OK, "audit.html", &values)
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
    let changes: Vec<_> = entry
        .changes
        .iter()
        .map(|(field, change)| ChangeRow {
            field: field.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
        })
        .collect();
    let mut values = staff.page("audit");
    values.insert("entry", &EntryRow::of(&entry, &staff, context.app.now()));
    values.insert("changes", &changes);
    page::show_values(&context, StatusCode::OK, "audit_entry.html", &values)
}
