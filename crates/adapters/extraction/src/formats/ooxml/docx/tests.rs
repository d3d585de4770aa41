use crate::formats::tests::archive;
use crate::reader::tests::{LIMITS, collect};
use docent_domain::document::FailureCode;
use docent_domain::file_type::FileType;

const RELS: &str = "<Relationships><Relationship Id='r1' Type='http://x/officeDocument' Target='word/document.xml'/></Relationships>";
const PARTS: &str = "<Relationships><Relationship Id='r1' Type='http://x/styles' Target='styles.xml'/>\
    <Relationship Id='r2' Type='http://x/footnotes' Target='/word/footnotes.xml'/>\
    <Relationship Id='r3' Type='http://x/image' Target='http://evil.example/a.png' TargetMode='External'/></Relationships>";
/// Styles as Word writes them, and as LibreOffice does.
const STYLES: &str = "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>\
    <w:style w:styleId='Custom'><w:name w:val='My heading'/><w:basedOn w:val='berschrift1'/></w:style>\
    <w:style w:styleId='Heading2'><w:name w:val='Heading 2'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style></w:styles>";

fn file(body: &str) -> Vec<u8> {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    archive(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", RELS),
        ("word/_rels/document.xml.rels", PARTS),
        ("word/styles.xml", STYLES),
        (
            "word/footnotes.xml",
            "<w:footnotes><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
        ("word/document.xml", &document),
        ("word/vbaProject.bin", "a macro"),
    ])
}

fn read(bytes: Vec<u8>) -> Result<Vec<(String, String)>, FailureCode> {
    collect(LIMITS, |pages| crate::formats::ooxml::read(FileType::Docx, bytes, pages))
}

fn paragraph(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn sections_follow_styles_and_outline_levels() {
    let body = paragraph("berschrift1", "Setup")
        + &paragraph("Heading2", "Network")
        + &paragraph("Normal", "Plug in.")
        + &paragraph("Custom", "Next")
        + "<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr><w:r><w:t>Third</w:t></w:r></w:p>"
        + &paragraph("", "Text.");
    let pages = read(file(&body)).unwrap();
    let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Setup › Network", "Next › Third", "Footnotes"]);
    assert_eq!(pages[0].1, "Setup\n\nNetwork\n\nPlug in.");
    assert_eq!(pages[2].1, "Footnotes\n\nA note.");
}

#[test]
fn runs_lists_revisions_boxes_and_tables_are_read() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let body = "<w:p><w:r><w:t xml:space='preserve'>One </w:t><w:tab/><w:t>two</w:t><w:br/><w:t>line</w:t></w:r>\
        <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>\
        <w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>\
        <w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent><w:p><w:r><w:t>Box.</w:t></w:r></w:p></w:txbxContent></wps:txbx></mc:Choice>\
        <mc:Fallback><w:p><w:r><w:t>Box.</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        .to_owned()
        + &format!("<w:tbl><w:tr>{}{}</w:tr>", cell("a|b"), cell("c"))
        + &format!("<w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:tbl><w:tr>{}{}</w:tr></w:tbl></w:tc></w:tr></w:tbl>", cell("x"), cell("y"));
    let pages = read(file(&body)).unwrap();
    let expected = "One  two\nline\n\n- item\nBox.\n\n| a\\|b | c |\n|---|---|\n| | x y |";
    assert_eq!(pages[0], ("Part 1".to_owned(), expected.to_owned()));
}

/// Builds a document whose relations name these further parts.
fn file_with(body: &str, parts: &[(&str, &str, &str)]) -> Vec<u8> {
    let relation = |(kind, path, _): &(&str, &str, &str)| {
        format!("<Relationship Id='{path}' Type='http://x/{kind}' Target='{path}'/>")
    };
    let relations: String = parts.iter().map(relation).collect();
    let relations = format!("<Relationships>{relations}</Relationships>");
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let paths: Vec<String> = parts.iter().map(|(_, path, _)| format!("word\\{path}")).collect();
    let mut entries = vec![
        ("_rels\\.rels", RELS),
        ("word\\_rels\\document.xml.rels", relations.as_str()),
        ("word\\document.xml", document.as_str()),
    ];
    entries.extend(paths.iter().map(String::as_str).zip(parts.iter().map(|part| part.2)));
    archive(&entries)
}

