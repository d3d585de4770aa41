//! Reads HTML as a list of tokens, in sections by heading.

use super::math::Formula;
use super::package::{Package, percent_decoded, resolve};
use super::sections::Sections;
use super::svg::Drawing;
use super::{data_uri, description, encoding};
use crate::reader::{Pages, Stopped};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use std::borrow::Cow;

/// Elements whose content is not text.
const SKIPPED: [&str; 9] =
    ["script", "style", "template", "noscript", "annotation", "annotation-xml", "title", "object", "iframe"];
/// Elements whose content is text without markup, or is left out; in XHTML they can be empty.
const RAW: [&str; 6] = ["script", "style", "title", "iframe", "textarea", "noscript"];
/// Kinds of input fields whose value is not shown as text.
const WITHOUT_VALUE: [&str; 4] = ["hidden", "password", "image", "file"];
/// Elements whose end tag can be left out: the next element of the same kind ends them.
const ENDED_BY_NEXT: [&str; 8] = ["p", "li", "dt", "dd", "td", "th", "tr", "option"];
/// Elements without content.
const VOID: [&str; 8] = ["input", "br", "hr", "img", "meta", "link", "wbr", "col"];
/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 24] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "main",
    "nav",
    "p",
    "section",
    "summary",
    "center",
];
/// Maximum length of an empty element whose end is looked for.
const TAG_BYTES: usize = 4096;
/// Maximum number of columns that a cell spans.
const SPAN_MAX: usize = 100;

/// Passes the sections of a page on.
pub(super) fn read(html: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let html = &*without_empty_elements(html);
    let mut sections = Sections::new(pages);
    if let Some(title) = title(html) {
        sections.title(&title);
    }
    read_into(html, &mut sections)?;
    sections.finish()
}

/// The title in the head of a page.
fn title(html: &str) -> Option<String> {
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    let mut title: Option<String> = None;
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match (token, &mut title) {
            (Token::StartTag(tag), None) if is(&tag.name, "title") => title = Some(String::new()),
            // Elements of drawings have titles too.
            (Token::StartTag(tag), None) if is(&tag.name, "body") || is(&tag.name, "svg") => return None,
            (Token::String(text), Some(title)) => title.push_str(&String::from_utf8_lossy(&text)),
            (Token::EndTag(_), Some(_)) => break,
            _ => {}
        }
    }
    title
}

