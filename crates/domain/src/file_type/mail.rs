//! Detection of email messages by their first lines.

/// Headers that identify an email message.
const MAIL_HEADERS: [&str; 10] = [
    "from",
    "to",
    "subject",
    "date",
    "sender",
    "received",
    "return-path",
    "message-id",
    "mime-version",
    "delivered-to",
];
/// Headers that mail programs and servers add, and that are rare in other texts.
const TRANSPORT_HEADERS: [&str; 5] =
    ["received", "return-path", "message-id", "mime-version", "delivered-to"];
/// Beginnings of further headers, which confirm the others.
const MAIL_PREFIXES: [&str; 14] = [
    "x-",
    "content-",
    "arc-",
    "dkim-",
    "domainkey-",
    "authentication-",
    "received-",
    "list-",
    "thread-",
    "reply-",
    "envelope-",
    "in-reply-",
    "resent-",
    "delivery-",
];

/// How surely a text is an email message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MailEvidence {
    /// The text has no header of a message.
    None,
    /// The text begins with a single header.
    Header,
    /// The text begins with several headers.
    Headers,
    /// The text begins with headers that mail servers write.
    Transport,
}

/// Determines how surely a text is an email message by the headers with which it begins.
pub(super) fn evidence(text: &str) -> MailEvidence {
    let mut text = without_length(text);
    let is_mailbox = is_separator(text.lines().next().unwrap_or_default());
    if is_mailbox {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let (mut main, mut others): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in text.lines() {
        // The continuation of a header, or the quoted separator of a mailbox within a mailbox.
        if line.starts_with([' ', '\t']) || line.starts_with(">From ") {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else { break };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_graphic()) {
            break;
        }
        let name = name.to_ascii_lowercase();
        if MAIL_HEADERS.contains(&name.as_str()) {
            main.push(name);
        } else if MAIL_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            others.push(name);
        }
    }
    for names in [&mut main, &mut others] {
        names.sort();
        names.dedup();
    }
    let is_sent = is_mailbox || main.iter().any(|name| TRANSPORT_HEADERS.contains(&name.as_str()));
    match (main.len(), others.len()) {
        (0, 0) => MailEvidence::None,
        (0, _) if !is_mailbox => MailEvidence::Header,
        (main, others) if main + others + usize::from(is_mailbox) < 2 => MailEvidence::Header,
        _ if is_sent => MailEvidence::Transport,
        _ => MailEvidence::Headers,
    }
}

/// The text without a first line that is a number: Apple Mail writes the length of a message before it.
fn without_length(text: &str) -> &str {
    match text.split_once('\n') {
        Some((line, rest)) if line.trim().parse::<u32>().is_ok() => rest,
        _ => text,
    }
}

/// Whether a line separates the messages of a mailbox (MBOX): `From `, an address and a date with a year.
fn is_separator(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("From ") else { return false };
    let is_time = |word: &str| word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit());
    rest.split_whitespace().any(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_mail_exports_are_evidence() {
        use MailEvidence::{Header, Headers, None, Transport};
        for (text, expected) in [
            ("From jane@a.example Sat Jan  3 01:05:34 2026\nSubject: x\n\nText", Transport),
            ("From - Mon Nov 23 10:00:00 2026\nX-Mozilla-Status: 0001\nFrom: a@b.c\n\n", Transport),
            ("Delivered-To: a@b.c\nReceived: by 10.0.0.1 with SMTP\n", Transport),
            ("MIME-Version: 1.0\nContent-Type: text/plain\n\nText", Transport),
            ("X-GM-THRID: 17\nX-Gmail-Labels: Inbox\nDelivered-To: a@b.c\n", Transport),
            ("Return-Path: <a@b.c>\nX-Original-To: c@d.e\n", Transport),
            ("ARC-Seal: i=1; a=rsa-sha256;\n d=a.example\nReceived: by b\n", Transport),
            ("1234      \nReceived: by b\nFrom: a@b.c\n\nText", Transport),
            ("From: a@b.c\nTo: c@d.e\n\nText", Headers),
            ("Subject: a page of notes\n\nText", Header),
            ("X-Ray: a report\n\nText", Header),
            ("From Monday on, the office is closed.\nTo: all\n", None),
            ("The subject: notes\nFrom: a\n", None),
            ("", None),
        ] {
            assert_eq!(evidence(text), expected, "{text}");
        }
    }
}
