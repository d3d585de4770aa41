//! What was measured, in figures.

use super::{Answered, DEPTH, Estimate, Judged, Measured, Passage, Source, estimate};
use docent_domain::id::DocumentId;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What is searched for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All documents in one collection.
    AllDocuments,
    /// The one that answers it.
    OneDocument,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::AllDocuments, Self::OneDocument];

    /// For programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::AllDocuments => "all_documents",
            Self::OneDocument => "one_document",
        }
    }
}

/// What ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// The service.
    Docent,
    /// Plain BM25 over the same passages.
    Bm25,
    /// The cosine of the same vectors alone.
    Dense,
}

impl Ranking {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Docent, Self::Bm25, Self::Dense];

    /// For programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Docent => "docent",
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
        }
    }
}

/// What a ranking is measured by; each is between 0 and 1, and higher is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The share of questions with a right page among so many passages.
    PageHit(usize),
    /// The mean of one over the place of the first right page.
    ReciprocalRank,
    /// The mean share of the evidence's words in the first passages.
    Evidence,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::PageHit(1),
        Self::PageHit(5),
        Self::PageHit(10),
        Self::PageHit(DEPTH),
        Self::ReciprocalRank,
        Self::Evidence,
    ];

    /// For programs.
    pub fn code(self) -> String {
        match self {
            Self::PageHit(k) => format!("page_hit_at_{k}"),
            Self::ReciprocalRank => "mrr".to_owned(),
            Self::Evidence => "evidence_recall".to_owned(),
        }
    }

    /// Of one question; `None` where it does not apply.
    fn of(self, judged: &Judged) -> Option<f64> {
        match self {
            Self::PageHit(k) => Some(f64::from(u8::from(judged.is_hit_at(k)))),
            Self::ReciprocalRank => Some(judged.reciprocal_rank()),
            Self::Evidence => judged.evidence,
        }
    }
}

/// A metric over all questions, asked and ranked in one way; `None` when there is nothing to measure.
pub fn summary(questions: &[Measured], scope: Scope, ranking: Ranking, metric: Metric) -> Option<Estimate> {
    let outcomes = questions.iter().flat_map(|measured| &measured.outcomes);
    let these = outcomes.filter(|outcome| outcome.scope == scope && outcome.ranking == ranking);
    let values: Vec<f64> = these.filter_map(|outcome| metric.of(&outcome.judged)).collect();
    estimate(&values)
}

/// All summaries as JSON: scope, ranking, metric, and mean with its interval.
pub fn summaries(questions: &[Measured]) -> Value {
    let of_ranking = |scope, ranking| -> Map<String, Value> {
        let estimate = |metric: Metric| {
            let estimate = summary(questions, scope, ranking, metric)?;
            Some((metric.code(), json!(estimate)))
        };
        Metric::ALL.into_iter().filter_map(estimate).collect()
    };
    let of_scope = |scope| -> Map<String, Value> {
        let rankings = Ranking::ALL.into_iter().map(|ranking| (ranking, of_ranking(scope, ranking)));
        let there = rankings.filter(|(_, metrics)| !metrics.is_empty());
        there.map(|(ranking, metrics)| (ranking.code().to_owned(), Value::Object(metrics))).collect()
    };
    let scopes =
        Scope::ALL.into_iter().map(|scope| (scope.code().to_owned(), Value::Object(of_scope(scope))));
    Value::Object(scopes.collect())
}

/// Each question with what was found for it, as JSON.
pub fn details(questions: &[Measured], sources: &[Source], answers: &[Answered]) -> Value {
    let files: HashMap<DocumentId, &str> =
        sources.iter().map(|source| (source.document, source.file.as_str())).collect();
    let answers: HashMap<&str, &Answered> =
        answers.iter().map(|answer| (answer.id.as_str(), answer)).collect();
    let passage = |passage: &Passage| {
        json!({
            "file": files.get(&passage.document),
            "page_start": passage.pages.start(),
            "page_end": passage.pages.end(),
            "score": passage.score,
        })
    };
    let detail = |measured: &Measured| {
        let question = &measured.question;
        let mut detail = json!({
            "id": question.id,
            "question": question.text,
            "file": question.file,
            "pages": question.pages,
        });
        for outcome in &measured.outcomes {
            detail[outcome.scope.code()][outcome.ranking.code()] = json!({
                "rank": outcome.judged.rank,
                "evidence_recall": outcome.judged.evidence,
                "first": outcome.first.iter().map(passage).collect::<Vec<_>>(),
            });
        }
        if let Some(answer) = answers.get(question.id.as_str()) {
            detail["answer"] = json!(answer);
        }
        detail
    };
    questions.iter().map(detail).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, Question};
    use super::*;
    use docent_domain::text::Title;
    use docent_testkit::retrieval::document_id;

    fn measured(id: &str, rank: Option<usize>, evidence: Option<f64>) -> Measured {
        let question = Question {
            line: 1,
            id: id.to_owned(),
            text: "q".to_owned(),
            file: "f.pdf".to_owned(),
            pages: [7].into(),
            evidence: String::new(),
        };
        let first = vec![Passage { document: document_id(1), pages: 6..=8, text: String::new(), score: 2.5 }];
        let judged = Judged { rank, evidence };
        let outcome = Outcome { scope: Scope::AllDocuments, ranking: Ranking::Docent, judged, first };
        Measured { question, outcomes: vec![outcome] }
    }

    #[test]
    fn metrics_are_means_over_the_questions_that_they_apply_to() {
        let all =
            [measured("a", Some(1), Some(0.5)), measured("b", Some(6), None), measured("c", None, Some(1.0))];
        let mean = |metric| summary(&all, Scope::AllDocuments, Ranking::Docent, metric).unwrap().mean;
        let means = Metric::ALL.map(mean);
        let expected = [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, (1.0 + 1.0 / 6.0) / 3.0, 0.75];
        assert!(means.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{means:?}");
        assert_eq!(summary(&all, Scope::OneDocument, Ranking::Docent, Metric::PageHit(1)), None);
        let json = summaries(&all);
        assert_eq!(json["all_documents"].as_object().unwrap().len(), 1, "no ranking that did not run");
        assert_eq!(json["all_documents"]["docent"]["evidence_recall"]["mean"], 0.75);
    }

    #[test]
    fn details_name_files_and_pages() {
        let source = Source {
            file: "f.pdf".to_owned(),
            document: document_id(1),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let answer = Answered {
            id: "b".to_owned(),
            text: "t".to_owned(),
            quotes_page: true,
            sources_hold_page: true,
            declined: false,
        };
        let all = details(&[measured("a", None, None), measured("b", Some(1), None)], &[source], &[answer]);
        let found = json!({ "rank": 1, "evidence_recall": null,
            "first": [{ "file": "f.pdf", "page_start": 6, "page_end": 8, "score": 2.5 }] });
        assert_eq!(all[1]["all_documents"]["docent"], found);
        assert_eq!((&all[0]["answer"], &all[1]["answer"]["quotes_page"]), (&Value::Null, &json!(true)));
        assert_eq!(
            (&all[0]["pages"], &all[0]["all_documents"]["docent"]["rank"]),
            (&json!([7]), &Value::Null)
        );
    }
}
