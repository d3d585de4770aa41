//! Reads presentations of PowerPoint slide by slide.

use super::equation::Equation;
use super::relations::Relations;
use super::texts::Texts;
use super::values::unescaped;
use super::{description, drawing};
use crate::formats::embedded;
use crate::formats::package::Package;
use crate::formats::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped, markdown_table};

/// Placeholders whose text is on every slide.
const REPEATED: [&str; 4] = ["sldNum", "dt", "ftr", "hdr"];

/// Passes the text of each slide on, with its notes.
pub(super) fn read(
    package: &mut Package,
    path: &str,
    xml: &str,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let relations = Relations::read(package, path)?;
    let mut slides = Slides::default();
    walk(xml, &mut slides)?;
    for (number, id) in (1_u64..).zip(&slides.ids) {
        let (mut text, mut pictures) = (String::new(), Vec::new());
        if let Some(path) = relations.by_id(id)
            && let Some(xml) = package.read_xml(&path)?
        {
            let mut slide = Slide::default();
            walk(&xml, &mut slide)?;
            let relations = Relations::read(package, &path)?;
            let embedded = std::mem::take(&mut slide.pictures);
            let (charts, diagrams) = (std::mem::take(&mut slide.charts), std::mem::take(&mut slide.diagrams));
            text = slide.text().trim_start().to_owned();
            for id in &diagrams {
                for line in drawing::diagram(package, &relations, id) {
                    text.push_str(&format!("{line}\n"));
                }
            }
            for id in &charts {
                if let Some((titles, table)) = drawing::chart(package, &relations, id) {
                    text.push_str(&format!("\n{titles}\n\n{}", markdown_table(&table)?));
                }
            }
            for path in embedded.iter().filter_map(|id| relations.by_id(id)) {
                pictures.extend(embedded::find(pages, package, &path).map(|picture| (text.len(), picture)));
            }
            if let Some(path) = relations.first("notesSlide")
                && let Some(xml) = package.read_xml(&path)?
            {
                let mut notes = Slide::default();
                walk(&xml, &mut notes)?;
                let notes = notes.text();
                if !notes.trim().is_empty() {
                    text.push_str(&format!("\nNotes:\n{notes}"));
                }
            }
            if let Some(xml) = relations.read_first(package, "comments")? {
                let mut comments = Texts::of(&["cm", "p"]).within(&["t", "text"]);
                walk(&xml, &mut comments)?;
                text.push_str(&format!("\nComments:\n{}", comments.into_shown().join("\n")));
            }
        }
        // A slide without text is a page too, so that the numbers are those of the slides.
        pages.push_pictured(&format!("Slide {number}"), text.trim_end(), &pictures)?;
    }
    Ok(())
}

/// The IDs of the slides in their order.
#[derive(Default)]
struct Slides {
    ids: Vec<String>,
}

impl Handler for Slides {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if element.name == "sldId" {
            self.ids.extend(element.prefixed_attribute("id"));
        }
        Ok(())
    }
}

/// The text of a slide.
#[derive(Default)]
struct Slide {
    title: String,
    body: String,
    /// The text of the current shape, and its kind of placeholder.
    shape: String,
    placeholder: Option<String>,
    paragraph: String,
    rows: Option<Vec<Vec<String>>>,
    is_in_text: bool,
    /// IDs of the relations of its pictures, charts and diagrams.
    pictures: Vec<String>,
    charts: Vec<String>,
    diagrams: Vec<String>,
    equation: Equation,
    /// Depth within the older form of a shape.
    skipped: usize,
}

impl Slide {
    fn text(self) -> String {
        let Self { title, body, .. } = self;
        if title.is_empty() { body } else { format!("{title}\n\n{body}") }
    }
}

