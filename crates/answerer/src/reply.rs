//! The next turn of the answerer: a text, or the call of a tool.

use crate::choice::{Outcome, Rated, analyzer_of, choose, missing};
use crate::evidence::Passage;
use crate::listing::Listing;
use crate::moves::{Conversation, Tool};
use crate::question::Question;
use crate::quote;
use crate::words::{Move, Phrases, Words};
use crate::{LIST_TOOL, SEARCH_TOOL};
use docent_domain::chat::{FinishReason, ToolCall, ToolOutput};
use docent_domain::spelling::Correction;
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use docent_text::lexical::{Lexicon, is_foreign_to_german};
use serde_json::{Value, json};

/// Maximum number of words that were not found and are named.
const NAMED: usize = 3;
/// Maximum number of pages that an answer without quotes names.
const CLOSEST_PAGES: usize = 3;
/// Longer questions are not repeated.
const UNDERSTOOD_CHARS: usize = 300;
/// Units that “more” skips.
const SHOWN_BEFORE: usize = 3;
/// Maximum number of characters of a page that is quoted as a whole.
const PAGE_CHARS: usize = 700;
/// Begins the output of a tool that failed.
const SEARCH_ERROR: &str = "Error searching documents";

/// The next turn.
pub(crate) enum Reply {
    Text(String),
    /// A text without an answer.
    Declined(String),
    /// A question back, and the texts that answer it.
    Which(String, Vec<String>),
    Call(ToolCall),
}

impl Reply {
    /// The next turn of a conversation.
    pub(crate) fn to(request: &ChatRequest, lexicon: &Lexicon) -> Self {
        let Some(talk) = Conversation::read(request) else {
            let phrases = &Words::of("").phrases;
            return Self::text([&phrases.ability, &phrases.ask]);
        };
        let phrases = &Words::of(talk.asked).phrases;
        if let Some(found) = talk.found {
            return answer(&talk, found, lexicon);
        }
        if let Some(listed) = talk.listed {
            return about_documents(&talk, &listed.content);
        }
        match (talk.kind, talk.first_tool()) {
            (Some(Move::Greet), _) => Self::text([&phrases.hello, &phrases.ability, &phrases.ask]),
            (Some(Move::Welcome), _) => Self::text([&phrases.welcome, &phrases.ask]),
            (Some(Move::Ask), _) => Self::text([&phrases.ask]),
            (Some(Move::Introduce), _) => Self::text([&phrases.ability, &phrases.ask]),
            (Some(Move::About | Move::Author), Tool::List) => call(LIST_TOOL, &json!({ "name": talk.name })),
            (_, Tool::List) => call(LIST_TOOL, &json!({})),
            (_, Tool::Search) => call(SEARCH_TOOL, &json!({ "query": talk.question })),
            (_, Tool::None | Tool::Missing) => Self::text([&phrases.no_search]),
        }
    }

