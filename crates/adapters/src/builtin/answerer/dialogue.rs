//! Determines the next action from the conversation.

use super::comparison::{Side, sides};
use super::follow_up::completed;
use super::phrases::Phrases;
use super::question::{is_among, plain_words};
use super::records::{Listing, asks_for_list, asks_for_pages, extreme, named};
use super::{LIST_TOOL, SEARCH_TOOL, periods, summary, whole};
use docent_domain::chat::{Message, ToolOutput};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::{Correction, corrected};
use docent_ports::chat_model::ChatRequest;
use docent_text::lexical::{beginning, query_terms};

/// Prefix of the output of a failed search.
const SEARCH_ERROR: &str = "Error searching documents:";
/// What a tool call is for. The ID of the call begins with its name, so that the conversation tells which calls were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Search for the question, or for what the first search lacked.
    Search,
    /// List the documents.
    List,
    /// Get the summary of a document.
    Describe,
    /// List the reports of a series.
    ListReports,
    /// Search for the question in one report of a series.
    SearchReport,
    /// Search for one of several names that the question is about.
    SearchSide,
}

impl Purpose {
    const ALL: [Self; 6] =
        [Self::Search, Self::List, Self::Describe, Self::ListReports, Self::SearchReport, Self::SearchSide];

    const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::List => "list",
            Self::Describe => "describe",
            Self::ListReports => "reports",
            Self::SearchReport => "report",
            Self::SearchSide => "side",
        }
    }

    const fn tool(self) -> &'static str {
        match self {
            Self::Search | Self::SearchReport | Self::SearchSide => SEARCH_TOOL,
            Self::List | Self::Describe | Self::ListReports => LIST_TOOL,
        }
    }

    /// The purpose of the call with this output. A call of another model was a search.
    fn of(output: &ToolOutput) -> Self {
        let name = output.call_id.split('_').next().unwrap_or_default();
        Self::ALL.into_iter().find(|purpose| purpose.name() == name).unwrap_or(Self::Search)
    }
}

/// Longer questions are cut.
const QUESTION_CHARS: usize = 2000;
/// Output of a call for the summary of a document that does not exist.
const NONE_NAMED: &str = "No document has this title.";

/// The next action in a conversation.
pub(super) struct Plan<'a> {
    pub(super) action: Action,
    /// The last question; empty in a conversation without questions.
    pub(super) question: &'a str,
    /// The answer to the question before it.
    pub(super) previous: Option<&'a str>,
    /// The question with the earlier ones that it refers to, if there are any.
    pub(super) understood: Option<String>,
    /// Words of the question that were read as others.
    pub(super) corrections: Vec<Correction>,
}

/// The next action.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Call the search tool.
    Search {
        /// The search query.
        query: String,
        /// The ID of the call.
        call_id: String,
    },
    /// Call the tool that lists documents.
    List {
        /// The ID of the call.
        call_id: String,
    },
    /// Call the tool that lists documents, for the summary of one.
    Describe {
        /// The words that name the document.
        name: String,
        /// The ID of the call.
        call_id: String,
    },
    /// Answer from passages.
    Quote(SearchResults),
    /// Search several times.
    SearchEach {
        /// The queries with the IDs of their calls.
        searches: Vec<(String, String)>,
    },
    /// Answer about each of several names.
    Compare(Vec<SideFound>),
    /// Return the summary of a document.
    Summarize(String),
    /// Ask which of these documents is meant.
    AskWhich(String),
    /// Return a list of documents.
    ShowList(String),
    /// Return the line of one document.
    ShowOne(String),
    /// Report that there are no documents.
    ReportNoDocuments,
    /// Report that the search failed.
    ReportFailure,
    /// Report that there is no search tool.
    RefuseWithoutSearch,
    /// Return a greeting.
    Greet,
    /// Reply to thanks.
    Welcome,
    /// Ask what the reader would like to know.
    Ask,
    /// Explain what can be asked.
    Introduce,
}

/// What was found for a question, and the calls that can still be made.
#[derive(Debug, PartialEq)]
pub(super) struct SearchResults {
    /// The question, including earlier questions that it refers to.
    pub(super) question: String,
    /// The results of the search for the question, best first.
    pub(super) passages: Vec<ScoredChunk>,
    /// The results of each further search.
    pub(super) further: Vec<Vec<ScoredChunk>>,
    /// How many of the further searches were for words that the first one did not find; the others were for single reports.
    pub(super) retries: usize,
    /// The ID of a further call; `None` without a search tool.
    pub(super) call_id: Option<String>,
    /// The ID of a call that lists the reports of a series; `None` if they are known or cannot be listed.
    pub(super) reports_id: Option<String>,
    /// The ID of a call that lists the documents; `None` if they are known or cannot be listed.
    pub(super) list_id: Option<String>,
    /// The list of documents, if they are known.
    pub(super) listed: String,
}

