//! Detection of a file's type by its content.

use super::FileType;
use super::mail::{self, MailEvidence};
use super::plain_text::TextForm;

/// The number of bytes at the beginning of a file that are examined.
pub const HEAD_BYTES: usize = 8 * 1024;

/// The number of bytes at the beginning of a PDF that must contain its header.
const PDF_HEADER_BYTES: usize = 1024;
/// Signature, compression method and name length of a local file header in a ZIP archive, and the length of a header.
const ZIP_SIGNATURE: &[u8] = b"PK\x03\x04";
const ZIP_METHOD: usize = 8;
const ZIP_NAME_LENGTH: usize = 26;
const ZIP_HEADER_BYTES: usize = 30;
/// The entry of an EPUB that names its content.
const EPUB_CONTAINER: &[u8] = b"META-INF/container.xml";
/// The beginning of the files of older Office programs and of Outlook, in which newer files are kept that have a password.
const COMPOUND_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// The name of a stream that every message of Outlook has.
const MESSAGE_STREAM: &str = "__properties_version1.0";
/// The beginning of a text in the Rich Text Format.
const RTF_SIGNATURE: &[u8] = b"{\\rtf";

/// Returns the type of a file, given its first [`HEAD_BYTES`] and its name; `None` if it is no type that is known.
///
/// The content decides. The name only separates what has the same content: kinds of plain text, and Office files whose
/// beginning does not name their parts. The extraction then verifies the content.
pub fn detect(head: &[u8], name: &str) -> Option<FileType> {
    let head = &head[..head.len().min(HEAD_BYTES)];
    if find(&head[..head.len().min(PDF_HEADER_BYTES)], b"%PDF-").is_some() {
        return Some(FileType::Pdf);
    }
    if head.starts_with(ZIP_SIGNATURE) {
        return of_zip(head, name);
    }
    if head.starts_with(COMPOUND_SIGNATURE) {
        return of_compound(head, name);
    }
    // Texts in this format can have bytes of pictures, and bytes after their end.
    let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if start.starts_with(RTF_SIGNATURE) {
        return Some(FileType::Rtf);
    }
    let text = TextForm::of(head)?.decode(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if is_html(text) {
        return Some(FileType::Html);
    }
    let named = FileType::of_name(name).filter(|of| of.is_named_text());
    let mail = mail::evidence(text);
    match named {
        Some(of @ (FileType::Markdown | FileType::Csv)) => Some(of),
        Some(FileType::Text) if mail < MailEvidence::Transport => Some(FileType::Text),
        Some(FileType::Eml) if mail >= MailEvidence::Header => Some(FileType::Eml),
        _ if mail >= MailEvidence::Headers => Some(FileType::Eml),
        Some(FileType::Html) if text.contains('<') => Some(FileType::Html),
        _ => Some(FileType::Text),
    }
}

/// A message of Outlook, also by the name of the file since the names of streams can be behind its beginning, or the type of a newer
/// Office file that is encrypted, by its name: the extraction reports that it needs a password.
fn of_compound(head: &[u8], name: &str) -> Option<FileType> {
    // The names of streams are in UTF-16.
    let stream: Vec<u8> = MESSAGE_STREAM.encode_utf16().flat_map(u16::to_le_bytes).collect();
    if find(head, &stream).is_some() {
        return Some(FileType::Msg);
    }
    let is_compound =
        |of: &FileType| matches!(of, FileType::Docx | FileType::Pptx | FileType::Xlsx | FileType::Msg);
    FileType::of_name(name).filter(is_compound)
}

fn of_zip(head: &[u8], name: &str) -> Option<FileType> {
    let names = entry_names(head);
    // OpenDocument and EPUB begin with an entry `mimetype`, which should not be compressed. Where it is, other entries or the
    // name of the file tell the type, and the extraction verifies it.
    if let Some(Entry { name: b"mimetype", content: None }) = names.first() {
        let is_epub = names.iter().any(|entry| entry.name == EPUB_CONTAINER);
        let is_named = |of: &FileType| matches!(of, FileType::Odt | FileType::Ods | FileType::Epub);
        let named = FileType::of_name(name).filter(is_named);
        return if is_epub { Some(FileType::Epub) } else { named };
    }
    if let Some(Entry { name: b"mimetype", content: Some(content) }) = names.first() {
        // A template or another kind of OpenDocument file continues the name.
        let is = |of: &FileType| {
            content.strip_prefix(of.media_type().as_bytes()).is_some_and(|rest| rest.first() != Some(&b'-'))
        };
        return [FileType::Odt, FileType::Ods, FileType::Epub].into_iter().find(is);
    }
    // Some programs write names in other cases and with backslashes.
    let has = |folder: &[u8]| names.iter().any(|entry| begins_with_folder(entry.name, folder));
    let found = [(FileType::Docx, &b"word"[..]), (FileType::Pptx, b"ppt"), (FileType::Xlsx, b"xl")];
    if let Some((of, _)) = found.iter().find(|(_, folder)| has(folder)) {
        return Some(*of);
    }
    let named = FileType::of_name(name)?;
    let is_office = matches!(
        named,
        FileType::Docx | FileType::Pptx | FileType::Xlsx | FileType::Odt | FileType::Ods | FileType::Epub
    );
    is_office.then_some(named)
}

/// Whether the name of an entry begins with this folder.
fn begins_with_folder(name: &[u8], folder: &[u8]) -> bool {
    let name = name.strip_prefix(b"/").or_else(|| name.strip_prefix(b"\\")).unwrap_or(name);
    name.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder))
        && matches!(name.get(folder.len()), Some(b'/' | b'\\'))
}

