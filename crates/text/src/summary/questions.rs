//! Questions that a document probably answers, from its headings, defined terms, captions of tables and rows with figures of a year.

use super::lines::clean;
use crate::headings;
use crate::sentences::{self, Row};
use docent_domain::extraction::ExtractedPage;
use docent_domain::passage_text::without_extension;
use docent_domain::summary::Heading;
use std::collections::HashSet;

/// Maximum number of candidates.
const CANDIDATES_MAX: usize = 24;
/// Maximum number of candidates of one kind before those of another.
const PER_KIND: usize = 4;
/// Documents with more pages have a cover.
const SHORT_PAGES: usize = 5;
/// Length of a topic in characters and in words.
const TOPIC_CHARS: std::ops::RangeInclusive<usize> = 6..=70;
const TOPIC_WORDS_MAX: usize = 9;

/// A question that the document may answer on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The question.
    pub text: String,
    /// The page with the answer, starting at 1.
    pub page: u32,
}

/// The sentences that questions are made of, for one language.
struct Templates {
    /// Before and after the topic of a heading, of a defined term and of a table.
    heading: (&'static str, &'static str),
    term: (&'static str, &'static str),
    table: (&'static str, &'static str),
    /// Before the label of a row, between it and a year, and after the year.
    figure: (&'static str, &'static str, &'static str),
    /// Words between a defined term and its definition.
    defines: &'static [&'static str],
    /// The first word of the caption of a table.
    table_word: &'static str,
}

const ENGLISH: Templates = Templates {
    heading: ("What does the document say about ", "?"),
    term: ("What does “", "” mean?"),
    table: ("What does the table “", "” show?"),
    figure: ("How much is “", "” in ", "?"),
    defines: &["means", "shall mean", "refers to", "is defined as"],
    table_word: "Table",
};

const GERMAN: Templates = Templates {
    heading: ("Was steht im Dokument zu „", "“?"),
    term: ("Was bedeutet „", "“?"),
    table: ("Was zeigt die Tabelle „", "“?"),
    figure: ("Wie hoch ist „", "“ im Jahr ", "?"),
    defines: &["bedeutet", "bezeichnet", "sind", "im Sinne"],
    table_word: "Tabelle",
};

impl Templates {
    /// Those of a language, given by its ISO 639-1 code; English if there are none.
    fn of(language: Option<&str>) -> &'static Self {
        if language == Some("de") { &GERMAN } else { &ENGLISH }
    }
}

/// Candidates in the order in which they should be suggested: questions about figures, terms and tables are rarer and more specific
/// than those about headings.
pub fn candidates(
    title: &str,
    language: Option<&str>,
    outline: &[Heading],
    pages: &[ExtractedPage],
) -> Vec<Candidate> {
    let templates = Templates::of(language);
    let pages = clean(pages);
    let fill = |(before, after): (&str, &str), topic: &str| format!("{before}{topic}{after}");
    let mut of_headings = Topics::default();
    // The whole document is about its title.
    of_headings.known.insert(without_extension(title).to_lowercase());
    for heading in outline {
        if let Some(page) = heading.page {
            of_headings.add(&heading.title, page);
        }
    }
    let (mut of_terms, mut of_tables, mut of_figures) =
        (Topics::default(), Topics::default(), Topics::default());
    for page in &pages {
        let mut figures: Vec<(String, String)> = Vec::new();
        for line in page.text.lines() {
            if let Some(caption) = caption(line, templates.table_word) {
                of_tables.add(caption, page.number);
            }
        }
        for sentence in sentences::split(&page.text) {
            if let Some(term) = defined_term(&sentence.text, templates.defines) {
                of_terms.add(term, page.number);
            }
            figures.extend(sentence.row.as_ref().and_then(figure));
        }
        let total = figures.iter().position(|(label, _)| is_total(label)).unwrap_or(0);
        if let Some((label, year)) = figures.get(total)
            && of_figures.known.insert(label.to_lowercase())
        {
            let (before, between, after) = templates.figure;
            of_figures.found.push((format!("{before}{label}{between}{year}{after}"), page.number));
        }
        if outline.is_empty() {
            // The first page of a long document is a cover.
            let is_cover = page.number == 1 && pages.len() > SHORT_PAGES;
            for line in headings_of_text(&page.text).filter(|_| !is_cover) {
                of_headings.add(line, page.number);
            }
        }
    }
    let kinds = [
        (templates.heading, spread(of_headings.found)),
        (("", ""), spread(of_figures.found)),
        (templates.term, of_terms.found),
        (templates.table, of_tables.found),
    ];
    let mut candidates: Vec<Candidate> = Vec::new();
    let longest = kinds.iter().map(|(_, topics)| topics.len()).max().unwrap_or(0);
    for round in 0..longest {
        for (template, topics) in &kinds {
            let is_heading = *template == templates.heading;
            if let Some((topic, page)) = topics.get(round).filter(|_| is_heading || round < PER_KIND) {
                candidates.push(Candidate { text: fill(*template, topic), page: *page });
            }
        }
    }
    candidates.truncate(CANDIDATES_MAX);
    candidates
}

