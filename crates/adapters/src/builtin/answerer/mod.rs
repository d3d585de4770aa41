//! The built-in answerer: an extractive chat model.
//!
//! It searches for the question of the user, selects the sentences and rows that answer it best and quotes them with title
//! and page. A name in the question that no passage contains is searched for separately. If the question is out of scope,
//! the answer says so. Passages are only quoted, so instructions in them have no effect.

mod calculation;
mod choice;
mod comparison;
mod criteria;
mod dialogue;
mod follow_up;
mod kinds;
mod mentions;
mod numbered;
mod opposites;
mod pages;
mod passage;
mod periods;
mod phrases;
mod question;
mod quote;
mod records;
mod relevance;
mod scope;
mod statements;
mod summary;
mod whole;

use super::lexical::{Analyzer, Lexicon};
use super::spans;
use async_trait::async_trait;
use dialogue::{Action, Plan, SideFound, plan};
use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use futures::stream;
use phrases::Phrases;
use question::asks_for_reason;
use quote::Quote;
use records::Listing;
use relevance::{Found, Selection};
use tokio::task::spawn_blocking;
use tracing::Instrument;

/// The name of the search tool.
const SEARCH_TOOL: &str = "search_docs";

/// The name of the tool that lists documents.
const LIST_TOOL: &str = "list_documents";
/// Maximum number of pages that an answer without quotes names.
const CLOSEST_PAGES: usize = 3;
/// Longer questions are not repeated.
const UNDERSTOOD_CHARS: usize = 300;
/// Maximum number of quotes about each of several names.
const QUOTES_OF_EACH: usize = 1;

/// A chat model that answers by quoting passages.
#[derive(Clone, Debug)]
pub struct BuiltinAnswerer {
    lexicon: Lexicon,
}

impl BuiltinAnswerer {
    /// Creates an answerer that knows the synonyms of a lexicon.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon }
    }
}

impl Default for BuiltinAnswerer {
    fn default() -> Self {
        Self::new(Lexicon::builtin())
    }
}

#[async_trait]
impl ChatModel for BuiltinAnswerer {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        // A few passages take a millisecond, but their number is not limited.
        let span = spans::chat(self.model());
        let lexicon = self.lexicon.clone();
        let events = spawn_blocking(move || answer(&request, &lexicon)).instrument(span.clone()).await;
        let events = events.map_err(|error| {
            Fault::new(Component::ChatModel, FaultKind::Internal, "cannot select quotes").caused_by(error)
        })?;
        if let Some(ChatEvent::Finished { reason, .. }) = events.last() {
            let reason = if *reason == FinishReason::ToolCalls { "tool_calls" } else { "stop" };
            span.record("gen_ai.response.finish_reasons", reason);
        }
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }

    fn model(&self) -> &'static str {
        "builtin-extractive-3"
    }

    fn reads_records(&self) -> bool {
        true
    }
}

