//! Summarises several evaluations and compares two, question by question, from their JSON reports.

use super::report::{hit, reciprocal};
use super::{Estimate, Rank, SearchScope, estimate_over_sets};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// What is measured for one question, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A relevant page is among the first passages.
    PageHit(SearchScope, usize),
    /// The reciprocal rank of the first relevant page.
    ReciprocalRank(SearchScope),
    /// A relevant document is among the first passages of all documents.
    DocumentHit(usize),
    /// The answer quotes a relevant page.
    Quotes(SearchScope),
    /// The answer says that the documents have no answer, although they have.
    Declines(SearchScope),
    /// The answer says that the documents have no answer, and they have none.
    DeclinesUnanswerable(SearchScope),
}

impl Measure {
    /// All values that are reported.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_scope = |scope| {
            [
                Self::PageHit(scope, 1),
                Self::PageHit(scope, 5),
                Self::PageHit(scope, 10),
                Self::ReciprocalRank(scope),
                Self::Quotes(scope),
                Self::Declines(scope),
                Self::DeclinesUnanswerable(scope),
            ]
        };
        [Self::DocumentHit(5)].into_iter().chain(SearchScope::ALL.into_iter().flat_map(of_scope))
    }

    /// The values of the questions to which it applies, by question ID, in the report of one question set.
    pub fn values(self, report: &Value) -> BTreeMap<&str, f64> {
        let questions = match self {
            Self::DeclinesUnanswerable(SearchScope::AllDocuments) => &report["unanswerable"]["answers"],
            Self::DeclinesUnanswerable(SearchScope::OneDocument) => {
                &report["unanswerable"]["one_document"]["answers"]
            }
            _ => &report["details"],
        };
        let value = |question: &'_ Value| self.value(question);
        let questions = questions.as_array().map_or(&[][..], Vec::as_slice).iter();
        questions.filter_map(|question| Some((question["id"].as_str()?, value(question)?))).collect()
    }

    /// The value in the report of one question; `None` if it does not apply.
    fn value(self, question: &Value) -> Option<f64> {
        let has_pages = question["pages"].as_array().is_some_and(|pages| !pages.is_empty());
        let ranking = |scope: SearchScope| &question[scope.code()]["docent"];
        let rank = |scope, field| -> Option<Option<Rank>> {
            let rank = ranking(scope).get(field)?.as_u64();
            Some(rank.and_then(|rank| Rank::try_from(rank).ok()))
        };
        let flag = |answer: &Value, field| answer[field].as_bool().map(|is| f64::from(u8::from(is)));
        match self {
            Self::PageHit(scope, k) if has_pages => rank(scope, "rank").map(|rank| hit(rank, k)),
            Self::ReciprocalRank(scope) if has_pages => rank(scope, "rank").map(reciprocal),
            Self::PageHit(..) | Self::ReciprocalRank(_) => None,
            Self::DocumentHit(k) => rank(SearchScope::AllDocuments, "document_rank").map(|rank| hit(rank, k)),
            Self::Quotes(scope) => flag(&question[scope.answer_field()], "quotes_page"),
            Self::Declines(scope) => flag(&question[scope.answer_field()], "declined"),
            Self::DeclinesUnanswerable(_) => flag(question, "declined"),
        }
    }
}

impl Display for Measure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let scope = |scope: &SearchScope| match scope {
            SearchScope::AllDocuments => "all documents",
            SearchScope::OneDocument => "one document",
        };
        match self {
            Self::PageHit(of, k) => write!(f, "page-hit@{k}, {}", scope(of)),
            Self::ReciprocalRank(of) => write!(f, "MRR, {}", scope(of)),
            Self::DocumentHit(k) => write!(f, "document-hit@{k}"),
            Self::Quotes(of) => write!(f, "quotes a gold page, {}", scope(of)),
            Self::Declines(of) => write!(f, "declines, {}", scope(of)),
            Self::DeclinesUnanswerable(of) => write!(f, "declines unanswerable, {}", scope(of)),
        }
    }
}

/// A measure over one or several question sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The measure.
    pub measure: Measure,
    /// The number of sets with questions to which it applies.
    pub sets: usize,
    /// The number of these questions.
    pub questions: usize,
    /// The mean of the sets' means.
    pub mean: Estimate,
}

/// Summarises the reports of question sets. Measures that apply to no question are omitted.
pub fn summarize(reports: &[&Value]) -> Vec<Summary> {
    let of_measure = |measure: Measure| {
        let values = reports.iter().map(|report| measure.values(report).into_values().collect());
        let values: Vec<Vec<f64>> = values.filter(|values: &Vec<f64>| !values.is_empty()).collect();
        let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let mean = estimate_over_sets(&slices)?;
        Some(Summary { measure, sets: values.len(), questions: values.iter().map(Vec::len).sum(), mean })
    };
    Measure::all().filter_map(of_measure).collect()
}

