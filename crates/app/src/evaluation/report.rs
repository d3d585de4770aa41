//! Metrics and JSON reports of an evaluation.

use super::{
    DEPTH, Estimate, EvaluatedAnswer, Passage, Question, QuestionResult, Rank, Ranking, RankingResult,
    SearchScope, Source, estimate,
};
use docent_domain::id::DocumentId;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A quality metric of a ranking, from 0 to 1; higher is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The share of questions with a relevant page among this many passages.
    PageHit(usize),
    /// The share of questions with a relevant document among this many passages of all documents.
    DocumentHit(usize),
    /// The mean reciprocal rank of the first relevant page.
    ReciprocalRank,
    /// The mean share of the evidence's words in the top passages.
    Evidence,
}

impl Metric {
    /// All values.
    pub const ALL: [Self; 7] = [
        Self::PageHit(1),
        Self::PageHit(5),
        Self::PageHit(10),
        Self::PageHit(DEPTH),
        Self::DocumentHit(5),
        Self::ReciprocalRank,
        Self::Evidence,
    ];

    /// Its name in reports.
    pub fn code(self) -> String {
        match self {
            Self::PageHit(k) => format!("page_hit_at_{k}"),
            Self::DocumentHit(k) => format!("document_hit_at_{k}"),
            Self::ReciprocalRank => "mrr".to_owned(),
            Self::Evidence => "evidence_recall".to_owned(),
        }
    }

    /// The value for one question; `None` where it does not apply.
    fn of(self, question: &Question, result: &RankingResult) -> Option<f64> {
        let relevance = &result.relevance;
        let has_pages = !question.pages.is_empty();
        match self {
            Self::PageHit(k) => has_pages.then(|| hit(relevance.rank, k)),
            Self::DocumentHit(k) => {
                (result.scope == SearchScope::AllDocuments).then(|| hit(relevance.document_rank, k))
            }
            Self::ReciprocalRank => has_pages.then(|| reciprocal(relevance.rank)),
            Self::Evidence => relevance.evidence,
        }
    }
}

/// 1 if the rank is at most `k`.
pub(super) fn hit(rank: Option<Rank>, k: usize) -> f64 {
    f64::from(u8::from(rank.is_some_and(|rank| rank <= k)))
}

/// 1 for the first position, 1/2 for the second, and 0 without a rank.
pub(super) fn reciprocal(rank: Option<Rank>) -> f64 {
    rank.map_or(0.0, |rank| 1.0 / rank as f64)
}

/// A metric over all questions for one scope and ranking; `None` without values.
pub fn summary(
    questions: &[QuestionResult],
    scope: SearchScope,
    ranking: Ranking,
    metric: Metric,
) -> Option<Estimate> {
    let values = questions.iter().filter_map(|measured| {
        let is_this = |result: &&RankingResult| result.scope == scope && result.ranking == ranking;
        metric.of(&measured.question, measured.rankings.iter().find(is_this)?)
    });
    estimate(&values.collect::<Vec<f64>>())
}

/// All metrics as JSON, by scope, ranking and metric: mean and confidence interval.
pub fn summaries(questions: &[QuestionResult]) -> Value {
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
        SearchScope::ALL.into_iter().map(|scope| (scope.code().to_owned(), Value::Object(of_scope(scope))));
    Value::Object(scopes.collect())
}

/// Each question with its top passages, as JSON.
pub fn details(questions: &[QuestionResult], sources: &[Source], answers: &[EvaluatedAnswer]) -> Value {
    let files: HashMap<DocumentId, &str> =
        sources.iter().map(|source| (source.document, source.file.as_str())).collect();
    let answers: HashMap<(&str, SearchScope), &EvaluatedAnswer> =
        answers.iter().map(|answer| ((answer.id.as_str(), answer.scope), answer)).collect();
    let passage = |passage: &Passage| {
        json!({
            "file": files.get(&passage.document),
            "page_start": passage.pages.start(),
            "page_end": passage.pages.end(),
            "score": passage.score,
        })
    };
    let detail = |measured: &QuestionResult| {
        let question = &measured.question;
        let mut detail = json!({
            "id": question.id,
            "question": question.text,
            "file": question.files.first(),
            "files": question.files,
            "pages": question.pages,
        });
        for result in &measured.rankings {
            detail[result.scope.code()][result.ranking.code()] = json!({
                "rank": result.relevance.rank,
                "document_rank": result.relevance.document_rank,
                "evidence_recall": result.relevance.evidence,
                "first": result.first.iter().map(passage).collect::<Vec<_>>(),
            });
        }
        for scope in SearchScope::ALL {
            if let Some(answer) = answers.get(&(question.id.as_str(), scope)) {
                detail[scope.answer_field()] = json!(answer);
            }
        }
        detail
    };
    questions.iter().map(detail).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Question, RankingResult, Relevance};
    use super::*;
    use docent_domain::text::Title;
    use docent_testkit::retrieval::document_id;

    fn measured(id: &str, rank: Option<usize>, evidence: Option<f64>) -> QuestionResult {
        let question = Question {
            line: 1,
            id: id.to_owned(),
            text: "q".to_owned(),
            files: vec!["f.pdf".to_owned()],
            pages: [7].into(),
            evidence: String::new(),
        };
        let first = vec![Passage { document: document_id(1), pages: 6..=8, text: String::new(), score: 2.5 }];
        let relevance = Relevance { rank, document_rank: rank, evidence };
        let result =
            RankingResult { scope: SearchScope::AllDocuments, ranking: Ranking::Docent, relevance, first };
        QuestionResult { question, rankings: vec![result] }
    }

    #[test]
    fn metrics_are_means_over_applicable_questions() {
        let all =
            [measured("a", Some(1), Some(0.5)), measured("b", Some(6), None), measured("c", None, Some(1.0))];
        let mean = |metric| summary(&all, SearchScope::AllDocuments, Ranking::Docent, metric).unwrap().mean;
        let means = Metric::ALL.map(mean);
        let expected = [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, (1.0 + 1.0 / 6.0) / 3.0, 0.75];
        assert!(means.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{means:?}");
        assert_eq!(summary(&all, SearchScope::OneDocument, Ranking::Docent, Metric::PageHit(1)), None);
        let json = summaries(&all);
        assert_eq!(
            json["all_documents"].as_object().unwrap().len(),
            1,
            "rankings without results are omitted"
        );
        assert_eq!(json["all_documents"]["docent"]["evidence_recall"]["mean"], 0.75);
    }

    #[test]
    fn details_name_files_and_pages() {
        let source = Source {
            file: "f.pdf".to_owned(),
            document: document_id(1),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let answer = EvaluatedAnswer {
            question: String::new(),
            sources: Vec::new(),
            shows_evidence: None,
            id: "b".to_owned(),
            scope: SearchScope::AllDocuments,
            text: "t".to_owned(),
            quotes_page: Some(true),
            sources_hold_page: Some(true),
            declined: false,
        };
        let all = details(&[measured("a", None, None), measured("b", Some(1), None)], &[source], &[answer]);
        let found = json!({ "rank": 1, "document_rank": 1, "evidence_recall": null,
            "first": [{ "file": "f.pdf", "page_start": 6, "page_end": 8, "score": 2.5 }] });
        assert_eq!(all[1]["all_documents"]["docent"], found);
        assert_eq!((&all[0]["answer"], &all[1]["answer"]["quotes_page"]), (&Value::Null, &json!(true)));
        assert_eq!(
            (&all[0]["pages"], &all[0]["all_documents"]["docent"]["rank"]),
            (&json!([7]), &Value::Null)
        );
    }
}
