//! The table of `docent ask --explain`.

use crate::output::sanitize;
use serde_json::Value;
use std::fmt::Write;

/// Maximum number of units in the table.
const UNITS: usize = 10;
/// Maximum number of characters of a unit.
const TEXT_CHARS: usize = 60;
/// The widths of the columns before those of the features, and of these at least.
const FIRST: usize = 12;
const COLUMN: usize = 7;

/// Formats units by features, the most probable first. The explanation is null if the answer is a model's.
pub(super) fn table(explanation: &Value) -> String {
    let Some(features) = explanation["features"].as_array() else {
        return "A language model answers here, so there are no units to show.".to_owned();
    };
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let name = |feature: &Value| sanitize(feature["name"].as_str().unwrap_or_default());
    let names: Vec<String> = features.iter().map(name).collect();
    let line = |first: String, cells: Vec<String>, last: &str| {
        let cells = names.iter().zip(&cells);
        let cells = cells.map(|(name, cell)| format!("{cell:>0$}", name.chars().count().max(COLUMN) + 1));
        format!("{first:>FIRST$}{}  {last}\n", cells.collect::<String>()).replace(" \n", "\n")
    };
    let mut text = format!(
        "Units: an answer from {:.3}, shown from {:.3}\n\n",
        number(&explanation["answer_from"]),
        number(&explanation["shown_from"])
    );
    text += &line("probability".to_owned(), names.clone(), "unit");
    let weights = features.iter().map(|feature| format!("{:.2}", number(&feature["weight"])));
    text += &line(
        format!("{:.2}", number(&explanation["constant"])),
        weights.collect(),
        "(constant and weights)",
    );
    let units = explanation["units"].as_array().map(Vec::as_slice).unwrap_or_default();
    for unit in units.iter().take(UNITS) {
        let values = names.iter().map(|name| format!("{:.2}", number(&unit["features"][name])));
        let place =
            format!("{}, page {}", sanitize(unit["title"].as_str().unwrap_or_default()), unit["page"]);
        let words = sanitize(unit["text"].as_str().unwrap_or_default());
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut beginning: String = words.chars().take(TEXT_CHARS).collect();
        if beginning.len() < words.len() {
            beginning.push('…');
        }
        text += &line(
            format!("{:.3}", number(&unit["probability"])),
            values.collect(),
            &format!("{place}: {beginning}"),
        );
    }
    if units.len() > UNITS {
        let _ = writeln!(text, "{:>FIRST$}  and {} less probable ones", "", units.len() - UNITS);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn table_has_a_line_for_each_unit_below_the_weights() {
        let unit = |text: &str| json!({ "title": "T\u{1b}.pdf", "page": 3, "text": text, "probability": 0.5, "features": { "subject": 0.25 } });
        let mut units = vec![unit("a\nb"), unit(&"é".repeat(TEXT_CHARS + 1))];
        let explanation = json!({
            "features": [{ "name": "subject", "weight": 0.273 }], "constant": -4.111, "answer_from": 0.183,
            "shown_from": 0.121, "units": units,
        });
        let text = table(&explanation);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Units: an answer from 0.183, shown from 0.121");
        assert_eq!(lines[2], " probability subject  unit");
        assert_eq!(lines[3], "       -4.11    0.27  (constant and weights)");
        assert_eq!(lines[4], "       0.500    0.25  T .pdf, page 3: a b");
        assert!(lines[5].ends_with("é…") && lines.len() == 6, "{text}");
        units.extend((0..UNITS).map(|_| unit("c")));
        let more = json!({ "features": explanation["features"], "units": units });
        assert!(table(&more).ends_with("and 2 less probable ones"));
        assert_eq!(table(&Value::Null), "A language model answers here, so there are no units to show.");
    }
}
