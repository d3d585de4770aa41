//! Reads messages that Outlook saved as files (MSG), as email messages.
//!
//! A message is a compound file: a stream for each property of MAPI, and a storage for each recipient and attachment. It is written as
//! an email message in MIME, which the reader of these reads.

use super::sections::Sections;
use super::{encoding, rtf};
use crate::reader::{Stopped, damaged};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cfb::CompoundFile;
use docent_domain::document::{Failure, FailureCode};
use std::fmt::Write as _;
use std::io::{Cursor, Read};

/// The stream with the properties of fixed size, which each message, recipient and attachment has.
const PROPERTIES: &str = "__properties_version1.0";
/// Beginnings of the names of other streams and storages.
const PROPERTY: &str = "__substg1.0_";
const RECIPIENT: &str = "__recip_version1.0_";
const ATTACHMENT: &str = "__attach_version1.0_";
/// Types of properties, as they end the names of streams.
const TEXT: &str = "001F";
const TEXT_IN_BYTES: &str = "001E";
const BINARY: &str = "0102";
const OBJECT: &str = "000D";
/// Size of an entry of the properties of fixed size.
const ENTRY: usize = 16;
/// Maximum number of recipients and attachments, and depth of attached messages.
const PARTS_MAX: usize = 1000;
const DEPTH_MAX: usize = 3;
/// Maximum size of a message in MIME in bytes.
const BYTES_MAX: usize = 384 << 20;
/// Maximum size of a text in RTF in bytes.
const RTF_BYTES: usize = 64 << 20;
/// What texts in compressed RTF refer to before they have begun.
const RTF_START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \
\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// The message with its attachments in MIME.
pub(super) fn in_mime(bytes: Vec<u8>) -> Result<String, Stopped> {
    let file = CompoundFile::open(Cursor::new(bytes)).map_err(|_| damaged("it is no compound file"))?;
    let mut file = File { file, written: 0 };
    if !file.file.is_stream(format!("/{PROPERTIES}")) {
        let reason = "the file is of an older Office format, such as DOC or XLS, and not a message";
        return Err(Failure::because(FailureCode::WrongFileType, reason).into());
    }
    file.message("/", 0)
}

struct File {
    file: CompoundFile<Cursor<Vec<u8>>>,
    /// Number of bytes in MIME so far.
    written: usize,
}