/// Number of words of the label of a row that says enough, and length of its figure in characters.
const LABEL_WORDS: std::ops::RangeInclusive<usize> = 2..=6;
const FIGURE_CHARS_MAX: usize = 16;

/// The label of a row and the latest year of its header for which it has a figure.
fn figure(row: &Row) -> Option<(String, String)> {
    let label = topic(row.cells.first()?).filter(|label| LABEL_WORDS.contains(&label.split(' ').count()))?;
    let is_vague = label.starts_with("Other")
        || label.starts_with("Sonstige")
        || label.contains(|c: char| c.is_ascii_digit());
    let of_year = |(header, cell): (&String, &String)| {
        let has_figure =
            cell.contains(|c: char| c.is_ascii_digit()) && cell.chars().count() <= FIGURE_CHARS_MAX;
        let mut years = header.split(|c: char| !c.is_alphanumeric()).filter(|word| is_year(word));
        match (years.next(), years.next()) {
            (Some(year), None) if has_figure => Some(year.to_owned()),
            _ => None,
        }
    };
    let year = row.header.iter().zip(&row.cells).skip(1).filter_map(of_year).max()?;
    (!is_vague).then_some((label, year))
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the label of a row is that of a sum, which says more than its parts.
fn is_total(label: &str) -> bool {
    ["Total", "Net ", "Gesamt", "Summe"].iter().any(|word| label.starts_with(word))
}

/// Minimum length of a line of running text in characters.
const FULL_LINE_CHARS: usize = 45;
/// Length of the text in bytes that shows whether a line above it is its heading.
const SECTION_BYTES: usize = 800;

/// The headings of a page's text: lines above running text that has most of their words.
fn headings_of_text(text: &str) -> impl Iterator<Item = &str> {
    headings::headings(text).filter(|line| {
        let after = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
        let section = text.get(after..).unwrap_or_default();
        let next = section.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let section = section[..section.floor_char_boundary(SECTION_BYTES)].to_lowercase();
        let words: Vec<String> = line
            .split(|c: char| !c.is_alphanumeric())
            .filter(|it| it.len() > 3)
            .map(str::to_lowercase)
            .collect();
        let said = words.iter().filter(|word| section.contains(&word[..word.floor_char_boundary(6)])).count();
        line.split(' ').count() > 1
            && !line.contains(',')
            && next.chars().count() >= FULL_LINE_CHARS
            && next.starts_with(char::is_uppercase)
            && said > 0
            && said * 3 >= words.len() * 2
    })
}

/// Topics of all parts of a document: of its thirds in turn.
fn spread(topics: Vec<(String, u32)>) -> Vec<(String, u32)> {
    let third = topics.len().div_ceil(3);
    let order = (0..third).flat_map(|at| [at, at + third, at + 2 * third]);
    order.filter_map(|at| topics.get(at).cloned()).collect()
}

/// Distinct topics with their pages.
#[derive(Default)]
struct Topics {
    found: Vec<(String, u32)>,
    known: HashSet<String>,
}

impl Topics {
    fn add(&mut self, text: &str, page: u32) {
        if let Some(topic) = topic(text)
            && self.known.insert(topic.to_lowercase())
        {
            self.found.push((topic, page));
        }
    }
}

/// Headings that are in many documents and name no topic.
const GENERIC: &str = " contents table of contents index introduction conclusion conclusions abstract summary overview references \
    appendix bibliography acknowledgements acknowledgments notes annex signatures signature exhibits preface foreword cover page \
    executive summary related work future work discussion results methods inhalt inhaltsverzeichnis einleitung fazit \
    zusammenfassung anhang literatur vorwort impressum abbildungsverzeichnis thank you questions agenda getting started united states legal proceedings mine safety disclosures conference call contact information forward-looking \
    statements other information unresolved staff comments documents incorporated by reference defined terms cautionary statement regarding \
    forward-looking statements user manual recommended citation about us available information further information ccs concepts ";

/// Words that do not end a heading.
const LINKING: &str = " of by and the for in or to a an with from on und der die das von für mit zu ";

/// Words that begin a sentence and no heading.
const PRONOUNS: &str = " we our i you it source: note: wir unsere sie quelle: ";

/// The topic that a heading names, without its number; `None` if it names none.
fn topic(heading: &str) -> Option<String> {
    let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_number = |word: &str| {
        let inner = word.trim_matches(|c: char| matches!(c, '.' | ')' | '(' | ':' | '§'));
        let digits = inner.strip_suffix(|c: char| c.is_ascii_alphabetic()).unwrap_or(inner);
        (!digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.'))
            || inner.is_empty()
            || (word.ends_with(['.', ')']) && inner.chars().count() == 1)
            || (inner.len() <= 4 && inner.chars().all(|c| matches!(c, 'I' | 'V' | 'X')))
    };
    let mut words: Vec<&str> = heading.split(' ').collect();
    while words.first().is_some_and(|word| is_number(word) || is_part(word) || *word == "About") {
        words.remove(0);
    }
    let text = words.join(" ");
    let text = text.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '(' | ')' | '&')));
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let single = words.iter().filter(|word| word.chars().count() == 1).count();
    let is_topic = TOPIC_CHARS.contains(&text.chars().count())
        && words.len() <= TOPIC_WORDS_MAX
        && letters * 5 >= text.chars().filter(|c| !c.is_whitespace()).count() * 4
        && digits <= 4
        && single * 3 <= words.len()
        && text.matches('(').count() == text.matches(')').count()
        && text.chars().all(|c| {
            c.is_alphanumeric() || c.is_whitespace() || c.is_ascii_punctuation() || "–—’‘‑".contains(c)
        })
        && !heading.contains(['@', '|', '?', '“', '”', '"', '=', '/', '\u{fffd}', '·', '…'])
        && text.starts_with(|c: char| c.is_uppercase() || c.is_numeric() || c == '(')
        && !words.first().is_some_and(|word| PRONOUNS.contains(&format!(" {} ", word.to_lowercase())))
        && !words.last().is_some_and(|word| LINKING.contains(&format!(" {} ", word.to_lowercase())))
        && !GENERIC.contains(&format!(" {} ", text.to_lowercase()));
    is_topic.then(|| with_small_letters(text))
}

