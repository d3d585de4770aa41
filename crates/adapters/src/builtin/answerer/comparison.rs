//! Divides a question about several names, such as two companies, into one about each.

use super::follow_up::{core, names_in};
use super::question::is_among;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::Analyzer;
use std::collections::HashSet;
use std::ops::Range;

/// Maximum number of names that are compared.
const MAX_SIDES: usize = 4;
/// Words between names that are asked about together.
const LINKS: [&str; 6] = ["and", "or", "with", "versus", "vs", "than"];
/// Words that say that names of titles are compared, wherever these stand.
const COMPARING: &str = "compare compared compares comparison versus vs than difference both";
/// Words of a comparison that mean nothing in a question about one name.
const RELATIVE: &str =
    "higher lower larger smaller bigger more less fewer greater better worse each and or with to";
/// What a comparison asks for: “which company had …”.
const WHO: [&str; 6] = ["company", "firm", "one", "business", "manufacturer", "bank"];

/// A question about one of the names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) name: String,
    pub(super) question: String,
}

/// The question about each of its names; none unless it asks about several that no document has together, as far as these
/// passages tell.
pub(super) fn sides(question: &str, found: &[ScoredChunk]) -> Vec<Side> {
    let names = names_in(question);
    let plain = |word: &str| core(word).to_lowercase();
    let links = names.windows(2).map(|pair| {
        let between =
            question[pair[0].end..pair[1].start].trim_start_matches(['\'', '’', 's', ',', ' ', '.']);
        between.trim_end_matches(['.', ',', ' '])
    });
    let links: Vec<&str> = links.collect();
    // A comma alone is within a name, as in “Kelm, Tarn”, unless it is one of a list.
    let are_linked = links.iter().all(|link| link.is_empty() || LINKS.contains(link))
        && links.last().is_some_and(|link| LINKS.contains(link));
    let compares = || question.split_whitespace().any(|word| is_among(&plain(word), COMPARING));
    let analyzer = Analyzer::of(question);
    let terms: Vec<Vec<String>> = names.iter().map(|name| analyzer.terms(&question[name.clone()])).collect();
    let are_titles = || {
        let titles: Vec<Vec<String>> = found.iter().map(|chunk| analyzer.terms(&chunk.title)).collect();
        terms.iter().all(|name| titles.iter().any(|title| name.iter().all(|term| title.contains(term))))
    };
    let is_asked = (2..=MAX_SIDES).contains(&names.len()) && (are_linked || compares() && are_titles());
    if !is_asked || found.is_empty() || have_several(found, &terms) {
        return Vec::new();
    }
    let side = |own: &Range<usize>| {
        let mut rest = question.to_owned();
        for other in names.iter().rev().filter(|name| *name != own) {
            let possessive = ["'s", "’s"].iter().find(|ending| rest[other.end..].starts_with(**ending));
            rest.replace_range(other.start..other.end + possessive.map_or(0, |ending| ending.len()), "");
        }
        let mut words: Vec<&str> = Vec::new();
        for word in rest.split_whitespace() {
            let bare = plain(word);
            match words.last() {
                _ if bare.is_empty() || is_among(&bare, COMPARING) || is_among(&bare, RELATIVE) => {}
                Some(&before) if plain(before) == "which" && WHO.contains(&bare.as_str()) => {}
                _ => words.push(word),
            }
        }
        Side { name: question[own.clone()].to_owned(), question: words.join(" ") }
    };
    names.iter().map(side).collect()
}

/// Whether a document has the terms of all names, in its title or these passages.
fn have_several(found: &[ScoredChunk], names: &[Vec<String>]) -> bool {
    let documents: HashSet<_> = found.iter().map(|chunk| chunk.document_id).collect();
    documents.into_iter().any(|id| {
        let chunks = found.iter().filter(|chunk| chunk.document_id == id);
        let text: String = chunks.flat_map(|chunk| [&*chunk.title, "\n", &*chunk.text, "\n"]).collect();
        let terms: HashSet<String> = Analyzer::of(&text).terms(&text).into_iter().collect();
        names.iter().flatten().all(|term| terms.contains(term))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::found;

    fn report(n: u32, title: &str) -> ScoredChunk {
        ScoredChunk { title: title.to_owned(), ..found(n, 0, "The profit was $3 million.") }
    }

    fn questions(question: &str) -> Vec<String> {
        let sides = sides(question, &[report(1, "Oriel 2018"), report(2, "Tarn Works 2018")]);
        sides.into_iter().map(|side| format!("{}: {}", side.name, side.question)).collect()
    }

    #[test]
    fn question_about_several_names_is_one_about_each() {
        for question in [
            "What was the profit of Oriel and Tarn Works?",
            "Compare the profit of Oriel and Tarn Works in 2018",
            "Did Oriel or Tarn Works have a higher profit in 2018?",
            "Which company had the higher profit, Oriel or Tarn Works?",
            "How does Oriel's profit compare to that of Tarn Works?",
            "What is the difference between Oriel's and Tarn Works's profit?",
            "Was the profit higher at Oriel in 2018 than at Tarn Works?",
        ] {
            let [oriel, tarn] = &questions(question)[..] else { panic!("{question}") };
            assert!(oriel.starts_with("Oriel: ") && tarn.starts_with("Tarn Works: "), "{oriel}, {tarn}");
            assert!(oriel.contains("profit") && !oriel.contains("Tarn"), "{oriel}");
            assert!(tarn.matches("Tarn Works").count() == 2 && !tarn.contains("Oriel"), "{tarn}");
        }
        assert_eq!(
            questions("Which company had the higher profit, Oriel or Tarn Works?")[0],
            "Oriel: Which had the profit, Oriel"
        );
    }

    #[test]
    fn names_that_belong_together_are_not_compared() {
        for question in [
            "What was the profit of Oriel?",
            "What did Oriel report about Tarn Works?",
            "What was the Real profit of Oriel compared to 2017?",
            "What was the profit of the plant in Oriel, Tarn?",
            "What was the profit of the company Oriel & Tarn?",
            "How much Growth did the pumps of Oriel have compared to 2017?",
            "What was the profit of the company?",
            "Compare the profit of Oriel, Tarn, Kelm, Reed and Sorn in the year",
        ] {
            assert_eq!(questions(question), [""; 0], "{question}");
        }
        assert_eq!(questions("What was the profit of Oriel, Tarn and Reed in the year?").len(), 3);
        let both = report(1, "Oriel and Tarn Works");
        assert_eq!(sides("What was the profit of Oriel and Tarn Works?", &[both]), []);
        assert_eq!(sides("What was the profit of Oriel and Tarn Works?", &[]), []);
    }
}
