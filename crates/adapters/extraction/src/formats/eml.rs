//! Reads email messages and mailboxes.

use super::attachments::{self, AttachmentBudget};
use super::msg;
use super::sections::Sections;
use super::{encoding, html, mail_text, tnef, unreadable};
use crate::reader::{Pages, Stopped, one_line};
use docent_domain::file_type::{FileType, HEAD_BYTES, detect};
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

/// Label of the page with headers and body.
const LABEL: &str = "Message";
/// Label of the page with the attachments that could not be read.
const UNREAD: &str = "Attachments that were not read";
/// Maximum number of attachments that are named.
const ATTACHMENTS_MAX: usize = 1000;
/// Maximum number of messages of a mailbox.
const MESSAGES_MAX: usize = 20_000;
/// Why a message that is attached to attached messages is not read.
const TOO_DEEP: &str = "it is attached too deeply";
/// Maximum depth of messages that are attached to messages.
const DEPTH_MAX: usize = 3;
/// The beginning of the line before each message of a mailbox.
const SEPARATOR: &[u8] = b"From ";

/// Passes the headers, the body and the names of attachments of each message on as one section, and then the pages of its
/// attachments.
pub(super) fn read(mut bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    if let Some(form) = encoding::utf16(&bytes) {
        bytes = form.decode(&bytes).trim_start_matches('\u{feff}').as_bytes().to_vec();
    }
    if !bytes.contains(&b'\n') {
        bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
    let bytes = mail_text::without_wrapper(&bytes);
    let (messages, has_separators) = (messages(bytes), bytes.starts_with(SEPARATOR));
    let is_mailbox = messages.len() > 1;
    let mut budget = AttachmentBudget::default();
    for (number, bytes) in (1_u32..).zip(messages) {
        let bytes = mail_text::repaired(bytes, has_separators);
        let message = MessageParser::default().parse(&bytes[..]).ok_or_else(unreadable)?;
        let label = if is_mailbox { format!("{LABEL} {number}") } else { LABEL.to_owned() };
        write(&message, &label, 0, &mut budget, pages)?;
    }
    Ok(())
}

/// The messages of a mailbox, or the one message that the file is.
fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    if !bytes.starts_with(SEPARATOR) {
        return vec![bytes];
    }
    let (mut messages, mut start, mut at) = (Vec::new(), 0, 0);
    let mut follows_empty_line = true;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let next = at + line.len();
        if follows_empty_line && line.starts_with(SEPARATOR) && begins_header(&bytes[next..]) {
            if messages.len() + 1 == MESSAGES_MAX {
                break;
            }
            if at > 0 {
                messages.push(&bytes[start..at]);
            }
            start = next;
        }
        follows_empty_line = line.trim_ascii().is_empty();
        at = next;
    }
    messages.push(&bytes[start..]);
    messages
}

/// Whether a text begins with a header field.
fn begins_header(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    // A separator can follow another one that was quoted.
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    line.starts_with(b">From ")
        || name.len() < line.len() && !name.is_empty() && name.iter().all(u8::is_ascii_graphic)
}

