//! Answers about a whole document, from the output of the tool that lists documents.

use super::phrases::Phrases;
use super::text::{format_source, in_language};

/// Whether the output of the tool has the summary of a document.
pub(super) fn is_summary(output: &str) -> bool {
    output.lines().any(|line| line.starts_with("> "))
}

/// Formats the summary of a document: its title, its sentences with their pages, and its headings.
pub(super) fn format(output: &str, phrases: &Phrases) -> String {
    let mut lines = output.lines();
    let document = lines.next().unwrap_or_default().trim_start_matches("- ");
    let title = document.rsplit_once(" (").map_or(document, |(title, _)| title);
    let (mut paragraphs, mut headings) =
        (vec![format!("**{}**", plain(&in_language(document, phrases)))], Vec::new());
    for line in lines {
        let mut parts = line.splitn(3, ' ');
        let (Some(kind), Some(page), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        match (kind, page.parse::<u32>()) {
            (">", Ok(page)) => {
                let text = text.replace(['“', '”', '"'], "'");
                paragraphs.push(format!("“{text}” {}", format_source(title, page, phrases)));
            }
            ("#", Ok(page)) => headings.push(format!("{text} ({page})")),
            ("#", Err(_)) => headings.push(text.to_owned()),
            _ => {}
        }
    }
    if !headings.is_empty() {
        paragraphs.push(format!("{} {}", phrases.sections, headings.join("; ")));
    }
    paragraphs.join("\n\n")
}

/// A title without characters that end bold text.
fn plain(title: &str) -> String {
    title.replace('*', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_quotes_sentences_with_their_pages() {
        let output = "- Pump (9).pdf (14 pages)\n> 1 This manual is about “pumps”.\n> 3 They move.\n# 2 Safety\n# - Annex";
        assert!(is_summary(output) && !is_summary("- Pump.pdf (14 pages)"));
        assert_eq!(
            format(output, Phrases::of("Worum geht es?")),
            "**Pump (9).pdf (14 Seiten)**\n\n“This manual is about 'pumps'.” (Pump (9).pdf, Seite 1)\n\n“They move.” \
             (Pump (9).pdf, Seite 3)\n\nAbschnitte: Safety (2); Annex"
        );
    }
}
