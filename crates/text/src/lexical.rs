//! Converts text to the terms of lexical search.
//!
//! The terms of a passage are the stems of its words without stop words, by its [`language`]. A query goes through the same
//! steps; words that say how it is asked count less.

mod asking;
mod compound;
mod english;
mod folding;
mod language;
mod lexicon;
mod names;
mod notation;
mod query;
mod tokens;

pub use asking::is_year;
use docent_domain::retrieval::QueryTerm;
use docent_domain::spelling::{SpelledWord, one_mistake_from};
use language::Language;
pub use lexicon::Synonym;
pub use lexicon::{InvalidLexicon, Lexicon};
pub use names::{Name, abbreviations, names, numbered};
use notation::{Notation, Written};
use std::collections::{HashMap, HashSet};

/// Longer terms are cut, because they are not words.
const TERM_CHARS: usize = 64;

/// The content of a question.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The distinct terms.
    pub terms: Vec<String>,
    /// Joined adjacent words, each with the terms of its parts.
    pub joined: Vec<(String, Vec<String>)>,
}

/// Converts text in a language to terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Analyzer {
    language: Language,
}

impl Analyzer {
    /// Creates an analyzer for the language of a text, or English if it is not clear.
    pub fn of(text: &str) -> Self {
        Self::default().or_of(&tokens::words(text))
    }

    /// Returns an analyzer for the language of these words, or this one if it is not clear.
    fn or_of(self, words: &[String]) -> Self {
        let language = Language::of(words.iter().map(String::as_str));
        language.map_or(self, |language| Self { language })
    }

    /// Whether capitalised words within a sentence are names in the language.
    pub fn has_capitals_for_names(self) -> bool {
        self.language != Language::German
    }

    /// Returns the terms of a text in order, with repetitions. A text that is clearly in another language is analysed in
    /// that language.
    pub fn terms(self, text: &str) -> Vec<String> {
        let words = tokens::words(text);
        let analyzer = self.or_of(&words);
        let terms = words.iter().flat_map(|word| analyzer.indexed_terms_of_word(word));
        let notation = Notation::of(text);
        let written = notation.terms(analyzer).into_iter().map(|written| written.term);
        terms.chain(written).chain(notation.phrases(analyzer)).collect()
    }

    /// Returns the distinct terms of a text in the order of their first occurrence.
    pub fn distinct_terms(self, text: &str) -> Vec<String> {
        distinct(self.terms(text))
    }

    /// Returns the words of a question as terms, without parts of words that mix letters and digits.
    pub fn question(self, question: &str) -> Question {
        let runs = query::content_words(question);
        let languages = languages(question);
        // A question in another language than the documents has its own common words.
        let is_foreign_stop_word = |word: &str| {
            !languages.contains(&self.language)
                && languages.iter().any(|language| language.is_stop_word(word))
        };
        let terms = |word: &String| {
            if is_foreign_stop_word(word) {
                return Vec::new();
            }
            let mut terms = self.terms_of_word(word);
            terms.truncate(if tokens::is_unspaced(word) { usize::MAX } else { 1 });
            terms
        };
        let joined = |(joined, words): (String, &[String])| (joined, words.iter().flat_map(terms).collect());
        Question {
            terms: distinct(runs.iter().flatten().flat_map(terms).collect()),
            joined: runs.iter().flat_map(|run| self.joined(run)).map(joined).collect(),
        }
    }

    /// Joins two and three adjacent content words.
    fn joined(self, run: &[String]) -> impl Iterator<Item = (String, &[String])> {
        let joinable = move |word: &String| !self.language.is_stop_word(word) && !tokens::is_unspaced(word);
        // Numbers are joined only to one of thousands: “1 250”.
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        let fits = move |words: &[String]| {
            words.windows(2).all(|pair| !pair.iter().all(is_number) || pair[1].len() == 3)
        };
        let joined = move |size| {
            run.windows(size)
                .filter(move |words| words.iter().all(joinable) && fits(words))
                .map(move |words| (self.stem(&words.concat()), words))
        };
        joined(2).chain(joined(3))
    }

