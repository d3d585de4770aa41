//! Recognises figures.

/// Whether a word is a currency sign or code that stands before an amount.
pub(super) fn is_currency(word: &str) -> bool {
    let sign = word.trim_start_matches(['(', '-', '–', '−']);
    matches!(sign, "$" | "€" | "£" | "¥" | "US$" | "USD" | "EUR" | "GBP" | "CHF" | "C$" | "A$")
}

/// Whether a cell is a figure: a number with signs, a percentage, a dash, or a mark for "no figure".
pub(crate) fn is_value(cell: &str) -> bool {
    if matches!(cell, "-" | "–" | "—" | "--" | "$—" | "$-" | "$–") || is_absent(cell) {
        return true;
    }
    let inner = cell.trim_start_matches(|c: char| {
        matches!(c, '(' | '-' | '–' | '−' | '+' | '~' | '<' | '>' | '±') || is_sign(c)
    });
    let inner = inner.trim_start_matches([' ', '(', '-', '–', '−']);
    if !inner.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return inner.is_empty()
            && cell.contains(is_sign)
            && cell.len() > 1
            && cell.contains(['—', '–', '-']);
    }
    let number =
        inner.trim_end_matches(|c: char| matches!(c, ')' | '%' | '*' | '†' | '‡' | ' ' | 'x') || is_sign(c));
    // A footnote in parentheses may follow.
    let number = match number.rsplit_once('(') {
        Some((number, note)) if note.len() <= 2 => number.trim_end(),
        _ => number,
    };
    let number = number.trim_end_matches(['%', ')', ' ']);
    // Marks of footnotes are letters after the number; the ending of an ordinal number is none.
    let marked = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_mark = !matches!(
        &number[marked.len()..],
        "st" | "nd" | "rd" | "th" | "am" | "pm" | "m" | "cm" | "mm" | "kg" | "g" | "s"
    );
    let number = if is_mark && number.len() - marked.len() <= 4 { marked } else { number };
    let is_figure =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}' | '/');
    number.chars().all(is_figure)
        && !number.ends_with(['.', ','])
        && number.contains(|c: char| c.is_ascii_digit())
}

/// Whether a cell marks a missing figure, such as N/A.
fn is_absent(cell: &str) -> bool {
    let letters = cell.trim_matches(|c: char| !c.is_alphanumeric());
    ["N/A", "NA", "NM", "N/M", "n/a", "nm", "n/m", "n.m"].contains(&letters)
}

fn is_sign(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥')
}

/// Whether a cell is a year or a date, which stands over columns as often as in them.
pub(super) fn is_period(cell: &str) -> bool {
    let digits = cell.trim_matches(|c: char| matches!(c, '(' | ')' | '*'));
    let year = digits.len() == 4 && digits.parse::<u16>().is_ok_and(|year| (1900..2100).contains(&year));
    let range = digits.split_once(['-', '–', '/']).is_some_and(|(from, to)| {
        from.len() == 4
            && from.starts_with(['1', '2'])
            && (to.len() == 4 || to.len() == 2)
            && to.parse::<u16>().is_ok()
    });
    let date = digits.split(['/', '.']).count() == 3
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '/' | '.'));
    year || range || date
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_recognised() {
        for cell in [
            "1,234",
            "$1,234",
            "$ 1,234",
            "(1,234)",
            "$(12)",
            "12.5%",
            "(3.1)%",
            "—",
            "$—",
            "N/A",
            "0.5x",
            "1.234,5",
            "1,234 (1)",
            "+4",
            "8bd",
            "2018",
            ".5",
            "1/2",
        ] {
            assert!(is_value(cell), "{cell}");
        }
        for cell in [
            "",
            "Note",
            "31,",
            "1.",
            "(a)",
            "$",
            "Q1",
            "3M",
            "Dec 31",
            "10-K",
            "12 months",
            "5th",
            "12kg",
            "(",
            "•",
        ] {
            assert!(!is_value(cell), "{cell}");
        }
    }

    #[test]
    fn periods_are_recognised() {
        for cell in ["2018", "2018-19", "2018/2019", "12/31/2018", "31.12.2018"] {
            assert!(is_period(cell), "{cell}");
        }
        for cell in ["1,234", "2018.5", "1234", "12.5", "31"] {
            assert!(!is_period(cell), "{cell}");
        }
    }
}
