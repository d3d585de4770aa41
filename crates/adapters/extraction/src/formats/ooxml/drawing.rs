//! Text in drawings of Office files: text boxes, diagrams and charts.

use super::description;
use super::number_format::NumberFormat;
use super::relations::Relations;
use super::texts::Texts;
use crate::formats::package::Package;
use crate::formats::xml::{Element, Handler, walk};
use crate::reader::Stopped;
use std::collections::BTreeMap;

/// Maximum number of values of a chart.
const VALUES_MAX: usize = 20_000;

/// The paragraphs of text boxes and diagrams, and what drawings refer to.
pub(super) struct Drawing {
    pub(super) texts: Texts,
    /// IDs of the relations of its charts, diagrams and pictures.
    pub(super) charts: Vec<String>,
    pub(super) diagrams: Vec<String>,
    pub(super) pictures: Vec<String>,
}

impl Drawing {
    /// Reads a part with a drawing; without it if it is damaged.
    pub(super) fn read(package: &mut Package, path: &str) -> Self {
        let (charts, diagrams, pictures) = (Vec::new(), Vec::new(), Vec::new());
        let mut drawing = Self { texts: Texts::of(&["p"]), charts, diagrams, pictures };
        if let Ok(Some(xml)) = package.read_xml(path) {
            let _ = walk(&xml, &mut drawing);
        }
        drawing
    }
}

impl Handler for Drawing {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            "chart" => self.charts.extend(element.prefixed_attribute("id")),
            "relIds" => self.diagrams.extend(element.prefixed_attribute("dm")),
            "blip" => self.pictures.extend(element.prefixed_attribute("embed")),
            "cNvPr" => description(element).into_iter().for_each(|text| self.texts.add(text)),
            _ => self.texts.start(element)?,
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        self.texts.end(name)
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        self.texts.text(text)
    }
}

/// The paragraphs of a diagram (SmartArt) that a part refers to.
pub(super) fn diagram(package: &mut Package, relations: &Relations, id: &str) -> Vec<String> {
    let path = relations.by_id(id);
    path.map(|path| Drawing::read(package, &path).texts.into_shown()).unwrap_or_default()
}

/// The titles and the values of a chart, as its file saved them; `None` if it has none.
pub(super) fn chart(
    package: &mut Package,
    relations: &Relations,
    id: &str,
) -> Option<(String, Vec<Vec<String>>)> {
    let xml = package.read_xml(&relations.by_id(id)?).ok()??;
    let mut chart = Chart::default();
    // What was read before damage counts.
    let _ = walk(&xml, &mut chart);
    chart.titles.retain(|title| !title.trim().is_empty());
    let (titles, table) = (chart.titles.join("\n"), chart.table());
    (!titles.is_empty() || !table.is_empty()).then_some((titles, table))
}

/// A row of values of a chart.
#[derive(Default)]
struct Series {
    name: String,
    categories: BTreeMap<u32, String>,
    values: BTreeMap<u32, String>,
}

#[derive(Default)]
struct Chart {
    titles: Vec<String>,
    series: Vec<Series>,
    /// The element of a series that is read: its name, its categories or its values.
    place: String,
    format: String,
    at: u32,
    /// The innermost element.
    element: String,
    is_in_title: bool,
    count: usize,
}

impl Chart {
    /// A row for each category, and a column for each series.
    fn table(&self) -> Vec<Vec<String>> {
        let rows = self.series.iter().flat_map(|series| series.values.keys().chain(series.categories.keys()));
        let rows: std::collections::BTreeSet<u32> = rows.copied().collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let header =
            std::iter::once(String::new()).chain(self.series.iter().map(|series| series.name.clone()));
        let row = |at: u32| {
            let category = self.series.iter().find_map(|series| series.categories.get(&at));
            let values = self.series.iter().map(|series| series.values.get(&at));
            std::iter::once(category).chain(values).map(|text| text.cloned().unwrap_or_default()).collect()
        };
        std::iter::once(header.collect()).chain(rows.into_iter().map(row)).collect()
    }
}

impl Handler for Chart {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            "title" => {
                self.is_in_title = true;
                self.titles.push(String::new());
            }
            "ser" => self.series.push(Series::default()),
            "tx" | "cat" | "xVal" | "val" | "yVal" => {
                element.name.clone_into(&mut self.place);
                self.format.clear();
            }
            "pt" => self.at = element.attribute("idx").and_then(|at| at.parse().ok()).unwrap_or(0),
            _ => {}
        }
        element.name.clone_into(&mut self.element);
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        self.is_in_title &= name != "title";
        if name == self.place {
            self.place.clear();
        }
        self.element.clear();
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        match (self.element.as_str(), self.is_in_title, self.titles.last_mut()) {
            ("t" | "v", true, Some(title)) => {
                title.push_str(text);
                return Ok(());
            }
            ("formatCode", ..) => text.clone_into(&mut self.format),
            _ => {}
        }
        let Some(series) = self.series.last_mut().filter(|_| self.element == "v") else { return Ok(()) };
        self.count += 1;
        if self.count > VALUES_MAX {
            return Ok(());
        }
        let shown = match self.format.as_str() {
            "" => text.to_owned(),
            code => NumberFormat::of_code(code).show(text, false),
        };
        match self.place.as_str() {
            "tx" => series.name.push_str(text),
            // Categories of several levels have several texts at a place.
            "cat" | "xVal" => {
                let category = series.categories.entry(self.at).or_default();
                let space = if category.is_empty() { "" } else { " " };
                *category = shown + space + category;
            }
            "val" | "yVal" => drop(series.values.insert(self.at, shown)),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::archive;

    #[test]
    fn chart_has_titles_and_a_table() {
        let points = |texts: &[&str]| -> String {
            (0..).zip(texts).map(|(at, text)| format!("<c:pt idx='{at}'><c:v>{text}</c:v></c:pt>")).collect()
        };
        let series = |name: &str, values: &[&str]| {
            format!(
                "<c:ser><c:tx><c:strRef><c:f>S!B1</c:f><c:strCache>{}</c:strCache></c:strRef></c:tx>\
                 <c:cat><c:strRef><c:strCache>{}</c:strCache></c:strRef></c:cat>\
                 <c:val><c:numRef><c:f>S!B2</c:f><c:numCache><c:formatCode>0%</c:formatCode>{}</c:numCache></c:numRef></c:val></c:ser>",
                points(&[name]),
                points(&["North", "South"]),
                points(values),
            )
        };
        let xml = format!(
            "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title>\
             <c:plotArea>{}{}</c:plotArea></c:chart></c:chartSpace>",
            series("2025", &["0.5", "0.25"]),
            series("2026", &["0.1"]),
        );
        let relations =
            "<Relationships><Relationship Id='r1' Type='http://x/chart' Target='c.xml'/></Relationships>";
        let mut package =
            Package::open(archive(&[("_rels/a.xml.rels", relations), ("c.xml", &xml)])).unwrap();
        let relations = Relations::read(&mut package, "a.xml").unwrap();
        let (titles, table) = chart(&mut package, &relations, "r1").unwrap();
        assert_eq!(titles, "Sales");
        assert_eq!(table, [["", "2025", "2026"], ["North", "50%", "10%"], ["South", "25%", ""]]);
        assert!(chart(&mut package, &relations, "r2").is_none());
    }
}