    /// The terms by which a word of a query finds passages.
    fn terms_of_word(self, word: &str) -> Vec<String> {
        if self.language.is_stop_word(word) {
            return Vec::new();
        }
        if tokens::is_unspaced(word) {
            return tokens::bigrams(word);
        }
        let mut terms = vec![self.stem(word)];
        terms.extend(tokens::parts(word).into_iter().map(|part| self.stem(part)));
        terms.extend(tokens::ungrouped(word));
        // First, since some uses take one term of a word.
        terms.splice(..0, self.language.same_as(word).map(|same| self.stem(&same)));
        terms
    }

    /// The terms of a word in a passage: those of a query, and those by which a query finds it that is written more simply. A query
    /// without accents finds words with them; one with accents means them.
    fn indexed_terms_of_word(self, word: &str) -> Vec<String> {
        let mut terms = self.terms_of_word(word);
        if tokens::is_unspaced(word) {
            terms.extend(tokens::unigrams(word));
        } else if let (false, Some(folded)) = (terms.is_empty(), folding::folded(word)) {
            let stem = self.stem(&folded);
            if !terms.contains(&stem) {
                terms.push(stem);
            }
        }
        let parts = compound::parts(word, self.language).into_iter();
        terms.extend(parts.map(|part| compound::term(&self.stem(part))));
        terms
    }

    fn stem(self, word: &str) -> String {
        cut(self.language.stem(word))
    }

    fn is_common(self, word: &str) -> bool {
        self.language.is_stop_word(word)
    }
}

/// Whether a question is in German rather than in another language.
pub fn is_german(question: &str) -> bool {
    let words = tokens::words(question);
    let may_be = Language::may_be(words.iter().map(String::as_str));
    may_be.contains(&Language::German) && !may_be.contains(&Language::English)
}

/// Whether a text is in a known language other than German.
pub fn is_foreign_to_german(text: &str) -> bool {
    let words = tokens::words(text);
    Language::of(words.iter().map(String::as_str)).is_some_and(|language| language != Language::German)
}

/// Weight of a word that says how or where an answer is given, relative to other words of the query.
const ASKING_WEIGHT: f32 = 0.5;
/// Weight of a term that a lexicon adds, relative to a word of the query.
const EXPANSION_WEIGHT: f32 = 0.75;
/// Weight of another form of a word, such as its singular or its American spelling. The word as it is written has the rest, so that both
/// forms together weigh as much as any word.
const FORM_WEIGHT: f32 = 0.5;
/// Weight of a word as a part of a compound, relative to the word itself.
const PART_WEIGHT: f32 = 0.5;

/// Returns the search terms of a query with those of the lexicon, and which of them are names.
pub fn weighted_query_terms(query: &str, lexicon: &Lexicon) -> Vec<QueryTerm> {
    let names: HashSet<String> = names::capitalised(query)
        .into_iter()
        .flat_map(|name| name.terms)
        .filter(|term| identifies(term))
        .collect();
    let lower = query.to_lowercase();
    let (numbered, analyzers) = (asking::numbered(&lower), analyzers(query));
    let is_for_asking = |term: &str| {
        analyzers.iter().any(|analyzer| {
            asking::is_for_asking(term, analyzer.language)
                && !numbered.iter().any(|word| analyzer.stem(word) == term)
        })
    };
    let runs = query::content_words(query);
    let forms = forms(&runs, query);
    let has_subject = |question: &String| {
        let words = query::content_words(question);
        words.iter().flatten().any(|word| terms_in(&analyzers, word).iter().any(|term| !is_for_asking(term)))
    };
    // “My laptop was stolen. What should I do?” asks about what is said before.
    let asked = query::asked(query).filter(has_subject);
    let asked = asked.map(|question| query_terms(&question).into_iter().collect::<HashSet<_>>());
    let is_aside = |term: &String| asked.as_ref().is_some_and(|terms| !terms.contains(term));
    let word = |term: String| {
        let is_name = names.contains(&term);
        let weight = if (is_aside(&term) || is_for_asking(&term)) && !is_name { ASKING_WEIGHT } else { 1.0 };
        let share = forms.get(&term).copied().unwrap_or(1.0);
        QueryTerm { is_name, weight: weight * share, ..QueryTerm::word(term) }
    };
    let mut terms: Vec<QueryTerm> = query_terms(query).into_iter().map(word).collect();
    let expansions = lexicon.expansions(&runs, &languages(query)).into_iter();
    terms.extend(expansions.map(|term| QueryTerm {
        weight: EXPANSION_WEIGHT,
        is_own: false,
        ..QueryTerm::word(term)
    }));
    let parts = distinct(parts_of_compounds(&runs, query)).into_iter();
    terms.extend(parts.map(|term| QueryTerm { weight: PART_WEIGHT, is_own: false, ..QueryTerm::word(term) }));
    terms
}

