//! Files that attack their reader, with what must become of them.

use docent_domain::document::FailureCode;
use docent_domain::file_type::FileType;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A word in every file that is read.
pub(crate) const TEXT: &str = "Quarterly";
/// A word in what must not be read, such as macros.
pub(crate) const HIDDEN: &str = "Autoexec";

/// A hostile file. Reading it fails with a code, or results in [`TEXT`] without [`HIDDEN`].
pub(crate) struct HostileFile {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) failure: Option<FailureCode>,
}

/// Files of every type beside PDF. Remote content in them is at `url`.
pub(crate) fn files(url: &str) -> Vec<HostileFile> {
    use FailureCode::{TooLarge, TooMuchText, Unreadable, WrongFileType};
    let read = |name, bytes| HostileFile { name, bytes, failure: None };
    let fails = |name, bytes, code| HostileFile { name, bytes, failure: Some(code) };
    let document = docx(&paragraph(TEXT), &[]);
    let page = remote_page(url);
    vec![
        fails("bomb.docx", bomb(97), TooLarge),
        fails("bombs.pptx", bombs(3, 80), TooLarge),
        fails("much text.docx", docx(&paragraph(&"long words ".repeat(7 << 20)), &[]), TooMuchText),
        read("archive inside.docx", docx(&paragraph(TEXT), &[("word/embeddings/a.zip", &nested_archives())])),
        fails("archives.docx", nested_archives(), Unreadable),
        fails("laughs.docx", docx_of(&format!("{}<w:document>&c;</w:document>", laughs()), &[]), Unreadable),
        fails(
            "laughs.xlsx",
            xlsx(&cell(TEXT), &format!("{}<sst><si><t>&c;</t></si></sst>", laughs())),
            Unreadable,
        ),
        fails(
            "laughs.odt",
            odt(&format!("{}<office:text>&c;</office:text>", laughs()), CompressionMethod::Stored),
            Unreadable,
        ),
        read("laughs.epub", epub(&format!("{}<html><p>{TEXT} &c;</p></html>", laughs()))),
        read("laughs.html", format!("{}<html><p>{TEXT} &c;</p></html>", laughs()).into_bytes()),
        fails("external.docx", docx_of(&external_entity(url), &[]), Unreadable),
        fails("external.odt", odt(&external_entity(url), CompressionMethod::Stored), Unreadable),
        read("external.epub", epub(&external_entity(url))),
        read("macro.docm", docx(&paragraph(TEXT), &[("word/vbaProject.bin", HIDDEN.as_bytes())])),
        read("macro.xlsm", macro_workbook()),
        read(
            "remote.docx",
            docx(&paragraph(TEXT), &[("word/_rels/document.xml.rels", remote_parts(url).as_bytes())]),
        ),
        read("remote.html", page.clone().into_bytes()),
        read("remote.epub", epub(&page)),
        read(
            "compressed mimetype.epub",
            epub_with(CompressionMethod::Deflated, &format!("<html><p>{TEXT}</p></html>")),
        ),
        read(
            "compressed mimetype.odt",
            odt(
                &format!(
                    "<office:document-content><office:body><office:text><text:p>{TEXT}</text:p></office:text></office:body>\
                     </office:document-content>"
                ),
                CompressionMethod::Deflated,
            ),
        ),
        read(
            "remote.md",
            format!("# {TEXT}\n![a]({url}/a.png)\n\n[b]: {url}/b\n\n<img src='{url}/c'>\n").into_bytes(),
        ),
        read("remote.eml", message("text/html", &page)),
        fails("cut.docx", document[..document.len() / 2].to_vec(), Unreadable),
        fails("cut.epub", epub(TEXT)[..200].to_vec(), Unreadable),
        fails("workbook.docx", office(&[("word/document.xml", b"<workbook/>")]), WrongFileType),
        fails("deep.docx", docx(&"<w:tbl>".repeat(1_000_000), &[]), Unreadable),
        read("deep.html", format!("{}{TEXT}", "<div><table><tr><td>".repeat(100_000)).into_bytes()),
        read("deep.md", format!("# {TEXT}\n{}x", "> ".repeat(100_000)).into_bytes()),
        read("deep.eml", message("message/rfc822", &"Content-Type: message/rfc822\n\n".repeat(100_000))),
        read("parts.eml", many_parts()),
        fails(
            "wide.csv",
            format!("{TEXT}{}\n1{}\n", ",a".repeat(1_000_000), ",2".repeat(1_000_000)).into_bytes(),
            TooMuchText,
        ),
        fails(
            "wide.html",
            format!("<p>{TEXT}</p><table><tr>{}</table>", "<td colspan=100>a".repeat(20_000)).into_bytes(),
            TooMuchText,
        ),
        read("empty rows.csv", format!("{TEXT},Plan\n{}1,2\n", ",\n".repeat(1_000_000)).into_bytes()),
        fails("cells.xlsx", xlsx(&cell("a").repeat(2_000_001), "<sst/>"), TooMuchText),
    ]
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    // EPUB and OpenDocument files are known by the entry `mimetype`, which should not be compressed.
    archive_with(CompressionMethod::Stored, entries)
}

