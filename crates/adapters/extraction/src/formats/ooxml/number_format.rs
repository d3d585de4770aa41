//! Number formats of cells, such as `#,##0.00 [$€-407]`.
//!
//! Numbers are formatted as Excel shows them in English. Dates are written as `2026-11-23`, whatever their format.

mod dates;
mod numbers;

use dates::DateFormat;
use numbers::Pattern;

/// Maximum length of a format code in characters: that of Excel.
const CODE_MAX: usize = 255;

/// The integers below are stored exactly.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// How numbers of a style are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NumberFormat {
    /// The formats for positive, negative and zero values, or for values that meet a condition.
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq)]
struct Section {
    condition: Option<Condition>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// As the number is, with this text around.
    General(String, String),
    Date(DateFormat),
    Number(Pattern),
}

/// A comparison such as `[>=100]`.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    operator: String,
    value: f64,
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !matches!(c, '<' | '>' | '='))?;
        let (operator, value) = text.split_at(digits);
        let is_known = matches!(operator, "<" | "<=" | ">" | ">=" | "=" | "<>");
        is_known.then_some(Self { operator: operator.to_owned(), value: value.trim().parse().ok()? })
    }

    fn is_met(&self, number: f64) -> bool {
        match self.operator.as_str() {
            "<" => number < self.value,
            "<=" => number <= self.value,
            ">" => number > self.value,
            ">=" => number >= self.value,
            "=" => number == self.value,
            _ => number != self.value,
        }
    }
}

/// A piece of a format code.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// Text that is shown as it is.
    Literal(String),
    /// The content of brackets that is neither a currency nor a condition, in lower case.
    Bracket(String),
    /// A character with a meaning.
    Code(char),
}

impl NumberFormat {
    /// The format that a number stands for if the workbook does not define it.
    pub(super) fn built_in(id: u32) -> Self {
        let code = match id {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            5 | 6 => "$#,##0;($#,##0)",
            7 | 8 => "$#,##0.00;($#,##0.00)",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
            18 | 20 | 32 | 34 | 55 => "h:mm",
            19 | 21 | 33 | 35 | 56 => "h:mm:ss",
            22 => "yyyy-mm-dd h:mm",
            37 | 38 | 41 => "#,##0;(#,##0)",
            39 | 40 | 43 => "#,##0.00;(#,##0.00)",
            42 => "$#,##0;($#,##0)",
            44 => "$#,##0.00;($#,##0.00)",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "##0.0E+0",
            _ => return Self::default(),
        };
        Self::of_code(code)
    }

    /// Parses a format code. What is not understood is shown as the plain number.
    pub(super) fn of_code(code: &str) -> Self {
        if code.chars().count() > CODE_MAX {
            return Self::default();
        }
        let sections = split(code)
            .into_iter()
            .take(4)
            .map(|(condition, tokens)| Section { condition, kind: kind_of(tokens) });
        Self { sections: sections.collect() }
    }

    /// Formats a stored number.
    pub(super) fn show(&self, stored: &str, from_1904: bool) -> String {
        let stored = stored.trim();
        let Ok(number) = stored.parse::<f64>() else { return stored.to_owned() };
        let Some((section, has_own_sign)) = self.section(number) else { return general(stored, number) };
        let shown = match &section.kind {
            Kind::General(before, after) => {
                let plain = general(stored, number);
                let plain = if has_own_sign { plain.trim_start_matches('-') } else { &plain };
                Some(format!("{before}{plain}{after}"))
            }
            Kind::Date(format) => format.show(number, from_1904),
            Kind::Number(pattern) => pattern.show(if has_own_sign { number.abs() } else { number }),
        };
        let shown = shown.map(|shown| shown.split_whitespace().collect::<Vec<_>>().join(" "));
        // A format such as `;;;` hides a value in the sheet.
        shown.filter(|shown| !shown.is_empty()).unwrap_or_else(|| general(stored, number))
    }

    /// The section for a number, and whether it shows the sign of negative numbers itself.
    fn section(&self, number: f64) -> Option<(&Section, bool)> {
        let of_conditions = self.sections.iter().any(|section| section.condition.is_some());
        if of_conditions {
            let is_met = |section: &&Section| {
                section.condition.as_ref().is_none_or(|condition| condition.is_met(number))
            };
            return self.sections.iter().find(is_met).map(|section| (section, false));
        }
        let numbers = self.sections.len().min(3);
        match numbers {
            0 => None,
            1 => self.sections.first().map(|section| (section, false)),
            _ if number < 0.0 => self.sections.get(1).map(|section| (section, true)),
            3 if number == 0.0 => self.sections.get(2).map(|section| (section, false)),
            _ => self.sections.first().map(|section| (section, false)),
        }
    }
}

