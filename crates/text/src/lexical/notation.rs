//! Terms that depend on how a text is written: joined by signs, in capitals, as a date, as a phrase of common words.

use super::{Analyzer, tokens};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Signs that join words to one: hyphens, and the low line of identifiers.
const HYPHENS: [&str; 4] = ["-", "\u{2010}", "\u{2011}", "_"];
/// Signs in names such as “O'Brien”.
const APOSTROPHES: [&str; 2] = ["'", "’"];
/// Signs beside a part of a word.
const JOINING: [char; 6] = ['-', '\u{2010}', '\u{2011}', '&', '\'', '’'];
/// Words with more parts are rather identifiers.
const MAX_PARTS: usize = 4;
/// Groups of digits of a number such as an ISBN: at least so many, since two are a range, and at most.
const GROUPS: RangeInclusive<usize> = 3..=6;
/// Parts of a name such as “R&D” and “Ph.D.” are not longer.
const MAX_INITIALS: usize = 2;
/// A phrase of so many common words is a term: fewer occur everywhere.
const PHRASE_WORDS: usize = 4;
/// In lines of at least so many words, of which two thirds have a capital, a capital says nothing about a word.
const TITLE_WORDS: usize = 4;

/// A word of a text as written.
struct Piece<'t> {
    /// The text between the piece before and this one.
    before: &'t str,
    text: &'t str,
    lower: Cow<'t, str>,
}

impl Piece<'_> {
    fn is_alphabetic(&self) -> bool {
        self.text.chars().all(char::is_alphabetic)
    }

    fn is_capitalised(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    fn is_upper(&self) -> bool {
        self.text.chars().all(char::is_uppercase)
    }

    fn number(&self) -> Option<u32> {
        let is_number = self.text.len() <= 4 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        self.text.parse().ok().filter(|_| is_number)
    }

    /// The day in “3”, “03” or “3rd”.
    fn day(&self) -> Option<u32> {
        let digits = self.lower.trim_end_matches(|c: char| c.is_alphabetic());
        let is_day = digits.len() <= 2 && self.lower.len() <= digits.len() + 2;
        digits.parse().ok().filter(|day| is_day && (1..=31).contains(day))
    }

    fn year(&self) -> Option<u32> {
        self.number().filter(|year| self.text.len() == 4 && (1000..=2999).contains(year))
    }
}

/// A term of several words, or of one that is written in a special way.
pub(super) struct Written {
    pub(super) term: String,
    /// The words in lower case.
    pub(super) words: Vec<String>,
}

impl Written {
    fn of(term: String, pieces: &[Piece<'_>]) -> Self {
        Self { term, words: pieces.iter().map(|piece| piece.lower.clone().into_owned()).collect() }
    }
}

/// A text as the words that are written in it.
pub(super) struct Notation<'t>(Vec<Piece<'t>>);

impl<'t> Notation<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self(pieces(text))
    }

    /// The terms of a text beside those of its words.
    pub(super) fn terms(&self, analyzer: Analyzer) -> Vec<Written> {
        let mut terms = joined(&self.0, analyzer);
        terms.extend(names(&self.0, analyzer));
        terms.extend(dates(&self.0));
        terms
    }

    /// The phrases of common words in a text.
    pub(super) fn phrases(&self, analyzer: Analyzer) -> Vec<String> {
        let is_within = |_: &Piece<'_>, next: &Piece<'_>| next.before.chars().all(char::is_whitespace);
        let runs = self.0.chunk_by(is_within);
        let runs = runs.flat_map(|run| run.split(|piece| !analyzer.is_common(&piece.lower)));
        let phrase =
            |words: &[Piece<'_>]| words.iter().map(|word| &*word.lower).collect::<Vec<_>>().join("_");
        runs.flat_map(|run| run.windows(PHRASE_WORDS)).map(phrase).collect()
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut end, mut start) = (0, None);
    let ends = text.char_indices().map(|(at, c)| (at, tokens::is_of_word(c))).chain([(text.len(), false)]);
    for (at, is_of_word) in ends {
        match (start, is_of_word) {
            (None, true) => start = Some(at),
            (Some(begin), false) => {
                let word = &text[begin..at];
                pieces.push(Piece { before: &text[end..begin], text: word, lower: lower(word) });
                (end, start) = (at, None);
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    pieces
}

/// A word in lower case; most words are.
fn lower(word: &str) -> Cow<'_, str> {
    let is_lower = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) }
}

