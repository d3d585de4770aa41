//! `GET /admin/usage` and `GET /admin/usage.csv`

use super::csv;
use super::documents::{cut, email, short};
use super::listing::{Days, Filters, List, account_of};
use super::nav::ROOT;
use crate::language::{Label, t};
use crate::paging::PageNumber;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::date;
use actix_web::HttpResponse;
use actix_web::http::header;
use chrono::NaiveDate;
use docent_app::App;
use docent_app::error::Result;
use docent_app::usage::{self as use_case, Usage};
use docent_domain::access::{ExportUsage, ViewUsageRecords};
use docent_domain::listing::{UsageFilter, UsageGrouping, UsageSum};
use docent_http::extract::query::encode_query;
use docent_http::{Query, State};
use serde::Serialize;

/// Default period in days.
const DAYS: u64 = 30;

const fn by(by_day: bool, by_user: bool, by_key: bool) -> UsageGrouping {
    UsageGrouping { by_day, by_user, by_key }
}

/// Groupings by query value, with their labels.
const GROUPINGS: [(&str, Label, UsageGrouping); 6] = [
    ("day", || t!("usage-by-day"), by(true, false, false)),
    ("user", || t!("usage-by-user"), by(false, true, false)),
    ("key", || t!("api-key"), by(false, false, true)),
    ("day-user", || t!("usage-by-day-user"), by(true, true, false)),
    ("user-key", || t!("usage-by-user-key"), by(false, true, true)),
    ("day-user-key", || t!("usage-by-day-user-key"), by(true, true, true)),
];

#[derive(Serialize)]
pub(super) struct UsagePage {
    #[serde(flatten)]
    list: List<Row>,
    /// Query values and labels of the groupings.
    groupings: [(&'static str, String); 6],
    by_day: bool,
    by_user: bool,
    by_key: bool,
    /// URL of the CSV file.
    export: String,
}

/// Requested period, account and grouping.
struct UsageRequest {
    days: Days,
    user: Option<String>,
    grouping: &'static (&'static str, Label, UsageGrouping),
}

impl UsageRequest {
    fn of(query: &mut Query, today: NaiveDate) -> Self {
        let mut days = Days::of(query);
        if days.from.is_none() && days.to.is_none() {
            days.from = today.checked_sub_days(chrono::Days::new(DAYS - 1));
        }
        let grouping = query.parse("by", "must be a known grouping", |text| {
            GROUPINGS.iter().find(|(name, ..)| *name == text)
        });
        Self { user: query.text("user").map(cut), grouping: grouping.unwrap_or(&GROUPINGS[0]), days }
    }

    fn filters(&self) -> Filters<4> {
        let [from, to] = self.days.filters();
        [from, to, ("user", self.user.clone()), ("by", Some(self.grouping.0.to_owned()))]
    }

    /// None if the requested account does not exist.
    async fn filter(&self, app: &App) -> Result<Option<UsageFilter>> {
        Ok(match account_of(app, self.user.as_deref()).await? {
            Some(None) => None,
            user => Some(UsageFilter {
                period: self.days.period(),
                user: user.flatten(),
                ..UsageFilter::default()
            }),
        })
    }
}

#[derive(Serialize)]
struct Row {
    day: Option<String>,
    user: Option<String>,
    key: Option<String>,
    answers: u64,
    prompt: u64,
    completion: u64,
    total: u64,
}

impl Row {
    fn of(usage: &Usage, sum: &UsageSum) -> Self {
        let key = sum.api_key.map(|id| {
            let known =
                usage.keys.get(&id).map(|key| format!("{} ({})", key.name.as_str(), key.prefix.as_str()));
            known.unwrap_or_else(|| short(&id.to_string()))
        });
        Self {
            day: sum.day.map(date),
            user: sum.user.map(|id| email(&usage.emails, id)),
            key,
            answers: sum.answers,
            prompt: sum.tokens.prompt,
            completion: sum.tokens.completion,
            total: sum.tokens.prompt.saturating_add(sum.tokens.completion),
        }
    }
}

pub(super) async fn usage(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewUsageRecords>()?;
    let app = &context.app;
    let request = UsageRequest::of(&mut query, app.now().date_naive());
    let number = PageNumber::of(&query);
    query.done()?;
    let (rows, total) = match request.filter(app).await? {
        None => (Vec::new(), 0),
        Some(filter) => {
            let found = use_case::sums(app, grant, &filter, request.grouping.2, number.page()).await?;
            let rows: Vec<Row> = found.sums.records.iter().map(|sum| Row::of(&found, sum)).collect();
            (rows, found.sums.total)
        }
    };
    let (filters, UsageGrouping { by_day, by_user, by_key }) = (request.filters(), request.grouping.2);
    let pairs = filters.each_ref().map(|(name, value)| (*name, value.as_deref()));
    let page = UsagePage {
        export: format!("{ROOT}/usage.csv?{}", encode_query(&pairs)),
        list: List::of("usage", number, filters, total, rows),
        groupings: GROUPINGS.map(|(name, label, _)| (name, label())),
        by_day,
        by_user,
        by_key,
    };
    staff.show(&context, "usage", page)
}

/// Exports all rows as CSV.
pub(super) async fn export(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ExportUsage>()?;
    let app = &context.app;
    let today = app.now().date_naive();
    let request = UsageRequest::of(&mut query, today);
    query.done()?;
    let grouping = request.grouping.2;
    let mut text = String::new();
    csv::push_line(&mut text, &cells(grouping, header_row()));
    if let Some(filter) = request.filter(app).await? {
        let found = use_case::export(app, grant, &filter, grouping).await?;
        for sum in &found.sums.records {
            let row = Row::of(&found, sum);
            let key = row.key.unwrap_or_else(|| "none".to_owned());
            let numbers = [row.answers, row.prompt, row.completion, row.total].map(|n| n.to_string());
            let day = sum.day.map(|day| day.to_string());
            let names = [day.unwrap_or_default(), row.user.unwrap_or_default(), key];
            csv::push_line(&mut text, &cells(grouping, (names, numbers)));
        }
    }
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"usage-{today}.csv\"")))
        .body(text))
}

fn header_row() -> ([String; 3], [String; 4]) {
    (
        ["day", "account", "api_key"].map(String::from),
        ["answers", "prompt_tokens", "completion_tokens", "tokens"].map(String::from),
    )
}

/// Cells of a row: the grouping keys and the numbers.
fn cells(grouping: UsageGrouping, (names, numbers): ([String; 3], [String; 4])) -> Vec<String> {
    let shown = [grouping.by_day, grouping.by_user, grouping.by_key];
    let names = names.into_iter().zip(shown).filter(|(_, is_shown)| *is_shown).map(|(name, _)| name);
    names.chain(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for UsagePage {
        fn samples() -> Vec<Self> {
            let row = |key: Option<&str>| Row {
                day: Some("2026-01-31".to_owned()),
                user: Some("a@example.com".to_owned()),
                key: key.map(str::to_owned),
                answers: 1,
                prompt: 2,
                completion: 3,
                total: 5,
            };
            let page = |list| Self {
                list,
                groupings: GROUPINGS.map(|(name, label, _)| (name, label())),
                by_day: true,
                by_user: true,
                by_key: true,
                export: "/admin/usage.csv".to_owned(),
            };
            let lists =
                List::sample_pages(["from", "to", "user", "by"], || vec![row(Some("key")), row(None)]);
            lists.map(page).into()
        }
    }
}
