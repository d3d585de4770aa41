//! Selects what answers a question best.
//!
//! In each relevant passage, the sentences and table rows are rated by the [`criteria`](super::criteria) of the question. What a
//! sentence announces is quoted with it. A figure that is asked for by its name is quoted from a financial statement, and one that
//! is calculated from others, such as a ratio, is answered with the rows of these.

use super::calculation::{AskedYears, Calculation, PartSearch, Parts, asked_figure, asked_parts, parts};
use super::choice::{Candidate, choose};
use super::criteria::Criteria;
use super::kinds;
use super::mentions::Mentions;
use super::opposites::Opposites;
use super::pages;
use super::passage::Passage;
use super::periods::{self, Asked, report};
use super::question::Intent;
use super::quote::{Quote, quote_block, quote_briefly, quote_page, quote_rows};
use super::reasons::begins_reason;
use super::scope::{PassageTerms, Topic, in_scope, missing};
use super::statements::carry_captions;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::{self, Analyzer, Lexicon, Name, Question, Synonym, abbreviations};
use docent_text::page_reference::PageReference;
use std::ops::ControlFlow;

/// Weight of a word such as “because” for what is kept of a long sentence if the question asks for a reason.
const REASON_WEIGHT: f32 = 3.0;
/// Terms of a question for the text of a page rather than for something on it; German ones also as an English text has them.
const WHOLE_PAGE: &str = "auf aus contain content das dem der die im in inform inhalt read say show steht summar summari text von was zusammenfass";
/// Maximum number of quotes if the first has the figure that is asked for by its name.
const MAX_WITH_FIGURE: usize = 2;

/// The result of selecting quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Quotes, best first, and others that are less likely to answer the question, with the names and years of the question that
    /// the best ones lack.
    Quotes { best: Vec<Quote>, further: Vec<Quote>, absent: Vec<String> },
    /// The question is out of scope. These passages, by rank, are of documents that it may be about, and no passage has these names
    /// and years of it.
    Nothing { closest: Vec<usize>, unknown: Vec<String> },
    /// Rows with the parts of a calculation, and words for the parts without a row.
    Parts { rows: Vec<Quote>, missing: Vec<String> },
    /// What to search for first: names that no passage contains, though their documents may, and parts of a calculation.
    Search(Vec<String>),
}

/// The passages that were found for a question.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The results of the search for the question, best first.
    pub(super) asked: &'a [ScoredChunk],
    /// The results of each further search.
    pub(super) further: &'a [Vec<ScoredChunk>],
    /// How many further searches were [`Selection::Search`].
    pub(super) retries: usize,
}