/// An archive whose entry `mimetype` is compressed or not.
fn archive_with(mimetype: CompressionMethod, entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let method = if *name == "mimetype" { mimetype } else { CompressionMethod::Deflated };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn relations(entries: &[(&str, &str)]) -> String {
    let entry = |(kind, target): &(&str, &str)| {
        format!("<Relationship Id='{kind}' Type='http://schemas.example/{kind}' Target='{target}'/>")
    };
    format!("<Relationships>{}</Relationships>", entries.iter().map(entry).collect::<String>())
}

/// An Office file with these parts, the first of which is its content.
fn office(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let root = relations(&[("officeDocument", parts[0].0)]);
    archive(&[&[("[Content_Types].xml", &b"<Types/>"[..]), ("_rels/.rels", root.as_bytes())], parts].concat())
}

fn docx_of(document: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    office(&[&[("word/document.xml", document.as_bytes())], more].concat())
}

fn docx(body: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    docx_of(&format!("<w:document><w:body>{body}</w:body></w:document>"), more)
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn workbook(cells: &str, texts: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let parts = relations(&[("worksheet", "sheet.xml"), ("sharedStrings", "texts.xml")]);
    let sheet = format!("<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>");
    let own: [(&str, &[u8]); 4] = [
        ("xl/workbook.xml", b"<workbook><sheets><sheet name='Plan' r:id='worksheet'/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", parts.as_bytes()),
        ("xl/sheet.xml", sheet.as_bytes()),
        ("xl/texts.xml", texts.as_bytes()),
    ];
    office(&[&own, more].concat())
}

fn xlsx(cells: &str, texts: &str) -> Vec<u8> {
    workbook(cells, texts, &[])
}

fn cell(text: &str) -> String {
    format!("<c t='str'><v>{text}</v></c>")
}

fn macro_workbook() -> Vec<u8> {
    workbook(&cell(TEXT), "<sst/>", &[("xl/vbaProject.bin", HIDDEN.as_bytes())])
}

fn odt(content: &str, mimetype: CompressionMethod) -> Vec<u8> {
    let media_type = FileType::Odt.media_type().as_bytes();
    archive_with(mimetype, &[("mimetype", media_type), ("content.xml", content.as_bytes())])
}

fn epub(chapter: &str) -> Vec<u8> {
    epub_with(CompressionMethod::Stored, chapter)
}

fn epub_with(mimetype: CompressionMethod, chapter: &str) -> Vec<u8> {
    let book = "<package><manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>";
    archive_with(
        mimetype,
        &[
            ("mimetype", FileType::Epub.media_type().as_bytes()),
            ("META-INF/container.xml", b"<container><rootfile full-path='book.opf'/></container>"),
            ("book.opf", book.as_bytes()),
            ("a.xhtml", chapter.as_bytes()),
        ],
    )
}

/// A document that unpacks to this many MiB.
fn bomb(mib: usize) -> Vec<u8> {
    docx(&format!("<!--{}-->", " ".repeat(mib << 20)), &[])
}

/// A presentation whose slides unpack to this many MiB each.
fn bombs(slides: usize, mib: usize) -> Vec<u8> {
    let slide = format!("<p:sld><!--{}--></p:sld>", " ".repeat(mib << 20));
    let names: Vec<String> = (0..slides).map(|number| format!("slide{number}")).collect();
    let ids: String = names.iter().map(|name| format!("<p:sldId r:id='{name}'/>")).collect();
    let targets: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let (root, parts) = (format!("<p:presentation>{ids}</p:presentation>"), relations(&targets));
    let mut all = vec![
        ("ppt/presentation.xml".to_owned(), root.as_bytes()),
        ("ppt/_rels/presentation.xml.rels".to_owned(), parts.as_bytes()),
    ];
    all.extend(names.iter().map(|name| (format!("ppt/{name}"), slide.as_bytes())));
    office(&all.iter().map(|(name, content)| (name.as_str(), *content)).collect::<Vec<_>>())
}

/// Ten archives, each inside the next.
fn nested_archives() -> Vec<u8> {
    (0..10).fold(HIDDEN.as_bytes().to_vec(), |inner, _| archive(&[("word/inner.zip", &inner)]))
}

/// A document type whose entity `c` is a billion words.
fn laughs() -> String {
    let thousand = |name: &str| format!("&{name};").repeat(1000);
    let (a, b) = (thousand("a"), thousand("b"));
    format!("<!DOCTYPE html [<!ENTITY a '{}'><!ENTITY b '{a}'><!ENTITY c '{b}'>]>", HIDDEN.repeat(1000))
}

/// A page with a document type and entities at other places.
fn external_entity(url: &str) -> String {
    format!(
        "<!DOCTYPE html SYSTEM '{url}/a.dtd' [<!ENTITY a SYSTEM '{url}/a'><!ENTITY b SYSTEM 'file:///etc/passwd'>\
         <!ENTITY % c SYSTEM '{url}/c'> %c;]><html><p>{TEXT} &a; &b;</p></html>"
    )
}

/// Relations to remote parts. Some readers of Office files load these: images, templates and frames.
fn remote_parts(url: &str) -> String {
    let relation = |kind| {
        format!("<Relationship Id='{kind}' Type='x/{kind}' Target='{url}/{kind}' TargetMode='External'/>")
    };
    let relations = ["image", "attachedTemplate", "frame", "styles", "footnotes"].map(relation).concat();
    format!("<Relationships>{relations}</Relationships>")
}

fn remote_page(url: &str) -> String {
    format!(
        "<html><head><base href='{url}'><link rel=stylesheet href='{url}/a.css'><meta http-equiv=refresh content='0;url={url}'>\
         <script src='{url}/a.js'>{HIDDEN}</script></head><body background='{url}/b'><p>{TEXT}</p><img src='{url}/c.png'>\
         <iframe src='{url}/d'>{HIDDEN}</iframe><object data='{url}/e'>{HIDDEN}</object><video src='{url}/f'></video>\
         <svg><image href='{url}/g'/></svg></body></html>"
    )
}

fn message(media_type: &str, body: &str) -> Vec<u8> {
    let headers =
        format!("From: a@example.org\nSubject: {TEXT}\nMIME-Version: 1.0\nContent-Type: {media_type}");
    format!("{headers}\n\n{body}").replace('\n', "\r\n").into_bytes()
}

/// A message with 5,000 parts and as many attachments.
fn many_parts() -> Vec<u8> {
    let part = "--x\nContent-Type: text/plain\n\nSome words.\n\
                --x\nContent-Type: application/zip\nContent-Disposition: attachment; filename=\"a.zip\"\n\nPK\n";
    message("multipart/mixed; boundary=x", &format!("{}--x--\n", part.repeat(5_000)))
}