impl File {
    /// The content of a stream of a storage; `None` if it has none.
    fn stream(&mut self, storage: &str, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.open_stream(format!("{storage}{name}")).ok()?.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn property(&mut self, storage: &str, id: &str, kind: &str) -> Option<Vec<u8>> {
        self.stream(storage, &format!("{PROPERTY}{id}{kind}"))
    }

    /// The first of these properties that has a text.
    fn text(&mut self, storage: &str, ids: &[&str]) -> Option<String> {
        ids.iter().find_map(|id| {
            let text = match self.property(storage, id, TEXT) {
                Some(bytes) => {
                    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
                    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
                }
                None => encoding::decode(self.property(storage, id, TEXT_IN_BYTES)?).ok()?,
            };
            Some(text.trim_matches('\0').to_owned()).filter(|text| !text.trim().is_empty())
        })
    }

    /// The value of a property of fixed size. Its ID and type are at the beginning of an entry.
    fn fixed(&mut self, storage: &str, tag: u32) -> Option<u64> {
        let properties = self.stream(storage, PROPERTIES)?;
        let before = match storage {
            "/" => 32,
            storage if storage.ends_with(&format!("{OBJECT}/")) => 24,
            _ => 8,
        };
        let mut entries = properties.get(before..)?.chunks_exact(ENTRY);
        let entry = entries.find(|entry| entry.starts_with(&tag.to_le_bytes()))?;
        Some(u64::from_le_bytes(entry[8..].try_into().ok()?))
    }

    /// The storages in a storage whose names begin so, as paths.
    fn storages(&self, storage: &str, beginning: &str) -> Vec<String> {
        let entries = self.file.read_storage(storage).into_iter().flatten();
        let named = entries.filter(|entry| entry.is_storage() && entry.name().starts_with(beginning));
        named.take(PARTS_MAX).map(|entry| format!("{storage}{}/", entry.name())).collect()
    }

    /// A message in MIME.
    fn message(&mut self, storage: &str, depth: usize) -> Result<String, Stopped> {
        let mut message = self.headers(storage);
        // No text in Base64 has this.
        let boundary = format!("--part-{depth}");
        let _ = write!(
            message,
            "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\r\n"
        );
        let mut parts = vec![self.body(storage)?];
        for attachment in self.storages(storage, ATTACHMENT) {
            parts.extend(self.attachment(&attachment, depth)?);
        }
        for part in parts {
            let _ = write!(message, "--{boundary}\r\n{part}\r\n");
        }
        let _ = write!(message, "--{boundary}--\r\n");
        Ok(message)
    }

    fn headers(&mut self, storage: &str) -> String {
        let mut headers = String::new();
        let mut header = |name: &str, value: &str| {
            let _ = write!(headers, "{name}: {value}\r\n");
        };
        header("Subject", &encoded(&self.text(storage, &["0037"]).unwrap_or_default()));
        let name = self.text(storage, &["0C1A", "0042"]);
        let address = self.text(storage, &["5D01", "5D02", "0C1F", "0065"]);
        header("From", &mailbox(name, address));
        let recipients = self.storages(storage, RECIPIENT);
        for (kind, field) in [(1, "To"), (2, "Cc")] {
            let mut mailboxes = Vec::new();
            for recipient in &recipients {
                if self.fixed(recipient, 0x0c15_0003).map(|kind| kind as u32) == Some(kind) {
                    let name = self.text(recipient, &["3001"]);
                    mailboxes.push(mailbox(name, self.text(recipient, &["39FE", "3003"])));
                }
            }
            if !mailboxes.is_empty() {
                header(field, &mailboxes.join(",\r\n "));
            }
        }
        let time = self.fixed(storage, 0x0039_0040).or_else(|| self.fixed(storage, 0x0e06_0040));
        // Tenths of microseconds since 1601.
        let seconds =
            time.and_then(|time| i64::try_from(time / 10_000_000).ok()?.checked_sub(11_644_473_600));
        if let Some(date) = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0)) {
            header("Date", &date.to_rfc2822());
        }
        headers
    }

    /// The text of a message as a part in MIME: as it is, as a web page, or in RTF.
    fn body(&mut self, storage: &str) -> Result<String, Stopped> {
        if let Some(text) = self.text(storage, &["1000"]) {
            return Ok(part("text/plain; charset=utf-8", "", text.as_bytes()));
        }
        let page = self.property(storage, "1013", BINARY).map(encoding::decode_html);
        if let Some(page) = page.or_else(|| self.text(storage, &["1013"])) {
            return Ok(part("text/html; charset=utf-8", "", page.as_bytes()));
        }
        let rtf = self.property(storage, "1009", BINARY).and_then(|bytes| uncompressed(&bytes));
        let text = rtf.map(|rtf| Sections::text_of(|sections| rtf::read_into(&rtf, sections))).transpose()?;
        Ok(part("text/plain; charset=utf-8", "", text.unwrap_or_default().as_bytes()))
    }

    /// An attachment as a part in MIME; `None` if it is only a reference.
    fn attachment(&mut self, storage: &str, depth: usize) -> Result<Option<String>, Stopped> {
        let name = self.text(storage, &["3707", "3704", "3001"]).unwrap_or_default();
        let message = format!("{storage}{PROPERTY}3701{OBJECT}/");
        let part = if self.file.is_stream(format!("{message}{PROPERTIES}")) {
            if depth >= DEPTH_MAX {
                return Ok(None);
            }
            format!("Content-Type: message/rfc822\r\n\r\n{}", self.message(&message, depth + 1)?)
        } else if let Some(bytes) = self.property(storage, "3701", BINARY) {
            let name = name.bytes().fold(String::new(), |name, byte| name + &format!("%{byte:02X}"));
            let disposition = format!("Content-Disposition: attachment; filename*=utf-8''{name}\r\n");
            part("application/octet-stream", &disposition, &bytes)
        } else {
            return Ok(None);
        };
        self.written += part.len();
        if self.written > BYTES_MAX {
            return Err(Failure::of(FailureCode::TooLarge).into());
        }
        Ok(Some(part))
    }
}