fn answer(request: &ChatRequest, lexicon: &Lexicon) -> Vec<ChatEvent> {
    let Plan { action, question, previous, understood, corrections } = plan(request);
    let phrases = Phrases::of(question);
    let mut reason = FinishReason::Stop;
    let text = match action {
        Action::Search { query, call_id } => return search(&query, call_id),
        Action::List { call_id } => return call(LIST_TOOL, &serde_json::json!({}), call_id),
        Action::Describe { name, call_id } => {
            return call(LIST_TOOL, &serde_json::json!({ "name": name }), call_id);
        }
        Action::SearchEach { searches } => return search_each(searches),
        Action::Compare(sides) => match compare(&sides, lexicon, phrases) {
            Compared::Search(searches) => return search_each(searches),
            Compared::Nothing => {
                reason = FinishReason::Declined;
                let found = sides.iter().filter_map(|side| side.searches.first()?.first());
                with_closest(phrases.declined, phrases, &found.collect::<Vec<_>>())
            }
            Compared::Text(text) => notes(understood.as_deref(), &corrections, phrases)
                .into_iter()
                .chain([text])
                .collect::<Vec<_>>()
                .join("\n\n"),
        },
        Action::Greet => [phrases.hello, phrases.ability, phrases.ask].join(" "),
        Action::Ask => phrases.ask.to_owned(),
        Action::Introduce => [phrases.ability, phrases.ask].join(" "),
        Action::Welcome => [phrases.welcome, phrases.ask].join(" "),
        Action::RefuseWithoutSearch => phrases.no_search.to_owned(),
        Action::ReportFailure => phrases.search_failed.to_owned(),
        Action::ReportNoDocuments => phrases.no_documents.to_owned(),
        Action::AskWhich(list) => format!("{}\n\n{}", phrases.which, in_language(&list, phrases)),
        Action::Summarize(summary) => summary::format(&summary, phrases),
        Action::ShowList(list) => {
            let list = Listing::of(&list);
            let readable = || [phrases.listed.to_owned(), in_language(&list.readable, phrases)].join("\n\n");
            let readable = (!list.readable.is_empty()).then(readable);
            readable.into_iter().chain(not_searched(&list, phrases)).collect::<Vec<_>>().join("\n\n")
        }
        Action::ShowOne(line) => in_language(&line, phrases),
        Action::Quote {
            question: full,
            passages,
            further,
            retries,
            call_id,
            reports_id,
            list_id,
            listed,
        } => {
            let mut closest: Vec<&ScoredChunk> = passages.iter().collect();
            let mut unknown = Vec::new();
            let series = relevance::series(&full, &passages);
            if let (Some(series), Some(call_id)) = (series, reports_id) {
                return call(LIST_TOOL, &serde_json::json!({ "name": series }), call_id);
            }
            let found = Found { asked: &passages, further: &further, retries };
            let selected = relevance::select(&full, question.trim(), found, lexicon);
            let (lead, quotes, further) = match (selected, call_id) {
                (Selection::Search(words), Some(call_id)) => return search(&words.join(" "), call_id),
                (Selection::Search(_), None) => (None, Vec::new(), Vec::new()),
                (Selection::Nothing { closest: ranks, unknown: names }, _) => {
                    let related: Vec<_> = ranks.into_iter().filter_map(|rank| passages.get(rank)).collect();
                    // Without the name, no page is close.
                    closest = if related.is_empty() && names.is_empty() { closest } else { related };
                    unknown = names;
                    (None, Vec::new(), Vec::new())
                }
                (Selection::Quotes { best, further, absent }, _) => {
                    (lacking(&absent, phrases), best, further)
                }
                (Selection::Parts { rows, missing }, _) => (Some(parts(&missing, phrases)), rows, Vec::new()),
            };
            let text = format_quotes(&quotes, phrases);
            if quotes.is_empty() {
                // The answer may be in a document that was not searched, or there may be none.
                if let Some(call_id) = list_id {
                    return call(LIST_TOOL, &serde_json::json!({}), call_id);
                }
                reason = FinishReason::Declined;
                let declined =
                    std::iter::once(phrases.declined.to_owned()).chain(not_found(&unknown, phrases));
                let declined = with_closest(&declined.collect::<Vec<_>>().join(" "), phrases, &closest);
                let not_searched = not_searched(&Listing::of(&listed), phrases);
                std::iter::once(declined).chain(not_searched).collect::<Vec<_>>().join("\n\n")
            } else if previous.is_some_and(|previous| previous.contains(&text)) {
                let has_content = !Analyzer::default().question(question).terms.is_empty();
                // An answer without the reason is none to “why”.
                match understood.filter(|_| has_content && lead.is_none() && !asks_for_reason(question)) {
                    // Of a table that answered another question, the reader asks for another row.
                    Some(understood) => {
                        let notes = notes(Some(&understood), &corrections, phrases);
                        let before = [phrases.as_before.to_owned(), format_quotes(&quotes[..1], phrases)];
                        notes.into_iter().chain(before).collect::<Vec<_>>().join("\n\n")
                    }
                    None => with_closest(phrases.nothing_new, phrases, &closest),
                }
            } else {
                let notes = notes(understood.as_deref(), &corrections, phrases);
                let further = format_further(&further, phrases);
                notes.into_iter().chain(lead).chain([text]).chain(further).collect::<Vec<_>>().join("\n\n")
            }
        }
    };
    let words = text.split_inclusive(char::is_whitespace).map(|word| ChatEvent::Text(word.to_owned()));
    words.chain([finished(reason)]).collect()
}