#[test]
fn headings_and_clauses_have_their_numbers() {
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='0'>\
        <w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:pStyle w:val='berschrift1'/><w:lvlText w:val='%1.'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.%2'/></w:lvl>\
        <w:lvl w:ilvl='2'><w:numFmt w:val='bullet'/><w:lvlText w:val='x'/></w:lvl></w:abstractNum>\
        <w:num w:numId='4'><w:abstractNumId w:val='0'/></w:num></w:numbering>";
    let styles = "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='4'/></w:numPr></w:pPr></w:style>\
        <w:style w:styleId='Custom'><w:name w:val='Annex'/><w:basedOn w:val='berschrift1'/></w:style></w:styles>";
    let clause = |list: &str, level: usize, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let body = paragraph("berschrift1", "Terms")
        + &clause("4", 1, "Rent")
        + &clause("4", 1, "")
        + &clause("4", 1, "Deposit")
        + &clause("4", 2, "cash")
        + &clause("0", 0, "Plain")
        + &paragraph("Custom", "Repairs")
        + &format!(
            "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
            clause("4", 1, "a"),
            clause("4", 2, "b")
        );
    let parts = [("styles", "styles.xml", styles), ("numbering", "numbering.xml", numbering)];
    let pages = read(file_with(&body, &parts)).unwrap();
    assert_eq!(pages[0].0, "1. Terms");
    assert_eq!(pages[0].1, "1. Terms\n\n1.1 Rent\n1.3 Deposit\n- cash\nPlain");
    assert_eq!(pages[1].1, "2. Repairs\n\n| 2.1 a | b |\n|---|---|");
}

#[test]
fn embedded_documents_are_read_in_their_place() {
    let html = "<html><body><h2>Sales</h2><p>8812 units</p></body></html>";
    let mail = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>From a page</p>\n--x--\n";
    let parts =
        [("aFChunk", "a.html", html), ("aFChunk", "b.rtf", "{\\rtf1 From RTF}"), ("aFChunk", "c.mht", mail)];
    let chunk = |id: &str| format!("<w:altChunk r:id='{id}'/>");
    let body = paragraph("", "Before.")
        + &chunk("a.html")
        + &chunk("b.rtf")
        + &chunk("c.mht")
        + &chunk("gone")
        + &paragraph("", "After.");
    let pages = read(file_with(&body, &parts)).unwrap();
    assert_eq!(pages[0].1, "Before.");
    assert_eq!(pages[1].1, "Sales\n\n8812 units\n\nFrom RTF\n\nFrom a page\n\nAfter.");
}

#[test]
fn signs_hidden_text_and_form_fields_are_read_as_shown() {
    let run = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
    };
    let field = |field: &str| format!("<w:r><w:fldChar><w:ffData>{field}</w:ffData></w:fldChar></w:r>");
    let body = format!(
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}{}{}<w:r><w:sym w:font='Symbol' w:char='F061'/><w:ptab/><w:t>Ü</w:t><w:softHyphen/><w:t>ber</w:t></w:r></w:p>\
         <w:p>{}{}</w:p><w:p>{}{}</w:p><w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>\
         <w:p><w:r><w:ruby><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
        run("", "Seen "),
        run("<w:vanish/>", "secret"),
        run("<w:vanish w:val='0'/><w:rFonts w:ascii='Symbol'/>", "\u{f062} "),
        field("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"),
        run("", " yes"),
        field("<w:checkBox><w:default w:val='0'/></w:checkBox>"),
        field("<w:ddList><w:result w:val='1'/><w:listEntry w:val='A'/><w:listEntry w:val='B'/></w:ddList>"),
    );
    let pages = read(file_with(&body, &[])).unwrap();
    assert_eq!(pages[0].1, "Seen β α Über\n\n☒ yes\n\n☐B\n\na/b\n\n東");
}

#[test]
fn deleted_rows_are_left_out() {
    let row = |properties: &str, text: &str| {
        format!(
            "<w:tr><w:trPr>{properties}</w:trPr><w:tc>{0}</w:tc><w:tc>{0}</w:tc></w:tr>",
            paragraph("", text)
        )
    };
    let body = format!("<w:tbl>{}{}</w:tbl>", row("<w:del w:id='1'/>", "gone"), row("<w:ins/>", "new"));
    assert_eq!(read(file_with(&body, &[])).unwrap()[0].1, "| new | new |\n|---|---|");
}