/// The shares of the terms of words that have another form.
fn forms(runs: &[Vec<String>], query: &str) -> HashMap<String, f32> {
    let mut shares = HashMap::new();
    for analyzer in analyzers(query) {
        for word in runs.iter().flatten() {
            let Some(same) = analyzer.language.same_as(word) else { continue };
            let (same, written) = (analyzer.stem(&same), analyzer.stem(word));
            if same != written {
                shares.extend([(same, FORM_WEIGHT), (written, 1.0 - FORM_WEIGHT)]);
            }
        }
    }
    shares
}

/// The terms of words in compounds, in the languages of a query that have them.
fn parts_of_compounds(runs: &[Vec<String>], query: &str) -> Vec<String> {
    let analyzers =
        analyzers(query).into_iter().filter(|analyzer| compound::has_compounds(analyzer.language));
    let parts = analyzers.flat_map(|analyzer| {
        let may_be_part = move |word: &&String| compound::may_be_part(word) && !analyzer.is_common(word);
        runs.iter().flatten().filter(may_be_part).map(move |word| compound::term(&analyzer.stem(word)))
    });
    parts.collect()
}

/// Returns the words of a question.
pub fn content_words(question: &str) -> impl Iterator<Item = String> {
    query::content_words(question).into_iter().flatten()
}

/// Returns the phrases of a question for which documents have other words. Their terms are those of the analyzer.
pub fn synonyms<'l>(question: &str, lexicon: &'l Lexicon, analyzer: Analyzer) -> Vec<Synonym<'l>> {
    lexicon.synonyms(&query::content_words(question), &languages(question), analyzer)
}

/// Returns the languages that a query may be in.
fn languages(query: &str) -> Vec<Language> {
    let words = tokens::words(query);
    Language::may_be(words.iter().map(String::as_str))
}

/// Whether a term of a name is more than a number or a letter.
fn identifies(term: &str) -> bool {
    term.chars().nth(1).is_some() && !term.chars().all(|c| c.is_numeric() || matches!(c, '.' | ','))
}

/// Returns the search terms of a query: the distinct terms of its content words, then joined adjacent
/// words, because titles and names often join them. Uses every language that the query may be in.
pub fn query_terms(query: &str) -> Vec<String> {
    let runs = query::content_words(query);
    let analyzers = analyzers(query);
    let terms = analyzers.iter().flat_map(|analyzer| {
        runs.iter().flatten().flat_map(move |word| analyzer.terms_of_word(word)).collect::<Vec<_>>()
    });
    let joined = analyzers
        .iter()
        .flat_map(|analyzer| runs.iter().flat_map(move |run| analyzer.joined(run)).map(|(joined, _)| joined));
    let words = runs.iter().flatten().flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    let content: HashSet<&str> = words.collect();
    let is_content = |written: &Written| written.words.iter().all(|word| content.contains(word.as_str()));
    let notation = Notation::of(query);
    // A letter of a name, as in “O'Neill”, can be a common word of a language that the query is not in.
    let of_notation = analyzers.iter().copied().chain([Analyzer::default()]);
    let written = of_notation.flat_map(|analyzer| notation.terms(analyzer)).filter(is_content);
    let terms = distinct(terms.chain(joined).chain(written.map(|written| written.term)).collect());
    if !terms.is_empty() {
        return terms;
    }
    // A title such as “To be or not to be”.
    let phrases = distinct(analyzers.iter().flat_map(|analyzer| notation.phrases(*analyzer)).collect());
    if phrases.is_empty() { terms_elsewhere(&runs) } else { phrases }
}

