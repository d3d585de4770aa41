//! Repairs of email messages whose text is not encoded as they declare.

use super::encoding;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders};
use std::borrow::Cow;

/// The messages in a file, without a byte order mark and without what Apple Mail writes around a message: a line with its
/// length before it, and its flags after it.
pub(super) fn without_wrapper(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return bytes };
    let (line, message) = bytes.split_at(end + 1);
    match std::str::from_utf8(line).ok().and_then(|line| line.trim().parse::<usize>().ok()) {
        Some(length) => &message[..length.min(message.len())],
        None => bytes,
    }
}

/// A message whose headers are UTF-8, and whose encoded words contain whole characters. In a mailbox, lines that begin with
/// `From ` were quoted.
pub(super) fn repaired(bytes: &[u8], is_in_mailbox: bool) -> Cow<'_, [u8]> {
    let end = |empty_line: &[u8]| bytes.windows(empty_line.len()).position(|window| window == empty_line);
    let end = end(b"\n\n").into_iter().chain(end(b"\n\r\n")).min().unwrap_or(bytes.len());
    let (head, body) = bytes.split_at(end);
    let text = match std::str::from_utf8(head) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(encoding::decode_lossy(head)),
    };
    let joined = joined_words(&text);
    let is_quoted = is_in_mailbox && body.windows(QUOTED.len()).any(|window| window == QUOTED);
    if matches!(text, Cow::Borrowed(_)) && joined == text && !is_quoted {
        return Cow::Borrowed(bytes);
    }
    let mut repaired = joined.into_bytes();
    if is_quoted {
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let is_quoted = line.trim_ascii_start().starts_with(b">")
                && line
                    .iter()
                    .position(|byte| *byte != b'>')
                    .is_some_and(|at| line[at..].starts_with(b"From "));
            repaired.extend_from_slice(if is_quoted { &line[1..] } else { line });
        }
    } else {
        repaired.extend_from_slice(body);
    }
    Cow::Owned(repaired)
}

/// The beginning of a line of a mailbox that would otherwise begin a message.
const QUOTED: &[u8] = b">From ";

/// Joins encoded words that follow each other in the same encoding: some programs cut them within a character.
fn joined_words(head: &str) -> String {
    let mut joined = String::with_capacity(head.len());
    let mut rest = head;
    // The beginning of the last word, such as `=?utf-8?Q?`.
    let mut last: Option<String> = None;
    while let Some(at) = rest.find("=?") {
        let (before, word) = rest.split_at(at);
        let mut parts = word[2..].splitn(3, '?');
        let (Some(charset), Some(kind), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            break;
        };
        let Some(length) = text.find("?=").filter(|_| kind.len() == 1) else {
            joined.push_str(&rest[..at + 2]);
            (rest, last) = (&rest[at + 2..], None);
            continue;
        };
        let begin = format!("=?{charset}?{kind}?").to_ascii_lowercase();
        // Padding ends the text of a word in Base64.
        let continues = before.trim().is_empty() && last.as_ref() == Some(&begin) && !joined.ends_with("=?=");
        if continues {
            joined.truncate(joined.len() - "?=".len());
            joined.push_str(&text[..length + 2]);
        } else {
            joined.push_str(before);
            joined.push_str(&word[..begin.len() + length + 2]);
        }
        rest = &word[begin.len() + length + 2..];
        last = Some(begin);
    }
    joined + rest
}

/// The text of a part by its bytes; `None` if it is as declared.
pub(super) fn text_of(message: &Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let range = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
    let raw = message.raw_message.get(range)?;
    let bytes = match part.encoding {
        Encoding::None => Cow::Borrowed(raw),
        Encoding::QuotedPrintable => Cow::Owned(quoted_printable_decode(raw)?),
        Encoding::Base64 => Cow::Owned(base64_decode(raw)?),
    };
    // Encodings such as ISO-2022-JP and UTF-7 are ASCII too.
    if bytes.is_ascii() {
        return None;
    }
    encoding::decode_labelled(&bytes, part.content_type().and_then(|of| of.attribute("charset")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail_parser::MessageParser;

    #[test]
    fn encoded_words_are_joined_within_an_encoding() {
        for (head, joined) in [
            ("A: =?utf-8?Q?Gr=C3?=\r\n =?UTF-8?q?=B6sse?= x", "A: =?utf-8?Q?Gr=C3=B6sse?= x"),
            (
                "A: =?utf-8?B?R3LD?= =?utf-8?B?tg==?= =?utf-8?B?YQ==?=",
                "A: =?utf-8?B?R3LDtg==?= =?utf-8?B?YQ==?=",
            ),
            ("A: =?utf-8?Q?a?= =?koi8-r?Q?b?=", "A: =?utf-8?Q?a?= =?koi8-r?Q?b?="),
            ("A: =?utf-8?Q?a?= and =?utf-8?Q?b?=", "A: =?utf-8?Q?a?= and =?utf-8?Q?b?="),
            ("A: 1 =? 2 ?= =?x", "A: 1 =? 2 ?= =?x"),
        ] {
            assert_eq!(joined_words(head), joined);
        }
    }

    #[test]
    fn headers_in_another_encoding_are_decoded() {
        let bytes = b"Subject: Pr\xfcfung der Ger\xe4te\r\nFrom: a@b.c\r\n\r\nBody \xfc\r\n";
        let repaired = repaired(bytes, false);
        assert!(
            repaired.starts_with("Subject: Prüfung der Geräte".as_bytes())
                && repaired.ends_with(b"Body \xfc\r\n")
        );
    }

    #[test]
    fn wrongly_declared_parts_are_decoded_by_their_bytes() {
        let text = |head: &str, body: &[u8]| {
            let bytes = [format!("Subject: x\r\n{head}\r\n\r\n").as_bytes(), body].concat();
            let message = MessageParser::default().parse(&bytes[..]).unwrap();
            text_of(&message, message.text_part(0).unwrap()).map(|text| text.trim().to_owned())
        };
        let qp = "Content-Transfer-Encoding: quoted-printable\r\nContent-Type: text/plain; charset=";
        assert_eq!(text(&format!("{qp}us-ascii"), b"Die Gr=C3=B6=\r\n=C3=9Fe.").unwrap(), "Die Größe.");
        let expected = "Die Größe der Münze über";
        assert_eq!(text(&format!("{qp}utf-8"), b"Die Gr=F6=DFe der M=FCnze =FCber").unwrap(), expected);
        let raw = "Content-Type: text/plain; charset=utf-8";
        assert_eq!(text(raw, b"Die Gr\xf6\xdfe der M\xfcnze \xfcber").unwrap(), expected);
        assert_eq!(text(raw, b"plain"), None);
    }
}