/// Words before the number of a section.
fn is_part(word: &str) -> bool {
    let word = word.to_lowercase();
    matches!(
        word.as_str(),
        "chapter" | "section" | "part" | "item" | "article" | "kapitel" | "abschnitt" | "teil"
    )
}

/// A heading in capital letters with small ones, except for the first of each word.
fn with_small_letters(text: &str) -> String {
    if text.chars().any(char::is_lowercase) {
        return text.to_owned();
    }
    let small = |word: &str| {
        let mut letters = word.chars();
        let first: String = letters.next().into_iter().collect();
        first + &letters.as_str().to_lowercase()
    };
    let is_short =
        |word: &str| matches!(word, "AND" | "OF" | "THE" | "FOR" | "IN" | "TO" | "UND" | "DER" | "DIE");
    let words = text.split(' ').enumerate().map(|(index, word)| match word {
        word if index > 0 && is_short(word) => word.to_lowercase(),
        word => small(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The term in quotation marks that a sentence defines.
fn defined_term<'a>(sentence: &'a str, defines: &[&str]) -> Option<&'a str> {
    let quoted = sentence.trim_start().strip_prefix(['“', '"', '„'])?;
    let end = quoted.find(['”', '"', '“'])?;
    let (term, rest) = quoted.split_at(end);
    let rest = rest.trim_start_matches(['”', '"', '“', ' ']);
    defines.iter().any(|word| rest.starts_with(word)).then_some(term)
}

/// The title of a table in its caption, such as `Table 3: Service intervals`.
fn caption<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.trim().strip_prefix(word)?.strip_prefix(' ')?;
    let number = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).filter(|end| *end > 0)?;
    let title = rest[number..].trim_start_matches([':', '.', ' ', '–', '-']);
    (rest[number..].starts_with([':', '.', ' '])
        && title.starts_with(char::is_uppercase)
        && !title.ends_with(','))
    .then_some(title.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str) -> ExtractedPage {
        ExtractedPage { number, text: text.to_owned(), ..ExtractedPage::default() }
    }

    fn questions(language: &str, outline: &[(&str, u32)], pages: &[&str]) -> Vec<(String, u32)> {
        let outline: Vec<Heading> = outline
            .iter()
            .map(|(title, page)| Heading { title: (*title).to_owned(), page: Some(*page) })
            .collect();
        let pages: Vec<ExtractedPage> =
            pages.iter().zip(1..).map(|(text, number)| page(number, text)).collect();
        let found = candidates("Pumps.pdf", Some(language), &outline, &pages);
        found.into_iter().map(|candidate| (candidate.text, candidate.page)).collect()
    }

    #[test]
    fn headings_terms_and_tables_become_questions() {
        let pages = ["“Pump” means a machine that moves water.\n\nTable 3: Service intervals", "Text."];
        assert_eq!(
            questions("en", &[("PUMPS", 1), ("Introduction", 1), ("2.1 Winter storage", 2)], &pages),
            [
                ("What does the document say about Winter storage?".to_owned(), 2),
                ("What does the table “Service intervals” show?".to_owned(), 1),
            ]
        );
        let pages = [
            "“Pump set” means a machine that moves water.",
            "SAFETY AND USE\nWear gloves for your safety whenever you use this machine.",
        ];
        assert_eq!(
            questions("en", &[], &pages),
            [
                ("What does the document say about Safety and Use?".to_owned(), 2),
                ("What does “Pump set” mean?".to_owned(), 1),
            ]
        );
    }

    #[test]
    fn row_with_the_figure_of_a_year_becomes_a_question() {
        let rows = "| (in millions) | 2017 | 2018 | Change |\n|---|---|---|---|\n| Trade receivables | 4 | 5 | 25% |\n| Total current assets | 6 | 9 | 50% |\n";
        let other = "| Place | Pumps |\n|---|---|\n| The old harbour | 4 |\n\n| | 2018 |\n|---|---|\n| Other current assets | 4 |\n| Long text | a description of it |\n";
        assert_eq!(
            questions("en", &[], &[rows, other, rows]),
            [("How much is “Total current assets” in 2018?".to_owned(), 1)]
        );
        assert_eq!(
            questions("de", &[], &["| | 2018 |\n|---|---|\n| Summe der Erträge | 9 |\n"]),
            [("Wie hoch ist „Summe der Erträge“ im Jahr 2018?".to_owned(), 1)]
        );
    }

    #[test]
    fn questions_are_in_the_language_of_the_document() {
        let pages = ["„Pumpensatz“ bezeichnet eine Maschine.\nTabelle 1: Wartungsintervalle", "x"];
        assert_eq!(
            questions("de", &[("Kapitel 3: Betrieb im Winter", 2), ("Anhang", 2)], &pages),
            [
                ("Was steht im Dokument zu „Betrieb im Winter“?".to_owned(), 2),
                ("Was bedeutet „Pumpensatz“?".to_owned(), 1),
                ("Was zeigt die Tabelle „Wartungsintervalle“?".to_owned(), 1),
            ]
        );
    }

    #[test]
    fn lines_without_a_topic_are_no_candidates() {
        let none: [&str; 7] =
            ["Contents", "4", "IV.", "a | b | c", "Who is it?", "12 34 56 78", "A. B. C. D."];
        for heading in none {
            assert_eq!(topic(heading), None, "{heading}");
        }
        assert_eq!(topic("ITEM 1A. RISK FACTORS").as_deref(), Some("Risk Factors"));
        assert_eq!(topic("Section 4: Warranty claims").as_deref(), Some("Warranty claims"));
    }

    #[test]
    fn lines_above_text_about_something_else_are_no_headings() {
        let text = "Winter storage\nThe storage of the pump in winter needs a dry and warm place.\n\nJane Doe\nThe storage of \
            the pump in winter needs a dry and warm place.\nNet weight\n12 kg";
        assert_eq!(headings_of_text(text).collect::<Vec<_>>(), [""; 0]);
        let text = text.replace("Winter storage", "Winter Storage");
        assert_eq!(headings_of_text(&text).collect::<Vec<_>>(), ["Winter Storage"]);
    }

    #[test]
    fn candidates_are_limited_distinct_and_of_all_parts() {
        let names: Vec<String> =
            (0..200_u8).map(|n| format!("Topic {}", char::from(b'a' + n % 26)) + " things").collect();
        let outline: Vec<(&str, u32)> =
            names.iter().zip(1..).map(|(name, page)| (name.as_str(), page)).collect();
        let found = questions("en", &outline, &["x"]);
        let pages: Vec<u32> = found.iter().map(|(_, page)| *page).collect();
        assert_eq!((found.len(), &pages[..4]), (CANDIDATES_MAX, &[1, 10, 19, 2][..]));
    }
}