/// Selects quotes from the passages found for a question. `follow_up` is the end of it that was asked last, or all of it.
pub(super) fn select(question: &str, follow_up: &str, found: Found<'_>, lexicon: &Lexicon) -> Selection {
    let Found { asked: chunks, further: searches, retries } = found;
    let PageReference { pages, rest } = PageReference::of(question);
    let pages = pages::numbers(&pages, chunks);
    let on_pages: Vec<ScoredChunk>;
    let is_one_document = chunks.iter().all(|chunk| chunk.document_id == chunks[0].document_id);
    let (question, chunks, searches) = if pages.is_empty() {
        (question, chunks, searches)
    } else {
        on_pages = pages::chunks_of(chunks, &pages);
        (rest.as_str(), on_pages.as_slice(), &[][..])
    };
    let found: Vec<&ScoredChunk> = chunks.iter().chain(searches.iter().flatten()).collect();
    let texts: String = chunks.iter().flat_map(|chunk| [&*chunk.text, "\n"]).collect();
    let analyzer = Analyzer::of(&texts);
    let asked = analyzer.question(question);
    let intent = Intent::of(question, follow_up, analyzer);
    let synonyms = lexical::synonyms(question, lexicon, analyzer);
    let kinds = kinds::asked(&asked, analyzer);
    let mut all: Vec<Passage<'_>> =
        found.iter().map(|chunk| Passage::of(analyzer, chunk, &synonyms, &kinds)).collect();
    carry_captions(&mut all, analyzer);
    let mut topics: Vec<Topic<'_>> = found.iter().map(|chunk| Topic::of(analyzer, &asked, chunk)).collect();
    if !pages.is_empty() {
        all.iter_mut().for_each(|passage| passage.keep_pages(&pages));
        if is_one_document {
            topics = topics.into_iter().map(Topic::chosen).collect();
        }
        let title = chunks.first().map(|chunk| analyzer.terms(&chunk.title)).unwrap_or_default();
        let is_whole = |term: &String| title.contains(term) || WHOLE_PAGE.split(' ').any(|word| word == term);
        if asked.terms.iter().all(is_whole) {
            let best =
                pages.iter().flat_map(|page| all.iter().find_map(|passage| quote_page(passage, *page)));
            return Selection::Quotes { best: best.collect(), further: Vec::new(), absent: Vec::new() };
        }
    }
    let all = all;
    let mentions = Mentions::of(question, &intent, &synonyms, &found, analyzer);
    let mut passage_terms: Vec<PassageTerms<'_>> =
        topics.iter().zip(all.iter().map(Passage::terms)).collect();
    let required = mentions.required();
    let missing = missing(&required, &asked, &passage_terms[..chunks.len()]);
    if !chunks.is_empty() && retries == 0 && pages.is_empty() {
        let words = mentions.lacking(&missing);
        if !words.is_empty() {
            // Many documents have a “Table 2”.
            let is_of_one = mentions.lacks_part() && topics[0].named > 0.0;
            let title = is_of_one.then(|| chunks[0].title.clone());
            return Selection::Search(title.into_iter().chain(words).collect());
        }
    }
    let unrelated = mentions.unrelated(&missing, &mut passage_terms);
    let relevant = in_scope(&asked, &passage_terms, &intent);
    let is_relevant = |rank: &usize| relevant.get(*rank) == Some(&true);
    let names = mentions.names_in(&texts, question);
    let periods = periods::asked(question);
    let criteria = Criteria {
        defined: if kinds::asks_for_definition(question) { abbreviations(question) } else { Vec::new() },
        compares_reports: periods == Asked::Each,
        avoids_boilerplate: !kinds::is_boilerplate(question),
        numbered: mentions.parts.clone(),
        opposites: Opposites::of(question),
        asks_for_year: !intent.years.is_empty() && !periods::names_quarter(question),
        ..Criteria::of(&asked, intent, &names, &synonyms, &all[..chunks.len()])
    };
    let mut related: Vec<usize> =
        (0..all.len()).filter(|rank| !unrelated.contains(&all[*rank].chunk.document_id)).collect();
    periods::retain(question, &mut related, |rank| &all[rank].chunk.title, is_relevant);
    let mut narrow = asked.terms.iter().filter(|term| criteria.is_narrow(term));
    // Nothing else than a part with a number is asked for.
    if mentions.lacks_part() && narrow.all(|term| mentions.is_of_absent_part(std::slice::from_ref(term))) {
        return Selection::Nothing { closest: Vec::new(), unknown: mentions.unknown(&missing) };
    }
    let reading = Reading {
        question,
        analyzer,
        lexicon,
        synonyms: &synonyms,
        criteria: &criteria,
        all: &all,
        topics: &topics,
        related: &related,
        names: &names,
        retries: pages.is_empty().then_some(retries),
    };
    let mut figure: Vec<Quote> = Vec::new();
    if related.iter().any(is_relevant) {
        match reading.figure(&asked) {
            ControlFlow::Continue(rows) => figure = rows,
            ControlFlow::Break(selection) => return selection,
        }
    }
    let candidates = related.iter().copied().filter(is_relevant);
    let candidates = candidates.flat_map(|rank| criteria.candidates(rank, &all[rank], &topics[rank]));
    let (chosen, further) = choose(candidates.collect(), periods);
    let absent = mentions.absent(chosen.iter().flatten());
    let others = if figure.is_empty() { usize::MAX } else { MAX_WITH_FIGURE.saturating_sub(figure.len()) };
    let others = chosen.iter().take(others).flat_map(|group| reading.quote(group));
    let best = without_repetitions(&[], figure.into_iter().chain(others));
    if best.is_empty() {
        return Selection::Nothing { unknown: mentions.unknown(&missing), closest: related };
    }
    let briefly = |candidate: &Candidate<'_>| reading.quote_briefly(candidate.passage, candidate.index);
    let further = without_repetitions(&best, further.iter().map(briefly));
    Selection::Quotes { best, further, absent }
}

/// A question with the passages found for it.
struct Reading<'a> {
    question: &'a str,
    analyzer: Analyzer,
    lexicon: &'a Lexicon,
    synonyms: &'a [Synonym<'a>],
    criteria: &'a Criteria<'a>,
    all: &'a [Passage<'a>],
    topics: &'a [Topic<'a>],
    /// The ranks of the passages that may be quoted.
    related: &'a [usize],
    names: &'a [Name],
    /// The number of further searches; `None` if there must be no more, since the question names pages.
    retries: Option<usize>,
}

