//! `docent search`: the passages of a running service that fit a question.

use crate::{
    client::Remote,
    output::{self, printable},
};
use anyhow::Context;
use docent::cli::SearchArgs;
use serde_json::{Value, json};

/// How much of a passage is shown.
const SHOWN: usize = 300;

/// Prints what was found, best first.
pub(crate) async fn run(args: &SearchArgs) -> anyhow::Result<()> {
    let remote = Remote::open(&args.remote)?;
    let ids: Vec<String> = args.documents.iter().map(ToString::to_string).collect();
    let mut body = json!({ "query": args.query, "limit": args.limit });
    if !ids.is_empty() {
        body["document_ids"] = json!(ids);
    }
    let answer = remote.post(&["search"], &body).await?;
    let found: Value = answer.json().await.context("reading what was found")?;
    let results = found["results"].as_array().context("reading what was found: there are no results")?;
    for result in results {
        output::result(args.output, || format!("{}\n", shown(result)), || result.clone())?;
    }
    if results.is_empty() && !args.output.json {
        output::piece("Nothing was found.\n")?;
    }
    Ok(())
}

/// Title and pages, and how the passage begins.
fn shown(result: &Value) -> String {
    let text = |name: &str| printable(result[name].as_str().unwrap_or_default());
    let (first, last) = (&result["page_start"], &result["page_end"]);
    let pages = if first == last { format!("page {first}") } else { format!("pages {first} to {last}") };
    let score = result["score"].as_f64().unwrap_or_default();
    let words = text("text").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut beginning: String = words.chars().take(SHOWN).collect();
    if beginning.len() < words.len() {
        beginning.push('…');
    }
    format!("{}, {pages}   ({score:.2}, document {})\n  {beginning}", text("title"), text("document_id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_shown_on_two_lines() {
        let result = json!({
            "title": "Terms.pdf", "page_start": 3, "page_end": 3, "score": 1.5, "document_id": "7", "text": "a\nb "
        });
        assert_eq!(shown(&result), "Terms.pdf, page 3   (1.50, document 7)\n  a b");
        let long = json!({ "title": "t", "page_start": 3, "page_end": 4, "text": "é".repeat(SHOWN + 1) });
        let shown = shown(&long);
        assert!(shown.starts_with("t, pages 3 to 4 ") && shown.ends_with("é…"), "{shown}");
    }
}