/// What was found for one of the names that a question is about.
#[derive(Debug, PartialEq)]
pub(super) struct SideFound {
    pub(super) side: Side,
    /// The results of its searches; the first one is for the question about the name.
    pub(super) searches: Vec<Vec<ScoredChunk>>,
    /// The ID of a further search for it.
    pub(super) call_id: String,
}

pub(super) fn plan(request: &ChatRequest) -> Plan<'_> {
    let messages = &request.messages;
    let Some(asked_at) = messages.iter().rposition(|message| matches!(message, Message::User(_))) else {
        return Plan {
            action: Action::Introduce,
            question: "",
            previous: None,
            understood: None,
            corrections: Vec::new(),
        };
    };
    let (before, after) = messages.split_at(asked_at + 1);
    let asked: Vec<&str> =
        before.iter().filter_map(user_text).map(|text| beginning(text.trim(), QUESTION_CHARS)).collect();
    let last = asked.last().copied().unwrap_or_default();
    let previous = before.iter().rev().find_map(|message| match message {
        Message::Assistant { content, .. } if !content.is_empty() => Some(content.as_str()),
        Message::Assistant { .. } | Message::System(_) | Message::User(_) | Message::Tool(_) => None,
    });
    let outputs: Vec<&ToolOutput> = after.iter().filter_map(tool_output).collect();
    let calls = Calls { request, asked_at, made: outputs.len() };
    let action = if outputs.is_empty() {
        first(&asked, last, previous, &calls)
    } else {
        next(&asked, &outputs, &calls)
    };
    let understood = Some(question(&asked)).filter(|question| question != last.trim());
    let corrections = outputs.first().map(|output| output.corrections.clone()).unwrap_or_default();
    Plan { action, question: last, previous, understood, corrections }
}

/// The tools that can be called.
struct Calls<'a> {
    request: &'a ChatRequest,
    asked_at: usize,
    /// The number of calls for this question.
    made: usize,
}

impl Calls<'_> {
    /// The ID of the next call; `None` if its tool is not offered.
    fn id(&self, purpose: Purpose) -> Option<String> {
        self.numbered(purpose, 1)
    }

    /// The ID of one of several calls, counted from 1.
    fn numbered(&self, purpose: Purpose, number: usize) -> Option<String> {
        let is_offered = self.request.tools.iter().any(|offered| offered.name == purpose.tool());
        is_offered.then(|| format!("{}_{}_{}", purpose.name(), self.asked_at, self.made + number))
    }

    /// The ID of the next search for one of several names, counted from 1.
    fn of_side(&self, number: usize) -> Option<String> {
        Some(format!("{}_{number}", self.numbered(Purpose::SearchSide, number)?))
    }

    /// The name that a search was for.
    fn number_of(output: &ToolOutput) -> Option<usize> {
        let is_side = Purpose::of(output) == Purpose::SearchSide;
        output.call_id.rsplit('_').next().filter(|_| is_side)?.parse().ok()
    }
}

/// The action for a new question.
fn first(asked: &[&str], last: &str, previous: Option<&str>, calls: &Calls<'_>) -> Action {
    let question = question(asked);
    let is_choice =
        previous.is_some_and(|answer| Phrases::all().iter().any(|it| answer.starts_with(it.which)));
    let named = || whole::named_document(last).or_else(|| is_choice.then(|| plain_words(last)));
    match (calls.id(Purpose::List), calls.id(Purpose::Search)) {
        _ if is_thanks(last) => Action::Welcome,
        _ if is_remark(last) => Action::Ask,
        _ if is_greeting(last) => Action::Greet,
        _ if asks_for_ability(last) => Action::Introduce,
        (Some(call_id), _) if asks_for_list(last) || asks_for_pages(last) || extreme(last).is_some() => {
            Action::List { call_id }
        }
        (Some(_), _) if let (Some(name), Some(call_id)) = (named(), calls.id(Purpose::Describe)) => {
            Action::Describe { name: name.join(" "), call_id }
        }
        _ if query_terms(&question).is_empty() => Action::Introduce,
        (_, Some(call_id)) => Action::Search { query: question, call_id },
        (_, None) => Action::RefuseWithoutSearch,
    }
}