/// The answer to a question about several names.
enum Compared {
    /// Search for these queries first, with these IDs of calls.
    Search(Vec<(String, String)>),
    Nothing,
    Text(String),
}

/// Answers about each name as if the question were about it alone.
fn compare(sides: &[SideFound], lexicon: &Lexicon, phrases: &Phrases) -> Compared {
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
        return Compared::Search(searches);
    }
    let mut is_answered = false;
    let about = |(found, selection): (&SideFound, Option<Selection>)| {
        let (lead, mut quotes) = match selection {
            Some(Selection::Quotes { best, absent, .. }) => (lacking(&absent, phrases), best),
            Some(Selection::Parts { rows, missing }) => (Some(parts(&missing, phrases)), rows),
            _ => (None, Vec::new()),
        };
        if lead.is_none() {
            quotes.truncate(QUOTES_OF_EACH);
        }
        is_answered |= !quotes.is_empty();
        let text = match quotes.as_slice() {
            [] => phrases.declined.to_owned(),
            _ => format_quotes(&quotes, phrases),
        };
        let heading = format!("**{}**", found.side.name);
        [heading].into_iter().chain(lead).chain([text]).collect::<Vec<_>>().join("\n\n")
    };
    let texts: Vec<String> = sides.iter().zip(selected).map(about).collect();
    if is_answered { Compared::Text(texts.join("\n\n")) } else { Compared::Nothing }
}

fn search_each(searches: Vec<(String, String)>) -> Vec<ChatEvent> {
    let calls = searches.into_iter().map(|(query, id)| ChatEvent::ToolCall(search_call(&query, id)));
    calls.chain([finished(FinishReason::ToolCalls)]).collect()
}

/// What the reader should know of how the question was understood.
fn notes(understood: Option<&str>, corrections: &[Correction], phrases: &Phrases) -> Vec<String> {
    let named: Vec<&Correction> = corrections.iter().filter(|correction| !correction.is_common).collect();
    let read_as = (!named.is_empty()).then(|| {
        let written = named.iter().map(|correction| correction.written.as_str());
        let meant = named.iter().map(|correction| correction.meant.as_str());
        phrases
            .read_as
            .replace("{written}", &phrases.list(written, phrases.or))
            .replace("{meant}", &phrases.list(meant, phrases.and))
    });
    let understood = understood.filter(|question| question.chars().count() <= UNDERSTOOD_CHARS);
    let understood = understood.map(|question| phrases.understood.replace("{question}", question));
    understood.into_iter().chain(read_as).collect()
}

/// Introduces the rows with the parts of a calculation.
fn parts(missing: &[String], phrases: &Phrases) -> String {
    if missing.is_empty() {
        return phrases.parts.to_owned();
    }
    format!("{} {} {}.", phrases.parts, phrases.not_found, missing.join("; "))
}

/// Names what quotes lack; `None` if they lack nothing.
fn lacking(absent: &[String], phrases: &Phrases) -> Option<String> {
    let words = absent.iter().map(String::as_str);
    (!absent.is_empty()).then(|| format!("{} {}.", phrases.absent, phrases.list(words, phrases.and)))
}

