//! Numbers with digits, separators, percent, exponents and fractions.

use super::Token;

/// Numbers from here on are shown with an exponent, whatever their format.
const PLAIN_END: f64 = 1e21;

/// The pattern of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    before: String,
    /// Digits of the integer, and texts between them.
    integer: Vec<Part>,
    /// Digits after the point, and texts between them.
    decimals: Vec<Part>,
    after: String,
    has_point: bool,
    has_thousands: bool,
    /// Number of powers of a thousand that are cut off.
    thousands: i32,
    percents: i32,
    /// Minimum number of digits of an exponent.
    exponent: Option<usize>,
    fraction: Option<Fraction>,
}

/// A digit (`0`, `#` or `?`) or a text.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Digit(char),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fraction {
    /// Maximum number of digits of the denominator.
    Digits(u32),
    Denominator(u32),
}

fn is_digit(token: &Token) -> bool {
    matches!(token, Token::Code('0' | '#' | '?'))
}

impl Pattern {
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut pattern = Self::default();
        let Some(first) = tokens.iter().position(|token| is_digit(token) || *token == Token::Code('.'))
        else {
            pattern.before = pattern.text(tokens);
            return pattern;
        };
        let slash = tokens[first..].iter().position(|token| *token == Token::Code('/')).map(|at| first + at);
        let last = tokens.iter().rposition(is_digit).unwrap_or(first).max(first);
        pattern.before = pattern.text(&tokens[..first]);
        let (mut rest, mut tail) = (&tokens[first..=last], &tokens[last + 1..]);
        if let Some(slash) = slash {
            rest = &tokens[first..slash];
            tail = pattern.read_fraction(&tokens[slash + 1..]);
        }
        if let Some(at) = rest.iter().position(|token| matches!(token, Token::Code('E' | 'e'))) {
            pattern.exponent = Some(rest[at..].iter().filter(|token| is_digit(token)).count());
            rest = &rest[..at];
        }
        let (integer, decimals) = match rest.iter().position(|token| *token == Token::Code('.')) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        // Commas after the last digit divide by a thousand, others separate thousands.
        let digits_end = integer.iter().rposition(is_digit).map_or(0, |at| at + 1);
        let is_comma = |token: &&Token| **token == Token::Code(',');
        pattern.has_thousands = integer[..digits_end].iter().any(|token| is_comma(&token));
        let scale =
            integer[digits_end..].iter().chain(tail.iter().take_while(is_comma)).filter(is_comma).count();
        pattern.thousands = i32::try_from(scale).unwrap_or(0);
        tail = &tail[tail.iter().take_while(is_comma).count()..];
        pattern.has_point = decimals.is_some();
        pattern.integer = pattern.parts(integer);
        pattern.decimals = pattern.parts(decimals.unwrap_or_default());
        pattern.after = pattern.text(tail);
        pattern
    }

    /// Reads the denominator of a fraction: a number of digits, or a fixed number. Returns what follows.
    fn read_fraction<'t>(&mut self, denominator: &'t [Token]) -> &'t [Token] {
        let digit = |token: &Token| match token {
            Token::Code('?' | '#') => Some(0),
            Token::Code(c) => c.to_digit(10),
            _ => None,
        };
        let digits: Vec<u32> = denominator.iter().map_while(digit).collect();
        let value = digits.iter().fold(0_u32, |value, digit| value.saturating_mul(10).saturating_add(*digit));
        self.fraction = Some(match value {
            0 => Fraction::Digits(u32::try_from(digits.len()).unwrap_or(1).clamp(1, 4)),
            value => Fraction::Denominator(value),
        });
        &denominator[digits.len()..]
    }

    fn text(&mut self, tokens: &[Token]) -> String {
        self.percents +=
            i32::try_from(tokens.iter().filter(|token| **token == Token::Code('%')).count()).unwrap_or(0);
        super::literal(tokens)
    }

    fn parts(&mut self, tokens: &[Token]) -> Vec<Part> {
        let part = |token: &Token| match token {
            Token::Code(c @ ('0' | '#' | '?')) => Some(Part::Digit(*c)),
            Token::Code(',') | Token::Bracket(_) => None,
            token => Some(Part::Text(self.text(std::slice::from_ref(token)))),
        };
        tokens.iter().filter_map(part).collect()
    }

    /// Formats a number; `None` for one that the pattern cannot show.
    pub(super) fn show(&self, number: f64) -> Option<String> {
        if self.integer.is_empty() && self.decimals.is_empty() && self.fraction.is_none() {
            return Some(self.before.clone());
        }
        let scaled = number.abs() * 100_f64.powi(self.percents) / 1000_f64.powi(self.thousands);
        if !scaled.is_finite() || scaled >= PLAIN_END && self.exponent.is_none() {
            return None;
        }
        let (body, is_zero) = match (self.fraction, self.exponent) {
            (Some(fraction), _) => (self.fraction(fraction, scaled), scaled == 0.0),
            (None, Some(digits)) => (self.with_exponent(scaled, digits), scaled == 0.0),
            (None, None) => self.decimal(scaled),
        };
        let sign = if number < 0.0 && !is_zero { "-" } else { "" };
        Some(format!("{sign}{}{body}{}", self.before, self.after))
    }

    /// Formats the digits, and reports whether all are zero.
    fn decimal(&self, number: f64) -> (String, bool) {
        let places = self.decimals.iter().filter(|part| matches!(part, Part::Digit(_))).count();
        let (integer, decimals) = rounded(number, places);
        let is_zero = integer.bytes().chain(decimals.bytes()).all(|digit| digit == b'0');
        let mut text = self.integer_text(&integer);
        if self.has_point {
            text.push('.');
            // Zeros at the end are shown for `0` alone.
            let mut digits: Vec<char> = decimals.chars().collect();
            let marks = self.decimals.iter().filter_map(|part| match part {
                Part::Digit(mark) => Some(*mark),
                Part::Text(_) => None,
            });
            let marks: Vec<char> = marks.collect();
            while digits.last() == Some(&'0')
                && digits.len().checked_sub(1).is_some_and(|at| marks[at] != '0')
            {
                digits.pop();
            }
            let mut digits = digits.into_iter();
            for part in &self.decimals {
                match part {
                    Part::Digit(_) => text.extend(digits.next()),
                    Part::Text(between) => text.push_str(between),
                }
            }
            if text.ends_with('.') && marks.iter().all(|mark| *mark != '0') && !marks.is_empty() {
                text.pop();
            }
        }
        (text, is_zero)
    }

    /// Puts the digits of an integer in their places, from right to left.
    fn integer_text(&self, integer: &str) -> String {
        let integer = integer.trim_start_matches('0');
        let mut digits = integer.chars().rev().peekable();
        let mut pieces: Vec<String> = Vec::new();
        let mut count = 0;
        let first = self.integer.iter().position(|part| matches!(part, Part::Digit(_)));
        let mut push = |pieces: &mut Vec<String>, digit: char| {
            if self.has_thousands && count > 0 && count % 3 == 0 {
                pieces.push(",".to_owned());
            }
            count += 1;
            pieces.push(digit.to_string());
        };
        for (at, part) in self.integer.iter().enumerate().rev() {
            match part {
                Part::Text(text) => pieces.push(text.clone()),
                Part::Digit(mark) => {
                    match digits.next() {
                        Some(digit) => push(&mut pieces, digit),
                        None if *mark == '0' => push(&mut pieces, '0'),
                        None => {}
                    }
                    // The first place has all digits that are left.
                    if Some(at) == first {
                        digits.by_ref().for_each(|digit| push(&mut pieces, digit));
                    }
                }
            }
        }
        digits.for_each(|digit| push(&mut pieces, digit));
        pieces.reverse();
        pieces.concat()
    }

    fn with_exponent(&self, number: f64, digits: usize) -> String {
        let places = self.integer.iter().filter(|part| matches!(part, Part::Digit(_))).count().max(1);
        let step = i32::try_from(places).unwrap_or(1);
        #[expect(clippy::cast_possible_truncation, reason = "an exponent is small")]
        let exponent = if number == 0.0 { 0 } else { number.log10().floor() as i32 };
        let exponent = exponent.div_euclid(step) * step;
        let (text, _) = self.decimal(number / 10_f64.powi(exponent));
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{text}E{sign}{:0digits$}", exponent.abs())
    }

    fn fraction(&self, fraction: Fraction, number: f64) -> String {
        let marks = self.integer.iter().filter(|part| matches!(part, Part::Digit(_))).count();
        // With one group of digits the fraction has no integer before it.
        let has_integer = marks > 1 && self.integer.iter().any(|part| matches!(part, Part::Text(_)));
        let whole = if has_integer { number.floor() } else { 0.0 };
        let rest = number - whole;
        let best = |denominator: u32| ((rest * f64::from(denominator)).round(), denominator);
        let (numerator, denominator) = match fraction {
            Fraction::Denominator(denominator) => best(denominator),
            Fraction::Digits(digits) => {
                let error =
                    |(numerator, denominator): (f64, u32)| (numerator / f64::from(denominator) - rest).abs();
                let candidates = (1..10_u32.pow(digits)).map(best);
                candidates.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or((0.0, 1))
            }
        };
        if numerator == 0.0 {
            return format!("{whole:.0}");
        }
        if has_integer && numerator == f64::from(denominator) {
            return format!("{:.0}", whole + 1.0);
        }
        let integer = if whole > 0.0 { format!("{whole:.0} ") } else { String::new() };
        format!("{integer}{numerator:.0}/{denominator}")
    }
}

/// The digits of a number before and after the point, rounded half up by its first 15 significant digits.
fn rounded(number: f64, places: usize) -> (String, String) {
    if number.fract() == 0.0 {
        return (format!("{number:.0}"), "0".repeat(places));
    }
    let scientific = format!("{number:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    // The digits as `0.digits`, times ten to the power of `point`.
    let mut point = exponent + 1;
    while point <= 0 {
        digits.insert(0, 0);
        point += 1;
    }
    let mut point = usize::try_from(point).unwrap_or(1);
    digits.resize(digits.len().max(point + places + 1), 0);
    let is_up = digits[point + places] >= 5;
    digits.truncate(point + places);
    if is_up {
        let mut at = digits.len();
        loop {
            match at.checked_sub(1) {
                None => {
                    digits.insert(0, 1);
                    point += 1;
                    break;
                }
                Some(previous) if digits[previous] == 9 => {
                    digits[previous] = 0;
                    at = previous;
                }
                Some(previous) => {
                    digits[previous] += 1;
                    break;
                }
            }
        }
    }
    let text = |digits: &[u8]| digits.iter().map(|digit| char::from(b'0' + digit)).collect::<String>();
    (text(&digits[..point]), text(&digits[point..]))
}