    fn text<'t>(sentences: impl IntoIterator<Item = &'t String>) -> Self {
        Self::Text(sentences.into_iter().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    fn paragraphs(parts: impl IntoIterator<Item = String>) -> Self {
        Self::Text(parts.into_iter().collect::<Vec<_>>().join("\n\n"))
    }

    /// The events of a model that generates it. They report no usage, so tokens are counted from the text.
    pub(crate) fn events(self) -> Vec<ChatEvent> {
        let (text, choices, reason) = match self {
            Self::Text(text) => (text, Vec::new(), FinishReason::Stop),
            Self::Which(text, choices) => (text, choices, FinishReason::Stop),
            Self::Declined(text) => (text, Vec::new(), FinishReason::Declined),
            Self::Call(call) => {
                let finished = ChatEvent::Finished { reason: FinishReason::ToolCalls, usage: None };
                return vec![ChatEvent::ToolCall(call), finished];
            }
        };
        let words = text.split_inclusive(char::is_whitespace).map(|word| ChatEvent::Text(word.to_owned()));
        let choices = (!choices.is_empty()).then_some(ChatEvent::Choices(choices));
        choices.into_iter().chain(words).chain([ChatEvent::Finished { reason, usage: None }]).collect()
    }
}

fn call(tool: &str, arguments: &Value) -> Reply {
    Reply::Call(ToolCall { id: tool.to_owned(), name: tool.to_owned(), arguments: arguments.to_string() })
}

/// Answers a question about the documents themselves.
fn about_documents(talk: &Conversation<'_>, content: &str) -> Reply {
    let words = talk.words;
    let phrases = &words.phrases;
    if content.starts_with(SEARCH_ERROR) {
        return Reply::text([&phrases.search_failed]);
    }
    if content.is_empty() {
        return Reply::text([&phrases.no_documents]);
    }
    let list = Listing::read(content);
    match talk.kind {
        Some(Move::Extreme) if let Some(line) = list.extreme(talk.asked, words) => Reply::Text(line),
        Some(Move::Pages) => Reply::Text(list.named(talk.asked, words)),
        Some(Move::About | Move::Author) if list.has_summary() => Reply::Text(list.summarize(phrases)),
        Some(Move::About | Move::Author) if list.readable.len() > 1 => {
            Reply::Which([&*phrases.which, &list.lines(phrases)].join("\n\n"), list.choices())
        }
        // No document has the name: it may be the subject of one.
        Some(Move::About | Move::Author) if list.readable.is_empty() && talk.can_search() => {
            call(SEARCH_TOOL, &json!({ "query": talk.question }))
        }
        _ => Reply::paragraphs(list.list(phrases)),
    }
}

/// Answers with what a search found.
fn answer(talk: &Conversation<'_>, found: &ToolOutput, lexicon: &Lexicon) -> Reply {
    let words = Words::of(talk.asked);
    let phrases = &words.phrases;
    if found.is_error || found.content.starts_with(SEARCH_ERROR) {
        return Reply::text([&phrases.search_failed]);
    }
    let text = corrected(&talk.question, &found.corrections);
    let passages: Vec<Passage<'_>> = found.passages.iter().map(Passage::read).collect();
    let analyzer = analyzer_of(&found.passages);
    // A move has no words of its own.
    let said = if talk.kind.is_none() { talk.asked } else { &talk.question };
    let said = corrected(said, &found.corrections);
    let question = Question { words, ..Question::parse_follow_up(&text, &said, analyzer, lexicon) };
    if let Some(quote) = whole_page(&question, &passages) {
        return Reply::Text(quote);
    }
    let is_more = talk.kind == Some(Move::More);
    // A list that was cut is shown whole before anything else.
    let is_cut = is_more && talk.previous.is_some_and(|answer| has_cut_list(answer, phrases));
    let skipped = if is_more && !is_cut { SHOWN_BEFORE * talk.repeated } else { 0 };
    let outcome = choose(&question, &passages, skipped);
    let answers = matches!(outcome, Outcome::Answer { .. });
    let (lead, quoted, further) = match outcome {
        Outcome::Declined if is_more => return Reply::text([&phrases.nothing_new]),
        Outcome::Declined | Outcome::MayHelp(_) if talk.can_list() => return call(LIST_TOOL, &json!({})),
        Outcome::Declined => return decline(talk, &question, &passages),
        Outcome::MayHelp(quoted) => (Some(phrases.may_help.clone()), quoted, Vec::new()),
        Outcome::Answer { quoted, further } => (None, quoted, further),
    };
    let lead = match talk.kind {
        Some(Move::Sure) if answers => Some(phrases.again.clone()),
        Some(Move::Where) if answers => Some(phrases.stands.clone()),
        _ => lead,
    };
    let is_understood = talk.kind.is_none() && talk.question != talk.asked;
    let understood = (is_understood && text.chars().count() <= UNDERSTOOD_CHARS)
        .then(|| phrases.understood.replace("{question}", &talk.question));
    let notes = understood.into_iter().chain(read_as(&found.corrections, phrases));
    let notes = notes.chain(not_found(&question, &passages).filter(|_| !answers)).chain(lead);
    let further: Vec<String> = further.iter().map(|rated| quote::write_briefly(rated, &question)).collect();
    let further = (!further.is_empty()).then(|| format!("{}\n\n{}", phrases.further, further.join("\n")));
    let quotes = quotes(&quoted, &question, is_cut || is_more);
    let parts: Vec<String> = notes.chain(quotes).chain(further).collect();
    if answers {
        return Reply::paragraphs(parts);
    }
    Reply::Declined(parts.into_iter().chain(not_searched(talk, phrases)).collect::<Vec<_>>().join("\n\n"))
}

/// Says which documents were not searched.
fn not_searched(talk: &Conversation<'_>, phrases: &Phrases) -> Option<String> {
    talk.listed.and_then(|list| Listing::read(&list.content).not_searched(phrases))
}

/// The quotes of an answer: two rows with the same label and different values are said to differ.
fn quotes(chosen: &[Rated<'_>], question: &Question<'_>, is_whole: bool) -> Vec<String> {
    let mut quotes: Vec<String> =
        chosen.iter().map(|rated| quote::write(rated, question, is_whole)).collect();
    if let [first, others @ ..] = chosen
        && others.iter().any(|other| differs(first, other))
    {
        quotes.insert(0, question.words.phrases.differ.clone());
    }
    quotes
}

/// Whether two rows have the same label and head, and other values.
fn differs(first: &Rated<'_>, other: &Rated<'_>) -> bool {
    let row = |rated: &'_ Rated<'_>| rated.described.passage.row(rated.described.unit).cloned();
    let (Some(first), Some(other)) = (row(first), row(other)) else { return false };
    first.header == other.header && first.cells[0] == other.cells[0] && first.cells != other.cells
}

/// Declines: says what is missing, which pages come closest, and which documents were not searched.
fn decline(talk: &Conversation<'_>, question: &Question<'_>, passages: &[Passage<'_>]) -> Reply {
    let phrases = &question.words.phrases;
    let mut pages: Vec<String> = Vec::new();
    for chunk in passages.iter().map(|passage| passage.chunk) {
        let page = format!("{}, {} {}", chunk.title, phrases.page, chunk.span.start.page);
        if !pages.contains(&page) && pages.len() < CLOSEST_PAGES {
            pages.push(page);
        }
    }
    let closest = (!pages.is_empty()).then(|| format!("{} {}.", phrases.closest, pages.join("; ")));
    let sentences = [Some(phrases.declined.clone()), not_found(question, passages), closest];
    let is_foreign =
        !passages.is_empty() && passages.iter().all(|passage| is_foreign_to_german(&passage.chunk.text));
    let hint = (is_foreign && !phrases.other_language.is_empty()).then(|| phrases.other_language.clone());
    let first = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Reply::Declined(
        [Some(first), hint, not_searched(talk, phrases)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n\n"),
    )
}

/// The beginning of a page, if a question asks for nothing else.
fn whole_page(question: &Question<'_>, passages: &[Passage<'_>]) -> Option<String> {
    let [page, ..] = crate::choice::numbers(&question.pages, passages)[..] else { return None };
    if !question.terms.is_empty() {
        return None;
    }
    let document = passages.first()?.chunk.document_id;
    let of_document = passages.iter().filter(|passage| passage.chunk.document_id == document);
    let mut text = String::new();
    for passage in of_document.clone() {
        for unit in passage.units.iter().filter(|unit| unit.page == page) {
            if text.chars().count() < PAGE_CHARS {
                text.push_str(&passage.text(unit).replace('\n', " "));
                text.push(' ');
            }
        }
    }
    let title = &of_document.clone().next()?.chunk.title;
    let text =
        docent_text::sentences::excerpt(text.trim(), PAGE_CHARS, |_| 0.0).replace(['“', '”', '"'], "'");
    (!text.is_empty()).then(|| format!("“{text}” {}", quote::source(title, page, &question.words.phrases)))
}

/// Names what no passage has of a question, if nothing is claimed.
fn not_found(question: &Question<'_>, passages: &[Passage<'_>]) -> Option<String> {
    let phrases = &question.words.phrases;
    let missing = missing(passages, question, question.named.iter().chain(&question.others));
    let words = phrases.join(missing.take(NAMED), &phrases.and);
    (!words.is_empty()).then(|| format!("{} {words}.", phrases.not_found))
}

/// Says which words were read as others.
fn read_as(corrections: &[Correction], phrases: &Phrases) -> Option<String> {
    let named: Vec<&Correction> = corrections.iter().filter(|correction| !correction.is_common).collect();
    let written = phrases.join(named.iter().map(|it| it.written.as_str()), &phrases.or);
    let meant = phrases.join(named.iter().map(|it| it.meant.as_str()), &phrases.and);
    (!named.is_empty()).then(|| phrases.read_as.replace("{written}", &written).replace("{meant}", &meant))
}

/// A question with the words that the search looked for instead of misspelled ones.
pub(crate) fn corrected(question: &str, corrections: &[Correction]) -> String {
    corrections.iter().fold(question.to_owned(), |text, correction| {
        let words = text.split_inclusive(|c: char| !c.is_alphanumeric()).map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            if word.to_lowercase() == correction.written.to_lowercase() {
                format!("{}{}", correction.meant, &piece[word.len()..])
            } else {
                piece.to_owned()
            }
        });
        words.collect()
    })
}

/// Whether an answer says that a list was cut.
fn has_cut_list(answer: &str, phrases: &Phrases) -> bool {
    let end = phrases.cut.rsplit('}').next().unwrap_or_default();
    answer.contains(end)
}

#[cfg(test)]
mod tests;
