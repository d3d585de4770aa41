//! The next turn of the answerer: a text, or calls of tools.

use super::dialogue::{Action, Plan, SearchResults, SideFound};
use super::phrases::Phrases;
use super::question::asks_for_reason;
use super::quote::Quote;
use super::records::Listing;
use super::relevance::{self, Found, Selection};
use super::{LIST_TOOL, SEARCH_TOOL, summary, text};
use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::spelling::Correction;
use docent_ports::chat_model::ChatEvent;
use docent_text::lexical::{Analyzer, Lexicon};
use serde_json::{Value, json};

/// Maximum number of quotes about each of several names.
const QUOTES_OF_EACH: usize = 1;

/// The next turn.
pub(super) enum Reply {
    Text(String),
    /// A text without an answer.
    Declined(String),
    Calls(Vec<ToolCall>),
}

/// A question that is answered, and how it was understood.
struct Asked<'a> {
    question: &'a str,
    /// The answer to the question before it.
    previous: Option<&'a str>,
    understood: Option<&'a str>,
    corrections: &'a [Correction],
    phrases: &'a Phrases,
}

impl Reply {
    /// Carries out a plan.
    pub(super) fn of(plan: Plan<'_>, lexicon: &Lexicon) -> Self {
        let Plan { action, question, previous, understood, corrections } = plan;
        let phrases = Phrases::of(question);
        let (understood, corrections) = (understood.as_deref(), corrections.as_slice());
        let asked = Asked { question, previous, understood, corrections, phrases };
        Self::Text(match action {
            Action::Search { query, call_id } => return Self::search(&query, call_id),
            Action::List { call_id } => return Self::list(&json!({}), call_id),
            Action::Describe { name, call_id } => return Self::list(&json!({ "name": name }), call_id),
            Action::SearchEach { searches } => return Self::search_each(searches),
            Action::Compare(sides) => return compare(&sides, &asked, lexicon),
            Action::Quote(results) => return quote(results, &asked, lexicon),
            Action::Greet => [phrases.hello, phrases.ability, phrases.ask].join(" "),
            Action::Ask => phrases.ask.to_owned(),
            Action::Introduce => [phrases.ability, phrases.ask].join(" "),
            Action::Welcome => [phrases.welcome, phrases.ask].join(" "),
            Action::RefuseWithoutSearch => phrases.no_search.to_owned(),
            Action::ReportFailure => phrases.search_failed.to_owned(),
            Action::ReportNoDocuments => phrases.no_documents.to_owned(),
            Action::AskWhich(list) => format!("{}\n\n{}", phrases.which, text::in_language(&list, phrases)),
            Action::Summarize(summary) => summary::format(&summary, phrases),
            Action::ShowList(list) => text::list(&list, phrases),
            Action::ShowOne(line) => text::in_language(&line, phrases),
        })
    }

    fn search(query: &str, id: String) -> Self {
        Self::Calls(vec![call(SEARCH_TOOL, &json!({ "query": query }), id)])
    }

    fn search_each(searches: Vec<(String, String)>) -> Self {
        let call = |(query, id): (String, String)| call(SEARCH_TOOL, &json!({ "query": query }), id);
        Self::Calls(searches.into_iter().map(call).collect())
    }

    fn list(arguments: &Value, id: String) -> Self {
        Self::Calls(vec![call(LIST_TOOL, arguments, id)])
    }

    /// The events of a model that generates it. They report no usage, so tokens are counted from the text.
    pub(super) fn events(self) -> Vec<ChatEvent> {
        let (text, reason) = match self {
            Self::Text(text) => (text, FinishReason::Stop),
            Self::Declined(text) => (text, FinishReason::Declined),
            Self::Calls(calls) => {
                let finished = ChatEvent::Finished { reason: FinishReason::ToolCalls, usage: None };
                return calls.into_iter().map(ChatEvent::ToolCall).chain([finished]).collect();
            }
        };
        let words = text.split_inclusive(char::is_whitespace).map(|word| ChatEvent::Text(word.to_owned()));
        words.chain([ChatEvent::Finished { reason, usage: None }]).collect()
    }
}

fn call(tool: &str, arguments: &Value, id: String) -> ToolCall {
    ToolCall { id, name: tool.to_owned(), arguments: arguments.to_string() }
}