/// Returns the terms of words that are common in one language and mean something in another, such as “war” and
/// “man”. Common words of English are not searched for: texts in an unclear language are read as English.
fn terms_elsewhere(runs: &[Vec<String>]) -> Vec<String> {
    let words = runs.iter().flatten().filter(|word| !Language::English.is_stop_word(word));
    let terms = words.flat_map(|word| {
        let languages = Language::may_be([]).into_iter();
        languages.flat_map(|language| Analyzer { language }.terms_of_word(word))
    });
    distinct(terms.collect())
}

/// Shorter words are not corrected: too many others are one mistake away.
const MIN_CORRECTED_CHARS: usize = 4;
/// Longer ones are not either: the words that are one mistake away are a hundred times as many as the letters.
const MAX_CORRECTED_CHARS: usize = 32;

/// Returns the words of a query that may be misspelled: content words of letters alone, in scripts with spaces, that are not in a
/// lexicon.
pub fn spelled_words(query: &str, lexicon: &Lexicon) -> Vec<SpelledWord> {
    let analyzers = analyzers(query);
    let runs = query::content_words(query);
    let known = lexicon.known(&runs, &languages(query));
    let is_word = |word: &&String| {
        !known.contains(word.as_str())
            && word.chars().all(char::is_alphabetic)
            && !tokens::is_unspaced(word)
            && (MIN_CORRECTED_CHARS..=MAX_CORRECTED_CHARS).contains(&word.chars().count())
    };
    let words = runs.iter().flatten().filter(is_word);
    let spelled = |word: &String| {
        let is_common = analyzers.iter().any(|analyzer| analyzer.language.is_stop_word(word));
        (!is_common).then(|| SpelledWord { terms: terms_in(&analyzers, word), word: word.clone() })
    };
    words.filter_map(spelled).collect()
}

/// Returns the words that may be meant by a word of a query that no passage has: first itself, if other languages have another stem of it
/// (“Fitness” in a German question about an English text), then the one without accents. A word that is too common to be searched for is meant only if two
/// letters are exchanged.
pub fn meant_by(word: &str, query: &str) -> Vec<SpelledWord> {
    let analyzers = analyzers(query);
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let letters = sorted(word);
    let spelled = |word: String| {
        let is_common = analyzers.iter().any(|analyzer| analyzer.language.is_stop_word(&word));
        let terms = if is_common { Vec::new() } else { terms_in(&analyzers, &word) };
        (!is_common || sorted(&word) == letters).then_some(SpelledWord { word, terms })
    };
    let mut terms = terms_in(&Language::ALL.map(|language| Analyzer { language }), word);
    let known = terms_in(&analyzers, word);
    terms.retain(|term| !known.contains(term));
    let itself = (!terms.is_empty()).then(|| SpelledWord { word: word.to_owned(), terms });
    let others = folding::folded(word).into_iter().chain(one_mistake_from(word)).filter_map(spelled);
    itself.into_iter().chain(others).collect()
}

/// Returns the analyzers for the languages that a query may be in.
fn analyzers(query: &str) -> Vec<Analyzer> {
    languages(query).into_iter().map(|language| Analyzer { language }).collect()
}

/// Returns the distinct terms of a word in these languages.
fn terms_in(analyzers: &[Analyzer], word: &str) -> Vec<String> {
    distinct(analyzers.iter().flat_map(|analyzer| analyzer.terms_of_word(word)).collect())
}

fn cut(mut term: String) -> String {
    if let Some((end, _)) = term.char_indices().nth(TERM_CHARS) {
        term.truncate(end);
    }
    term
}

fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    terms.into_iter().filter(|term| seen.insert(term.clone())).collect()
}