/// A measure of two evaluations over the questions that both contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The measure.
    pub measure: Measure,
    /// The number of questions.
    pub questions: usize,
    /// The mean of the sets' means in the earlier evaluation.
    pub before: f64,
    /// The same in the later one.
    pub after: f64,
    /// The mean of the differences of each question, with a paired bootstrap interval.
    pub difference: Estimate,
    /// The number of questions with a higher value than before.
    pub higher: usize,
    /// The number of questions with a lower value than before.
    pub lower: usize,
}

/// Compares the reports of the same question sets, earlier and later. Measures without common questions are omitted.
pub fn compare(reports: &[(&Value, &Value)]) -> Vec<Difference> {
    let of_measure = |measure: Measure| {
        let pairs = |(before, after): &(&Value, &Value)| -> Vec<(f64, f64)> {
            let after = measure.values(after);
            let before = measure.values(before).into_iter();
            before.filter_map(|(id, before)| Some((before, *after.get(id)?))).collect()
        };
        let sets: Vec<Vec<(f64, f64)>> = reports.iter().map(pairs).filter(|set| !set.is_empty()).collect();
        let mean_of = |value: fn(&(f64, f64)) -> f64| {
            let values: Vec<Vec<f64>> = sets.iter().map(|set| set.iter().map(value).collect()).collect();
            estimate_over_sets(&values.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let all = || sets.iter().flatten();
        Some(Difference {
            measure,
            questions: all().count(),
            before: mean_of(|(before, _)| *before)?.mean,
            after: mean_of(|(_, after)| *after)?.mean,
            difference: mean_of(|(before, after)| after - before)?,
            higher: all().filter(|(before, after)| after > before).count(),
            lower: all().filter(|(before, after)| after < before).count(),
        })
    };
    Measure::all().filter_map(of_measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A report of questions `q0`, `q1` and so on, each with the rank of its page in all documents.
    fn report(ranks: &[Option<usize>]) -> Value {
        let question = |(n, rank): (usize, &Option<usize>)| {
            json!({
                "id": format!("q{n}"),
                "pages": [1],
                "all_documents": { "docent": { "rank": rank, "document_rank": 1 } },
                "answer": { "quotes_page": rank.is_some(), "declined": false },
            })
        };
        json!({ "details": ranks.iter().enumerate().map(question).collect::<Vec<_>>() })
    }

    fn of<T: Copy>(all: &[T], measure: Measure, measure_of: fn(&T) -> Measure) -> Option<T> {
        all.iter().copied().find(|entry| measure_of(entry) == measure)
    }

    const HIT: Measure = Measure::PageHit(SearchScope::AllDocuments, 5);

    #[test]
    fn summary_weighs_sets_equally() {
        let (small, large) = (report(&[Some(5)]), report(&[Some(6), None, None, None]));
        let all = summarize(&[&small, &large]);
        let hit = of(&all, HIT, |summary| summary.measure).unwrap();
        assert_eq!((hit.sets, hit.questions, hit.mean.mean), (2, 5, 0.5));
        assert_eq!(of(&all, Measure::DocumentHit(5), |summary| summary.measure).unwrap().mean.mean, 1.0);
        let given = Measure::ReciprocalRank(SearchScope::OneDocument);
        assert_eq!(
            of(&all, given, |summary| summary.measure),
            None,
            "no question was searched in one document"
        );
    }

    #[test]
    fn questions_without_pages_have_no_page_measures() {
        let mut without = report(&[Some(1)]);
        without["details"][0]["pages"] = json!([]);
        let measures: Vec<Measure> = summarize(&[&without]).iter().map(|summary| summary.measure).collect();
        let all = SearchScope::AllDocuments;
        assert_eq!(measures, [Measure::DocumentHit(5), Measure::Quotes(all), Measure::Declines(all)]);
    }

    #[test]
    fn difference_counts_common_questions_only() {
        let before = report(&[Some(9), Some(1), None]);
        let after = report(&[Some(2), Some(1)]);
        let all = compare(&[(&before, &after)]);
        let hit = of(&all, HIT, |difference| difference.measure).unwrap();
        assert_eq!((hit.questions, hit.before, hit.after), (2, 0.5, 1.0));
        assert_eq!((hit.difference.mean, hit.higher, hit.lower), (0.5, 1, 0));
        let equal = compare(&[(&before, &before)]);
        assert!(equal.iter().all(|entry| entry.difference == Estimate { mean: 0.0, low: 0.0, high: 0.0 }));
        assert_eq!(compare(&[(&before, &json!({}))]), []);
    }

    #[test]
    fn unanswerable_questions_are_measured_by_scope() {
        let answers = json!([{ "id": "1", "declined": true }, { "id": "2", "declined": false }]);
        let report = json!({ "unanswerable": { "answers": answers, "one_document": { "answers": [] } } });
        let all = summarize(&[&report]);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].measure, Measure::DeclinesUnanswerable(SearchScope::AllDocuments));
        assert_eq!(
            (all[0].mean.mean, all[0].measure.to_string()),
            (0.5, "declines unanswerable, all documents".to_owned())
        );
    }
}