/// The page without empty elements such as `<script src="a.js"/>`, as XHTML has them: in HTML, everything that follows would be
/// their content.
fn without_empty_elements(html: &str) -> Cow<'_, str> {
    if !html.contains("/>") {
        return Cow::Borrowed(html);
    }
    let (mut kept, mut rest) = (String::with_capacity(html.len()), html);
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let is_raw = RAW.iter().any(|name| {
            let named = tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            named && tag[name.len()..].starts_with([' ', '/', '\n', '\t', '\r'])
        });
        let start = if is_raw { &tag[..tag.floor_char_boundary(TAG_BYTES)] } else { "" };
        match start.find('>').filter(|end| start[..*end].ends_with('/')) {
            Some(end) => {
                kept.push_str(&rest[..at]);
                rest = &tag[end + 1..];
            }
            None => {
                kept.push_str(&rest[..=at]);
                rest = tag;
            }
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Adds the content of a page to sections.
pub(super) fn read_into(html: &str, sections: &mut Sections<'_, '_>) -> Result<(), Stopped> {
    read_with_pictures(html, None, sections)
}

/// Adds the content of a page, which is at a path of an archive with its pictures, to sections.
pub(super) fn read_with_pictures(
    html: &str,
    archive: Option<(&mut Package, &str)>,
    sections: &mut Sections<'_, '_>,
) -> Result<(), Stopped> {
    let html = &*without_empty_elements(html);
    let mut emitter = DefaultEmitter::<()>::default();
    // Scripts and styles are not markup.
    emitter.naively_switch_states(true);
    let mut content = Content {
        sections,
        archive,
        text: String::new(),
        block: Block::Paragraph,
        tables: Vec::new(),
        formula: Formula::default(),
        drawing: Drawing::default(),
        lists: Vec::new(),
        reading_at: None,
        readings: Vec::new(),
    };
    let mut skipped: Option<(String, usize)> = None;
    let mut is_preformatted = false;
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        if let (Token::StartTag(tag), Some((name, 1))) = (&token, &skipped)
            && is(&tag.name, name)
            && ENDED_BY_NEXT.contains(&name.as_str())
        {
            skipped = None;
        }
        match (token, &mut skipped) {
            // Until the element ends, only its own tags count.
            (Token::StartTag(tag), Some((name, depth))) if is(&tag.name, name) && !tag.self_closing => {
                *depth += 1
            }
            (Token::EndTag(tag), Some((name, depth))) if is(&tag.name, name) => {
                *depth -= 1;
                if *depth == 0 {
                    skipped = None;
                }
            }
            (Token::EndTag(tag), Some((name, _))) if name == "option" && is(&tag.name, "select") => {
                skipped = None;
            }
            (_, Some(_)) => {}
            (Token::StartTag(tag), None) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let is_choice = name == "option" && !tag.attributes.contains_key(&b"selected"[..]);
                // The title of a page is read before its text.
                let is_skipped =
                    SKIPPED.contains(&name.as_str()) && !(name == "title" && content.drawing.is_open());
                if is_skipped || is_choice || is_hidden(&tag) {
                    if !tag.self_closing && !VOID.contains(&name.as_str()) {
                        skipped = Some((name, 1));
                    }
                    continue;
                }
                is_preformatted |= name == "pre";
                if !content.drawing.shows_text()
                    && (BLOCKS.contains(&name.as_str()) || level_of(&name).is_some())
                {
                    content.drawing.close();
                }
                content.start(&name, &tag)?;
            }
            (Token::EndTag(tag), None) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                is_preformatted &= name != "pre";
                content.end(&name)?;
            }
            (Token::String(text), None) if content.drawing.shows_text() => {
                content.text(&String::from_utf8_lossy(&text), is_preformatted);
            }
            (Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_), None) => {}
        }
    }
    content.end_block()?;
    while !content.tables.is_empty() {
        content.end_table()?;
    }
    Ok(())
}

/// The text of a page, or of a drawing in SVG, without sections and pictures.
pub(super) fn text_of(page: &str) -> Result<String, Stopped> {
    Sections::text_of(|sections| read_into(page, sections))
}

/// Whether browsers do not show an element.
fn is_hidden(tag: &StartTag<()>) -> bool {
    let style = tag.attributes.get(&b"style"[..]).map(|style| {
        let style = String::from_utf8_lossy(style).to_ascii_lowercase();
        style.chars().filter(|c| !c.is_whitespace()).collect::<String>()
    });
    tag.attributes.contains_key(&b"hidden"[..])
        || style.is_some_and(|style| style.contains("display:none") || style.contains("visibility:hidden"))
}

fn is(name: &[u8], expected: &str) -> bool {
    name == expected.as_bytes()
}

/// What the current text is.
#[derive(Clone, Copy, PartialEq)]
enum Block {
    Paragraph,
    Heading(u8),
    Item,
    /// An item with its number.
    Numbered(u32),
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    /// Whether a row, and a cell of it, is open.
    has_row: bool,
    has_cell: bool,
    /// Whether it contains a table, and is only layout.
    is_layout: bool,
}

struct Content<'a, 'b, 'c> {
    sections: &'a mut Sections<'b, 'c>,
    /// The archive of the page and the path in it.
    archive: Option<(&'a mut Package, &'a str)>,
    text: String,
    block: Block,
    tables: Vec<Table>,
    formula: Formula,
    drawing: Drawing,
    /// The number of the last item of each open list; `None` for lists without numbers.
    lists: Vec<Option<u32>>,
    /// Where the reading of a word begins in the text, which is put at the end of the paragraph: between the characters of the
    /// word it would hide the word from searches.
    reading_at: Option<usize>,
    readings: Vec<String>,
}

