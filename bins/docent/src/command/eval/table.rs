//! Formats the results as text.

use super::Results;
use docent_app::evaluation::answers::{
    share_declining, share_showing_evidence, share_with_page_found, share_with_quotes,
};
use docent_app::evaluation::comparison::{Difference, Measure, Summary};
use docent_app::evaluation::report::summary as summary_of;
use docent_app::evaluation::{
    Estimate, EvaluatedAnswer, Metric, QuestionResult, RESAMPLES, Ranking, SearchScope,
};
use std::fmt::Write;

/// Column widths of metric names and values.
const NAME: usize = 22;
const CELL: usize = 26;

const SCOPES: [(SearchScope, &str); 2] =
    [(SearchScope::AllDocuments, "All documents"), (SearchScope::OneDocument, "One document")];

/// Formats all results.
pub(super) fn text(results: &Results) -> String {
    let measured = &results.measured;
    let pages: u32 = results.ingestion.iter().map(|result| result.pages).sum();
    let mut text = format!(
        "{} questions; {} documents, {pages} pages, {} passages; embedding model {}\n",
        measured.questions.len(),
        results.ingestion.len(),
        measured.passages,
        measured.model,
    );
    if let Some(model) = &measured.reranker {
        let _ = writeln!(text, "Results of Docent were reranked by {model}");
    }
    if results.left_out > 0 {
        let _ = writeln!(text, "Questions skipped because their files are excluded: {}", results.left_out);
    }
    let _ = writeln!(text, "Percentages with 95 % bootstrap intervals ({RESAMPLES} resamples)");
    for (scope, name) in SCOPES {
        table(&mut text, &measured.questions, scope, name, results.top);
    }
    answers(&mut text, results.answers.as_deref(), results.unanswerable.as_deref());
    text
}

fn table(text: &mut String, questions: &[QuestionResult], scope: SearchScope, name: &str, top: usize) {
    let has_results = |ranking: &Ranking| {
        summary_of(questions, scope, *ranking, Metric::DocumentHit(5)).is_some()
            || summary_of(questions, scope, *ranking, Metric::ReciprocalRank).is_some()
    };
    let rankings: Vec<Ranking> = Ranking::ALL.into_iter().filter(has_results).collect();
    if rankings.is_empty() {
        return;
    }
    let headings = rankings.iter().map(|ranking| match ranking {
        Ranking::Docent => "docent",
        Ranking::Bm25 => "plain BM25",
        Ranking::Dense => "plain dense",
    });
    line(text, name, headings.map(str::to_owned));
    for metric in Metric::ALL {
        let cells =
            rankings.iter().map(|ranking| cell(metric, summary_of(questions, scope, *ranking, metric)));
        let name = match metric {
            Metric::PageHit(k) => format!("page-hit@{k}"),
            Metric::DocumentHit(_) if scope == SearchScope::OneDocument => continue,
            Metric::DocumentHit(k) => format!("document-hit@{k}"),
            Metric::ReciprocalRank => "MRR".to_owned(),
            Metric::Evidence => format!("evidence recall@{top}"),
        };
        line(text, &format!("  {name}"), cells);
    }
}

/// Appends a row; a row whose name is not indented starts a new table.
fn line(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    if !name.starts_with(' ') {
        text.push('\n');
    }
    let cells: String = cells.map(|cell| format!("{cell:<CELL$}")).collect();
    let _ = writeln!(text, "{}", format!("{name:<NAME$}{cells}").trim_end());
}

fn cell(metric: Metric, estimate: Option<Estimate>) -> String {
    match (metric, estimate) {
        (_, None) => "-".to_owned(),
        (Metric::ReciprocalRank, Some(Estimate { mean, low, high })) => {
            format!("{mean:.3} ({low:.3} to {high:.3})")
        }
        (Metric::PageHit(_) | Metric::DocumentHit(_) | Metric::Evidence, Some(share)) => percent(share),
    }
}

fn percent(Estimate { mean, low, high }: Estimate) -> String {
    format!("{:.1} ({:.1} to {:.1})", mean * 100.0, low * 100.0, high * 100.0)
}