/// A number as it was stored, if that is an integer, and otherwise with at most 15 significant digits, so that `0.1 + 0.2` is
/// `0.3`.
fn general(stored: &str, number: f64) -> String {
    let digits = stored.strip_prefix('-').unwrap_or(stored);
    if !number.is_finite() || (digits.len() <= 20 && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return stored.to_owned();
    }
    // Floating-point numbers contain these integers exactly.
    if number.fract() == 0.0 && number.abs() < INTEGER_MAX {
        return format!("{number:.0}");
    }
    let rounded = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
    if rounded != 0.0 && !(1e-7..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// Splits a code into its sections.
fn split(code: &str) -> Vec<(Option<Condition>, Vec<Token>)> {
    let mut sections = vec![(None, Vec::new())];
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let Some((condition, tokens)) = sections.last_mut() else { break };
        match c {
            '"' => tokens.push(Token::Literal(chars.by_ref().take_while(|c| *c != '"').collect())),
            '\\' => tokens.extend(chars.next().map(|c| Token::Literal(c.to_string()))),
            // Space of the width of a character, and a character that fills the cell.
            '_' => tokens.extend(chars.next().map(|_| Token::Literal(" ".to_owned()))),
            '*' => tokens.extend(chars.next().filter(|c| *c == ' ').map(|_| Token::Literal(" ".to_owned()))),
            '[' => {
                let content: String = chars.by_ref().take_while(|c| *c != ']').collect();
                match content.strip_prefix('$') {
                    // A currency and a language, such as `$€-407`.
                    Some(currency) => {
                        let sign = currency.split('-').next().unwrap_or_default();
                        tokens.push(Token::Literal(sign.to_owned()));
                    }
                    None => match Condition::parse(&content) {
                        Some(found) => *condition = Some(found),
                        None => tokens.push(Token::Bracket(content.to_lowercase())),
                    },
                }
            }
            ';' => sections.push((None, Vec::new())),
            c => tokens.push(Token::Code(c)),
        }
    }
    sections
}

fn kind_of(tokens: Vec<Token>) -> Kind {
    let code: String = tokens
        .iter()
        .map(|token| match token {
            Token::Code(c) => c.to_ascii_lowercase(),
            // Anything that is no letter of a code.
            Token::Literal(_) | Token::Bracket(_) => '\u{0}',
        })
        .collect();
    if let Some(at) = code.find("general") {
        let at = code[..at].chars().count();
        return Kind::General(literal(&tokens[..at]), literal(&tokens[at + "general".len()..]));
    }
    if code.contains(['0', '#', '?']) && !code.contains(['y', 'd', 'h', 's']) {
        return Kind::Number(Pattern::of(&tokens));
    }
    if let Some(format) = DateFormat::of(&tokens) {
        return Kind::Date(format);
    }
    match tokens.iter().position(|token| *token == Token::Code('@')) {
        Some(at) => Kind::General(literal(&tokens[..at]), literal(&tokens[at + 1..])),
        None => Kind::Number(Pattern::of(&tokens)),
    }
}

/// The text that tokens show beside a number.
fn literal(tokens: &[Token]) -> String {
    tokens
        .iter()
        .map(|token| match token {
            Token::Literal(text) => text.clone(),
            Token::Code(c) => c.to_string(),
            Token::Bracket(_) => String::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_in_the_sheet() {
        for (code, stored, shown) in [
            ("General", "0.30000000000000004", "0.3"),
            ("General", "1234567.5", "1234567.5"),
            ("General", "1E+20", "1e20"),
            ("General", "4111111111111111", "4111111111111111"),
            ("General \"kg\"", "-5", "-5 kg"),
            ("0", "4111111111111111", "4111111111111111"),
            ("General", "1.234567890123456E+15", "1234567890123456"),
            ("General", "text", "text"),
            ("00000", "742", "00742"),
            ("0.00", "0.125", "0.13"),
            ("0.00", "1.005", "1.01"),
            ("0.0#", "2.5", "2.5"),
            ("#.##", "0.5", ".5"),
            ("#,##0.00", "1234567.891", "1,234,567.89"),
            ("#,##0,\"k\"", "1234567", "1,235k"),
            ("#,##0.00\\ [$€-407]", "1234.5", "1,234.50 €"),
            ("\"$\"#,##0.00", "99", "$99.00"),
            ("[$CHF-807] #,##0.00;[Red]-[$CHF-807] #,##0.00", "-12.5", "-CHF 12.50"),
            ("_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)", "-1234.5", "$ (1,234.50)"),
            ("_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)", "0", "$ -"),
            ("0%", "0.125", "13%"),
            ("0.0 %", "0.125", "12.5 %"),
            ("0.00E+00", "12345", "1.23E+04"),
            ("0.00E+00", "0.00012", "1.20E-04"),
            ("##0.0E+0", "12345", "12.3E+3"),
            ("# ?/?", "2.5", "2 1/2"),
            ("# ??/??", "0.3125", "5/16"),
            ("# ?/8", "1.25", "1 2/8"),
            ("# ?/?", "3", "3"),
            ("000-00-0000", "123456789", "123-45-6789"),
            ("(000) 000-0000", "2125550123", "(212) 555-0123"),
            ("[<1000]0;[>=1000]#,##0.0,\" K\"", "2500", "2.5 K"),
            ("0;-0;\"none\"", "0", "none"),
            (";;;", "7", "7"),
            ("0 \"days\"", "3", "3 days"),
            ("[Red]0.0", "2", "2.0"),
            ("@", "12", "12"),
            ("0", "-0.2", "0"),
            ("0.0", "1E+300", "1e300"),
        ] {
            assert_eq!(NumberFormat::of_code(code).show(stored, false), shown, "{code} {stored}");
        }
    }

    #[test]
    fn dates_times_and_durations_are_shown() {
        for (code, stored, shown) in [
            ("yyyy-mm-dd", "45000", "2023-03-15"),
            ("[$-407]d. mmmm yyyy;@", "45000", "2023-03-15"),
            ("mmm yy", "45000.4", "2023-03-15"),
            ("dd.mm.yyyy hh:mm", "45000.75", "2023-03-15 18:00"),
            ("m/d/yy h:mm:ss AM/PM", "45000.75", "2023-03-15 18:00:00"),
            ("h:mm", "0.75", "18:00"),
            ("h:mm AM/PM", "45000.5", "12:00"),
            ("mm:ss", "0.0075", "10:48"),
            ("[h]:mm", "1.5", "36:00"),
            ("[hh]:mm:ss", "0.041678240740740744", "01:00:01"),
            ("[mm]:ss", "0.0625", "90:00"),
            ("[s]", "0.001", "86"),
            ("[h]:mm", "-0.5", "-12:00"),
            ("yyyy-mm-dd", "1", "1900-01-01"),
            ("yyyy-mm-dd", "-3", "-3"),
            ("yyyy-mm-dd", "1e300", "1e300"),
            ("h:mm", "0.999999", "00:00"),
        ] {
            assert_eq!(NumberFormat::of_code(code).show(stored, false), shown, "{code} {stored}");
        }
        assert_eq!(NumberFormat::of_code("yyyy").show("43538", true), "2023-03-15");
    }

    #[test]
    fn built_in_formats_are_known() {
        for (id, stored, shown) in [
            (0, "1.5", "1.5"),
            (9, "0.5", "50%"),
            (14, "45000", "2023-03-15"),
            (22, "45000.75", "2023-03-15 18:00"),
            (44, "-3", "($3.00)"),
            (46, "2", "48:00:00"),
            (49, "007", "007"),
            (4711, "2", "2"),
        ] {
            assert_eq!(NumberFormat::built_in(id).show(stored, false), shown, "{id}");
        }
    }

    #[test]
    fn every_code_shows_something() {
        for code in [
            "", "[", "\"", "\\", "_", "*", "0.", ".0", "E+", "0E", "?/", "/?", "#,", "[$", ";", "[h]",
            "AM/PM", "[>", "%%%",
        ] {
            let format = NumberFormat::of_code(code);
            for number in ["0", "-1.5", "1e308", "-1e-308", "NaN", "inf", "45000.3"] {
                assert!(!format.show(number, false).is_empty(), "{code} {number}");
            }
        }
        assert_eq!(NumberFormat::of_code(&"0".repeat(300)).show("1", false), "1");
    }
}
