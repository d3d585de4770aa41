//! Relations between the parts of an Office file.

use crate::formats::package::{Package, resolve};
use crate::formats::xml::{Element, Handler, walk};
use crate::reader::Stopped;

/// The parts that a part refers to.
#[derive(Default)]
pub(super) struct Relations {
    base: String,
    /// ID, the last word of the type, and path.
    entries: Vec<(String, String, String)>,
}

impl Relations {
    /// Reads the relations of a part; of the file itself if the path is empty. References to other files are left out.
    pub(super) fn read(package: &mut Package, part: &str) -> Result<Self, Stopped> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let mut relations = Self { base: part.to_owned(), entries: Vec::new() };
        if let Some(xml) = package.read_xml(&format!("{folder}{slash}_rels/{name}.rels"))? {
            walk(&xml, &mut relations)?;
        }
        Ok(relations)
    }

    /// The path of a part by the ID of its relation.
    pub(super) fn by_id(&self, id: &str) -> Option<String> {
        self.entries.iter().find(|entry| entry.0 == id).map(|entry| entry.2.clone())
    }

    /// The path of the first part with a relation of this type.
    pub(super) fn first(&self, kind: &str) -> Option<String> {
        self.all(kind).next().map(str::to_owned)
    }

    /// The paths of all parts with a relation of this type.
    pub(super) fn all(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(move |entry| entry.1 == kind).map(|entry| entry.2.as_str())
    }

    /// The text of the first part with a relation of this type.
    pub(super) fn read_first(&self, package: &mut Package, kind: &str) -> Result<Option<String>, Stopped> {
        match self.first(kind) {
            Some(path) => Ok(package.read_xml(&path)?),
            None => Ok(None),
        }
    }
}

impl Handler for Relations {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        let is_external = element.attribute("TargetMode").is_some_and(|mode| mode == "External");
        if element.name == "Relationship"
            && !is_external
            && let (Some(id), Some(kind), Some(target)) =
                (element.attribute("Id"), element.attribute("Type"), element.attribute("Target"))
        {
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            self.entries.push((id, kind, resolve(&self.base, &target)));
        }
        Ok(())
    }
}
