//! CSV output (RFC 4180).

use std::fmt::Write;

/// Adds a row. Cells that a spreadsheet would interpret as formulas are escaped.
pub(super) fn push_line(csv: &mut String, cells: &[String]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            csv.push(',');
        }
        let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
        let quoted = cell.contains([',', '"', '\r', '\n']);
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
        assert_eq!(csv, "\"a,b\",\"say \"\"hi\"\"\",'=1+1,\"'-2,+3\",'@x,1\r\n");
    }
}
