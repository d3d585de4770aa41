//! Relevance of a ranking for one question.

use super::Question;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A position in a ranking, counted from 1.
pub type Rank = usize;

/// A passage in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Its document.
    pub document: DocumentId,
    /// Its first and last page.
    pub pages: RangeInclusive<u32>,
    /// Its text.
    pub text: String,
    /// Its score in this ranking.
    pub score: f32,
}

impl From<ScoredChunk> for Passage {
    fn from(chunk: ScoredChunk) -> Self {
        Self {
            document: chunk.document_id,
            pages: chunk.span.start.page..=chunk.span.end.page,
            text: chunk.text,
            score: chunk.score,
        }
    }
}

/// The relevance of a ranking for a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevance {
    /// The rank of the first passage on a page that answers the question.
    pub rank: Option<Rank>,
    /// The rank of the first passage of a document that answers the question.
    pub document_rank: Option<Rank>,
    /// The share of the evidence's words in the top passages; `None` without evidence.
    pub evidence: Option<f64>,
}

impl Relevance {
    /// Measures a ranking for a question that the documents `gold` answer. Evidence is searched in the first `top`
    /// passages.
    pub fn of(question: &Question, gold: &[DocumentId], ranking: &[Passage], top: usize) -> Self {
        let is_gold = |passage: &Passage| gold.contains(&passage.document);
        let hits = |passage: &Passage| {
            is_gold(passage) && question.pages.iter().any(|page| passage.pages.contains(page))
        };
        let rank = ranking.iter().position(hits).map(|at| at + 1);
        let document_rank = ranking.iter().position(is_gold).map(|at| at + 1);
        let first = ranking.iter().take(top).filter(|passage| is_gold(passage));
        let evidence = recall(&question.evidence, first.map(|passage| passage.text.as_str()));
        Self { rank, document_rank, evidence }
    }
}

/// The share of the evidence's distinct words that occur in the texts.
fn recall<'a>(evidence: &str, texts: impl Iterator<Item = &'a str>) -> Option<f64> {
    let expected: HashSet<String> = words(evidence).collect();
    if expected.is_empty() {
        return None;
    }
    let found: HashSet<String> = texts.flat_map(words).collect();
    Some(expected.intersection(&found).count() as f64 / expected.len() as f64)
}

/// Lowercase runs of letters and digits. Points and commas are removed from numbers.
fn words(text: &str) -> impl Iterator<Item = String> {
    let separates = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | ','));
    text.split(separates).flat_map(|run| {
        let is_number = run.chars().any(|c| c.is_ascii_digit()) && !run.chars().any(char::is_alphabetic);
        let words: Vec<String> = if is_number {
            vec![run.replace(['.', ','], "")]
        } else {
            run.split(['.', ',']).map(str::to_lowercase).collect()
        };
        words.into_iter().filter(|word| !word.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::document_id;

    fn question(pages: &[u32], evidence: &str) -> Question {
        Question {
            line: 1,
            id: "1".to_owned(),
            text: "q".to_owned(),
            files: vec!["f".to_owned()],
            pages: pages.iter().copied().collect(),
            evidence: evidence.to_owned(),
        }
    }

    fn passage(n: u32, pages: RangeInclusive<u32>, text: &str) -> Passage {
        Passage { document: document_id(n), pages, text: text.to_owned(), score: 1.0 }
    }

    #[test]
    fn passage_on_a_gold_page_of_the_gold_document_is_a_hit() {
        let ranking =
            [passage(2, 5..=5, ""), passage(1, 3..=4, ""), passage(1, 4..=6, ""), passage(1, 5..=5, "")];
        let relevance = Relevance::of(&question(&[5, 90], ""), &[document_id(1)], &ranking, 5);
        assert_eq!(relevance, Relevance { rank: Some(3), document_rank: Some(2), evidence: None });
        let missed = Relevance::of(&question(&[7], ""), &[document_id(1), document_id(2)], &ranking, 5);
        assert_eq!((missed.rank, missed.document_rank), (None, Some(1)));
    }

    #[test]
    fn evidence_recall_counts_distinct_words_in_top_passages_of_the_document() {
        let evidence = "Net sales: $1,577 (2018). Net SALES";
        let first = passage(1, 1..=1, "Sales were 1577.");
        let other = passage(2, 1..=1, "net net net");
        let late = passage(1, 2..=2, "net 2018");
        let judge = |ranking: &[Passage], top| {
            Relevance::of(&question(&[9], evidence), &[document_id(1)], ranking, top).evidence.unwrap()
        };
        let all = [first, other, late];
        assert!((judge(&all, 1) - 0.5).abs() < 1e-12);
        assert!((judge(&all, 2) - 0.5).abs() < 1e-12, "other documents do not count");
        assert!((judge(&all, 3) - 1.0).abs() < 1e-12);
        assert!(judge(&[], 5).abs() < 1e-12);
    }

    #[test]
    fn numbers_with_and_without_separators_are_equal() {
        let all: Vec<String> = words("FY2018: 1,577.5 U.S. a,b … é").collect();
        assert_eq!(all, ["fy2018", "15775", "u", "s", "a", "b", "é"]);
    }
}
