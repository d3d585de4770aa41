//! Formats the results as text.

use super::Results;
use docent_app::evaluation::answers::{share_declining, share_with_page_found, share_with_quotes};
use docent_app::evaluation::report::summary;
use docent_app::evaluation::{
    Estimate, EvaluatedAnswer, Metric, QuestionResult, RESAMPLES, Ranking, SearchScope,
};
use std::fmt::Write;

/// Column widths of metric names and values.
const NAME: usize = 22;
const CELL: usize = 26;

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
    for (scope, name) in
        [(SearchScope::AllDocuments, "All documents"), (SearchScope::OneDocument, "One document")]
    {
        table(&mut text, &measured.questions, scope, name, results.top);
    }
    answers(&mut text, results.answers.as_deref(), results.unanswerable.as_deref());
    text
}

fn table(text: &mut String, questions: &[QuestionResult], scope: SearchScope, name: &str, top: usize) {
    let has_results =
        |ranking: &Ranking| summary(questions, scope, *ranking, Metric::ReciprocalRank).is_some();
    let rankings: Vec<Ranking> = Ranking::ALL.into_iter().filter(has_results).collect();
    let headings = rankings.iter().map(|ranking| match ranking {
        Ranking::Docent => "docent",
        Ranking::Bm25 => "plain BM25",
        Ranking::Dense => "plain dense",
    });
    line(text, name, headings.map(str::to_owned));
    for metric in Metric::ALL {
        let cells = rankings.iter().map(|ranking| cell(metric, summary(questions, scope, *ranking, metric)));
        let name = match metric {
            Metric::PageHit(k) => format!("page-hit@{k}"),
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
        (Metric::PageHit(_) | Metric::Evidence, Some(share)) => percent(share),
    }
}

fn percent(Estimate { mean, low, high }: Estimate) -> String {
    format!("{:.1} ({:.1} to {:.1})", mean * 100.0, low * 100.0, high * 100.0)
}

fn answers(text: &mut String, given: Option<&[EvaluatedAnswer]>, unanswerable: Option<&[EvaluatedAnswer]>) {
    let mut rows = |heading: &str, shares: &[(&str, Option<Estimate>)]| {
        let _ = writeln!(text, "\n{heading}");
        for (name, share) in shares {
            let _ = writeln!(text, "  {name:<36}{}", share.map_or_else(|| "-".to_owned(), percent));
        }
    };
    if let Some(given) = given {
        rows(
            "Built-in answerer, all documents",
            &[
                ("quotes a gold page", share_with_quotes(given)),
                ("has a gold page among its sources", share_with_page_found(given)),
                ("declines to answer", share_declining(given)),
            ],
        );
    }
    if let Some(given) = unanswerable {
        rows("Built-in answerer, unanswerable questions", &[("declines to answer", share_declining(given))]);
    }
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
            id: "1".to_owned(),
            text: String::new(),
            quotes_page: !declined,
            sources_hold_page: true,
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