#[test]
fn comments_headers_diagrams_and_charts_are_read() {
    let text = |part: &str, content: &str| format!("<w:{part}>{content}</w:{part}>");
    let comments = format!(
        "<w:comments><w:comment w:author='Ann'>{}{}</w:comment></w:comments>",
        paragraph("", "Too high."),
        paragraph("", "Ask again.")
    );
    let header = text("hdr", &(paragraph("", "Contract 7731") + &paragraph("", "2 / 5")));
    let diagram = "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let chart = "<c:chartSpace><c:title><a:t>Sales</a:t></c:title></c:chartSpace>";
    let parts = [
        ("comments", "comments.xml", comments.as_str()),
        ("header", "header1.xml", &header),
        ("header", "header2.xml", &header),
        ("diagramData", "data.xml", diagram),
        ("chart", "chart.xml", chart),
    ];
    let body = paragraph("", "Body.")
        + "<w:p><w:r><w:drawing><dgm:relIds r:dm='data.xml'/><c:chart r:id='chart.xml'/></w:drawing></w:r></w:p>";
    let pages = read(file_with(&body, &parts)).unwrap();
    let texts: Vec<&str> = pages.iter().map(|(_, text)| text.as_str()).collect();
    let expected = [
        "Body.\n\n- Plan\nSales",
        "Comments\n\nAnn: Too high.\n\nAsk again.",
        "Headers and footers\n\nContract 7731",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn document_of_pictures_has_an_empty_page() {
    let pages = read(file_with("<w:p><w:r><w:drawing><a:graphic/></w:drawing></w:r></w:p>", &[])).unwrap();
    assert_eq!(pages, [("Part 1".to_owned(), String::new())]);
    assert!(read(file_with("<w:p/>", &[])).unwrap().is_empty());
}

#[test]
fn encrypted_and_older_files_are_named_as_such() {
    let compound = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..], &[0; 600], &name].concat()
    };
    assert_eq!(read(compound("EncryptedPackage")), Err(FailureCode::PasswordRequired));
    assert_eq!(read(compound("WordDocument")), Err(FailureCode::WrongFileType));
}

#[test]
fn hostile_and_damaged_documents_are_failures() {
    let laughs = "<!DOCTYPE x [<!ENTITY a 'ha'>]>";
    for document in
        [format!("{laughs}<w:document>&a;</w:document>"), "<w:document><w:p>".to_owned(), String::new()]
    {
        let bytes = archive(&[("_rels/.rels", RELS), ("word/document.xml", &document)]);
        let result = read(bytes);
        assert!(matches!(result, Err(FailureCode::Unreadable | FailureCode::WrongFileType)), "{result:?}");
    }
    let deep = "<w:tbl><w:tr><w:tc>".repeat(1000);
    assert_eq!(read(file(&deep)), Err(FailureCode::Unreadable));
    assert_eq!(read(archive(&[("_rels/.rels", RELS)])), Err(FailureCode::Unreadable));
    let workbook = archive(&[("_rels/.rels", RELS), ("word/document.xml", "<workbook/>")]);
    assert_eq!(read(workbook), Err(FailureCode::WrongFileType));
}

#[test]
fn descriptions_of_pictures_are_read_once_and_names_of_files_are_not() {
    let picture = |of_drawing: &str, of_picture: &str| {
        format!(
            "<w:p><w:r><w:t>See</w:t><w:drawing><wp:docPr id='1' name='Picture 1' {of_drawing}/>\
             <pic:cNvPr id='0' name='a.png' {of_picture}/></w:drawing><w:t>here.</w:t></w:r></w:p>"
        )
    };
    let body = picture("descr='Cut of the pump'", "descr='Cut of the pump'")
        + &picture("title='Pump 5' descr='Side view'", "descr='C:\\a\\pump 5.png'")
        + &picture("descr='image001.png'", "")
        + "<w:p><w:r><w:pict><v:shape alt='Map of the site'/></w:pict></w:r></w:p>";
    let pages = read(file(&body)).unwrap();
    assert_eq!(
        pages[0].1,
        "See Cut of the pump here.\n\nSee Pump 5 Side view here.\n\nSeehere.\n\nMap of the site"
    );
}
