//! The results, for people.

use super::Results;
use docent_app::evaluation::{
    Answered, Estimate, Measured, Metric, RESAMPLES, Ranking, Scope,
    answers::{share_declined, share_quoting},
    report::summary,
};
use std::fmt::Write;

/// The width of a metric's name, and that of what a ranking came to.
const NAME: usize = 20;
const CELL: usize = 22;

/// All results as text, a line each.
pub(super) fn text(results: &Results) -> String {
    let measured = &results.measured;
    let pages: u32 = results.states.iter().map(|state| state.pages).sum();
    let mut text = format!(
        "{} questions; {} documents, {pages} pages, {} passages; embedding model {}\n",
        measured.questions.len(),
        results.states.len(),
        measured.passages,
        measured.model,
    );
    if results.left_out > 0 {
        let _ =
            writeln!(text, "{} questions about files that were left out were not asked", results.left_out);
    }
    let _ = writeln!(text, "Shares in percent, with 95 % intervals by bootstrap ({RESAMPLES} resamples)");
    for (scope, name) in [(Scope::AllDocuments, "All documents"), (Scope::OneDocument, "Document given")] {
        table(&mut text, &measured.questions, scope, name, results.top);
    }
    answers(&mut text, results.answers.as_deref(), results.unanswerable.as_deref());
    text
}

fn table(text: &mut String, questions: &[Measured], scope: Scope, name: &str, top: usize) {
    let is_there = |ranking: &Ranking| summary(questions, scope, *ranking, Metric::ReciprocalRank).is_some();
    let rankings: Vec<Ranking> = Ranking::ALL.into_iter().filter(is_there).collect();
    let heads = rankings.iter().map(|ranking| match ranking {
        Ranking::Docent => "docent",
        Ranking::Bm25 => "plain BM25",
        Ranking::Dense => "plain dense",
    });
    line(text, name, heads.map(str::to_owned));
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

fn line(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let cells: String = cells.map(|cell| format!("{cell:<CELL$}")).collect();
    if !name.starts_with(' ') {
        text.push('\n');
    }
    let _ = writeln!(text, "{}", format!("{name:<NAME$}  {cells}").trim_end());
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

fn answers(text: &mut String, given: Option<&[Answered]>, unanswerable: Option<&[Answered]>) {
    let mut row = |name: &str, share: Option<Estimate>| {
        let share = share.map_or_else(|| "-".to_owned(), percent);
        line(text, name, [share].into_iter());
    };
    if let Some(given) = given {
        row("Built-in answerer, all documents", None);
        row("  quotes a right page", share_quoting(given));
        row("  says that the documents do not say", share_declined(given));
    }
    if let Some(given) = unanswerable {
        row("Questions that no document answers", None);
        row("  says that the documents do not say", share_declined(given));
    }
}