/// Passes a message and its attachments on.
fn write(
    message: &Message<'_>,
    label: &str,
    depth: usize,
    budget: &mut AttachmentBudget,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let mut sections = Sections::new(pages);
    sections.heading(1, label)?;
    sections.paragraph(&headers(message));
    let mut bodies: Vec<String> = Vec::new();
    for part in message.text_bodies() {
        bodies.extend(body_of(message, part)?);
    }
    // Some programs send an empty text beside the web page.
    if bodies.iter().all(|body| body.trim().is_empty()) {
        for part in message.html_bodies() {
            bodies.extend(body_of(message, part)?);
        }
    }
    bodies.iter().for_each(|body| sections.paragraph(body));
    for attachment in attachments(message) {
        sections.item(&format!("Attachment: {}", name_of(attachment)));
        for (name, _) in tnef::files(attachment.contents()) {
            sections.item(&format!("Attachment: {name}"));
        }
    }
    sections.finish()?;
    let mut unread = Vec::new();
    for attachment in attachments(message) {
        let name = name_of(attachment);
        let reason = match &attachment.body {
            PartType::Message(nested) if depth < DEPTH_MAX => {
                let nested_label = format!("Attachment {name}");
                write(nested, &nested_label, depth + 1, budget, pages)?;
                None
            }
            PartType::Message(_) => Some(TOO_DEEP.to_owned()),
            PartType::Multipart(_) => None,
            PartType::Text(_) | PartType::Html(_) => {
                let text = mail_text::text_of(message, attachment);
                let bytes = text.as_ref().map_or(attachment.contents(), |text| text.as_bytes());
                read_file(&name, bytes, depth, budget, pages)?
            }
            _ if tnef::is_tnef(attachment.contents()) => {
                let mut reasons = Vec::new();
                for (name, bytes) in tnef::files(attachment.contents()) {
                    let reason = read_file(&name, &bytes, depth, budget, pages)?;
                    reasons.extend(reason.map(|reason| format!("{name}: {reason}")));
                }
                (!reasons.is_empty()).then(|| reasons.join("; "))
            }
            _ => read_file(&name, attachment.contents(), depth, budget, pages)?,
        };
        unread.extend(reason.map(|reason| format!("- {name}: {reason}\n")));
    }
    pages.push_section(Some(UNREAD), &unread.concat())
}

/// Reads an attached file, which can be a message itself. Returns why it was not read.
fn read_file(
    name: &str,
    bytes: &[u8],
    depth: usize,
    budget: &mut AttachmentBudget,
    pages: &mut Pages<'_>,
) -> Result<Option<String>, Stopped> {
    let content = match detect(&bytes[..bytes.len().min(HEAD_BYTES)], name) {
        _ if bytes.is_empty() => return Ok(None),
        Some(FileType::Eml) => Ok(bytes.to_vec()),
        Some(FileType::Msg) => msg::in_mime(bytes.to_vec()).map(String::into_bytes),
        _ => return attachments::read(name, bytes, budget, pages),
    };
    if depth >= DEPTH_MAX {
        return Ok(Some(TOO_DEEP.to_owned()));
    }
    if let Err(reason) = budget.take(bytes.len()) {
        return Ok(Some(reason.to_owned()));
    }
    let content = match content {
        Ok(content) => content,
        Err(Stopped::Document(failure)) => return Ok(Some(failure.reason)),
        Err(stopped @ Stopped::Sink(_)) => return Err(stopped),
    };
    let Some(message) = MessageParser::default().parse(&content[..]) else {
        return Ok(Some("it is no readable message".to_owned()));
    };
    write(&message, &format!("Attachment {name}"), depth + 1, budget, pages)?;
    Ok(None)
}

/// The web page of a message, as browsers save pages (MHTML).
pub(super) fn html_body(bytes: &[u8]) -> Option<String> {
    let message = MessageParser::default().parse(bytes)?;
    message.body_html(0).map(|page| page.into_owned())
}

fn headers(message: &Message<'_>) -> String {
    let mut headers = String::new();
    let mut header = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            headers.push_str(&format!("{name}: {}\n", one_line(&value)));
        }
    };
    header("Subject", message.subject().map(str::to_owned));
    header("From", message.from().map(addresses));
    header("To", message.to().map(addresses));
    header("Cc", message.cc().map(addresses));
    header("Date", message.date().map(|date| date.to_rfc3339()));
    headers
}

fn name_of(attachment: &MessagePart<'_>) -> String {
    let subject = attachment.message().and_then(|message| message.subject());
    one_line(attachment.attachment_name().or(subject).unwrap_or("without a name"))
}

/// The text of a part of the body; `None` if it is no text.
fn body_of(message: &Message<'_>, part: &MessagePart<'_>) -> Result<Option<String>, Stopped> {
    let (PartType::Text(text) | PartType::Html(text)) = &part.body else { return Ok(None) };
    let text = mail_text::text_of(message, part).unwrap_or_else(|| text.to_string());
    if !part.is_text_html() {
        return Ok(Some(text));
    }
    // Headings of a message do not begin sections.
    html::text_of(&text).map(Some)
}

