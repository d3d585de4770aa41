//! Labels of documents, to which scopes and conditions apply: in memory, and in a file with one JSON line per change.
//!
//! The last line of a document counts. Lines are durable before the commit with the document's chunks, so a chunk is never
//! found without the labels that it was stored with. After a crash between the two the file has labels newer than the
//! chunks, or labels of a document without chunks, which are dropped on opening.
//!
//! Documents of versions without this file have no labels; see [`unlabelled`].

use chrono::DateTime;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::condition::Condition;
use docent_domain::id::{CollectionId, UserId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::IndexedVersion;
use docent_domain::scope::Scope;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use uuid::Uuid;

/// Labels by document; see [`VersionId::as_uuid`].
pub(super) type LabelMap = HashMap<u128, DocumentLabels>;

/// The labels that searches use. Removed documents may keep theirs, since a running search can still see their chunks.
#[derive(Default)]
pub(super) struct Labels(RwLock<Known>);

/// Labels and, for scopes, the collections of each document in a form that fits the processor's caches: a search asks
/// for every document.
#[derive(Default)]
pub(super) struct Known {
    labels: LabelMap,
    /// The number of each set of collections that a document has been in.
    sets: HashMap<BTreeSet<CollectionId>, u32>,
    /// The number of each document's set.
    documents: FxHashMap<u128, u32>,
}

impl Known {
    pub(super) fn labels(&self) -> &LabelMap {
        &self.labels
    }

    fn put(&mut self, document: u128, labels: DocumentLabels) {
        let next = self.sets.len() as u32;
        let set = match self.sets.get(&labels.collections) {
            Some(set) => *set,
            None => *self.sets.entry(labels.collections.clone()).or_insert(next),
        };
        self.documents.insert(document, set);
        self.labels.insert(document, labels);
    }
}

impl Labels {
    pub(super) fn new(labels: LabelMap) -> Self {
        let mut known = Known::default();
        for (document, labels) in labels {
            known.put(document, labels);
        }
        Self(RwLock::new(known))
    }

    pub(super) fn get(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, documents: Vec<IndexedVersion>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for document in documents {
            known.put(key(document.id), document.labels);
        }
    }

    /// Selects the documents that a search may return; `None` if it may return all. Must be called after the chunks to search were
    /// determined, so that none of them is without its labels.
    pub(super) fn select<'a>(
        &'a self,
        scope: &Scope,
        condition: Option<&'a Condition>,
    ) -> Option<Selection<'a>> {
        if scope.collections().is_none() && condition.is_none() {
            return None;
        }
        let known = self.get();
        let mut sets = vec![false; known.sets.len()];
        for (collections, set) in &known.sets {
            sets[*set as usize] = scope.contains(collections);
        }
        let unlabelled = unlabelled();
        let allows_unlabelled = scope.contains(&unlabelled.collections)
            && condition.is_none_or(|condition| condition.is_met_by(&unlabelled));
        if condition.is_none() && allows_unlabelled && sets.iter().all(|in_scope| *in_scope) {
            return None;
        }
        Some(Selection { known, sets, condition, allows_unlabelled })
    }
}

pub(super) fn key(document: VersionId) -> u128 {
    document.as_uuid().as_u128()
}

/// The labels of a document that was stored without: it is in the collection that every installation has.
fn unlabelled() -> DocumentLabels {
    DocumentLabels {
        collections: BTreeSet::from([CollectionId::EVERYONE]),
        owner: None,
        title: String::new(),
        file_name: String::new(),
        pages: 0,
        language: None,
        created_at: DateTime::UNIX_EPOCH,
        attributes: Attributes::default(),
    }
}

/// The documents in a scope that meet a condition.
pub(super) struct Selection<'a> {
    known: RwLockReadGuard<'a, Known>,
    /// Whether documents with the set of collections of this number are in the scope.
    sets: Vec<bool>,
    condition: Option<&'a Condition>,
    allows_unlabelled: bool,
}