impl Handler for Slide {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if self.skipped > 0 || element.name == "Fallback" {
            self.skipped += 1;
            return Ok(());
        }
        if self.equation.start(element) {
            return Ok(());
        }
        match element.name {
            "chart" => self.charts.extend(element.prefixed_attribute("id")),
            "relIds" => self.diagrams.extend(element.prefixed_attribute("dm")),
            "sp" => {
                self.shape.clear();
                self.placeholder = None;
            }
            "ph" => self.placeholder = Some(element.attribute("type").unwrap_or_default()),
            "p" => self.paragraph.clear(),
            "cNvPr" => {
                let text = description(element).map(|text| format!("{text}\n"));
                self.body.push_str(&text.unwrap_or_default());
            }
            "blip" => self.pictures.extend(element.prefixed_attribute("embed")),
            "t" => self.is_in_text = true,
            "br" => self.paragraph.push('\n'),
            "tbl" => self.rows = Some(Vec::new()),
            "tr" => {
                if let Some(rows) = &mut self.rows {
                    rows.push(Vec::new());
                }
            }
            "tc" => {
                if let Some(row) = self.rows.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        if self.equation.is_open() {
            self.equation.end().into_iter().for_each(|text| self.paragraph.push_str(&text));
            return Ok(());
        }
        match name {
            "t" => self.is_in_text = false,
            "p" => {
                let paragraph = std::mem::take(&mut self.paragraph);
                let text = &*unescaped(paragraph.trim());
                let cell = self.rows.as_mut().and_then(|rows| rows.last_mut()?.last_mut());
                if let Some(cell) = cell {
                    if !cell.is_empty() {
                        cell.push(' ');
                    }
                    cell.push_str(text);
                } else if !text.is_empty() {
                    self.shape.push_str(text);
                    self.shape.push('\n');
                }
            }
            "tbl" => {
                if let Some(rows) = self.rows.take() {
                    self.body.push_str(&format!("\n{}\n", markdown_table(&rows)?));
                }
            }
            "sp" => {
                let text = std::mem::take(&mut self.shape);
                match self.placeholder.take().as_deref() {
                    Some("title" | "ctrTitle") if self.title.is_empty() => {
                        text.trim().clone_into(&mut self.title)
                    }
                    Some(repeated) if REPEATED.contains(&repeated) => {}
                    _ => self.body.push_str(&text),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        self.equation.text(text);
        if self.is_in_text && self.skipped == 0 {
            self.paragraph.push_str(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};
    use docent_domain::file_type::FileType;

    fn relations(entries: &[(&str, &str, &str)]) -> String {
        let entry = |(id, kind, target): &(&str, &str, &str)| {
            format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/>")
        };
        format!("<Relationships>{}</Relationships>", entries.iter().map(entry).collect::<String>())
    }

    fn shape(placeholder: &str, paragraphs: &[&str]) -> String {
        let text = |text: &&str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
        let ph = if placeholder.is_empty() { String::new() } else { format!("<p:ph type='{placeholder}'/>") };
        let body: String = paragraphs.iter().map(text).collect();
        format!("<p:sp><p:nvSpPr>{ph}</p:nvSpPr><p:txBody>{body}</p:txBody></p:sp>")
    }

    #[test]
    fn equations_diagrams_charts_and_comments_are_read_once() {
        let diagram = "<dgm:dataModel><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:dataModel>";
        let slide = format!(
            "<p:sld><mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback></mc:AlternateContent>\
             <p:sp><a:p><m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a:p></p:sp>\
             <dgm:relIds r:dm='r1'/><c:chart r:id='r2'/></p:sld>",
            shape("", &["Two_x000B_lines"])
        );
        let bytes = archive(&[
            ("_rels/.rels", &relations(&[("r1", "officeDocument", "presentation.xml")])),
            ("presentation.xml", "<p:presentation><p:sldId r:id='r1'/></p:presentation>"),
            ("_rels/presentation.xml.rels", &relations(&[("r1", "slide", "slide.xml")])),
            ("slide.xml", &slide),
            (
                "_rels/slide.xml.rels",
                &relations(&[
                    ("r1", "diagramData", "data.xml"),
                    ("r2", "chart", "chart.xml"),
                    ("r3", "comments", "comments.xml"),
                ]),
            ),
            ("data.xml", diagram),
            ("chart.xml", "<c:chartSpace><c:title><a:t>Sales</a:t></c:title></c:chartSpace>"),
            ("comments.xml", "<p:cmLst><p:cm><p:text>Fix the logo</p:text></p:cm></p:cmLst>"),
        ]);
        let pages = collect(LIMITS, |pages| super::super::read(FileType::Pptx, bytes, pages)).unwrap();
        assert_eq!(pages[0].1, "Two\nlines\nr^2\nPlan\n\nSales\n\n\nComments:\nFix the logo");
    }

    #[test]
    fn slides_are_read_in_their_order_with_title_tables_and_notes() {
        let presentation = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r2'/><p:sldId id='257' r:id='r1'/></p:sldIdLst></p:presentation>";
        let table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Q1</a:t></a:r></a:p></a:txBody></a:tc>\
                     <a:tc><a:txBody><a:p><a:r><a:t>Q2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>";
        let slide = |content: &str| format!("<p:sld><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:sld>");
        let first = shape("", &["Point one", "Point two"])
            + &shape("title", &["Plan"])
            + &shape("sldNum", &["1"])
            + table;
        let bytes = archive(&[
            ("_rels/.rels", &relations(&[("r1", "officeDocument", "ppt/presentation.xml")])),
            ("ppt/presentation.xml", presentation),
            (
                "ppt/_rels/presentation.xml.rels",
                &relations(&[("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "slides/slide2.xml")]),
            ),
            (
                "ppt/slides/slide1.xml",
                &slide(
                    "<p:pic><p:cNvPr name='Picture 1' descr='Site plan'/></p:pic><p:pic><p:cNvPr descr='plan.png'/></p:pic>",
                ),
            ),
            ("ppt/slides/slide2.xml", &slide(&first)),
            (
                "ppt/slides/_rels/slide2.xml.rels",
                &relations(&[("r1", "notesSlide", "../notesSlides/notesSlide1.xml")]),
            ),
            (
                "ppt/notesSlides/notesSlide1.xml",
                &format!("<p:notes>{}</p:notes>", shape("body", &["Say hello."])),
            ),
        ]);
        let pages = collect(LIMITS, |pages| super::super::read(FileType::Pptx, bytes, pages)).unwrap();
        let text = "Plan\n\nPoint one\nPoint two\n\n| Q1 | Q2 |\n|---|---|\n\n\nNotes:\nSay hello.";
        assert_eq!(
            pages,
            [("Slide 1".to_owned(), text.to_owned()), ("Slide 2".to_owned(), "Site plan".to_owned())]
        );
    }
}