impl Content<'_, '_, '_> {
    fn start(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), Stopped> {
        let sign = self.formula.start(name, tag.self_closing);
        self.text.push_str(&sign);
        let attribute = |name: &str| {
            tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
        };
        if !tag.self_closing {
            self.drawing.start(name);
        }
        match name {
            // In drawings, and in old pages.
            "img" | "image" => {
                let target = ["src", "href", "xlink:href"].into_iter().find_map(attribute);
                self.picture(target.as_deref())?;
                if let Some(alt) = attribute("alt").as_deref().and_then(description::shown) {
                    self.text(&format!(" {alt} "), false);
                }
            }
            // Texts of a drawing are apart from each other, and so are their lines.
            "text" | "title" | "desc" => self.text(" ", false),
            "tspan" if ["x", "y", "dy"].into_iter().any(|name| attribute(name).is_some()) => {
                self.text(" ", false);
            }
            "input" => {
                let kind = attribute("type").unwrap_or_default().to_ascii_lowercase();
                match kind.as_str() {
                    "checkbox" | "radio" => {
                        let is_checked = tag.attributes.contains_key(&b"checked"[..]);
                        self.text(if is_checked { " ☒ " } else { " ☐ " }, false);
                    }
                    kind if WITHOUT_VALUE.contains(&kind) => {}
                    _ => self.text(&format!(" {} ", attribute("value").unwrap_or_default()), false),
                }
            }
            "rt" | "rp" => {
                self.end_reading();
                self.reading_at = Some(self.text.len());
            }
            "ul" | "menu" => {
                self.end_block()?;
                self.lists.push(None);
            }
            "ol" => {
                self.end_block()?;
                let start = attribute("start").and_then(|start| start.trim().parse::<u32>().ok());
                self.lists.push(Some(start.unwrap_or(1).saturating_sub(1)));
            }
            "br" => self.text.push('\n'),
            "pre" => self.end_block()?,
            "li" => {
                self.end_block()?;
                let value = attribute("value").and_then(|value| value.trim().parse().ok());
                self.block = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = value.unwrap_or(number.saturating_add(1));
                        Block::Numbered(*number)
                    }
                    _ => Block::Item,
                };
            }
            "table" => {
                self.end_block()?;
                if let Some(outer) = self.tables.last_mut() {
                    outer.is_layout = true;
                    for cell in std::mem::take(&mut outer.rows).into_iter().flatten() {
                        self.sections.paragraph(&cell);
                    }
                }
                self.tables.push(Table::default());
            }
            "tr" => {
                self.end_block()?;
                if let Some(table) = self.tables.last_mut().filter(|table| !table.is_layout) {
                    table.rows.push(Vec::new());
                    (table.has_row, table.has_cell) = (true, false);
                }
            }
            "td" | "th" => {
                self.end_block()?;
                let span = tag
                    .attributes
                    .get(&b"colspan"[..])
                    .and_then(|value| String::from_utf8_lossy(value).trim().parse::<usize>().ok());
                if let Some(table) = self.tables.last_mut().filter(|table| !table.is_layout) {
                    if !table.has_row {
                        table.rows.push(Vec::new());
                        table.has_row = true;
                    }
                    table.has_cell = true;
                    if let Some(row) = table.rows.last_mut() {
                        // The text of a cell is at the end of its columns.
                        row.extend(vec![String::new(); span.unwrap_or(1).clamp(1, SPAN_MAX)]);
                    }
                }
            }
            name => {
                if let Some(level) = level_of(name) {
                    self.end_block()?;
                    self.block = Block::Heading(level);
                } else if BLOCKS.contains(&name) {
                    self.end_block()?;
                }
            }
        }
        Ok(())
    }

    /// Adds a picture: its text can be recognised, and that of a drawing in SVG is read.
    fn picture(&mut self, target: Option<&str>) -> Result<(), Stopped> {
        self.sections.add_picture();
        let Some(target) = target else { return Ok(()) };
        let mut svg = None;
        if data_uri::is_svg(target) {
            svg = data_uri::bytes(target);
        } else if data_uri::is_picture(target) {
            self.sections.picture_in_uri(target);
        } else if let Some((package, path)) = &mut self.archive {
            let entry = resolve(path, &percent_decoded(target));
            if entry.to_ascii_lowercase().ends_with(".svg") {
                svg = package.read_picture(&entry);
            } else {
                self.sections.picture(package, &entry);
            }
        }
        if let Some(svg) = svg {
            let text = text_of(&encoding::decode_html(svg))?;
            self.text(&format!(" {text} "), false);
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if self.formula.is_open() {
            let sign = self.formula.end(name);
            self.text.push_str(sign);
        }
        if self.drawing.end(name) {
            self.text(" ", false);
        }
        match name {
            "td" | "th" | "tr" => {
                self.end_block()?;
                if let Some(table) = self.tables.last_mut() {
                    table.has_cell = false;
                    table.has_row &= name != "tr";
                }
            }
            "table" => {
                self.end_block()?;
                self.end_table()?;
            }
            "rt" | "rp" | "ruby" => self.end_reading(),
            "ul" | "ol" | "menu" => {
                self.end_block()?;
                self.lists.pop();
            }
            "li" | "pre" => self.end_block()?,
            name if level_of(name).is_some() || BLOCKS.contains(&name) => self.end_block()?,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str, is_preformatted: bool) {
        if is_preformatted {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            match c {
                ' ' | '\n' | '\t' | '\r' | '\u{c}' => {
                    if !self.text.ends_with([' ', '\n']) && !self.text.is_empty() {
                        self.text.push(' ');
                    }
                }
                c => self.text.push(c),
            }
        }
    }

    fn end_reading(&mut self) {
        if let Some(at) = self.reading_at.take() {
            let reading = self.text.split_off(at.min(self.text.len()));
            self.readings.push(reading.trim().to_owned());
            self.readings.retain(|reading| reading.contains(char::is_alphanumeric));
        }
    }

    /// Ends the current paragraph, heading, item or part of a cell.
    fn end_block(&mut self) -> Result<(), Stopped> {
        self.end_reading();
        let mut text = std::mem::take(&mut self.text);
        if !self.readings.is_empty() {
            text.push_str(&format!(" ({})", std::mem::take(&mut self.readings).join(" ")));
        }
        let block = std::mem::replace(&mut self.block, Block::Paragraph);
        if text.trim().is_empty() {
            // An item may begin with a paragraph.
            self.block = block;
            return Ok(());
        }
        let cell = self.tables.last_mut().filter(|table| !table.is_layout && table.has_cell);
        if let Some(cell) = cell.and_then(|table| table.rows.last_mut()?.last_mut()) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(text.trim());
            return Ok(());
        }
        match block {
            Block::Paragraph => self.sections.paragraph(&text),
            Block::Item => self.sections.item(&text),
            Block::Numbered(number) => self.sections.numbered_item(&format!("{number}."), &text),
            Block::Heading(level) => self.sections.heading(level, &text)?,
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), Stopped> {
        match self.tables.pop() {
            Some(table) => self.sections.table(&table.rows),
            None => Ok(()),
        }
    }
}

fn level_of(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    fn sections(html: &str) -> Vec<(String, String)> {
        collect(LIMITS, |pages| read(html, pages)).unwrap()
    }

    fn text(html: &str) -> String {
        sections(html).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n---\n")
    }

    #[test]
    fn headings_paragraphs_lists_and_tables_are_read() {
        let html = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
            <h1>Setup</h1><h2>Net &amp; <b>cables</b></h2><p>Plug  it\n in.<br>Now.</p><ul><li>one<li><p>two</p></ul>
            <table><tr><th>Key<th>Value</tr><tr><td>a|b</td><td><p>1</p><p>2</p></td></tr></table>
            <h2>End</h2>last</body></html>";
        let found = sections(html);
        let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Setup › Net & cables", "Setup › End"]);
        let body = "Plug it in.\nNow.\n\n- one\n- two\n\n| Key | Value |\n|---|---|\n| a\\|b | 1 2 |";
        assert!(found[0].1.ends_with(body), "{}", found[0].1);
        assert!(found[1].1.ends_with("last"));
    }

    #[test]
    fn scripts_and_remote_content_are_left_out() {
        let html = "<p>a<script>if (1 < 2) { '</p>' }</script><img src=http://x/y.png><iframe src=//x>z</iframe>\
                    <object data=x>y</object><svg><path>v</path></svg>b</p><!-- c --><select><option>d</select>";
        assert_eq!(text(html), "ab");
    }

    #[test]
    fn title_is_part_of_the_text_unless_a_heading_repeats_it() {
        let page =
            |title: &str| format!("<html><head><title>{title}</title></head><h1>Setup</h1><p>Plug in.");
        assert_eq!(text(&page("Pump guide")), "Pump guide\n\nSetup\n\nPlug in.");
        assert_eq!(text(&page("Setup")), "Setup\n\nPlug in.");
        assert_eq!(text("<body><svg><title>icon</title></svg>b"), "icon b");
        assert_eq!(text("<title>Only a title</title>"), "Only a title");
    }

    #[test]
    fn texts_of_drawings_are_read() {
        let svg = "<svg viewBox='0 0 9 9'><title>Flow</title><desc>How it runs</desc><metadata>image/svg+xml</metadata><style>a{}</style>\
                   <g><text x=1>Inlet<tspan x=1 dy=9>valve</tspan></text> <text>P<tspan>5</tspan></text></g>\
                   <foreignObject><div>Note</div></foreignObject></svg>";
        assert_eq!(text(&format!("<p>a</p>{svg}<p>b")), "a\n\nFlow How it runs Inlet valve P5\n\nNote\n\nb");
        assert_eq!(text("<p>a<svg><path d=x/><p>b"), "a\n\nb", "the end of the drawing is missing");
        let uri = "data:image/svg+xml,%3Csvg xmlns='x'%3E%3Ctext%3EPump 7%3C/text%3E%3C/svg%3E";
        assert_eq!(text(&format!("<p>a<img src=\"{uri}\" alt=logo.svg>b")), "a Pump 7 b");
    }

    #[test]
    fn formulas_keep_their_letters_and_structure() {
        let html = "<p>Area <math><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup><annotation>\\pi r^2</annotation></math>, \
                    <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math> done</p>";
        assert_eq!(text(html), "Area πr^2, (a+b)/2 done");
    }

    #[test]
    fn numbers_readings_values_and_descriptions_are_read() {
        for (html, expected) in [
            ("<ol start=3><li>c<ul><li>dot</ul><li>d</ol><ol><li value=7>g", "3. c\n- dot\n4. d\n7. g"),
            (
                "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</ruby>本社</p>",
                "東京本社 (とう きょう)",
            ),
            ("<p>a<img alt='Pump 5' src='data:image/png;base64,AAAA'>b", "a Pump 5 b"),
            (
                "Name <input value=Quill><input type=hidden value=x> <input type=radio checked>Card<input type=radio>Cash",
                "Name Quill ☒ Card ☐ Cash",
            ),
            ("<select><option>Spain<option selected>Portugal<option>France</select> end", "Portugal end"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }

    #[test]
    fn empty_elements_of_xhtml_end_at_once() {
        let page = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='a.js'/></head>\
                    <body><p>One</p><iframe src='x' /><p>Two<br/>lines</p></body></html>";
        assert_eq!(text(page), "One\n\nTwo\nlines");
        assert_eq!(text("<p>a</p><script src='a.js'/><p>b</p></script><p>c"), "a\n\nb\n\nc");
    }

    #[test]
    fn hidden_elements_are_left_out() {
        let html = "<div style='DISPLAY: none'>x<div>y</div></div><p>a</p><p hidden>z<p>b<span hidden=hidden>w</span></p>\
                    <input hidden><ul><li style='visibility:hidden'>v<li>c</ul>";
        assert_eq!(text(html), "a\n\nb\n\n- c");
    }

    #[test]
    fn layout_tables_are_read_as_paragraphs() {
        let html =
            "<table><tr><td>Menu<td><table><tr><td>a<td>b<tr><td>1<td>2</table>After<tr><td>End</table>";
        assert_eq!(text(html), "Menu\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter\n\nEnd");
        assert_eq!(
            text("<table><tr><td colspan=2>a<td>b<tr><td>1<td>2<td>3</table>").lines().next(),
            Some("| | a | b |")
        );
    }

    #[test]
    fn deep_and_broken_pages_are_read() {
        let deep = format!("{}x{}", "<div><table><tr><td>".repeat(20_000), "</div>".repeat(100));
        assert_eq!(text(&deep), "x");
        assert_eq!(text("<p>a<b"), "a");
        assert_eq!(text("<pre>a\n  b</pre>c"), "a\n  b\n\nc");
        assert_eq!(text("<script>never closed"), "");
    }
}