impl Selection<'_> {
    pub(super) fn allows(&self, document: u128) -> bool {
        let Some(set) = self.known.documents.get(&document) else { return self.allows_unlabelled };
        self.sets[*set as usize]
            && self.condition.is_none_or(|condition| condition.is_met_by(&self.known.labels[&document]))
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    document: Uuid,
    collections: Vec<Uuid>,
    owner: Option<Uuid>,
    title: String,
    file_name: String,
    pages: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// Microseconds since 1970.
    created_at: i64,
    attributes: BTreeMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Value {
    String(String),
    /// As text, because JSON parsers may round numbers.
    Number(String),
    Boolean(bool),
}

impl Line {
    fn new(document: u128, labels: &DocumentLabels) -> Self {
        let value = |value: &AttributeValue| match value {
            AttributeValue::String(text) => Value::String(text.clone()),
            AttributeValue::Number(number) => Value::Number(format!("{number:?}")),
            AttributeValue::Boolean(boolean) => Value::Boolean(*boolean),
        };
        let attributes = labels.attributes.iter();
        Self {
            document: Uuid::from_u128(document),
            collections: labels.collections.iter().map(|id| id.as_uuid()).collect(),
            owner: labels.owner.map(UserId::as_uuid),
            title: labels.title.clone(),
            file_name: labels.file_name.clone(),
            pages: labels.pages,
            language: labels.language.clone(),
            created_at: labels.created_at.timestamp_micros(),
            attributes: attributes.map(|(key, of)| (key.as_str().to_owned(), value(of))).collect(),
        }
    }

    fn read(line: &[u8]) -> Option<(u128, DocumentLabels)> {
        let line: Self = serde_json::from_slice(line).ok()?;
        let attribute = |(key, value): (String, Value)| {
            let value = match value {
                Value::String(text) => AttributeValue::String(text),
                Value::Number(number) => AttributeValue::Number(number.parse().ok()?),
                Value::Boolean(boolean) => AttributeValue::Boolean(boolean),
            };
            Some((AttributeKey::parse(&key).ok()?, value))
        };
        let attributes = line.attributes.into_iter().map(attribute).collect::<Option<_>>()?;
        let labels = DocumentLabels {
            collections: line.collections.into_iter().map(CollectionId::from_uuid).collect(),
            owner: line.owner.map(UserId::from_uuid),
            title: line.title,
            file_name: line.file_name,
            pages: line.pages,
            language: line.language,
            created_at: DateTime::from_timestamp_micros(line.created_at)?,
            attributes: Attributes::new(attributes).ok()?,
        };
        Some((line.document.as_u128(), labels))
    }
}

fn write_line(document: u128, labels: &DocumentLabels, out: &mut Vec<u8>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line::new(document, labels))?;
    out.push(b'\n');
    Ok(())
}

/// The file, opened by its only writer.
pub(super) struct LabelFile {
    path: PathBuf,
    /// Created with the first line.
    file: Option<File>,
    /// Bytes of complete lines.
    length: u64,
    lines: usize,
}

impl LabelFile {
    /// Opens the file, if it exists, and reads the last line of each document. Removes an incomplete last line.
    ///
    /// # Errors
    /// If it cannot be read, or a line is invalid.
    pub(super) fn open(path: &Path) -> io::Result<(Self, LabelMap)> {
        let empty = || (Self { path: path.to_owned(), file: None, length: 0, lines: 0 }, LabelMap::new());
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(empty()),
            Err(error) => return Err(error),
        };
        let (mut opened, mut labels) = empty();
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            opened.length += line.len() as u64;
            opened.lines += 1;
            match Line::read(line) {
                Some((document, read)) => drop(labels.insert(document, read)),
                // A power failure left a block of an uncommitted write empty.
                None if line.contains(&0) => {}
                None => {
                    let message = format!("line {} of labels.jsonl is invalid", opened.lines);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
        let file = File::options().write(true).open(path)?;
        file.set_len(opened.length)?;
        opened.file = Some(file);
        Ok((opened, labels))
    }

    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Appends the labels of documents durably.
    ///
    /// # Errors
    /// If writing fails; the file is unchanged then.
    pub(super) fn append(&mut self, documents: &[IndexedVersion]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for document in documents {
            write_line(key(document.id), &document.labels, &mut bytes)?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(&self.path)?),
        };
        let end = self.length + bytes.len() as u64;
        // The length is set, because an earlier write may have failed after more bytes.
        let written = file.seek(SeekFrom::Start(self.length)).and_then(|_| file.write_all(&bytes));
        if let Err(error) = written.and_then(|()| file.set_len(end)).and_then(|()| file.sync_data()) {
            // Best effort: remaining bytes are overwritten by the next append.
            let _ = file.set_len(self.length);
            return Err(error);
        }
        self.length = end;
        self.lines += documents.len();
        Ok(())
    }

