//! `docent search`: searches the documents of a running service.

use crate::client::ServiceClient;
use crate::output::{self, sanitize};
use anyhow::Context;
use docent::cli::SearchArgs;
use serde_json::{Value, json};

/// Maximum number of characters shown of a passage.
const MAX_SHOWN: usize = 300;

/// Prints the results, best first.
pub(crate) async fn run(args: &SearchArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let mut body = json!({ "query": args.query, "limit": args.limit });
    client.select(&args.selection, &mut body).await?;
    let response = client.post(&["search"], &body).await?;
    let response: Value = response.json().await.context("reading the results")?;
    let results = response["results"].as_array().context("the response has no results")?;
    for result in results {
        output::print(args.client.output, || format!("{}\n", as_text(result)), || result.clone())?;
    }
    if results.is_empty() && !args.client.output.json {
        output::print_text("No results.\n")?;
    }
    Ok(())
}

/// Formats title, pages and the beginning of the passage.
fn as_text(result: &Value) -> String {
    let text = |name: &str| sanitize(result[name].as_str().unwrap_or_default());
    let (first, last) = (&result["page_start"], &result["page_end"]);
    let pages = match result["label"].as_str() {
        Some(label) => sanitize(label),
        None if first == last => format!("page {first}"),
        None => format!("pages {first} to {last}"),
    };
    let score = result["score"].as_f64().unwrap_or_default();
    let words = text("text").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut beginning: String = words.chars().take(MAX_SHOWN).collect();
    if beginning.len() < words.len() {
        beginning.push('…');
    }
    let recognized = if result["recognized"] == true { ", recognised text" } else { "" };
    format!(
        "{}, {pages}{recognized}   ({score:.2}, document {})\n  {beginning}",
        text("title"),
        text("document_id")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_text_has_two_lines_and_is_shortened() {
        let result = json!({
            "title": "Terms.pdf", "page_start": 3, "page_end": 3, "score": 1.5, "document_id": "7", "text": "a\nb "
        });
        assert_eq!(as_text(&result), "Terms.pdf, page 3   (1.50, document 7)\n  a b");
        let recognized = json!({ "title": "t", "page_start": 3, "page_end": 3, "recognized": true });
        assert!(as_text(&recognized).starts_with("t, page 3, recognised text   ("));
        let long = json!({ "title": "t", "page_start": 3, "page_end": 4, "text": "é".repeat(MAX_SHOWN + 1) });
        let text = as_text(&long);
        assert!(text.starts_with("t, pages 3 to 4 ") && text.ends_with("é…"), "{text}");
    }
}