/// Answers with quotes from passages, or searches once more.
fn quote(results: SearchResults, asked: &Asked<'_>, lexicon: &Lexicon) -> Reply {
    let SearchResults { question, passages, further, retries, call_id, reports_id, list_id, listed } =
        results;
    let phrases = asked.phrases;
    let series = relevance::series(&question, &passages);
    if let (Some(series), Some(call_id)) = (series, reports_id) {
        return Reply::list(&json!({ "name": series }), call_id);
    }
    let found = Found { asked: &passages, further: &further, retries };
    let selected = relevance::select(&question, asked.question.trim(), found, lexicon);
    let all = || passages.iter().collect::<Vec<_>>();
    let (lead, quotes, further) = match (selected, call_id) {
        (Selection::Search(words), Some(call_id)) => return Reply::search(&words.join(" "), call_id),
        (Selection::Quotes { best, further, absent }, _) if !best.is_empty() => {
            (text::lacking(&absent, phrases), best, further)
        }
        (Selection::Parts { rows, missing }, _) if !rows.is_empty() => {
            (Some(text::parts(&missing, phrases)), rows, Vec::new())
        }
        (selected, _) => {
            // The answer may be in a document that was not searched, or there may be none.
            if let Some(call_id) = list_id {
                return Reply::list(&json!({}), call_id);
            }
            let (closest, unknown) = match selected {
                Selection::Nothing { closest, unknown } => {
                    let related: Vec<_> = closest.into_iter().filter_map(|rank| passages.get(rank)).collect();
                    // Without the name, no page is close.
                    (if related.is_empty() && unknown.is_empty() { all() } else { related }, unknown)
                }
                Selection::Search(_) | Selection::Quotes { .. } | Selection::Parts { .. } => {
                    (all(), Vec::new())
                }
            };
            let declined = [Some(phrases.declined.to_owned()), text::not_found(&unknown, phrases)];
            let declined = declined.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let declined = text::with_closest(&declined, phrases, &closest);
            let hint = text::other_language(&passages, phrases).map(str::to_owned);
            let not_searched = text::not_searched(&Listing::of(&listed), phrases);
            return Reply::Declined(text::paragraphs([declined].into_iter().chain(hint).chain(not_searched)));
        }
    };
    let notes = |understood| text::notes(understood, asked.corrections, phrases);
    let quoted = text::format_quotes(&quotes, phrases);
    Reply::Text(if asked.previous.is_some_and(|previous| previous.contains(&quoted)) {
        let has_content = !Analyzer::default().question(asked.question).terms.is_empty();
        // An answer without the reason is none to “why”.
        let is_other = has_content && lead.is_none() && !asks_for_reason(asked.question);
        match asked.understood.filter(|_| is_other) {
            // Of a table that answered another question, the reader asks for another row.
            Some(understood) => {
                let before = [phrases.as_before.to_owned(), text::format_quotes(&quotes[..1], phrases)];
                text::paragraphs(notes(Some(understood)).into_iter().chain(before))
            }
            None => text::with_closest(phrases.nothing_new, phrases, &all()),
        }
    } else {
        let further = text::format_further(&further, phrases);
        text::paragraphs(notes(asked.understood).into_iter().chain(lead).chain([quoted]).chain(further))
    })
}

/// Answers about each name as if the question were about it alone.
fn compare(sides: &[SideFound], asked: &Asked<'_>, lexicon: &Lexicon) -> Reply {
    let phrases = asked.phrases;
    let select = |found: &SideFound| {
        let question = &found.side.question;
        let (asked, further) = found.searches.split_first()?;
        let retries = further.len();
        Some(relevance::select(question, question, Found { asked, further, retries }, lexicon))
    };
    let selected: Vec<Option<Selection>> = sides.iter().map(select).collect();
    let search = |(found, selection): (&SideFound, &Option<Selection>)| match selection {
        Some(Selection::Search(words)) => Some((words.join(" "), found.call_id.clone())),
        _ => None,
    };
    let searches: Vec<(String, String)> = sides.iter().zip(&selected).filter_map(search).collect();
    if !searches.is_empty() {
        return Reply::search_each(searches);
    }
    let mut is_answered = false;
    let about = |(found, selection): (&SideFound, Option<Selection>)| {
        let (lead, mut quotes): (_, Vec<Quote>) = match selection {
            Some(Selection::Quotes { best, absent, .. }) => (text::lacking(&absent, phrases), best),
            Some(Selection::Parts { rows, missing }) => (Some(text::parts(&missing, phrases)), rows),
            _ => (None, Vec::new()),
        };
        if lead.is_none() {
            quotes.truncate(QUOTES_OF_EACH);
        }
        is_answered |= !quotes.is_empty();
        let text = match quotes.as_slice() {
            [] => phrases.declined.to_owned(),
            _ => text::format_quotes(&quotes, phrases),
        };
        let heading = format!("**{}**", found.side.name);
        text::paragraphs([heading].into_iter().chain(lead).chain([text]))
    };
    let texts: Vec<String> = sides.iter().zip(selected).map(about).collect();
    if is_answered {
        let notes = text::notes(asked.understood, asked.corrections, phrases);
        return Reply::Text(text::paragraphs(notes.into_iter().chain(texts)));
    }
    let found: Vec<_> = sides.iter().filter_map(|side| side.searches.first()?.first()).collect();
    Reply::Declined(text::with_closest(phrases.declined, phrases, &found))
}
