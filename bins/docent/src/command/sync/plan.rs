//! The changes that make a collection have the files of a directory.

use crate::client::source::SourceFile;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// Attribute with the path of a document's file in the directory.
pub(super) const PATH: &str = "path";

/// A PDF of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalFile {
    pub(super) source: SourceFile,
    /// Path in the directory, with `/` between its parts.
    pub(super) name: String,
    /// SHA-256 digest in hexadecimal digits.
    pub(super) sha256: String,
    /// Whether no other file of the directory has the same content.
    pub(super) is_only: bool,
}

/// A file that cannot be synchronised, or whose document cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) reason: String,
}

/// A document of the collection that an earlier run uploaded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SyncedDocument {
    pub(super) id: String,
    pub(super) name: String,
    /// Digest of its latest file.
    pub(super) sha256: String,
    /// Why its latest file could not be ingested.
    pub(super) failure: Option<String>,
    pub(super) attributes: Map<String, Value>,
    pub(super) collections: Vec<String>,
}

impl SyncedDocument {
    /// The document of this report, if it has a path.
    pub(super) fn of_report(report: &Value) -> Option<Self> {
        let attributes = report["attributes"].as_object()?.clone();
        let replacement = &report["replacement"];
        let latest = if replacement.is_null() { report } else { replacement };
        let file = &latest["file"];
        let ids = report["collection_ids"].as_array()?.iter();
        Some(Self {
            id: report["id"].as_str()?.to_owned(),
            name: attributes.get(PATH)?.as_str()?.to_owned(),
            sha256: file["sha256"].as_str().unwrap_or_default().to_owned(),
            failure: latest["failure"]["reason"].as_str().map(str::to_owned),
            collections: ids.filter_map(|id| id.as_str().map(str::to_owned)).collect(),
            attributes,
        })
    }
}

/// A change of the collection.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Uploads a file.
    Add(LocalFile),
    /// Replaces the file of a document.
    Replace(SyncedDocument, LocalFile),
    /// Names the new path of an unchanged file.
    Move(SyncedDocument, LocalFile),
    /// Deletes a document, or takes it out of the collection if it is in others.
    Delete(SyncedDocument),
}

impl Action {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => "add",
            Self::Replace(..) => "replace",
            Self::Move(..) => "move",
            Self::Delete(_) => "delete",
        }
    }

    /// The path that the change is about.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Add(file) | Self::Replace(_, file) | Self::Move(_, file) => &file.name,
            Self::Delete(document) => &document.name,
        }
    }

    /// ID of the document, unless it is new.
    pub(super) fn document(&self) -> Option<&str> {
        match self {
            Self::Add(_) => None,
            Self::Replace(document, _) | Self::Move(document, _) | Self::Delete(document) => {
                Some(&document.id)
            }
        }
    }
}

/// The changes to make.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) actions: Vec<Action>,
    /// Number of files that their documents have already.
    pub(super) unchanged: usize,
    /// Number of documents of earlier runs.
    pub(super) synced: usize,
    /// Number of documents of earlier runs that have no file of their own and are not deleted.
    pub(super) left_over: usize,
    /// What cannot be synchronised.
    pub(super) problems: Vec<Problem>,
}

impl Plan {
    /// Compares the files with the documents. With `deletes`, documents without a file are deleted.
    pub(super) fn new(
        local: Vec<LocalFile>,
        mut problems: Vec<Problem>,
        remote: Vec<SyncedDocument>,
        deletes: bool,
    ) -> Self {
        let mut copies: HashMap<String, usize> = HashMap::new();
        for file in &local {
            *copies.entry(file.sha256.clone()).or_default() += 1;
        }
        let is_only = |file: &LocalFile| copies.get(&file.sha256) == Some(&1);
        let local = local.into_iter().map(|file| LocalFile { is_only: is_only(&file), ..file });
        let synced = remote.len();
        let mut by_name: BTreeMap<String, Vec<SyncedDocument>> = BTreeMap::new();
        for document in remote {
            by_name.entry(document.name.clone()).or_default().push(document);
        }
        let mut rest = Vec::new();
        let (mut actions, mut new, mut unchanged) = (Vec::new(), Vec::new(), 0);
        for file in local {
            let mut documents = by_name.remove(&file.name).unwrap_or_default();
            // Of documents with the same path, an unchanged one or else the newest, which is listed first.
            let at = documents.iter().position(|document| document.sha256 == file.sha256).unwrap_or(0);
            let document = (!documents.is_empty()).then(|| documents.remove(at));
            rest.extend(documents);
            match document {
                None => new.push(file),
                Some(document) if document.sha256 == file.sha256 => {
                    unchanged += 1;
                    problems.extend(document.failure.map(|reason| Problem { path: file.name, reason }));
                }
                Some(document) => actions.push(Action::Replace(document, file)),
            }
        }
        // A file that cannot be read still belongs to its document.
        for problem in &problems {
            by_name.remove(&problem.path);
        }
        rest.extend(by_name.into_values().flatten());
        for file in new {
            match rest.iter().position(|document| document.sha256 == file.sha256) {
                Some(at) => actions.push(Action::Move(rest.swap_remove(at), file)),
                None => actions.push(Action::Add(file)),
            }
        }
        let left_over = if deletes { 0 } else { rest.len() };
        if deletes {
            actions.extend(rest.into_iter().map(Action::Delete));
        }
        Self { actions, unchanged, synced, left_over, problems }
    }