/// An entry of a ZIP archive.
struct Entry<'a> {
    name: &'a [u8],
    /// Its content and what follows it; `None` if it is compressed.
    content: Option<&'a [u8]>,
}

/// The entries whose headers are in the head of a ZIP archive.
fn entry_names(head: &[u8]) -> Vec<Entry<'_>> {
    let mut names = Vec::new();
    let mut rest = head;
    while let Some(at) = find(rest, ZIP_SIGNATURE) {
        let header = &rest[at..];
        rest = &header[ZIP_SIGNATURE.len()..];
        let (Some(length), Some(extra)) = (
            header.get(ZIP_NAME_LENGTH..ZIP_NAME_LENGTH + 2),
            header.get(ZIP_NAME_LENGTH + 2..ZIP_HEADER_BYTES),
        ) else {
            break;
        };
        let end = ZIP_HEADER_BYTES + usize::from(u16::from_le_bytes([length[0], length[1]]));
        let content = end + usize::from(u16::from_le_bytes([extra[0], extra[1]]));
        if let Some(name) = header.get(ZIP_HEADER_BYTES..end) {
            let is_compressed = header.get(ZIP_METHOD..ZIP_METHOD + 2) != Some(&[0, 0]);
            let content = (!is_compressed).then(|| header.get(content..).unwrap_or_default());
            names.push(Entry { name, content });
        }
    }
    names
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn is_html(text: &str) -> bool {
    let begins =
        |text: &str, with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    let mut text = text;
    // Comments and an XML declaration may come first.
    loop {
        let skipped = if text.starts_with("<!--") {
            text.split_once("-->").map(|(_, rest)| rest)
        } else if begins(text, "<?xml") {
            text.split_once("?>").map(|(_, rest)| rest)
        } else {
            None
        };
        match skipped {
            Some(rest) => text = rest.trim_start(),
            None => break,
        }
    }
    ["<!doctype html", "<html", "<head", "<body"].into_iter().any(|tag| begins(text, tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A local file header with a name and a content.
    fn entry(name: &str, content: &str) -> Vec<u8> {
        let mut bytes = ZIP_SIGNATURE.to_vec();
        bytes.extend([0; ZIP_NAME_LENGTH - 4]);
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content.as_bytes());
        bytes
    }

    #[test]
    fn content_decides_and_the_name_separates_equal_contents() {
        let office = |folder: &str| [entry("[Content_Types].xml", "…"), entry(folder, "…")].concat();
        let mail = b"Received: by a\n\tfolded\nX-Spam: no\nFrom: a@b.c\nSubject: Hello\n\nText";
        let stream: Vec<u8> = MESSAGE_STREAM.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let message = [COMPOUND_SIGNATURE, &stream].concat();
        let cases: [(&[u8], &str, Option<FileType>); 42] = [
            (b"%PDF-1.7\n", "a.docx", Some(FileType::Pdf)),
            (b"junk\n%PDF-1.7\n", "a", Some(FileType::Pdf)),
            (&office("word/document.xml"), "a.pdf", Some(FileType::Docx)),
            (&office("ppt/presentation.xml"), "a", Some(FileType::Pptx)),
            (&office("xl/workbook.xml"), "a.docx", Some(FileType::Xlsx)),
            (&office("_rels/.rels"), "a.XLSX", Some(FileType::Xlsx)),
            (&office("_rels/.rels"), "a.zip", None),
            (&office("_rels/.rels"), "a.txt", None),
            (&entry("mimetype", FileType::Odt.media_type()), "a.docx", Some(FileType::Odt)),
            (&entry("mimetype", "application/vnd.oasis.opendocument.text-master"), "a.odt", None),
            (&entry("mimetype", FileType::Ods.media_type()), "a.odt", Some(FileType::Ods)),
            (&entry("mimetype", "application/vnd.oasis.opendocument.spreadsheet-template"), "a.ods", None),
            (&entry("mimetype", "application/vnd.oasis.opendocument.graphics"), "a.odt", None),
            (&office("word\\document.xml"), "a", Some(FileType::Docx)),
            (&office("XL/Workbook.xml"), "a", Some(FileType::Xlsx)),
            (&office("wordy/document.xml"), "a", None),
            (&entry("mimetype", FileType::Epub.media_type()), "a", Some(FileType::Epub)),
            (b"\xef\xbb\xbf <!-- x -->\n<!DOCTYPE HTML>", "a.txt", Some(FileType::Html)),
            (b"<?xml version='1.0'?><html xmlns='x'>", "a", Some(FileType::Html)),
            (b"<p>fragment</p>", "a.html", Some(FileType::Html)),
            (b"<p>fragment</p>", "a", Some(FileType::Text)),
            (b"# Title\n", "a.md", Some(FileType::Markdown)),
            (b"a;b\n1;2\n", "a.csv", Some(FileType::Csv)),
            (b"a;b\n1;2\n", "a.pdf", Some(FileType::Text)),
            (mail, "a", Some(FileType::Eml)),
            (mail, "a.txt", Some(FileType::Eml)),
            (mail, "a.md", Some(FileType::Markdown)),
            (b"From: the office\nTo: all\n\nText", "a.txt", Some(FileType::Text)),
            (b"Subject: a page of notes\n\nText", "a.eml", Some(FileType::Eml)),
            (b"Subject: a page of notes\n\nText", "a", Some(FileType::Text)),
            (b"No headers\n\nText", "a.eml", Some(FileType::Text)),
            (b"{\\rtf1\\ansi Hello}", "a.txt", Some(FileType::Rtf)),
            (b"{\\rtf1 Hello}\0\0", "a.rtf", Some(FileType::Rtf)),
            (b"a\0b\0", "a.txt", Some(FileType::Text)),
            (b"\xff\xfea\0b\0", "a.txt", Some(FileType::Text)),
            ("Caf\u{e9}".as_bytes(), "a.txt", Some(FileType::Text)),
            (b"Caf\xe9", "a.txt", Some(FileType::Text)),
            (b"\x89PNG\r\n\x1a\n\0\0", "a.txt", None),
            (COMPOUND_SIGNATURE, "a.doc", None),
            (COMPOUND_SIGNATURE, "a.docx", Some(FileType::Docx)),
            (COMPOUND_SIGNATURE, "a.msg", Some(FileType::Msg)),
            (&message, "a.doc", Some(FileType::Msg)),
        ];
        for (head, name, expected) in cases {
            assert_eq!(detect(head, name), expected, "{name}: {}", String::from_utf8_lossy(head));
        }
        assert_eq!(detect(b"", "a"), Some(FileType::Text));
    }

    #[test]
    fn compressed_mimetype_leaves_the_type_to_other_entries_and_the_name() {
        let mut mimetype = entry("mimetype", "compressed");
        mimetype[ZIP_METHOD] = 8;
        let book = [mimetype.clone(), entry("META-INF/container.xml", "…")].concat();
        let text = [mimetype, entry("content.xml", "…")].concat();
        for (head, name, expected) in [
            (&book, "a", Some(FileType::Epub)),
            (&book, "a.odt", Some(FileType::Epub)),
            (&text, "a.odt", Some(FileType::Odt)),
            (&text, "a.epub", Some(FileType::Epub)),
            (&text, "a.ods", Some(FileType::Ods)),
            (&text, "a.docx", None),
        ] {
            assert_eq!(detect(head, name), expected, "{name}");
        }
    }

    #[test]
    fn every_cut_of_a_head_is_classified() {
        let head = [entry("[Content_Types].xml", "…"), entry("word/document.xml", "…")].concat();
        for end in 0..head.len() {
            detect(&head[..end], "a.docx");
        }
        assert_eq!(detect(&[b'a'; 3 * HEAD_BYTES], "a"), Some(FileType::Text));
    }
}