/// The action after tool calls.
fn next(asked: &[&str], outputs: &[&ToolOutput], calls: &Calls<'_>) -> Action {
    let with = |purposes: &[Purpose]| -> Vec<&ToolOutput> {
        outputs.iter().copied().filter(|output| purposes.contains(&Purpose::of(output))).collect()
    };
    let described = with(&[Purpose::Describe]).first().copied();
    let reports = with(&[Purpose::ListReports]).first().copied();
    let lists = with(&[Purpose::List]);
    let searches = with(&[Purpose::Search, Purpose::SearchReport]);
    let of_reports = with(&[Purpose::SearchReport]).len();
    // The further searches only add to what the first one found.
    if searches.first().is_some_and(|output| output.content.starts_with(SEARCH_ERROR)) {
        return Action::ReportFailure;
    }
    if let Some(described) = described
        && let Some(action) = describe(described, searches.is_empty(), asked, calls)
    {
        return action;
    }
    if let Some(list) = lists.first() {
        if list.content.is_empty() {
            return Action::ReportNoDocuments;
        }
        if searches.is_empty() {
            let last = asked.last().copied().unwrap_or_default();
            let readable = Listing::of(&list.content).readable;
            if let Some(line) = extreme(last).and_then(|extreme| extreme.of(&readable)) {
                return Action::ShowOne(line.to_owned());
            }
            return Action::ShowList(if asks_for_list(last) || extreme(last).is_some() {
                list.content.clone()
            } else {
                named(&readable, last)
            });
        }
    }
    if let Some(reports) = reports
        && of_reports == 0
    {
        let question = question(asked);
        let call = |(number, title): (usize, String)| {
            Some((format!("{title} {question}"), calls.numbered(Purpose::SearchReport, number)?))
        };
        let titles = (1..).zip(periods::asked(&question).of(&reports.content));
        let searches: Vec<_> = titles.filter_map(call).collect();
        if !searches.is_empty() {
            return Action::SearchEach { searches };
        }
    }
    let passages = |output: &&ToolOutput| output.passages.clone();
    let found = searches.first().map(passages).unwrap_or_default();
    let corrections = searches.first().map_or(&[][..], |output| &output.corrections);
    if described.is_none()
        && reports.is_none()
        && searches.len() == 1
        && let Some(action) = compare(&corrected(&question(asked), corrections), &found, &outputs[1..], calls)
    {
        return action;
    }
    Action::Quote(SearchResults {
        question: match described {
            Some(_) => topic(asked),
            None => corrected(&question(asked), corrections),
        },
        passages: found,
        further: searches.iter().skip(1).map(passages).collect(),
        retries: searches.len().saturating_sub(1 + of_reports),
        call_id: calls.id(Purpose::Search),
        reports_id: calls.id(Purpose::ListReports).filter(|_| reports.is_none()),
        list_id: calls.id(Purpose::List).filter(|_| lists.is_empty()),
        listed: lists.first().map(|list| list.content.clone()).unwrap_or_default(),
    })
}

/// The action for a question about several names of different documents, after the first search and calls for single names;
/// `None` for another question.
fn compare(
    question: &str,
    found: &[ScoredChunk],
    outputs: &[&ToolOutput],
    calls: &Calls<'_>,
) -> Option<Action> {
    let sides = (1..).zip(sides(question, found));
    let searched = sides.map(|(number, side)| {
        let of_side = |output: &&&ToolOutput| Calls::number_of(output) == Some(number);
        let searches = outputs.iter().filter(of_side).map(|output| output.passages.clone()).collect();
        Some(SideFound { side, searches, call_id: calls.of_side(number)? })
    });
    let searched: Vec<SideFound> = searched.collect::<Option<_>>()?;
    let of_sides = |output: &&&ToolOutput| Calls::number_of(output).is_some();
    // Those for each name are first; later ones only add to what they found.
    let has_failed = |output: &&ToolOutput| output.content.starts_with(SEARCH_ERROR);
    if outputs.iter().filter(of_sides).take(searched.len()).any(has_failed) {
        return Some(Action::ReportFailure);
    }
    let is_new = searched.iter().all(|side| side.searches.is_empty());
    match searched.as_slice() {
        [] => None,
        _ if is_new => {
            let search = |found: SideFound| (found.side.question, found.call_id);
            Some(Action::SearchEach { searches: searched.into_iter().map(search).collect() })
        }
        _ => Some(Action::Compare(searched)),
    }
}

/// What a question wants summarized, without the words that ask for a summary.
fn topic(asked: &[&str]) -> String {
    let named = asked.last().and_then(|last| whole::named_document(last)).filter(|words| !words.is_empty());
    named.map_or_else(|| question(asked), |words| words.join(" "))
}

/// The action after a call for the summary of a document; `None` if passages were searched for instead.
fn describe(output: &ToolOutput, is_last: bool, asked: &[&str], calls: &Calls<'_>) -> Option<Action> {
    match output.content.as_str() {
        "" => Some(Action::ReportNoDocuments),
        NONE_NAMED if !is_last => None,
        NONE_NAMED => Some(match calls.id(Purpose::Search) {
            Some(call_id) => Action::Search { query: topic(asked), call_id },
            None => Action::RefuseWithoutSearch,
        }),
        content if Listing::of(content).readable.is_empty() => Some(Action::ShowList(content.to_owned())),
        content if summary::is_summary(content) => Some(Action::Summarize(content.to_owned())),
        content if content.lines().nth(1).is_some() => Some(Action::AskWhich(content.to_owned())),
        content => Some(Action::ShowList(content.to_owned())),
    }
}