/// The attachments that are named and read: not the styles of web pages.
fn attachments<'m>(message: &'m Message<'m>) -> impl Iterator<Item = &'m MessagePart<'m>> {
    let is_style = |part: &&MessagePart<'_>| {
        part.content_type().is_some_and(|of| of.ctype() == "text" && of.subtype() == Some("css"))
    };
    message.attachments().filter(move |part| !is_style(part)).take(ATTACHMENTS_MAX)
}

fn addresses(addresses: &Address<'_>) -> String {
    let text = |address: &mail_parser::Addr<'_>| match (address.name(), address.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => String::new(),
    };
    addresses.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn page(message: &str) -> (String, String) {
        collect(LIMITS, |pages| read(message.replace('\n', "\r\n").into_bytes(), pages)).unwrap().remove(0)
    }

    const HEADERS: &str = "From: a@b.example\nSubject: Pumps\n";

    #[test]
    fn line_of_a_mailbox_before_a_message_is_left_out() {
        let (label, text) =
            page(&format!("From jane@a.example Sat Jan  3 01:05:34 2026\n{HEADERS}\nDrawer 44\n"));
        assert_eq!(label, "Message");
        assert_eq!(text, "Message\n\nSubject: Pumps\nFrom: a@b.example\n\nDrawer 44");
    }

    #[test]
    fn messages_of_a_mailbox_are_sections() {
        let mailbox = format!(
            "From a@b.c Sat Jan  3 01:05:34 2026\n{HEADERS}\nOne\n\nFrom here on it is text.\n\n>From 5 on too.\n\n\
             From d@e.f Sun Jan  4 01:05:34 2026\n{HEADERS}\nTwo\n"
        );
        let pages = collect(LIMITS, |pages| read(mailbox.into_bytes(), pages)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Message 1", "Message 2"]);
        assert!(
            pages[0].1.contains("One\n\nFrom here on it is text.\n\nFrom 5 on too.")
                && pages[1].1.ends_with("Two")
        );
    }

    #[test]
    fn attachments_are_pages_of_the_message() {
        let part = |name: &str, content: &str| {
            format!(
                "--x\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"{name}\"\n\n{content}\n"
            )
        };
        let nested = "--x\nContent-Type: message/rfc822\n\nSubject: Older\nFrom: c@d.example\n\nOld text\n";
        let message = format!(
            "{HEADERS}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nSee below.\n{}{}{nested}--x--\n",
            part("prices.csv", "Part,Price\nRing,12"),
            part("broken.pdf", "%PDF-1.7 nothing"),
        );
        let pages = collect(LIMITS, |pages| read(message.replace('\n', "\r\n").into_bytes(), pages)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Message", "Attachment prices.csv, Rows 1–2", "Attachment Older", UNREAD]);
        assert!(pages[0].1.contains("- Attachment: broken.pdf"), "{}", pages[0].1);
        assert!(pages[1].1.contains("| Ring | 12 |") && pages[2].1.contains("Old text"));
        assert!(pages[3].1.starts_with("- broken.pdf: "), "{}", pages[3].1);
    }

    #[test]
    fn attached_files_of_messages_are_read_as_messages() {
        let within = |name: &str, content: &str| {
            format!(
                "{HEADERS}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nSee below.\n\
                 --x\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"{name}\"\n\
                 Content-Transfer-Encoding: base64\n\n{}\n--x--\n",
                STANDARD.encode(content)
            )
        };
        let mut message = format!("{HEADERS}\nDrawer 44\n");
        for number in 1..=DEPTH_MAX + 1 {
            message = within(&format!("{number}.eml"), &message);
        }
        let pages = collect(LIMITS, |pages| read(message.into_bytes(), pages)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Message", "Attachment 4.eml", "Attachment 3.eml", "Attachment 2.eml", UNREAD]);
        assert_eq!(pages.last().unwrap().1, format!("- 1.eml: {TOO_DEEP}"));
        let pages = collect(LIMITS, |pages| {
            read(within("old.eml", &format!("{HEADERS}\nDrawer 44\n")).into_bytes(), pages)
        });
        assert!(pages.unwrap()[1].1.ends_with("Drawer 44"));
    }

    #[test]
    fn utf16_and_wrongly_declared_messages_are_read() {
        let text = format!("{HEADERS}\nGröße 7\n");
        for unit in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(unit).collect();
            let pages = collect(LIMITS, |pages| read(bytes, pages)).unwrap();
            assert!(pages[0].1.ends_with("Größe 7"), "{}", pages[0].1);
        }
        let declared = format!("{HEADERS}Content-Type: text/plain; charset=iso-8859-1\n\nGröße\n");
        assert!(page(&declared).1.ends_with("Größe"));
        let latin = [HEADERS.as_bytes(), b"\nDie Gr\xf6\xdfe der M\xfcnze\n"].concat();
        let pages = collect(LIMITS, |pages| read(latin, pages)).unwrap();
        assert!(pages[0].1.ends_with("Die Größe der Münze"), "{}", pages[0].1);
    }

    #[test]
    fn empty_text_is_replaced_by_the_web_page_beside_it() {
        let part = |of: &str, text: &str| format!("--x\nContent-Type: text/{of}\n\n{text}\n");
        let message = format!(
            "{HEADERS}MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n{}{}--x--\n",
            part("plain", ""),
            part("html", "<p>Order 5512</p>"),
        );
        assert!(page(&message).1.ends_with("Order 5512"));
    }

    #[test]
    fn styles_of_a_saved_page_are_left_out() {
        let message = format!(
            "{HEADERS}MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\n\
             <p>Pump</p>\n--x\nContent-Type: text/css\n\np {{ color: red }}\n--x--\n"
        );
        let pages = collect(LIMITS, |pages| read(message.into_bytes(), pages)).unwrap();
        assert!(pages.len() == 1 && pages[0].1.ends_with("Pump"), "{pages:?}");
    }

    #[test]
    fn old_line_ends_and_wrappers_are_read() {
        let message = format!("{HEADERS}\nDrawer 44\n");
        let mac = message.replace('\n', "\r").into_bytes();
        let apple = format!("{}      \n{message}<?xml version=\"1.0\"?><plist/>", message.len()).into_bytes();
        for bytes in [mac, apple] {
            let pages = collect(LIMITS, |pages| read(bytes, pages)).unwrap();
            assert_eq!(pages[0].1, "Message\n\nSubject: Pumps\nFrom: a@b.example\n\nDrawer 44");
        }
    }

    #[test]
    fn headers_body_and_attachments_are_one_page() {
        let message = "From: =?utf-8?q?J=C3=BCrgen?= <j@a.example>\nTo: a@b.example, c@d.example\nSubject: =?iso-8859-1?q?Gr=FC=DFe?=\n\
            Date: Mon, 23 Nov 2026 10:00:00 +0100\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n\
            --x\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nDie M=FCnze.\n\
            --x\nContent-Type: application/zip\nContent-Disposition: attachment; filename=\"plan.zip\"\n\nPK\n--x--\n";
        let (label, text) = page(message);
        assert_eq!(label, "Message");
        for part in [
            "Subject: Grüße\nFrom: Jürgen <j@a.example>\nTo: a@b.example, c@d.example\nDate: 2026-11-23T10:00:00+01:00",
            "Die Münze.",
            "- Attachment: plan.zip",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("PK"), "{text}");
    }

    #[test]
    fn html_body_is_read_without_its_markup() {
        let message = "From: a@b.example\nSubject: x\nContent-Type: text/html\n\n<h1>Big</h1><table><tr><td>a<td>b</table>";
        let (_, text) = page(message);
        assert!(text.contains("Big") && text.contains("| a | b |") && !text.contains('<'), "{text}");
    }

    #[test]
    fn deeply_nested_parts_are_read() {
        let nested: String =
            (0..3000).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
        let _ = collect(LIMITS, |pages| read(format!("From: a@b.c\n{nested}").into_bytes(), pages));
        let messages = "Content-Type: message/rfc822\n\n".repeat(3000);
        let _ = collect(LIMITS, |pages| read(format!("From: a@b.c\n{messages}").into_bytes(), pages));
    }
}
