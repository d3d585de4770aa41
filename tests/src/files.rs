//! Small files of every type, with a heading and a sentence.

use crate::pdf::pdf;
use docent_domain::file_type::FileType;
use std::io::{Cursor, Write};

/// A file of this type. Tables have the heading in the first row and the sentence in the second.
pub fn file(file_type: FileType, heading: &str, sentence: &str) -> Vec<u8> {
    let page = format!("<!DOCTYPE html><html><body><h1>{heading}</h1><p>{sentence}</p></body></html>");
    match file_type {
        FileType::Pdf => pdf(&[&format!("{heading}\n{sentence}")]),
        FileType::Docx => docx(heading, sentence),
        FileType::Pptx => pptx(heading, sentence),
        FileType::Xlsx => xlsx(heading, sentence),
        FileType::Odt => odt(heading, sentence),
        FileType::Ods => ods(heading, sentence),
        FileType::Rtf => {
            format!("{{\\rtf1\\ansi\\outlinelevel0 {heading}\\par\\pard {sentence}\\par}}").into_bytes()
        }
        FileType::Epub => epub(&page),
        FileType::Html => page.into_bytes(),
        FileType::Markdown => format!("# {heading}\n\n{sentence}\n").into_bytes(),
        FileType::Text => format!("{heading}\n{sentence}\n").into_bytes(),
        FileType::Csv => format!("{heading},Note\n\"{sentence}\",1\n").into_bytes(),
        FileType::Eml => {
            format!("From: ada@example.org\r\nSubject: {heading}\r\n\r\n{sentence}\r\n").into_bytes()
        }
        FileType::Msg => msg(heading, sentence),
    }
}

fn relations(entries: &[(&str, &str, &str)]) -> String {
    let entry = |(id, kind, target): &(&str, &str, &str)| {
        let base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        format!("<Relationship Id=\"{id}\" Type=\"{base}/{kind}\" Target=\"{target}\"/>")
    };
    format!("<Relationships>{}</Relationships>", entries.iter().map(entry).collect::<String>())
}

fn msg(subject: &str, text: &str) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a compound file");
    for (name, content) in [
        ("__properties_version1.0", &[0; 32][..]),
        ("__substg1.0_0037001E", subject.as_bytes()),
        ("__substg1.0_1000001E", text.as_bytes()),
    ] {
        let mut stream = file.create_stream(name).expect("a stream");
        stream.write_all(content).expect("its content");
    }
    file.flush().expect("a file in memory");
    file.into_inner().into_inner()
}

fn docx(heading: &str, sentence: &str) -> Vec<u8> {
    let body = format!(
        "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"H\"/></w:pPr><w:r><w:t>{heading}</w:t></w:r></w:p>\
         <w:p><w:r><w:t>{sentence}</w:t></w:r></w:p></w:body></w:document>"
    );
    let styles = "<w:styles><w:style w:styleId=\"H\"><w:name w:val=\"heading 1\"/></w:style></w:styles>";
    zip(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("r1", "officeDocument", "word/document.xml")])),
        ("word/_rels/document.xml.rels", &relations(&[("r1", "styles", "styles.xml")])),
        ("word/styles.xml", styles),
        ("word/document.xml", &body),
    ])
}

fn pptx(heading: &str, sentence: &str) -> Vec<u8> {
    let shape = |kind: &str, text: &str| {
        format!("<p:sp><p:ph type=\"{kind}\"/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>")
    };
    let slides =
        "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"r1\"/></p:sldIdLst></p:presentation>";
    zip(&[
        ("_rels/.rels", &relations(&[("r1", "officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", slides),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("r1", "slide", "slides/slide1.xml")])),
        (
            "ppt/slides/slide1.xml",
            &format!("<p:sld>{}{}</p:sld>", shape("title", heading), shape("body", sentence)),
        ),
    ])
}

fn xlsx(heading: &str, sentence: &str) -> Vec<u8> {
    let cell = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let sheet = format!(
        "<worksheet><sheetData><row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\"><v>1</v></c></row></sheetData></worksheet>",
        cell("A1", heading),
        cell("B1", "Note"),
        cell("A2", sentence)
    );
    zip(&[
        ("_rels/.rels", &relations(&[("r1", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"Animals\" r:id=\"r1\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", &relations(&[("r1", "worksheet", "worksheets/sheet1.xml")])),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

fn odt(heading: &str, sentence: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:text><text:h text:outline-level=\"1\">{heading}</text:h>\
         <text:p>{sentence}</text:p></office:text></office:body></office:document-content>"
    );
    zip(&[("mimetype", FileType::Odt.media_type()), ("content.xml", &content)])
}

fn ods(heading: &str, sentence: &str) -> Vec<u8> {
    let row = |cells: [&str; 2]| {
        let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
        format!("<table:table-row>{}</table:table-row>", cells.map(cell).concat())
    };
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"Animals\">{}{}</table:table>\
         </office:spreadsheet></office:body></office:document-content>",
        row([heading, "Note"]),
        row([sentence, "1"])
    );
    zip(&[("mimetype", FileType::Ods.media_type()), ("content.xml", &content)])
}

fn epub(page: &str) -> Vec<u8> {
    let container = "<container><rootfile full-path=\"book.opf\"/></container>";
    let book = "<package><item id=\"a\" href=\"a.xhtml\"/><spine><itemref idref=\"a\"/></spine></package>";
    zip(&[
        ("mimetype", FileType::Epub.media_type()),
        ("META-INF/container.xml", container),
        ("book.opf", book),
        ("a.xhtml", page),
    ])
}

/// A ZIP archive whose entries are not compressed.
fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let offset = u32::try_from(archive.len()).expect("a small archive");
        let size = u32::try_from(content.len()).expect("a small entry").to_le_bytes();
        let length = u16::try_from(name.len()).expect("a short name").to_le_bytes();
        // Version, flags, method, time and date; then the check sum, both sizes, and the lengths of name and extra field.
        let fields = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 33, 0][..],
            &crc32(content.as_bytes()).to_le_bytes(),
            &size,
            &size,
            &length,
            &[0, 0],
        ]
        .concat();
        archive.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), content.as_bytes()].concat());
        directory.extend(
            [b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &offset.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let count = u16::try_from(entries.len()).expect("few entries").to_le_bytes();
    let size = u32::try_from(directory.len()).expect("a small archive").to_le_bytes();
    let start = u32::try_from(archive.len()).expect("a small archive").to_le_bytes();
    [
        archive,
        directory,
        b"PK\x05\x06\0\0\0\0".to_vec(),
        [&count[..], &count, &size, &start, &[0, 0]].concat(),
    ]
    .concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}