    /// Number of deletions.
    pub(super) fn deletions(&self) -> usize {
        self.actions.iter().filter(|action| matches!(action, Action::Delete(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn file(name: &str, sha256: &str) -> LocalFile {
        LocalFile {
            source: SourceFile::named(Path::new(name)),
            name: name.to_owned(),
            sha256: sha256.to_owned(),
            is_only: true,
        }
    }

    fn document(name: &str, sha256: &str) -> SyncedDocument {
        let report = json!({
            "id": format!("id of {name}"), "attributes": { "path": name }, "collection_ids": ["c"],
            "file": { "sha256": sha256 }, "replacement": null,
        });
        SyncedDocument::of_report(&report).unwrap()
    }

    #[test]
    fn changes_are_those_between_directory_and_collection() {
        let local = vec![file("a", "1"), file("b", "2b"), file("new", "3"), file("moved", "4")];
        let remote =
            vec![document("a", "1"), document("b", "2"), document("old", "4"), document("gone", "5")];
        let plan = Plan::new(local, Vec::new(), remote.clone(), true);
        let expected = [
            Action::Replace(document("b", "2"), file("b", "2b")),
            Action::Add(file("new", "3")),
            Action::Move(document("old", "4"), file("moved", "4")),
            Action::Delete(document("gone", "5")),
        ];
        assert_eq!((plan.actions.as_slice(), plan.unchanged, plan.synced), (&expected[..], 1, 4));
        assert_eq!(plan.deletions(), 1);
        let kept = Plan::new(Vec::new(), Vec::new(), remote, false);
        assert_eq!((kept.actions, kept.left_over), (Vec::new(), 4), "deletions must be asked for");
    }

    #[test]
    fn files_with_the_same_content_are_not_the_only_ones() {
        let plan =
            Plan::new(vec![file("a", "1"), file("b", "1"), file("c", "2")], Vec::new(), Vec::new(), false);
        let copy = |name| Action::Add(LocalFile { is_only: false, ..file(name, "1") });
        assert_eq!(plan.actions, [copy("a"), copy("b"), Action::Add(file("c", "2"))]);
    }

    #[test]
    fn second_document_of_a_path_is_left_over() {
        let remote = vec![document("a", "1"), document("a", "0")];
        let plan = Plan::new(vec![file("a", "1")], Vec::new(), remote, true);
        assert_eq!(plan.actions, [Action::Delete(document("a", "0"))]);
        let remote = vec![document("a", "0"), document("a", "1")];
        let plan = Plan::new(vec![file("a", "1")], Vec::new(), remote, true);
        assert_eq!((plan.actions, plan.unchanged), (vec![Action::Delete(document("a", "0"))], 1));
    }

    #[test]
    fn failed_document_of_an_unchanged_file_is_a_problem() {
        let failed = |name: &str| SyncedDocument { failure: Some("damaged".into()), ..document(name, "1") };
        let plan = Plan::new(
            vec![file("a", "1"), file("b", "2")],
            Vec::new(),
            vec![failed("a"), failed("b")],
            false,
        );
        assert_eq!(plan.problems, [Problem { path: "a".into(), reason: "damaged".into() }]);
        assert_eq!(
            plan.actions,
            [Action::Replace(failed("b"), file("b", "2"))],
            "a new file may be readable"
        );
    }

    #[test]
    fn document_of_an_unreadable_file_is_left_alone() {
        let problem = Problem { path: "a".into(), reason: "denied".into() };
        let plan = Plan::new(vec![file("b", "1")], vec![problem.clone()], vec![document("a", "1")], false);
        assert_eq!((plan.actions, plan.left_over), (vec![Action::Add(file("b", "1"))], 0));
        assert_eq!(plan.problems, [problem]);
    }

    #[test]
    fn file_that_waits_for_ingestion_is_not_uploaded_again() {
        let report = json!({
            "id": "1", "attributes": { "path": "a" }, "collection_ids": [], "file": { "sha256": "old" },
            "replacement": { "file": { "sha256": "new" } },
        });
        assert_eq!(SyncedDocument::of_report(&report).unwrap().sha256, "new");
        assert_eq!(
            SyncedDocument::of_report(&json!({ "id": "1", "attributes": {}, "collection_ids": [] })),
            None
        );
    }
}
