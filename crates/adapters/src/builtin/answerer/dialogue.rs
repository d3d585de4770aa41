//! Determines the next action from the conversation.

use super::follow_up::completed;
use super::phrases::Phrases;
use super::question::plain_words;
use super::{LIST_TOOL, SEARCH_TOOL, periods, summary, whole};
use crate::builtin::lexical::query_terms;
use docent_domain::chat::{Message, ToolOutput};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::{Correction, corrected};
use docent_ports::chat_model::ChatRequest;

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
}

impl Purpose {
    const ALL: [Self; 5] = [Self::Search, Self::List, Self::Describe, Self::ListReports, Self::SearchReport];

    const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::List => "list",
            Self::Describe => "describe",
            Self::ListReports => "reports",
            Self::SearchReport => "report",
        }
    }

    const fn tool(self) -> &'static str {
        match self {
            Self::Search | Self::SearchReport => SEARCH_TOOL,
            Self::List | Self::Describe | Self::ListReports => LIST_TOOL,
        }
    }

    /// The purpose of the call with this output. A call of another model was a search.
    fn of(output: &ToolOutput) -> Self {
        let name = output.call_id.split('_').next().unwrap_or_default();
        Self::ALL.into_iter().find(|purpose| purpose.name() == name).unwrap_or(Self::Search)
    }
}

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
    Quote {
        /// The question, including earlier questions that it refers to.
        question: String,
        /// The results of the search for the question, best first.
        passages: Vec<ScoredChunk>,
        /// The results of each further search.
        further: Vec<Vec<ScoredChunk>>,
        /// How many of the further searches were for words that the first one did not find; the others were for single reports.
        retries: usize,
        /// The ID of a further call; `None` without a search tool.
        call_id: Option<String>,
        /// The ID of a call that lists the reports of a series; `None` if they are known or cannot be listed.
        reports_id: Option<String>,
    },
    /// Search each of some reports.
    SearchReports {
        /// The queries with the IDs of their calls.
        searches: Vec<(String, String)>,
    },
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
    let asked: Vec<&str> = before.iter().filter_map(user_text).collect();
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
            if let Some(line) = extreme(last).and_then(|extreme| extreme.of(&list.content)) {
                return Action::ShowOne(line.to_owned());
            }
            return Action::ShowList(if asks_for_list(last) || extreme(last).is_some() {
                list.content.clone()
            } else {
                named(&list.content, last)
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
            return Action::SearchReports { searches };
        }
    }
    let passages = |output: &&ToolOutput| output.passages.clone();
    let found = searches.first().map(passages).unwrap_or_default();
    let corrections = searches.first().map_or(&[][..], |output| &output.corrections);
    match calls.id(Purpose::List) {
        // Nothing may be found because there are no documents.
        Some(call_id) if found.is_empty() && lists.is_empty() => Action::List { call_id },
        _ => Action::Quote {
            question: match described {
                Some(_) => topic(asked),
                None => corrected(&question(asked), corrections),
            },
            passages: found,
            further: searches.iter().skip(1).map(passages).collect(),
            retries: searches.len().saturating_sub(1 + of_reports),
            call_id: calls.id(Purpose::Search),
            reports_id: calls.id(Purpose::ListReports).filter(|_| reports.is_none()),
        },
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

/// Whether a text has a word among these, which are separated by spaces.
fn is_among(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
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

/// Whether a question asks for the number of pages of a document.
fn asks_for_pages(text: &str) -> bool {
    let words = plain_words(text).join(" ");
    ["how many pages", "number of pages", "wie viele seiten"].iter().any(|phrase| words.contains(phrase))
}

/// The lines of a list of documents whose titles a question names; all if it names none.
fn named(list: &str, question: &str) -> String {
    let asked: Vec<String> = query_terms(question);
    let is_named = |line: &&str| {
        let title = line.rsplit_once(" (").map_or(*line, |(title, _)| title);
        let names = |term: &String| asked.contains(term) && !GENERIC_TERMS.contains(&term.as_str());
        query_terms(title).iter().any(names)
    };
    let lines: Vec<&str> = list.lines().filter(is_named).collect();
    if lines.is_empty() { list.to_owned() } else { lines.join("\n") }
}

/// Terms that name no document.
const GENERIC_TERMS: [&str; 8] = ["document", "file", "pdf", "report", "page", "mani", "number", "the"];

/// Words for the documents as a whole.
const DOCUMENTS: [&str; 6] = ["documents", "files", "pdfs", "docs", "dokumente", "dateien"];
/// The other words of a question for the list of documents.
const LIST_WORDS: &str = "list show me all the of your my which what do you have are there is available uploaded here \
    can i ask about how many in please give name currently know search \
    welche welches was für gibt es zeige zeig mir alle liste auf hast du haben sie wie viele sind da hier vorhanden \
    hochgeladen die bitte kennst kennen";

/// Whether a question asks which documents there are.
fn asks_for_list(text: &str) -> bool {
    let words = plain_words(text);
    let is_noun = |word: &String| DOCUMENTS.contains(&word.as_str());
    let is_known = |word: &String| is_noun(word) || is_among(word, LIST_WORDS);
    words.iter().any(is_noun) && words.iter().all(is_known)
}

/// The document of a list that has most or least of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extreme {
    Newest,
    Oldest,
    Longest,
    Shortest,
}

const EXTREMES: [(Extreme, &str); 4] = [
    (Extreme::Newest, "newest latest neueste neuesten"),
    (Extreme::Oldest, "oldest älteste ältesten"),
    (Extreme::Longest, "longest largest biggest längste längsten größte"),
    (Extreme::Shortest, "shortest smallest kürzeste kürzesten kleinste"),
];
/// The other words of a question for one of them.
const EXTREME_WORDS: &str = "document file pdf report dokument datei bericht ist das der die was";

/// Which document of all a question asks for.
fn extreme(text: &str) -> Option<Extreme> {
    let words = plain_words(text);
    let (extreme, known) =
        EXTREMES.into_iter().find(|(_, known)| words.iter().any(|word| is_among(word, known)))?;
    let is_known = |word: &String| {
        is_among(word, known)
            || is_among(word, EXTREME_WORDS)
            || is_among(word, LIST_WORDS)
            || DOCUMENTS.contains(&word.as_str())
    };
    let is_noun = |word: &String| {
        DOCUMENTS.contains(&word.as_str())
            || ["document", "file", "pdf", "dokument", "datei"].contains(&word.as_str())
    };
    (words.iter().any(is_noun) && words.iter().all(is_known)).then_some(extreme)
}

impl Extreme {
    /// The line of a list, newest first; none of a list that is cut, except the newest.
    fn of(self, list: &str) -> Option<&str> {
        let pages = |line: &str| {
            let (_, pages) = line.rsplit_once('(')?;
            pages.split(' ').next()?.parse::<u32>().ok()
        };
        let lines = || list.lines().filter(|line| pages(line).is_some());
        let is_whole = lines().count() == list.lines().count();
        let line = match self {
            Self::Newest => lines().next(),
            _ if !is_whole => None,
            Self::Oldest => lines().next_back(),
            // Of equal ones the newest.
            Self::Longest => lines().rev().max_by_key(|line| pages(line)),
            Self::Shortest => lines().min_by_key(|line| pages(line)),
        };
        line.map(|line| line.trim_start_matches("- "))
    }
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

    #[test]
    fn number_of_pages_is_that_of_the_named_documents() {
        assert!(
            asks_for_pages("How many pages does the pump manual have?") && !asks_for_pages("Which pages?")
        );
        let list = "- Pump_manual.pdf (14 pages)\n- Report 2018.pdf (3 pages)";
        assert_eq!(named(list, "how many pages does the pump manual have?"), "- Pump_manual.pdf (14 pages)");
        assert_eq!(named(list, "how many pages does this report have?"), list);
    }

    #[test]
    fn newest_and_longest_document_are_found_in_the_list() {
        let list = "- A (1).pdf (3 pages)\n- B.pdf (14 pages)\n- C.pdf (1 page)\n- D.pdf (14 pages)";
        let line = |question| extreme(question).unwrap().of(list).unwrap();
        assert_eq!(line("What is the newest document?"), "A (1).pdf (3 pages)");
        assert_eq!(line("Which of the files is the oldest?"), "D.pdf (14 pages)");
        assert_eq!(line("which document is the longest"), "B.pdf (14 pages)");
        assert_eq!(line("Welches Dokument ist das kürzeste?"), "C.pdf (1 page)");
        assert_eq!(Extreme::Oldest.of("- A.pdf (3 pages)\n- …"), None);
        for other in ["What is the longest river?", "What does the latest report say about pumps?", "newest"]
        {
            assert_eq!(extreme(other), None, "{other}");
        }
    }

    #[test]
    fn list_of_documents_is_asked_for_in_plain_words() {
        for text in [
            "list all documents",
            "Which documents do you have?",
            "what files are there",
            "How many PDFs are there?",
            "What are the documents about?",
            "Welche Dokumente gibt es?",
            "Zeig mir alle Dateien",
        ] {
            assert!(asks_for_list(text), "{text}");
        }
        for text in ["", "list", "Which documents mention pumps?", "What is the document number of the pump?"]
        {
            assert!(!asks_for_list(text), "{text}");
        }
    }
}