/// Returns at most `chars` characters from the start of `text`, without a word that is cut.
pub fn beginning(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let cut = text[..end].rsplit_once(char::is_whitespace);
    // Scripts without spaces have no words to keep whole.
    let cut = cut.filter(|(_, word)| word.chars().count() <= TERM_CHARS);
    cut.map_or(&text[..end], |(whole, _)| whole.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analyzer::default().terms(text)
    }

    fn query(text: &str) -> Vec<String> {
        query_terms(text)
    }

    #[test]
    fn words_are_lower_cased_and_stemmed_and_stop_words_dropped() {
        assert_eq!(terms("The Pumps were running, and the PUMP runs."), ["pump", "run", "pump", "run"]);
    }

    #[test]
    fn words_with_letters_and_digits_include_their_parts() {
        assert_eq!(terms("FY2018"), ["fy2018", "fy", "2018"]);
        assert_eq!(terms("3M_2018_10K.pdf"), ["3m", "3", "m", "2018", "10k", "10", "k", "pdf"]);
    }

    #[test]
    fn numbers_and_codes_are_not_split() {
        assert_eq!(terms("1,234.5 (1,577) v2.0.1 3.14"), ["1234.5", "1577", "v2.0.1", "v", "2.0.1", "3.14"]);
        assert_eq!(terms("1, 2,3"), ["1", "2.3", "2", "3"], "two numbers, or one with decimals");
    }

    #[test]
    fn scripts_without_spaces_become_bigrams() {
        assert_eq!(terms("東京都 water"), ["東京", "京都", "東", "京", "都", "water"]);
        assert_eq!(terms("カタカナ"), terms("ｶﾀｶﾅ"));
        assert_eq!(query("京"), ["京"]);
        assert_eq!(terms("水"), ["水"]);
        assert_eq!(query("東京都"), ["東京", "京都"]);
    }

    #[test]
    fn full_width_letters_and_decomposed_accents_are_words() {
        assert_eq!(terms("ＡＢＣ１２"), ["abc12", "abc", "12"]);
        assert_eq!(terms("cafe\u{301}s"), terms("cafés"));
        assert_eq!(terms("Größe ПРИВЕТ"), ["größe", "gross", "привет"]);
    }

    #[test]
    fn possessives_are_removed() {
        assert_eq!(terms("company's companies’ James'"), ["compani", "compani", "jame"]);
        assert_eq!(query("What is Costco's revenue?"), ["costco", "revenu", "costcorevenu"]);
    }

    #[test]
    fn fiscal_years_become_years() {
        for text in
            ["FY2018", "FY18", "FY 2018", "fiscal 2018", "fiscal year 2018", "FY'18", "financial year 2018"]
        {
            assert_eq!(query(text), ["2018"], "{text}");
        }
        assert_eq!(query("FY98"), ["1998"]);
        for text in ["year end FY2018", "FY2018 year end", "at year-end 2018"] {
            assert_eq!(query(text), ["2018"], "{text}");
        }
        assert_eq!(
            query("the fiscal year end"),
            ["fiscal", "year", "end", "fiscalyear", "yearend", "fiscalyearend"]
        );
        assert_eq!(query("the fiscal policy"), ["fiscal", "polici", "fiscalpolici"]);
    }

    #[test]
    fn adjacent_words_are_joined_within_a_clause() {
        assert_eq!(query("the Best Buy"), ["best", "buy", "bestbuy"]);
        assert_eq!(
            query("the American Water Works"),
            ["american", "water", "work", "americanwat", "waterwork", "americanwaterwork"]
        );
        assert_eq!(query("the pumps, valves"), ["pump", "valv"]);
    }

    #[test]
    fn names_are_marked_and_expansions_weigh_less() {
        let terms = weighted_query_terms("What is the capex of Acme in Q3 2018?", &Lexicon::builtin());
        let names: Vec<&str> = terms.iter().filter(|term| term.is_name).map(|term| &*term.text).collect();
        assert_eq!(names, ["acm", "q3"]);
        let weight = |text: &str| terms.iter().find(|term| &*term.text == text).unwrap().weight;
        assert_eq!((weight("capex"), weight("expenditur")), (1.0, EXPANSION_WEIGHT));
        assert_eq!(weight("q3"), 1.0);
    }

    #[test]
    fn german_questions_search_english_documents_too() {
        let added = |query: &str| {
            let terms = weighted_query_terms(query, &Lexicon::builtin()).into_iter();
            terms.filter(|term| !term.is_own).map(|term| term.text.to_string()).collect::<HashSet<_>>()
        };
        let has = |query: &str, term: &str| added(query).contains(term);
        assert!(has("Wie hoch ist der Capex der Firma?", "expenditur"), "abbreviations are the same");
        for query in ["Wie viele Mitarbeitern wurde gekündigt?", "Mitarbeiter 2018"] {
            assert!(has(query, "employe"), "{query}: {:?}", added(query));
        }
        assert!(has("Wie hoch war der Umsatz je Kunde?", "revenu"));
        assert!(added("the name of the Kunde, and of all the Risiken").is_empty(), "it is in English");
        let french = weighted_query_terms("quel est le capex de la maison", &Lexicon::builtin());
        assert!(french.iter().all(|term| term.is_own), "{french:?}");
    }

    #[test]
    fn common_words_of_the_question_are_dropped_for_documents_in_another_language() {
        let question = Analyzer::default().question("Wie hoch war der Umsatz von Amcor?");
        assert_eq!(question.terms, ["hoch", "umsatz", "amcor"]);
    }

    fn weights(query: &str) -> HashMap<String, f32> {
        let terms = weighted_query_terms(query, &Lexicon::default()).into_iter();
        terms.map(|term| (term.text.to_string(), term.weight)).collect()
    }

    #[test]
    fn words_for_asking_weigh_less() {
        let of = weights("Please describe the valve of the pump in the table");
        assert_eq!((of["describ"], of["tabl"], of["valv"]), (ASKING_WEIGHT, ASKING_WEIGHT, 1.0));
        assert_eq!(weights("the heating in table 14")["tabl"], 1.0, "it is a part of a name");
        assert_eq!(weights("Wie viele Jahre gilt die Garantie laut Tabelle?")["tabell"], ASKING_WEIGHT);
    }

    #[test]
    fn words_beside_the_question_weigh_less() {
        let of = weights("My Acme pump leaks. How long is the warranty? Be a lawyer with two decimals.");
        assert_eq!((of["leak"], of["lawyer"], of["warranti"]), (ASKING_WEIGHT, ASKING_WEIGHT, 1.0));
        assert_eq!(of["acm"], 1.0, "it is a name");
        assert_eq!(weights("My pump leaks. Tell me about its warranty.")["leak"], 1.0, "nothing is asked");
        assert_eq!(weights("My pump leaks. What should I do?")["leak"], 1.0, "that is asked about");
        assert_eq!(weights("How long is the warranty of v2.5?")["warranti"], 1.0);
    }

    #[test]
    fn words_that_may_be_misspelled_are_long_and_have_no_digits() {
        let words = |query: &str| {
            let words = spelled_words(query, &Lexicon::default()).into_iter();
            words.map(|word| word.word).collect::<Vec<_>>()
        };
        assert_eq!(words("What is teh anual revenue of Amcr in FY2018?"), ["anual", "revenue", "amcr"]);
        assert_eq!(words("the and which 東京都 q3 2018"), [""; 0]);
        let lexicon: Lexicon = "capex = capital expenditures".parse().unwrap();
        assert!(spelled_words("what is the capex", &lexicon).is_empty(), "it is known");
        assert!(spelled_words(&"x".repeat(33), &lexicon).is_empty(), "too many words are one mistake away");
    }

    #[test]
    fn common_words_are_meant_only_by_exchanged_letters() {
        let common = |word: &str| {
            let meant = meant_by(word, "the pumps are red and that is all");
            meant.into_iter().filter(|word| word.terms.is_empty()).map(|word| word.word).collect::<Vec<_>>()
        };
        assert_eq!(common("waht"), ["what"]);
        assert_eq!(common("whate"), [""; 0]);
        let meant = meant_by("anual", "the anual report of the pumps and of that");
        assert!(meant.contains(&SpelledWord { word: "annual".into(), terms: vec!["annual".into()] }));
    }

    #[test]
    fn word_of_another_language_is_meant_first() {
        let meant = meant_by("fitness", "wie viel geld bekomme ich für fitness");
        assert!(meant[0].word == "fitness" && meant[0].terms.contains(&"fit".to_owned()), "{:?}", meant[0]);
        assert!(meant[1..].iter().all(|other| other.word != "fitness"));
    }

    #[test]
    fn query_terms_are_distinct() {
        assert_eq!(query("pump; pumps; the pump"), ["pump"]);
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(terms(&"x".repeat(1000)), ["x".repeat(64)]);
    }
}