impl Reading<'_> {
    /// The rows with the figure that the question asks for by its name. Breaks with the parts to calculate it from, or with a further
    /// search for them or for an amount.
    fn figure(&self, asked: &Question) -> ControlFlow<Selection, Vec<Quote>> {
        let wanted = self.wanted(asked);
        let years = &self.criteria.intent.years;
        let asked_years = AskedYears { years, are_whole: self.criteria.asks_for_year };
        // What only has the form of a ratio is often in sentences.
        let is_known = self.synonyms.iter().any(Synonym::is_calculation);
        let mut figure = Vec::new();
        match parts(&wanted, &asked_years, self.related, self.all, self.topics) {
            Some(found)
                if !wanted.is_printed()
                    && let Some(made) = self.retries
                    && let Some(search) = found.next_search(made) =>
            {
                return ControlFlow::Break(match search {
                    PartSearch::Words(words) => {
                        let parts = std::iter::once(words.to_owned()).chain(found.missing);
                        self.search(parts.chain(wanted.figure_names()))
                    }
                    PartSearch::Pages(pages) => Selection::Search(vec![pages]),
                });
            }
            Some(Parts { rows, missing, .. })
                if missing.is_empty() || is_known && !wanted.is_figure() && rows.len() >= missing.len() =>
            {
                let is_row =
                    |(passage, index): &(&Passage<'_>, usize)| passage.units[*index].sentence.row.is_some();
                let (rows, sentences): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_row);
                figure = quote_rows(&rows, years);
                figure
                    .extend(sentences.into_iter().map(|(passage, index)| self.quote_briefly(passage, index)));
                if !wanted.is_figure() {
                    return ControlFlow::Break(Selection::Parts { rows: figure, missing });
                }
            }
            _ => {}
        }
        let lacks_figure =
            || wanted.is_none() && self.criteria.lacks_figure(self.related, self.all, self.topics);
        if self.retries == Some(0) && lacks_figure() {
            let is_narrow =
                |word: &String| self.analyzer.terms(word).iter().any(|term| self.criteria.is_narrow(term));
            return ControlFlow::Break(self.search(lexical::content_words(self.question).filter(is_narrow)));
        }
        ControlFlow::Continue(figure)
    }

    /// What the question asks to calculate or by its name.
    fn wanted(&self, asked: &Question) -> Calculation {
        let Self { question, lexicon, synonyms, criteria, .. } = self;
        if criteria.intent.reason {
            return Calculation::none();
        }
        let subject = asked.terms.iter().map(String::as_str).filter(|term| criteria.is_narrow(term));
        let subject: Vec<&str> = subject.collect();
        let passages = self.related.iter().map(|rank| &self.all[*rank]);
        let figure =
            (!criteria.compares_reports).then(|| asked_figure(&subject, synonyms, lexicon, passages));
        figure.flatten().unwrap_or_else(|| asked_parts(question, synonyms, lexicon, self.analyzer))
    }

    /// A further search for these words with the names and years of the question.
    fn search(&self, words: impl Iterator<Item = String>) -> Selection {
        let names = self.names.iter().map(|name| name.word.clone());
        Selection::Search(names.chain(words).chain(self.criteria.intent.years.iter().cloned()).collect())
    }

    fn quote(&self, group: &[Candidate<'_>]) -> Vec<Quote> {
        let years = &self.criteria.intent.years;
        match group {
            [one] => {
                vec![quote_block(one.passage, one.index, one.block.clone(), years, &|word| self.weight(word))]
            }
            rows => quote_rows(&rows.iter().map(|row| (row.passage, row.index)).collect::<Vec<_>>(), years),
        }
    }

    fn quote_briefly(&self, passage: &Passage<'_>, index: usize) -> Quote {
        quote_briefly(passage, index, &|word| self.weight(word))
    }

    /// How much a word matters for what is kept of a long sentence.
    fn weight(&self, word: &str) -> f32 {
        let reason = if self.criteria.intent.reason && begins_reason(word) { REASON_WEIGHT } else { 0.0 };
        reason + self.analyzer.terms(word).iter().map(|term| self.criteria.weight(term)).sum::<f32>()
    }
}

/// The words of the series of reports that a question compares, or whose latest it asks for.
pub(super) fn series(question: &str, chunks: &[ScoredChunk]) -> Option<String> {
    let asks = periods::asked(question) != Asked::Any && PageReference::of(question).pages.is_empty();
    let (words, _) = chunks.iter().filter(|_| asks).find_map(|chunk| report(&chunk.title))?;
    Some(words.join(" "))
}

/// The quotes that are not part of a previous one, or of one of `before`.
fn without_repetitions(before: &[Quote], quotes: impl Iterator<Item = Quote>) -> Vec<Quote> {
    let mut kept: Vec<Quote> = Vec::new();
    for quote in quotes {
        let text = quote.text.trim_matches(['…', ' ']);
        if !before.iter().chain(&kept).any(|other| other.title == quote.title && other.text.contains(text)) {
            kept.push(quote);
        }
    }
    kept
}