fn part(media_type: &str, fields: &str, content: &[u8]) -> String {
    format!(
        "Content-Type: {media_type}\r\n{fields}Content-Transfer-Encoding: base64\r\n\r\n{}",
        STANDARD.encode(content)
    )
}

/// A text in a header.
fn encoded(text: &str) -> String {
    format!("=?utf-8?B?{}?=", STANDARD.encode(text))
}

fn mailbox(name: Option<String>, address: Option<String>) -> String {
    // Servers of Exchange have addresses of their own, which people do not know.
    let address = address.filter(|address| address.contains('@'));
    match (name, address) {
        (Some(name), Some(address)) if name != address => format!("{} <{}>", encoded(&name), address.trim()),
        (_, Some(address)) => format!("<{}>", address.trim()),
        (name, None) => encoded(&name.unwrap_or_default()),
    }
}

/// A text in compressed RTF; `None` if it is damaged.
fn uncompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, mut rest) = bytes.split_at_checked(16)?;
    let size = u32::from_le_bytes(header[4..8].try_into().ok()?) as usize;
    match &header[8..12] {
        b"MELA" => return Some(rest.get(..size).unwrap_or(rest).to_vec()),
        b"LZFu" => {}
        _ => return None,
    }
    let mut text = RTF_START.to_vec();
    let end = RTF_START.len() + size.min(RTF_BYTES);
    while let [flags, after @ ..] = rest {
        rest = after;
        for bit in 0..8 {
            if text.len() >= end {
                return Some(text.split_off(RTF_START.len()));
            }
            if flags >> bit & 1 == 0 {
                let Some((byte, after)) = rest.split_first() else { break };
                text.push(*byte);
                rest = after;
                continue;
            }
            let [high, low, after @ ..] = rest else { break };
            rest = after;
            let reference = u16::from_be_bytes([*high, *low]);
            // Places are those in a ring of 4,096 bytes.
            let back = text.len().wrapping_sub(usize::from(reference >> 4)) & 0xfff;
            if back == 0 {
                return Some(text.split_off(RTF_START.len()));
            }
            for _ in 0..(reference & 0xf) + 2 {
                let byte = text.len().checked_sub(back).and_then(|at| text.get(at)).copied();
                text.push(byte.unwrap_or(b' '));
            }
        }
    }
    Some(text.split_off(RTF_START.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::eml;
    use crate::reader::Pages;
    use crate::reader::tests::{LIMITS, collect};
    use std::io::Write;

    fn read(bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
        eml::read(in_mime(bytes)?.into_bytes(), pages)
    }

    /// A compound file with these streams, whose storages are made.
    fn file(streams: &[(&str, &[u8])]) -> Vec<u8> {
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        for (path, content) in streams {
            let (storage, _) = path.rsplit_once('/').unwrap();
            file.create_storage_all(format!("{storage}/")).unwrap();
            file.create_stream(path).unwrap().write_all(content).unwrap();
        }
        file.flush().unwrap();
        file.into_inner().into_inner()
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    /// Properties of fixed size after a beginning of this size.
    fn properties(before: usize, entries: &[(u32, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; before];
        for (tag, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend([6, 0, 0, 0]);
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    fn text(streams: &[(&str, &[u8])]) -> Vec<(String, String)> {
        collect(LIMITS, |pages| read(file(streams), pages)).unwrap()
    }

    #[test]
    fn headers_body_and_attachments_are_read() {
        let (subject, name, body) = (utf16("Größe der Pumpe"), utf16("Ada Å"), utf16("See below.\r\nAda"));
        let (to, address, file_name) = (utf16("Ben"), utf16("ben@b.example"), utf16("Preise ü.csv"));
        let (sent, nested) = (133_000_000_000_000_000, utf16("Older"));
        let top = properties(32, &[(0x0039_0040, sent)]);
        let recipient = properties(8, &[(0x0c15_0003, 1)]);
        let attachment = "/__attach_version1.0_#00000000/__substg1.0_";
        let embedded = "/__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_";
        let pages = text(&[
            ("/__properties_version1.0", &top),
            ("/__substg1.0_0037001F", &subject),
            ("/__substg1.0_0C1A001F", &name),
            ("/__substg1.0_5D01001E", b"ada@a.example"),
            ("/__substg1.0_1000001F", &body),
            ("/__recip_version1.0_#00000000/__properties_version1.0", &recipient),
            ("/__recip_version1.0_#00000000/__substg1.0_3001001F", &to),
            ("/__recip_version1.0_#00000000/__substg1.0_39FE001F", &address),
            (&format!("{attachment}3707001F"), &file_name),
            (&format!("{attachment}37010102"), b"Part,Price\nRing,12\n"),
            (
                "/__attach_version1.0_#00000001/__substg1.0_3701000D/__properties_version1.0",
                &properties(24, &[]),
            ),
            (&format!("{embedded}0037001F"), &nested),
            (&format!("{embedded}1000001E"), b"Old text"),
        ]);
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Message", "Attachment Preise ü.csv, Rows 1–2", "Attachment Older"]);
        let headers = "Subject: Größe der Pumpe\nFrom: Ada Å <ada@a.example>\nTo: Ben <ben@b.example>\nDate: 2022-06-18T04:26:40Z";
        assert!(pages[0].1.contains(headers), "{}", pages[0].1);
        assert!(pages[0].1.contains("See below.\nAda"), "{}", pages[0].1);
        assert!(pages[1].1.contains("| Ring | 12 |") && pages[2].1.contains("Old text"), "{pages:?}");
    }

    #[test]
    fn web_pages_and_compressed_rtf_are_bodies() {
        let top = properties(32, &[]);
        let page = text(&[
            ("/__properties_version1.0", &top),
            (
                "/__substg1.0_10130102",
                b"<html><head><meta charset='windows-1252'></head><p>Ventil f\xfcr <b>5</b></p></html>",
            ),
        ]);
        assert!(page[0].1.ends_with("Ventil für 5"), "{}", page[0].1);
        // The example of the specification.
        let compressed = [
            0x2d, 0, 0, 0, 0x2b, 0, 0, 0, 0x4c, 0x5a, 0x46, 0x75, 0xf1, 0xc5, 0xc7, 0xa7, 0x03, 0, 0x0a, 0,
            0x72, 0x63, 0x70, 0x67, 0x31, 0x32, 0x35, 0x42, 0x32, 0x0a, 0xf3, 0x20, 0x68, 0x65, 0x6c, 0x09,
            0, 0x20, 0x62, 0x77, 0x05, 0xb0, 0x6c, 0x64, 0x7d, 0x0a, 0x80, 0x0f, 0xa0,
        ];
        assert_eq!(RTF_START.len(), 207);
        let rtf = uncompressed(&compressed).unwrap();
        assert_eq!(String::from_utf8(rtf).unwrap(), "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
        let page = text(&[("/__properties_version1.0", &top), ("/__substg1.0_10090102", &compressed)]);
        assert!(page[0].1.ends_with("hello world"), "{}", page[0].1);
        for end in 0..compressed.len() {
            uncompressed(&compressed[..end]);
        }
    }

    #[test]
    fn other_compound_files_and_damaged_ones_are_failures() {
        let word = file(&[("/WordDocument", b"text")]);
        assert_eq!(collect(LIMITS, |pages| read(word, pages)), Err(FailureCode::WrongFileType));
        let damaged = file(&[("/__properties_version1.0", b"")]);
        assert_eq!(
            collect(LIMITS, |pages| read(damaged[..600].to_vec(), pages)),
            Err(FailureCode::Unreadable)
        );
    }
}