    /// Replaces the file by one with a line per document, if it has more than twice as many.
    ///
    /// # Errors
    /// If writing fails; the old file remains then.
    pub(super) fn compact(&mut self, labels: &LabelMap) -> io::Result<()> {
        if self.lines <= 2 * labels.len() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (document, labels) in labels {
            write_line(*document, labels, &mut bytes)?;
        }
        let temporary = self.path.with_extension("tmp");
        let mut file = File::options().write(true).create(true).truncate(true).open(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &self.path)?;
        // From here on the new file counts, even if its name should not survive a power failure: both have the same labels.
        (self.file, self.length, self.lines) = (Some(file), bytes.len() as u64, labels.len());
        sync_folder(&self.path)
    }
}

fn create(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    sync_folder(path)?;
    Ok(file)
}

/// Makes the name of a new file durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::builders::id;
    use docent_testkit::retrieval::indexed;
    use std::fs;

    fn labelled(n: u32, pages: u32) -> IndexedVersion {
        let document = indexed(n);
        IndexedVersion { labels: DocumentLabels { pages, ..document.labels }, ..document }
    }

    fn pages(labels: &LabelMap) -> BTreeMap<u128, u32> {
        labels.iter().map(|(document, labels)| (*document, labels.pages)).collect()
    }

    #[test]
    fn labels_round_trip() {
        let values = [
            ("year", AttributeValue::Number(-0.1)),
            ("big", AttributeValue::Number(1.234_567_890_123_456_7e300)),
            ("a.b-ü", AttributeValue::String("\"x\"\n水".to_owned())),
            ("ok", AttributeValue::Boolean(false)),
        ];
        let values = values.map(|(key, value)| (AttributeKey::parse(key).unwrap(), value));
        let mut document = labelled(1, 7);
        document.labels.attributes = Attributes::new(values.into()).unwrap();
        document.labels.collections = BTreeSet::from([id(4), id(5)]);
        document.labels.owner = Some(id(6));
        document.labels.created_at = DateTime::from_timestamp(1_700_000_000, 123_456_000).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        let (mut file, known) = LabelFile::open(&path).unwrap();
        assert!(known.is_empty() && !path.exists());
        file.append(&[labelled(2, 1), document.clone(), labelled(2, 3)]).unwrap();
        let (file, known) = LabelFile::open(&path).unwrap();
        assert_eq!((file.lines(), known.len()), (3, 2));
        assert_eq!(known[&key(document.id)], document.labels);
        assert_eq!(known[&key(indexed(2).id)].pages, 3);
    }

    #[test]
    fn incomplete_last_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        let (mut file, _) = LabelFile::open(&path).unwrap();
        file.append(&[labelled(1, 1), labelled(2, 1)]).unwrap();
        let (whole, expected) = (fs::read(&path).unwrap(), pages(&LabelFile::open(&path).unwrap().1));
        let line = whole.split_inclusive(|byte| *byte == b'\n').next().unwrap();
        for tail in [&line[..line.len() - 1], b"{", &[0; 100]] {
            fs::write(&path, [&whole[..], tail].concat()).unwrap();
            let (mut file, known) = LabelFile::open(&path).unwrap();
            assert_eq!(pages(&known), expected);
            assert_eq!(fs::read(&path).unwrap(), whole);
            file.append(&[labelled(1, 9)]).unwrap();
            assert_eq!(LabelFile::open(&path).unwrap().1[&key(indexed(1).id)].pages, 9);
        }
    }

    #[test]
    fn empty_block_of_an_uncommitted_write_is_skipped_and_other_lines_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        let (mut file, _) = LabelFile::open(&path).unwrap();
        file.append(&[labelled(1, 1)]).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"{\"doc", &[0; 50], b"\n", &whole[..]].concat()).unwrap();
        assert_eq!(LabelFile::open(&path).unwrap().1.len(), 1);
        for wrong in [&b"{}\n"[..], b"\n", &whole[1..]] {
            fs::write(&path, [wrong, &whole[..]].concat()).unwrap();
            assert_eq!(LabelFile::open(&path).err().unwrap().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn file_is_compacted_at_more_than_twice_as_many_lines_as_documents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        let (mut file, _) = LabelFile::open(&path).unwrap();
        file.append(&[labelled(1, 1), labelled(2, 1), labelled(1, 2), labelled(2, 2)]).unwrap();
        let known = LabelFile::open(&path).unwrap().1;
        file.compact(&known).unwrap();
        assert_eq!(file.lines(), 4);
        file.append(&[labelled(1, 3)]).unwrap();
        let known = LabelFile::open(&path).unwrap().1;
        file.compact(&known).unwrap();
        assert_eq!(file.lines(), 2);
        file.append(&[labelled(2, 4)]).unwrap();
        let (file, known) = LabelFile::open(&path).unwrap();
        assert_eq!((file.lines(), known.values().map(|of| of.pages).sum::<u32>()), (3, 7));
    }
}