fn answers(text: &mut String, given: Option<&[EvaluatedAnswer]>, unanswerable: Option<&[EvaluatedAnswer]>) {
    if given.is_none() && unanswerable.is_none() {
        return;
    }
    let given = given.map(|given| {
        [
            ("quotes a gold page", SCOPES.map(|(scope, _)| share_with_quotes(given, scope))),
            ("finds a gold page", SCOPES.map(|(scope, _)| share_with_page_found(given, scope))),
            ("shows all evidence", SCOPES.map(|(scope, _)| share_showing_evidence(given, scope))),
            ("declines", SCOPES.map(|(scope, _)| share_declining(given, scope))),
        ]
    });
    let unanswerable = unanswerable
        .map(|given| ("rightly declines", SCOPES.map(|(scope, _)| share_declining(given, scope))));
    line(text, "Built-in answerer", SCOPES.into_iter().map(|(_, name)| name.to_lowercase()));
    for (name, shares) in given.into_iter().flatten().chain(unanswerable) {
        let cells = shares.into_iter().map(|share| share.map_or_else(|| "-".to_owned(), percent));
        line(text, &format!("  {name}"), cells);
    }
}

/// Formats the means over several question sets.
pub(super) fn summary(measures: &[Summary]) -> String {
    let mut text = String::new();
    wide_line(&mut text, "Measure", ["mean".to_owned(), "sets".to_owned(), "questions".to_owned()]);
    for Summary { measure, sets, questions, mean } in measures {
        let mean = value(*measure, *mean);
        wide_line(&mut text, &format!("  {measure}"), [mean, sets.to_string(), questions.to_string()]);
    }
    text
}

/// Formats a comparison with an earlier run.
pub(super) fn differences(differences: &[Difference]) -> String {
    let mut text = String::new();
    let headings = ["before", "after", "difference", "higher / lower of"].map(str::to_owned);
    wide_line(&mut text, "Measure", headings);
    for Difference { measure, questions, before, after, difference, higher, lower } in differences {
        let plain = |mean: f64| match measure {
            Measure::ReciprocalRank(_) => format!("{mean:.3}"),
            _ => format!("{:.1}", mean * 100.0),
        };
        let cells = [
            plain(*before),
            plain(*after),
            value(*measure, *difference),
            format!("{higher} / {lower} of {questions}"),
        ];
        wide_line(&mut text, &format!("  {measure}"), cells);
    }
    text
}

fn value(measure: Measure, estimate: Estimate) -> String {
    match measure {
        Measure::ReciprocalRank(_) => cell(Metric::ReciprocalRank, Some(estimate)),
        _ => percent(estimate),
    }
}

/// Appends a row of a table with long names. The last columns are narrow.
fn wide_line<const N: usize>(text: &mut String, name: &str, cells: [String; N]) {
    let separator = if name.starts_with(' ') { "" } else { "\n" };
    let width = |n: usize| if N == 3 && n == 0 || N == 4 && n == 2 { CELL } else { 11 };
    let cells = cells.iter().enumerate().map(|(n, cell)| format!("{cell:<0$}", width(n)));
    let _ = writeln!(text, "{separator}{}", format!("{name:<40}{}", cells.collect::<String>()).trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_formatted_as_percentages_and_ranks_are_not() {
        let estimate = Some(Estimate { mean: 0.3125, low: 0.2, high: 0.4567 });
        assert_eq!(cell(Metric::PageHit(5), estimate), "31.2 (20.0 to 45.7)");
        assert_eq!(cell(Metric::ReciprocalRank, estimate), "0.312 (0.200 to 0.457)");
        assert_eq!(cell(Metric::Evidence, None), "-");
    }

    #[test]
    fn answers_are_shown_only_if_given() {
        let answered = |declined: bool| EvaluatedAnswer {
            question: String::new(),
            sources: Vec::new(),
            shows_evidence: None,
            id: "1".to_owned(),
            scope: SearchScope::AllDocuments,
            text: String::new(),
            quotes_page: Some(!declined),
            sources_hold_page: Some(true),
            declined,
        };
        let mut text = String::new();
        answers(&mut text, None, None);
        assert_eq!(text, "");
        answers(&mut text, Some(&[answered(false)]), Some(&[answered(true)]));
        assert_eq!(text.matches("100.0 (100.0 to 100.0)").count(), 3, "{text}");
        assert_eq!(text.matches(" 0.0 (0.0 to 0.0)").count(), 1, "{text}");
    }
}
