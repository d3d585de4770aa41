//! CSV output (RFC 4180).

use std::fmt::Write;

/// Characters at the start of a cell that make spreadsheets interpret it as a formula, or read it as another cell.
const FORMULA_STARTS: &[char] = &['=', '+', '-', '@', '|', '＝', '＋', '－', '＠', '\t', '\r', '\n'];

/// Adds a row. Cells that a spreadsheet would interpret as formulas are escaped, and cells with any character that a
/// spreadsheet may take for a separator are quoted.
pub(super) fn push_line(csv: &mut String, cells: &[String]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            csv.push(',');
        }
        let guard = if cell.starts_with(FORMULA_STARTS) { "'" } else { "" };
        let quoted = !guard.is_empty() || cell.contains([',', ';', '\t', '"', '\r', '\n']);
        // Writing to a string cannot fail.
        let _ = if quoted {
            write!(csv, "\"{guard}{}\"", cell.replace('"', "\"\""))
        } else {
            write!(csv, "{guard}{cell}")
        };
    }
    csv.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_escaped() {
        let mut csv = String::new();
        push_line(&mut csv, &["a,b", "say \"hi\"", "=1+1", "-2,+3", "@x", "1"].map(String::from));
        assert_eq!(csv, "\"a,b\",\"say \"\"hi\"\"\",\"'=1+1\",\"'-2,+3\",\"'@x\",1\r\n");
        csv.clear();
        push_line(&mut csv, &["a;=1+1", "b\t=1+1", "\t=1+1", "\r=1", "+1", "c"].map(String::from));
        assert_eq!(csv, "\"a;=1+1\",\"b\t=1+1\",\"'\t=1+1\",\"'\r=1\",\"'+1\",c\r\n");
        csv.clear();
        push_line(&mut csv, &["|cmd", "＝1", "＋1", "－1", "＠x", "a|b"].map(String::from));
        assert_eq!(csv, "\"'|cmd\",\"'＝1\",\"'＋1\",\"'－1\",\"'＠x\",a|b\r\n");
    }
}
