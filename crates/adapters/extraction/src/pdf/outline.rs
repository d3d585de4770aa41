//! Reads title, author and bookmarks of a PDF.
//!
//! hayro has already parsed the file and resolves the required objects on demand. A second parser that loads whole
//! files (lopdf) would take up to as much time as the extraction itself.

use super::text_string::decode_line;
use docent_domain::extraction::{Metadata, OutlineEntry};
use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, String as PdfString};
use std::collections::{HashMap, HashSet};

const MAX_ENTRIES: usize = 2_000;
const MAX_LEVEL: u32 = 32;
const MAX_NAMES: usize = 20_000;
const MAX_CHARACTERS: usize = 500;

/// Reads title, author and outline; unreadable parts are omitted.
pub(super) fn read(pdf: &Pdf) -> Metadata {
    let line = |bytes: &Option<Box<[u8]>>| decode_line(bytes.as_deref()?, MAX_CHARACTERS);
    let info = pdf.metadata();
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let outline = catalog.map(|catalog| Outline::new(pdf, catalog).read()).unwrap_or_default();
    Metadata { title: line(&info.title), author: line(&info.author), outline }
}

struct Outline<'a> {
    catalog: Dict<'a>,
    pages: HashMap<ObjectIdentifier, u32>,
    /// Named destinations, read when first needed.
    names: Option<HashMap<Vec<u8>, Object<'a>>>,
}

impl<'a> Outline<'a> {
    fn new(pdf: &'a Pdf, catalog: Dict<'a>) -> Self {
        let numbered = (1..).zip(pdf.pages().iter());
        let pages = numbered.filter_map(|(number, page)| Some((page.raw().obj_id()?, number))).collect();
        Self { catalog, pages, names: None }
    }

    fn read(mut self) -> Vec<OutlineEntry> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let root = self.catalog.get::<Dict<'a>>("Outlines");
        let mut open: Vec<(u32, Dict<'a>)> =
            root.and_then(|root| root.get("First")).map(|first| (0, first)).into_iter().collect();
        while let Some((level, item)) = open.pop() {
            if entries.len() == MAX_ENTRIES {
                break;
            }
            // A bookmark that occurs again indicates a loop.
            if item.obj_id().is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            let title = item.get::<PdfString<'a>>("Title");
            if let Some(title) = title.and_then(|title| decode_line(title.as_bytes(), MAX_CHARACTERS)) {
                let page = self.destination(&item).and_then(|target| self.page_of(&target));
                entries.push(OutlineEntry { level, title, page });
            }
            open.extend(item.get("Next").map(|next| (level, next)));
            if level < MAX_LEVEL {
                open.extend(item.get("First").map(|first| (level + 1, first)));
            }
        }
        entries
    }

    fn destination(&self, item: &Dict<'a>) -> Option<Object<'a>> {
        item.get::<Object<'a>>("Dest").or_else(|| {
            let action = item.get::<Dict<'a>>("A")?;
            let is_go_to = action.get::<Name<'a>>("S").is_some_and(|kind| &*kind == b"GoTo");
            is_go_to.then(|| action.get::<Object<'a>>("D")).flatten()
        })
    }

    fn page_of(&mut self, target: &Object<'a>) -> Option<u32> {
        let array = match target {
            Object::Array(array) => array.clone(),
            Object::Name(name) => self.named(name)?,
            Object::String(name) => self.named(name.as_bytes())?,
            _ => return None,
        };
        let page = array.raw_iter().next()?.as_obj_ref()?;
        self.pages.get(&page.into()).copied()
    }

    fn named(&mut self, name: &[u8]) -> Option<Array<'a>> {
        if self.names.is_none() {
            self.names = Some(read_names(&self.catalog));
        }
        match self.names.as_ref()?.get(name)? {
            Object::Array(array) => Some(array.clone()),
            Object::Dict(dict) => dict.get("D"),
            _ => None,
        }
    }
}

/// Reads named destinations: a dictionary in old files, a tree in newer ones.
fn read_names<'a>(catalog: &Dict<'a>) -> HashMap<Vec<u8>, Object<'a>> {
    let mut names = HashMap::new();
    if let Some(dests) = catalog.get::<Dict<'a>>("Dests") {
        for key in dests.keys().take(MAX_NAMES) {
            names.extend(dests.get::<Object<'a>>(&*key).map(|target| (key.to_vec(), target)));
        }
    }
    let tree = catalog.get::<Dict<'a>>("Names").and_then(|names| names.get::<Dict<'a>>("Dests"));
    let mut open: Vec<Dict<'a>> = tree.into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(node) = open.pop() {
        if names.len() >= MAX_NAMES || node.obj_id().is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        if let Some(kids) = node.get::<Array<'a>>("Kids") {
            open.extend(kids.iter::<Dict<'a>>());
        }
        let pairs = node.get::<Array<'a>>("Names");
        let mut pairs = pairs.iter().flat_map(Array::iter::<Object<'a>>);
        while let (Some(Object::String(key)), Some(target)) = (pairs.next(), pairs.next()) {
            if names.len() >= MAX_NAMES {
                break;
            }
            names.insert(key.as_bytes().to_vec(), target);
        }
    }
    names
}
