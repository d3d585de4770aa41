//! `GET /admin/answers` and `GET /admin/answers.jsonl`

use super::conversation::FeedbackView;
use super::documents::email;
use super::listing::{Days, Filters, List};
use super::nav::ROOT;
use crate::language::t;
use crate::paging::{PER_PAGE, PageNumber};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::{Time, decimal};
use actix_web::HttpResponse;
use actix_web::http::header;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::conversations::answers::{self as use_case, ListedAnswer};
use docent_app::scope;
use docent_domain::access::{ExportAnswers, ViewConversations, ViewDocuments};
use docent_domain::conversation::MessageRole;
use docent_domain::id::UserId;
use docent_domain::listing::{AnswerFilter, AnswerKind};
use docent_domain::scope::Scope;
use docent_domain::text::Email;
use docent_http::extract::query::encode_query;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

/// Query values of the kinds.
const KINDS: [&str; 5] = ["review", "down", "declined", "low", "up"];

/// Query values and labels of the kinds.
fn kinds() -> [(&'static str, String); 5] {
    let labels = [
        t!("answer-review"),
        t!("answer-rated-down"),
        t!("answer-declined"),
        t!("answer-low"),
        t!("answer-rated-up"),
    ];
    let mut labels = labels.into_iter();
    KINDS.map(|kind| (kind, labels.next().unwrap_or_default()))
}

#[derive(Serialize)]
pub(super) struct AnswersPage {
    #[serde(flatten)]
    list: List<Row>,
    kinds: [(&'static str, String); 5],
    /// URL of the exported questions.
    export: String,
}

#[derive(Serialize)]
struct Row {
    /// URL of the answer in its conversation.
    href: String,
    question: String,
    owner: String,
    at: Time,
    is_declined: bool,
    /// Score of the best source, if it is comparable.
    score: Option<String>,
    feedback: Option<FeedbackView>,
}

impl Row {
    fn of(listed: &ListedAnswer, emails: &HashMap<UserId, Email>, now: DateTime<Utc>) -> Self {
        let answer = &listed.answer;
        let (is_declined, score, feedback) = match &answer.role {
            MessageRole::User => (false, None, None),
            MessageRole::Agent { is_declined, best_score, feedback, .. } => {
                (*is_declined, *best_score, feedback.as_ref())
            }
        };
        let (conversation, position) = (answer.conversation, u64::from(answer.ordinal));
        let page = position / PER_PAGE + 1;
        Self {
            href: format!("{ROOT}/conversations/{conversation}?page={page}#message-{position}"),
            question: listed.question.clone(),
            owner: email(emails, listed.owner),
            at: Time::of(answer.at, now),
            is_declined,
            score: score.map(|score| decimal(f64::from(score), 3)),
            feedback: feedback.map(FeedbackView::from),
        }
    }
}

/// The requested kind, limit of scores and days.
struct Request {
    kind: &'static str,
    below: Option<f32>,
    days: Days,
}

impl Request {
    fn of(query: &mut Query) -> Self {
        let number = |text: &str| text.parse().ok().filter(|score: &f32| score.is_finite());
        let below = query.parse("below", "must be a number", number);
        let known = |text: &str| KINDS.into_iter().find(|name| *name == text);
        let kind = query.parse("kind", "must be a known kind; low needs a score in below", |text| {
            known(text).filter(|kind| *kind != "low" || below.is_some())
        });
        Self { kind: kind.unwrap_or(KINDS[0]), below, days: Days::of(query) }
    }

    fn filter(&self) -> AnswerFilter {
        let low = self.below.map(AnswerKind::ScoredBelow);
        let kinds = match self.kind {
            "up" => vec![AnswerKind::RatedUp],
            "down" => vec![AnswerKind::RatedDown],
            "declined" => vec![AnswerKind::Declined],
            "low" => low.into_iter().collect(),
            _ => [AnswerKind::RatedDown, AnswerKind::Declined].into_iter().chain(low).collect(),
        };
        AnswerFilter { kinds, period: self.days.period() }
    }

    fn filters(&self) -> Filters<4> {
        let [from, to] = self.days.filters();
        let kind = (self.kind != KINDS[0]).then(|| self.kind.to_owned());
        [("kind", kind), ("below", self.below.map(|score| score.to_string())), from, to]
    }
}

pub(super) async fn answers(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewConversations>()?;
    let (app, number) = (&context.app, PageNumber::of(&query));
    let request = Request::of(&mut query);
    query.done()?;
    let found = use_case::list(app, grant, &request.filter(), number.page()).await?;
    let owners: Vec<_> = found.records.iter().map(|listed| listed.owner).collect();
    let (emails, now) = (users::emails(app, &owners).await?, app.now());
    let rows = found.records.iter().map(|listed| Row::of(listed, &emails, now)).collect();
    let filters = request.filters();
    let pairs = filters.each_ref().map(|(name, value)| (*name, value.as_deref()));
    let page = AnswersPage {
        export: format!("{ROOT}/answers.jsonl?{}", encode_query(&pairs)),
        list: List::of("answers", number, filters, found.total, rows),
        kinds: kinds(),
    };
    staff.show(&context, "answers", page)
}

/// Exports the questions of all listed answers as lines for `docent eval`.
pub(super) async fn export(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ExportAnswers>()?;
    let app = &context.app;
    let request = Request::of(&mut query);
    query.done()?;
    let scope = match staff.authorize::<ViewDocuments>() {
        Ok(grant) => Scope::everything(grant),
        Err(_) => scope::load(app, &staff.actor).await?,
    };
    let lines = use_case::export(app, grant, &scope, &request.filter()).await?;
    let name = format!("questions-{}-{}.jsonl", request.kind, app.now().date_naive());
    Ok(HttpResponse::Ok()
        .content_type("application/jsonl; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .body(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for AnswersPage {
        fn samples() -> Vec<Self> {
            let row = |is_declined: bool| Row {
                href: "/admin/conversations/1?page=1#message-1".to_owned(),
                question: if is_declined { String::new() } else { "Question".to_owned() },
                owner: "owner@example.com".to_owned(),
                at: Time::sample(),
                is_declined,
                score: is_declined.then(|| "0.125".to_owned()),
                feedback: (!is_declined).then(|| FeedbackView::sample(false)),
            };
            let page = |list| Self { list, kinds: kinds(), export: "/admin/answers.jsonl?".to_owned() };
            let lists = List::sample_pages(["kind", "below", "from", "to"], || vec![row(false), row(true)]);
            lists.map(page).into()
        }
    }
}