fn tool_output(message: &Message) -> Option<&ToolOutput> {
    match message {
        Message::Tool(output) => Some(output),
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    }
}

fn user_text(message: &Message) -> Option<&str> {
    match message {
        Message::User(text) => Some(text),
        Message::System(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    }
}

/// Returns the last question, completed by the earlier ones that it refers to.
fn question(asked: &[&str]) -> String {
    let is_question =
        |text: &&str| !is_greeting(text) && !is_thanks(text) && !is_remark(text) && !asks_for_ability(text);
    completed(asked.iter().copied().filter(is_question))
}

/// Words that begin a greeting.
const GREETINGS: [&str; 9] = ["hello", "hi", "hey", "greetings", "good", "hallo", "guten", "moin", "servus"];
/// Words that may follow.
const GREETED: &str = "morning afternoon evening day there you docent how are is it going all everyone tag morgen abend \
    zusammen wie geht es dir ihnen s";

fn is_greeting(text: &str) -> bool {
    let words = plain_words(text);
    let greets = |word: &String| GREETINGS.contains(&word.as_str());
    let is_known = |word: &String| greets(word) || is_among(word, GREETED);
    words.first().is_some_and(greets) && words.iter().all(is_known)
}

/// Words of thanks.
const THANKS: [&str; 4] = ["thanks", "thank", "danke", "dank"];
/// Words that may be around them.
const PRAISE: &str = "you very much a lot so great good ok okay perfect super vielen schön";

fn is_thanks(text: &str) -> bool {
    let words = plain_words(text);
    let thanks = |word: &String| THANKS.contains(&word.as_str());
    words.iter().any(thanks) && words.iter().all(|word| thanks(word) || is_among(word, PRAISE))
}

/// Words of a remark that asks nothing.
const REMARKS: &str = "ok okay great good fine nice cool perfect super alright right yes no sure bye goodbye see you later a \
    lot very well ja nein gut prima schön alles klar tschüss bis bald auf wiedersehen";

fn is_remark(text: &str) -> bool {
    let words = plain_words(text);
    !words.is_empty() && words.iter().all(|word| is_among(word, REMARKS))
}

/// The words of a question for what the answerer does.
const ABILITY_WORDS: &str = "what who how can do does you are your is this it work help me need please tell about \
    yourself was wer wie kannst du bist das hilfe hilf mir";

fn asks_for_ability(text: &str) -> bool {
    let words = plain_words(text);
    let is_known = |word: &String| GREETINGS.contains(&word.as_str()) || is_among(word, ABILITY_WORDS);
    let addresses = |word: &String| matches!(word.as_str(), "you" | "du" | "help" | "hilfe" | "hilf");
    words.iter().any(addresses) && words.iter().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greeting_contains_nothing_else() {
        assert!(is_greeting("Hello!") && is_greeting("hi there") && is_greeting("Good morning"));
        assert!(is_greeting("Guten Morgen") && is_greeting("Hallo zusammen!"));
        assert!(is_greeting("Good morning, how are you?") && is_greeting("Hallo, wie geht's?"));
        assert!(!is_greeting("Hello, what is a pump?") && !is_greeting("") && !is_greeting("good pumps"));
    }

    #[test]
    fn thanks_contain_nothing_else() {
        assert!(is_thanks("Thanks!") && is_thanks("Great, thank you very much") && is_thanks("Vielen Dank"));
        assert!(!is_thanks("Thanks, and the pump?") && !is_thanks("great") && !is_thanks(""));
    }

    #[test]
    fn remarks_ask_nothing() {
        for text in ["ok", "Great!", "Bye", "See you later", "Alles klar", "auf Wiedersehen"] {
            assert!(is_remark(text), "{text}");
        }
        for text in ["", "ok, and the pump?", "good pumps", "Why?"] {
            assert!(!is_remark(text), "{text}");
        }
        assert_eq!(question(&["Who makes pumps?", "ok", "Why?"]), "Who makes pumps? Why?");
    }

    #[test]
    fn question_for_abilities_refers_to_no_other_question() {
        for text in [
            "what can you do?",
            "Who are you?",
            "help me please",
            "help",
            "Was kannst du?",
            "Hallo, was kannst du?",
        ] {
            assert!(asks_for_ability(text), "{text}");
        }
        for text in ["What can the pump do?", "How does it work?", "", "How do you service a pump?"] {
            assert!(!asks_for_ability(text), "{text}");
        }
        assert_eq!(question(&["hello", "why?"]), "why?");
    }
}
