//! References and texts of cells.

/// Length of an escape such as `_x000D_`.
const ESCAPE: usize = 7;

/// Column, counted from 0, and row, counted from 1, of a reference such as `B12`.
pub(super) fn position(reference: &str) -> Option<(u32, u32)> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !(1..=3).contains(&letters) {
        return None;
    }
    let column = reference[..letters]
        .bytes()
        .fold(0, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row = reference[letters..].parse().ok().filter(|row| *row > 0)?;
    Some((column - 1, row))
}

/// Decodes characters that are written as `_x000D_`, because XML cannot contain them.
pub(super) fn unescaped(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let (before, from) = rest.split_at(at);
        decoded.push_str(before);
        let code = from.get(..ESCAPE).and_then(|code| code.strip_prefix("_x")?.strip_suffix('_'));
        let unit = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match unit {
            Some(c) => {
                decoded.push(if c == '\r' { '\n' } else { c });
                rest = &from[ESCAPE..];
            }
            None => {
                decoded.push_str("_x");
                rest = &from["_x".len()..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::sheet::column_name;

    #[test]
    fn references_name_columns_and_rows() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
            assert_eq!(column_name(column), name);
            assert_eq!(position(&format!("{name}7")), Some((column, 7)));
        }
        for wrong in ["", "7", "A", "A0", "AAAA1", "Ä1", "A-1"] {
            assert_eq!(position(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn escaped_characters_are_decoded() {
        for (text, decoded) in [
            ("line one_x000D_\nline two", "line one\n\nline two"),
            ("_x005F_x000D_", "_x000D_"),
            ("a_x_b_xyz_ _x00", "a_x_b_xyz_ _x00"),
            ("_xD800_ü_x0041_", "_xD800_üA"),
        ] {
            assert_eq!(unescaped(text), decoded, "{text}");
        }
    }
}
