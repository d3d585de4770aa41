//! Reads HTML as a list of tokens, in sections by heading.

use super::math::Formula;
use super::sections::Sections;
use crate::reader::{Pages, Stopped};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

/// Elements whose content is not text.
const SKIPPED: [&str; 11] = [
    "script",
    "style",
    "template",
    "noscript",
    "svg",
    "annotation",
    "annotation-xml",
    "title",
    "object",
    "iframe",
    "select",
];
/// Elements whose end tag can be left out: the next element of the same kind ends them.
const ENDED_BY_NEXT: [&str; 8] = ["p", "li", "dt", "dd", "td", "th", "tr", "option"];
/// Elements without content.
const VOID: [&str; 8] = ["input", "br", "hr", "img", "meta", "link", "wbr", "col"];
/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 26] = [
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
    "ol",
    "p",
    "section",
    "summary",
    "ul",
    "center",
];
/// Maximum number of columns that a cell spans.
const SPAN_MAX: usize = 100;

/// Passes the sections of a page on.
pub(super) fn read(html: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
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

/// Adds the content of a page to sections.
pub(super) fn read_into(html: &str, sections: &mut Sections<'_, '_>) -> Result<(), Stopped> {
    let mut emitter = DefaultEmitter::<()>::default();
    // Scripts and styles are not markup.
    emitter.naively_switch_states(true);
    let mut content = Content {
        sections,
        text: String::new(),
        block: Block::Paragraph,
        tables: Vec::new(),
        formula: Formula::default(),
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
            (_, Some(_)) => {}
            (Token::StartTag(tag), None) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                if SKIPPED.contains(&name.as_str()) || is_hidden(&tag) {
                    if !tag.self_closing && !VOID.contains(&name.as_str()) {
                        skipped = Some((name, 1));
                    }
                    continue;
                }
                is_preformatted |= name == "pre";
                content.start(&name, &tag)?;
            }
            (Token::EndTag(tag), None) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                is_preformatted &= name != "pre";
                content.end(&name)?;
            }
            (Token::String(text), None) => {
                content.text(&String::from_utf8_lossy(&text), is_preformatted);
            }
            (Token::Comment(_) | Token::Doctype(_) | Token::Error(_), None) => {}
        }
    }
    content.end_block()?;
    while !content.tables.is_empty() {
        content.end_table()?;
    }
    Ok(())
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
    text: String,
    block: Block,
    tables: Vec<Table>,
    formula: Formula,
}

impl Content<'_, '_, '_> {
    fn start(&mut self, name: &str, tag: &StartTag<()>) -> Result<(), Stopped> {
        let sign = self.formula.start(name, tag.self_closing);
        self.text.push_str(&sign);
        match name {
            "img" => self.sections.add_picture(),
            "br" => self.text.push('\n'),
            "pre" => self.end_block()?,
            "li" => {
                self.end_block()?;
                self.block = Block::Item;
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

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if self.formula.is_open() {
            let sign = self.formula.end(name);
            self.text.push_str(sign);
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

    /// Ends the current paragraph, heading, item or part of a cell.
    fn end_block(&mut self) -> Result<(), Stopped> {
        let text = std::mem::take(&mut self.text);
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
                    <object data=x>y</object><svg><text>v</text></svg>b</p><!-- c --><select><option>d</select>";
        assert_eq!(text(html), "ab");
    }

    #[test]
    fn title_is_part_of_the_text_unless_a_heading_repeats_it() {
        let page =
            |title: &str| format!("<html><head><title>{title}</title></head><h1>Setup</h1><p>Plug in.");
        assert_eq!(text(&page("Pump guide")), "Pump guide\n\nSetup\n\nPlug in.");
        assert_eq!(text(&page("Setup")), "Setup\n\nPlug in.");
        assert_eq!(text("<p>a<svg><title>icon</title></svg>b"), "ab");
        assert_eq!(text("<title>Only a title</title>"), "Only a title");
    }

    #[test]
    fn formulas_keep_their_letters_and_structure() {
        let html = "<p>Area <math><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup><annotation>\\pi r^2</annotation></math>, \
                    <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math> done</p>";
        assert_eq!(text(html), "Area πr^2, (a+b)/2 done");
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