/// Words joined by hyphens, as one word: documents and questions write “e-mail” and “email”. So are names with
/// an apostrophe or a full stop, such as “O'Brien” and “Node.js”, initials, and numbers in groups of digits.
fn joined(pieces: &[Piece<'_>], analyzer: Analyzer) -> Vec<Written> {
    let mut terms = Vec::new();
    let mut rest = pieces;
    while let [_, after @ ..] = rest {
        let sign = after.first().map_or("", |next| next.before);
        let is_sign = HYPHENS.contains(&sign) || APOSTROPHES.contains(&sign) || matches!(sign, "&" | ".");
        let parts = 1 + after.iter().take_while(|piece| is_sign && piece.before == sign).count();
        let (word, following) = rest.split_at(parts);
        rest = following;
        let term = joined_term(word, sign, analyzer);
        terms.extend(term.map(|term| Written::of(term, word)));
    }
    terms
}

/// The term of words that are joined by a sign, if they are one word.
fn joined_term(word: &[Piece<'_>], sign: &str, analyzer: Analyzer) -> Option<String> {
    let join = |between: &str| word.iter().map(|piece| &*piece.lower).collect::<Vec<_>>().join(between);
    let are_digits = word.iter().all(|piece| piece.text.bytes().all(|byte| byte.is_ascii_digit()));
    if HYPHENS.contains(&sign) && are_digits && GROUPS.contains(&word.len()) {
        return Some(join(""));
    }
    if !(2..=MAX_PARTS).contains(&word.len()) || !word.iter().all(Piece::is_alphabetic) {
        return None;
    }
    let length = |piece: &Piece<'_>| piece.text.chars().count();
    let are_initials = word.iter().all(|piece| length(piece) <= MAX_INITIALS);
    let are_capitalised = word.iter().all(Piece::is_capitalised);
    match sign {
        "&" => are_initials.then(|| join("&")),
        "." if are_initials && are_capitalised => Some(join("")),
        "." => word.iter().all(|piece| length(piece) > 1).then(|| analyzer.stem(&join(""))),
        sign if APOSTROPHES.contains(&sign) => {
            // “L'avion” begins a sentence: only names have another capital.
            (are_capitalised && word.len() == 2 && length(&word[0]) == 1).then(|| analyzer.stem(&join("")))
        }
        _ => Some(analyzer.stem(&join(""))),
    }
}

/// Common words that are names by their capitals, such as “IT” and “the Who”.
fn names(pieces: &[Piece<'_>], analyzer: Analyzer) -> Vec<Written> {
    if !analyzer.has_capitals_for_names() {
        return Vec::new();
    }
    let mut terms = Vec::new();
    for line in pieces.chunk_by(|_, next| !next.before.contains('\n')) {
        // The first word of a sentence has a capital too.
        let capitals = line.iter().skip(1).filter(|piece| piece.is_capitalised()).count();
        let is_title = line.len() >= TITLE_WORDS && 3 * capitals >= 2 * (line.len() - 1);
        for (at, piece) in line.iter().enumerate() {
            let is_letter = piece.text.chars().nth(1).is_none();
            let is_part = piece.before.ends_with(JOINING)
                || line.get(at + 1).is_some_and(|next| next.before.starts_with(JOINING));
            if is_letter || is_part || !piece.is_capitalised() || !analyzer.is_common(&piece.lower) {
                continue;
            }
            let is_first = at == 0 || piece.before.contains(['.', '?', '!', ':', ';', '"', '“', '„', '(']);
            let neighbours = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| line.get(at)));
            let mut words = neighbours.into_iter().flatten().filter(|other| other.is_alphabetic()).peekable();
            let is_name = match piece.is_upper() {
                // Among other words in capitals it is one of a heading.
                true => words.peek().is_none() || words.any(|other| !other.is_upper()),
                false => !is_first && !is_title,
            };
            if is_name {
                terms.push(Written::of(piece.lower.clone().into_owned(), &line[at..=at]));
            }
        }
    }
    terms
}

/// Dates as `2024-03-03`, and their months as `2024-03`, each once. A date of numbers whose order is not clear is read in both.
fn dates(pieces: &[Piece<'_>]) -> Vec<Written> {
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    for at in 0..pieces.len() {
        let rest = &pieces[at..];
        let (numbers, named) = (of_numbers(rest), of_month(rest));
        for (year, month, day) in numbers.into_iter().chain(named) {
            let date = day.map(|day| format!("{year}-{month:02}-{day:02}"));
            let words = &rest[..rest.len().min(1 + usize::from(day.is_some()))];
            let of_date = [Some(format!("{year}-{month:02}")), date].into_iter().flatten();
            terms.extend(
                of_date.filter(|term| seen.insert(term.clone())).map(|term| Written::of(term, words)),
            );
        }
    }
    terms
}

type Date = (u32, u32, Option<u32>);

/// The dates that pieces begin with if all are numbers.
fn of_numbers(pieces: &[Piece<'_>]) -> Vec<Date> {
    let [first, second, third, ..] = pieces else { return Vec::new() };
    let sign = second.before;
    let (true, Some(a), Some(b), Some(c)) = (
        sign == third.before && matches!(sign, "." | "-" | "/"),
        first.number(),
        second.number(),
        third.number(),
    ) else {
        return Vec::new();
    };
    let date = |year: u32, month: u32, day: u32| {
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, Some(day)))
    };
    if let Some(year) = first.year() {
        return date(year, b, c).into_iter().collect();
    }
    let year = match (third.year(), third.text.len()) {
        (Some(year), _) => year,
        // Two digits are of this century up to 68, as POSIX has it.
        (None, 2) if sign != "-" => {
            if c < 69 {
                2000 + c
            } else {
                1900 + c
            }
        }
        _ => return Vec::new(),
    };
    let american = date(year, a, b).filter(|_| sign == "/" && a != b);
    date(year, b, a).into_iter().chain(american).collect()
}

/// The date that pieces begin with if it has the name of a month: “3 March 2024”, “March 3, 2024”, “March 2024”.
fn of_month(pieces: &[Piece<'_>]) -> Option<Date> {
    // “3 de marzo de 2024”, “the 3rd of March”.
    let is_link = |piece: &&Piece<'_>| !matches!(&*piece.lower, "de" | "of" | "del");
    let mut pieces = pieces.iter().filter(is_link);
    let (first, second, third) = (pieces.next()?, pieces.next()?, pieces.next());
    let month = |piece: &Piece<'_>| MONTHS.get(&*piece.lower).copied();
    let third_year = || third.and_then(Piece::year);
    if let (Some(day), Some(month), Some(year)) = (first.day(), month(second), third_year()) {
        return Some((year, month, Some(day)));
    }
    let month = month(first)?;
    if let (Some(day), Some(year)) = (second.day(), third_year()) {
        return Some((year, month, Some(day)));
    }
    Some((second.year()?, month, None))
}

/// The names of the months and their common abbreviations in the languages that texts are analysed in.
static MONTHS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    const NAMES: [&str; 12] = [
        "january jan januar jänner janvier enero gennaio janeiro januari январь января stycznia ocak",
        "february feb februar février febrero febbraio fevereiro februari февраль февраля lutego şubat",
        "march mar märz mrz mars marzo março maart март марта marca mart",
        "april apr avril abril aprile апрель апреля kwietnia nisan",
        "may mai mayo maggio maio mei maj май мая maja mayıs",
        "june jun juni juin junio giugno junho июнь июня czerwca haziran",
        "july jul juli juillet julio luglio julho июль июля lipca temmuz",
        "august aug août agosto augustus augusti август августа sierpnia ağustos",
        "september sep sept septembre septiembre settembre setembro сентябрь сентября września eylül",
        "october oct oktober okt octobre octubre ottobre outubro октябрь октября października ekim",
        "november nov novembre noviembre novembro ноябрь ноября listopada kasım",
        "december dec dezember dez décembre diciembre dicembre dezembro декабрь декабря grudnia aralık",
    ];
    let names = |(month, names): (u32, &&'static str)| names.split(' ').map(move |name| (name, month));
    (1..).zip(NAMES.iter()).flat_map(names).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        Notation::of(text).terms(Analyzer::of(text)).into_iter().map(|written| written.term).collect()
    }

    #[test]
    fn words_with_hyphens_are_one_word_too() {
        assert_eq!(of("The e-mail of the follow-up, on-site"), ["email", "followup", "onsit"]);
        assert_eq!(of("an up-to-date list of 2020-2021 and of a-b-c-d-e"), ["uptod"]);
        assert_eq!(of("a pump - the best"), [""; 0]);
    }

    #[test]
    fn initials_are_one_name() {
        assert_eq!(of("the R&D budget of the U.S.A. and AT&T"), ["r&d", "usa", "at&t"]);
        assert_eq!(of("salt&pepper and e.g. this"), [""; 0]);
    }

    #[test]
    fn common_words_in_capitals_are_names() {
        assert_eq!(of("Ask the IT department if it works"), ["it"]);
        assert_eq!(of("The Who played there"), ["who"]);
        assert_eq!(of("IT"), ["it"]);
        for text in [
            "What is it? It is here. Who is that?",
            "WHO IS IT FOR",
            "What Is Covered And What Is Not",
            "Fragen Sie uns und die, die Sie kennen",
        ] {
            assert_eq!(of(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn phrases_of_common_words_are_terms() {
        let of = |text: &str| Notation::of(text).phrases(Analyzer::default());
        assert_eq!(of("to be or not to be"), ["to_be_or_not", "be_or_not_to", "or_not_to_be"]);
        assert_eq!(of("it is not. To be, and the pump"), [""; 0]);
    }

    #[test]
    fn dates_have_one_term_in_all_notations() {
        for text in [
            "3 March 2024",
            "March 3, 2024",
            "03.03.2024",
            "3.3.2024",
            "2024-03-03",
            "3/3/2024",
            "3. März 2024",
            "3 de marzo de 2024",
            "the 3rd of March 2024",
            "3 марта 2024",
            "03.03.24",
        ] {
            let terms = of(text).into_iter().filter(|term| term.contains('-'));
            assert_eq!(terms.collect::<Vec<_>>(), ["2024-03", "2024-03-03"], "{text}");
        }
        assert_eq!(of("4/3/2024"), ["2024-03", "2024-03-04", "2024-04", "2024-04-03"]);
        assert_eq!(of("in March 2024"), ["2024-03"]);
        for text in ["version 2.13.2024", "1.2.3", "32.13.2024", "may 5 pumps", "2024-2025-2026"] {
            assert!(!of(text).iter().any(|term| term.contains('-')), "{text}");
        }
    }
}
