//! Texts of other programs, made fit for logs, pages and messages.
//!
//! Back ends quote what they were sent: `Incorrect API key provided: sk-…`. Drivers and libraries quote addresses with
//! passwords. Every such text passes through [`redact`] before it becomes part of a [`Fault`](crate::fault::Fault).

/// Maximum length of a text in characters; longer ones are cut.
const MAX_CHARS: usize = 1000;
/// What replaces a credential.
const REDACTED: &str = "[redacted]";
/// Words with these beginnings are credentials, if they have a digit and this length.
const KEY_STARTS: [&str; 14] =
    ["sk-", "sk_", "pk-", "pk_", "rk_", "dk_", "gsk_", "hf_", "ghp_", "xox", "eyJ", "AKIA", "ASIA", "AIza"];
const MIN_KEY_CHARS: usize = 8;
/// After these names and `=` or `:` comes a password, whatever it looks like.
const PASSWORDS: [&str; 3] = ["password", "passwd", "pwd"];
/// After these names and `=` or `:` comes a credential, if it looks like one.
const NAMES: [&str; 7] =
    ["key", "secret", "token", "authorization", "credential", "credentials", "signature"];
/// After these words comes a credential, if it looks like one.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// A run of this many letters and digits, with both, is a credential or a digest. UUIDs and dates are shorter.
const MIN_RANDOM_CHARS: usize = 40;

/// What the words before say about the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Anything,
    /// A credential, if it looks like one.
    Credential,
    Password,
}

/// Replaces what looks like a credential, escapes control characters, and cuts a long text.
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len().min(2 * MAX_CHARS));
    let (mut rest, mut next) = (text, Next::Anything);
    while !rest.is_empty() {
        let (between, after) = rest.split_at(rest.find(is_of_word).unwrap_or(rest.len()));
        if let Some(start) = between.rfind("://").map(|at| at + "://".len())
            && let Some(length) = user_info_length(&rest[start..])
        {
            redacted.push_str(&between[..start]);
            redacted.push_str(REDACTED);
            (rest, next) = (&rest[start + length..], Next::Anything);
            continue;
        }
        redacted.push_str(between);
        // A sentence about a token has no value: only a separator and quotes may stand between.
        if !between.chars().all(|c| " =:\"'`{[(\\".contains(c)) {
            next = Next::Anything;
        }
        let word = &after[..after.find(|c| !is_of_word(c)).unwrap_or(after.len())];
        let word = if word.trim_end_matches('.').is_empty() { word } else { word.trim_end_matches('.') };
        rest = &after[word.len()..];
        let announced = announces(word, rest);
        let is_value = match next {
            Next::Anything => false,
            Next::Credential => announced == Next::Anything && looks_random(word),
            Next::Password => !word.is_empty(),
        };
        redacted.push_str(if is_value || is_credential(word) { REDACTED } else { word });
        next = announced;
    }
    escape(&redacted)
}

/// Whether a character can be part of a credential.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "-_.+~%".contains(c)
}

/// The length of the user name and the password of a URL, from after its scheme to the `@`.
fn user_info_length(authority: &str) -> Option<usize> {
    let end =
        authority.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).unwrap_or(authority.len());
    authority[..end].rfind('@')
}

/// What a word and the text after it say about the next word.
fn announces(word: &str, after: &str) -> Next {
    let word = word.to_ascii_lowercase();
    if SCHEMES.contains(&&*word) {
        return Next::Credential;
    }
    let is_named = after.trim_start_matches(['"', '\'', '`', '\\']).starts_with(['=', ':']);
    if is_named && PASSWORDS.iter().any(|name| word.ends_with(name)) {
        Next::Password
    } else if is_named && NAMES.iter().any(|name| word.ends_with(name)) {
        Next::Credential
    } else {
        Next::Anything
    }
}

/// Whether a word is not one of a language: it has digits, signs or capital letters within, or is long.
fn looks_random(word: &str) -> bool {
    let is_unusual = |(at, c): (usize, char)| !c.is_alphabetic() || (at > 0 && c.is_uppercase());
    word.chars().enumerate().any(is_unusual) || word.chars().count() >= 16
}

fn is_credential(word: &str) -> bool {
    let is_key = word.split(['.', '%', '+', '~']).any(|part| {
        part.len() >= MIN_KEY_CHARS
            && KEY_STARTS.iter().any(|start| part.starts_with(start))
            && part.contains(|c: char| c.is_ascii_digit())
    });
    let is_random = word.split(['.', '%', '~']).any(|part| {
        let has = |kind: fn(&char) -> bool| part.chars().any(|c| kind(&c));
        part.chars().count() >= MIN_RANDOM_CHARS
            && has(char::is_ascii_digit)
            && has(char::is_ascii_alphabetic)
    });
    is_key || is_random
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len().min(4 * MAX_CHARS));
    for (at, c) in text.chars().enumerate() {
        if at == MAX_CHARS {
            escaped.push('…');
            break;
        }
        match c {
            // Also those that reverse the direction of a line or hide text.
            c if c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                escaped.extend(c.escape_default());
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_replaced() {
        for (text, redacted) in [
            (
                "Incorrect API key provided: sk-proj-AbCd1234efgh5678. You can find your key at https://x.example/keys.",
                "Incorrect API key provided: [redacted]. You can find your key at https://x.example/keys.",
            ),
            ("no key dk_abcdefghijkl_2345 here", "no key [redacted] here"),
            ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer [redacted]"),
            ("invalid bearer hunter22", "invalid bearer [redacted]"),
            (r#"{"api_key":"hunter2hunter2","model":"m"}"#, r#"{"api_key":"[redacted]","model":"m"}"#),
            ("GET /v1?api_key=hunter2&model=m", "GET /v1?api_key=[redacted]&model=m"),
            ("password='correct-horse'", "password='[redacted]'"),
            (
                "cannot reach postgres://ada:hunter2@db:5432/docent",
                "cannot reach postgres://[redacted]@db:5432/docent",
            ),
            ("redis://:p@ss@cache/0, and more", "redis://[redacted]@cache/0, and more"),
            ("key eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.c2ln", "key [redacted]"),
            ("saw AKIAIOSFODNN7EXAMPLE", "saw [redacted]"),
            ("digest 3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b", "digest [redacted]"),
        ] {
            assert_eq!(redact(text), redacted);
        }
    }

    #[test]
    fn ordinary_messages_are_unchanged() {
        for text in [
            "",
            "connection refused (os error 111)",
            "error sending request: tcp connect error: dns error: failed to lookup address",
            "database: commit: (code: 13) database or disk is full",
            "document 01890f3e-7b1c-7cc0-98c4-dc0c0c07398f has no file at /var/lib/docent/files/01/ab",
            "This model's maximum context length is 8192 tokens; you requested 9000 tokens (8000 in the messages).",
            "the response cannot be parsed at column 17: a field has the wrong type",
            "max_tokens: 4096 is too large for task-specific use of https://api.example.org/v1/chat/completions",
            "invalid token at line 3",
            "Basic authentication failed; secret: unavailable",
            "API key: missing",
            "2026-01-01T00:00:00.000Z: status 503 ...",
            "password authentication failed for user \"ada\"",
            "naïve Grüße, 日本語",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn control_characters_are_escaped_and_long_texts_are_cut() {
        assert_eq!(redact("a\nb\r\u{1b}[31mred\u{202e}x"), r"a\nb\r\u{1b}[31mred\u{202e}x");
        let long = redact(&"é ".repeat(2 * MAX_CHARS));
        assert_eq!(long.chars().count(), MAX_CHARS + 1);
        assert!(long.ends_with('…'));
    }
}