/// Names the documents that were not searched; `None` if all were.
fn not_searched(list: &Listing<'_>, phrases: &Phrases) -> Option<String> {
    let named = [(phrases.failed, &list.failed), (phrases.pending, &list.pending)];
    let named = named.into_iter().filter(|(_, titles)| !titles.is_empty());
    let named: Vec<String> =
        named.map(|(reason, titles)| format!("{reason} {}.", phrases.titles(titles))).collect();
    (!named.is_empty()).then(|| named.join(" "))
}

/// Names what no passage has; `None` if it is nothing.
fn not_found(unknown: &[String], phrases: &Phrases) -> Option<String> {
    let words = unknown.iter().map(String::as_str);
    (!unknown.is_empty()).then(|| format!("{} {}.", phrases.not_found, phrases.list(words, phrases.and)))
}

/// A sentence with the pages of the best passages.
fn with_closest(sentence: &str, phrases: &Phrases, passages: &[&ScoredChunk]) -> String {
    let mut pages: Vec<String> = Vec::new();
    for passage in passages {
        let page = format!("{}, {} {}", passage.title, phrases.page, passage.span.start.page);
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    pages.truncate(CLOSEST_PAGES);
    if pages.is_empty() {
        return sentence.to_owned();
    }
    format!("{sentence} {} {}.", phrases.closest, pages.join("; "))
}

/// A list of documents with the word for their pages in the language of the answer.
fn in_language(list: &str, phrases: &Phrases) -> String {
    let [one, many] = phrases.pages;
    let line = |line: &str| match (line.strip_suffix(" page)"), line.strip_suffix(" pages)")) {
        (Some(before), _) => format!("{before} {one})"),
        (_, Some(before)) => format!("{before} {many})"),
        (None, None) => line.to_owned(),
    };
    list.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn search(query: &str, call_id: String) -> Vec<ChatEvent> {
    vec![ChatEvent::ToolCall(search_call(query, call_id)), finished(FinishReason::ToolCalls)]
}

fn search_call(query: &str, id: String) -> ToolCall {
    tool_call(SEARCH_TOOL, &serde_json::json!({ "query": query }), id)
}

fn call(tool: &str, arguments: &serde_json::Value, id: String) -> Vec<ChatEvent> {
    vec![ChatEvent::ToolCall(tool_call(tool, arguments, id)), finished(FinishReason::ToolCalls)]
}

fn tool_call(tool: &str, arguments: &serde_json::Value, id: String) -> ToolCall {
    ToolCall { id, name: tool.to_owned(), arguments: arguments.to_string() }
}

/// Creates the last event. It reports no usage, so tokens are counted from the text.
fn finished(reason: FinishReason) -> ChatEvent {
    ChatEvent::Finished { reason, usage: None }
}

/// Whether an answer of [`BuiltinAnswerer`] quotes this page of the document with this title.
pub fn quotes_page(answer: &str, title: &str, page: u32) -> bool {
    Phrases::all().iter().any(|phrases| answer.contains(&format_source(title, page, phrases)))
}

fn format_source(title: &str, page: u32, phrases: &Phrases) -> String {
    format!("({title}, {} {page})", phrases.page)
}

fn format_quotes(quotes: &[Quote], phrases: &Phrases) -> String {
    let quoted = |quote: &Quote| {
        let source = format_source(&quote.title, quote.page, phrases);
        if quote.is_block {
            format!("{}\n\n{source}", quote.text)
        } else {
            format!("“{}” {source}", quote.text)
        }
    };
    quotes.iter().map(quoted).collect::<Vec<_>>().join("\n\n")
}

/// Writes further quotes as a list; `None` if there are none.
fn format_further(quotes: &[Quote], phrases: &Phrases) -> Option<String> {
    let line =
        |quote: &Quote| format!("- “{}” {}", quote.text, format_source(&quote.title, quote.page, phrases));
    let lines: Vec<String> = quotes.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("{}\n\n{}", phrases.further, lines.join("\n")))
}

#[cfg(test)]
mod tests;
