//! Reads email messages.

use super::sections::Sections;
use super::{html, unreadable};
use crate::reader::{Pages, Stopped, one_line};
use mail_parser::{Address, MessageParser, MimeHeaders, PartType};

/// Label of the page with headers and body.
const LABEL: &str = "Message";
/// Maximum number of attachments that are named.
const ATTACHMENTS_MAX: usize = 1000;

/// Passes the headers, the body and the names of attachments on as one section. Attachments are not read.
pub(super) fn read(bytes: &[u8], pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let message = MessageParser::default().parse(bytes).ok_or_else(unreadable)?;
    let mut sections = Sections::new(pages);
    sections.heading(1, LABEL)?;
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
    sections.paragraph(&headers);
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => sections.paragraph(text),
            // Headings of a message do not begin sections.
            PartType::Html(page) => {
                let mut body = Body::default();
                body.read(page)?;
                sections.paragraph(&body.text);
            }
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => {}
        }
    }
    for attachment in message.attachments().take(ATTACHMENTS_MAX) {
        let name = attachment.attachment_name().unwrap_or("without a name");
        sections.item(&format!("Attachment: {}", one_line(name)));
    }
    sections.finish()
}

fn addresses(addresses: &Address<'_>) -> String {
    let text = |address: &mail_parser::Addr<'_>| match (address.name(), address.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => String::new(),
    };
    addresses.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The text of a message in HTML.
#[derive(Default)]
struct Body {
    text: String,
}

impl Body {
    fn read(&mut self, page: &str) -> Result<(), Stopped> {
        let limits = crate::reader::PagesLimits { pages: u32::MAX, text_bytes: u64::MAX };
        let mut pages = Pages::new(self, limits);
        html::read(page, &mut pages)
    }
}

impl crate::reader::Sink for Body {
    fn page(&mut self, page: docent_domain::extraction::ExtractedPage) -> std::io::Result<()> {
        self.text.push_str(&page.text);
        self.text.push_str("\n\n");
        Ok(())
    }

    fn complete(&mut self, _: u32) -> std::io::Result<()> {
        Ok(())
    }

    fn metadata(&mut self, _: docent_domain::extraction::Metadata) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    fn page(message: &str) -> (String, String) {
        collect(LIMITS, |pages| read(message.replace('\n', "\r\n").as_bytes(), pages)).unwrap().remove(0)
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
        let _ = collect(LIMITS, |pages| read(format!("From: a@b.c\n{nested}").as_bytes(), pages));
        let messages = "Content-Type: message/rfc822\n\n".repeat(3000);
        let _ = collect(LIMITS, |pages| read(format!("From: a@b.c\n{messages}").as_bytes(), pages));
    }
}
