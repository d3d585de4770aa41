//! Documents in memory.

use super::{Tables, Transaction, insert_once, page_of, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::document::{Deletion, Document, DocumentState, Replacement, StoredFile};
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::fault::Result;
use docent_domain::file_batch::FilePurpose;
use docent_domain::generation::IndexedRevision;
use docent_domain::id::{CollectionId, DocumentId, UserId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::listing::{DocumentFilter, DocumentOrder, DocumentQuery, Page, PageRequest, TimeOrder};
use docent_domain::retrieval::SearchedVersion;
use docent_domain::scope::Scope;
use docent_domain::summary::DocumentSummary;
use docent_domain::text::{Title, composed};
use docent_ports::documents::{DocumentCounts, DocumentDay, DocumentReader, DocumentWriter, FileCounts};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

#[async_trait]
impl DocumentReader for Transaction {
    async fn get(&mut self, id: DocumentId) -> Result<Option<Document>> {
        Ok(self.read()?.documents.get(&id).cloned())
    }

    async fn list(&mut self, filter: &DocumentFilter) -> Result<Vec<Document>> {
        let tables = self.read()?;
        let purpose = |document: &Document| tables.purposes.get(&document.id).copied().unwrap_or_default();
        let is_file = |document: &Document| {
            let name = if has_stale_labels(tables, document) { "pending" } else { document.state.name() };
            filter.files.is_none_or(|files| {
                document.file.is_some()
                    && files.purpose.is_none_or(|of| of == purpose(document))
                    && filter.status.is_none_or(|status| status == name)
            })
        };
        let status = filter.status.filter(|_| filter.files.is_none());
        let others = DocumentFilter { status, ..filter.clone() };
        let mut documents: Vec<_> =
            tables.documents.values().filter(|it| is_file(it) && matches(&others, it)).cloned().collect();
        documents.sort_by_key(|document| (document.created_at, document.id));
        if filter.order == TimeOrder::Newest {
            documents.reverse();
        }
        let limit = filter.limit.and_then(|limit| usize::try_from(limit).ok());
        documents.truncate(limit.unwrap_or(usize::MAX));
        Ok(documents)
    }

    async fn page(&mut self, query: &DocumentQuery, page: PageRequest) -> Result<Page<Document>> {
        let filter = DocumentFilter {
            status: query.status,
            failure: query.failure,
            title_contains: query.title_contains.clone(),
            ..DocumentFilter::of(Scope::SERVICE.clone())
        };
        let fits = |document: &&Document| {
            matches(&filter, document)
                && query.collection.is_none_or(|collection| document.collections.contains(&collection))
                && query.owner.is_none_or(|owner| document.owner == Some(owner))
        };
        let mut documents: Vec<Document> = self.read()?.documents.values().filter(fits).cloned().collect();
        let bytes = |document: &Document| document.file.as_ref().map(|file| file.bytes);
        match query.order {
            DocumentOrder::Newest => {
                documents.sort_by_key(|document| Reverse((document.created_at, document.id)))
            }
            DocumentOrder::Oldest => documents.sort_by_key(|document| (document.created_at, document.id)),
            DocumentOrder::Title => {
                documents.sort_by_key(|document| (document.title.as_str().to_owned(), document.id));
            }
            DocumentOrder::Largest => {
                documents.sort_by_key(|document| Reverse((bytes(document), document.id)))
            }
        }
        Ok(page_of(documents, page))
    }

    async fn counts(&mut self) -> Result<DocumentCounts> {
        let mut counts = DocumentCounts::default();
        for document in self.read()?.documents.values() {
            count(&mut counts, document);
        }
        Ok(counts)
    }

    async fn file_counts(
        &mut self,
        collections: &[CollectionId],
        documents: Option<&[DocumentId]>,
    ) -> Result<HashMap<CollectionId, FileCounts>> {
        let mut counts: HashMap<CollectionId, FileCounts> = HashMap::new();
        let tables = self.read()?;
        for document in tables.documents.values() {
            let Some(file) = &document.file else { continue };
            if documents.is_some_and(|ids| !ids.contains(&document.id)) {
                continue;
            }
            for collection in document.collections.iter().filter(|id| collections.contains(id)) {
                let counts = counts.entry(*collection).or_default();
                match has_stale_labels(tables, document) {
                    true => counts.documents.pending += 1,
                    false => count(&mut counts.documents, document),
                }
                counts.bytes += file.bytes;
            }
        }
        Ok(counts)
    }

    async fn purposes(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, FilePurpose>> {
        let purposes = &self.read()?.purposes;
        Ok(ids.iter().filter_map(|id| purposes.get(id).map(|purpose| (*id, *purpose))).collect())
    }

    async fn external_files(&mut self, ids: &[ExternalId]) -> Result<Vec<ExternalFile>> {
        let files = self.read()?.external_files.values();
        Ok(files.filter(|file| ids.contains(&file.id)).cloned().collect())
    }

    async fn external_file(&mut self, id: DocumentId) -> Result<Option<ExternalFile>> {
        Ok(self.read()?.external_files.get(&id).cloned())
    }

    async fn days(&mut self, from: DateTime<Utc>) -> Result<Vec<DocumentDay>> {
        let mut days: BTreeMap<_, DocumentCounts> = BTreeMap::new();
        for document in self.read()?.documents.values().filter(|document| document.created_at >= from) {
            count(days.entry(document.created_at.date_naive()).or_default(), document);
        }
        Ok(days.into_iter().map(|(day, counts)| DocumentDay { day, counts }).collect())
    }

    async fn searchable(
        &mut self,
        ids: &[VersionId],
        scope: &Scope,
    ) -> Result<HashMap<VersionId, SearchedVersion>> {
        let documents = self.read()?.documents.values();
        let found = documents.filter(|it| ids.contains(&it.version_id) && is_searched(it, scope));
        let version = |document: &Document| {
            let recognition = document.coverage.as_ref().and_then(|coverage| coverage.recognition.as_ref());
            let pages = recognition.map(|found| found.pages.iter().map(|page| page.page).collect());
            SearchedVersion {
                document: document.id,
                number: document.version,
                recognized_pages: pages.unwrap_or_default(),
                page_labels: document.coverage.as_ref().map(|it| it.page_labels.clone()).unwrap_or_default(),
            }
        };
        Ok(found.map(|document| (document.version_id, version(document))).collect())
    }

    async fn versions(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<Vec<VersionId>> {
        let documents = self.read()?.documents.values();
        let found = documents.filter(|it| ids.contains(&it.id) && is_searched(it, scope));
        Ok(found.map(|document| document.version_id).collect())
    }

    async fn with_equal_file(&mut self, sha256: &[u8; 32], scope: &Scope) -> Result<Option<Document>> {
        let is_equal = |document: &&Document| {
            document.file.as_ref().is_some_and(|file| file.sha256 == *sha256)
                && scope.contains(&document.collections)
        };
        let equal = self.read()?.documents.values().filter(is_equal);
        Ok(equal.min_by_key(|document| (document.created_at, document.id)).cloned())
    }

    async fn readable(&mut self, ids: &[DocumentId], scope: &Scope) -> Result<HashSet<DocumentId>> {
        let documents = &self.read()?.documents;
        let is_readable = |id: &&DocumentId| {
            documents.get(id).is_some_and(|document| scope.contains(&document.collections))
        };
        Ok(ids.iter().filter(is_readable).copied().collect())
    }

    async fn stale_labels(&mut self, limit: u64) -> Result<Vec<Document>> {
        let tables = self.read()?;
        let stale = tables.documents.values().filter(|document| has_stale_labels(tables, document));
        Ok(stale.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
    }

    async fn with_stale_labels(&mut self, ids: &[DocumentId]) -> Result<HashSet<DocumentId>> {
        let tables = self.read()?;
        let stale = ids.iter().filter_map(|id| tables.documents.get(id));
        Ok(stale.filter(|document| has_stale_labels(tables, document)).map(|document| document.id).collect())
    }

    async fn titles(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Title>> {
        let documents = &self.read()?.documents;
        let title = |id: &DocumentId| documents.get(id).map(|document| (*id, document.title.clone()));
        Ok(ids.iter().filter_map(title).collect())
    }

    async fn indexed_revisions(
        &mut self,
        after: Option<DocumentId>,
        limit: u64,
    ) -> Result<Vec<IndexedRevision>> {
        let rest = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let mark = |document: &Document| match &document.state {
            DocumentState::Ingested(ingested) => {
                let chunks = document.coverage.as_ref().map_or(0, |coverage| coverage.chunks);
                let (document, version) = (document.id, document.version_id);
                Some(IndexedRevision { document, version, at: ingested.at, chunks })
            }
            DocumentState::Pending(_) | DocumentState::Failed(_) => None,
        };
        let marks = self.read()?.documents.range(rest).filter_map(|(_, document)| mark(document));
        Ok(marks.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }

    async fn deletion(&mut self, id: DocumentId) -> Result<Option<Deletion>> {
        Ok(self.read()?.deleted.get(&id).cloned())
    }

    async fn stored_bytes(&mut self, owner: UserId) -> Result<u64> {
        let owned = self.read()?.documents.values().filter(|document| document.owner == Some(owner));
        Ok(owned.flat_map(files).map(|file| file.bytes).sum())
    }

    async fn summary(&mut self, id: DocumentId) -> Result<Option<DocumentSummary>> {
        Ok(self.read()?.summaries.get(&id).cloned())
    }

    async fn has_file(&mut self, sha256: &[u8; 32]) -> Result<bool> {
        Ok(self.read()?.documents.values().flat_map(files).any(|file| file.sha256 == *sha256))
    }
}

#[async_trait]
impl DocumentWriter for Transaction {
    async fn insert(&mut self, document: &Document) -> Result<()> {
        self.write(|tables| {
            owner_exists(tables, document)?;
            collections_exist(tables, document)?;
            match tables.documents.insert(document.id, document.clone()) {
                None if !tables.deleted.contains_key(&document.id) => Ok(()),
                None | Some(_) => Err(violation("there is a document with this id")),
            }
        })
    }

    async fn update(&mut self, document: &Document) -> Result<bool> {
        self.write(|tables| {
            if !tables.documents.contains_key(&document.id) {
                return Ok(false);
            }
            owner_exists(tables, document)?;
            collections_exist(tables, document)?;
            tables.documents.insert(document.id, document.clone());
            Ok(true)
        })
    }

    async fn set_summary(&mut self, id: DocumentId, summary: Option<&DocumentSummary>) -> Result<()> {
        self.write(|tables| {
            let exists = tables.documents.contains_key(&id) || tables.deleted.contains_key(&id);
            match summary {
                Some(_) if !exists => return Err(violation("the summary's document does not exist")),
                Some(summary) => tables.summaries.insert(id, summary.clone()),
                None => tables.summaries.remove(&id),
            };
            Ok(())
        })
    }

    async fn set_purpose(&mut self, id: DocumentId, purpose: FilePurpose) -> Result<()> {
        self.write(|tables| {
            if !tables.documents.contains_key(&id) {
                return Err(violation("the document does not exist"));
            }
            insert_once(&mut tables.purposes, id, &purpose)
        })
    }

    async fn set_external_file(&mut self, file: &ExternalFile) -> Result<()> {
        self.write(|tables| {
            if !tables.documents.contains_key(&file.document) {
                return Err(violation("the document does not exist"));
            }
            tables.external_files.insert(file.document, file.clone());
            Ok(())
        })
    }

    async fn set_indexed_labels(&mut self, id: DocumentId, revision: u32) -> Result<()> {
        self.write(|tables| {
            tables.indexed_labels.insert(id, revision);
            Ok(())
        })
    }

    async fn forget_indexed_labels(&mut self) -> Result<()> {
        self.write(|tables| {
            tables.indexed_labels.clear();
            Ok(())
        })
    }

    async fn mark_deleted(&mut self, id: DocumentId, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let Some(document) = tables.documents.remove(&id) else { return Ok(false) };
            tables.external_files.remove(&id);
            let replacement = document.replacement.as_ref().map(Replacement::stored);
            let versions = [document.stored()].into_iter().chain(replacement).collect();
            tables.deleted.insert(id, Deletion { document: id, versions, at });
            Ok(true)
        })
    }

    async fn remove_deleted(&mut self, id: DocumentId) -> Result<bool> {
        self.write(|tables| {
            let was_there = tables.deleted.remove(&id).is_some();
            if was_there {
                tables.summaries.remove(&id);
                tables.purposes.remove(&id);
                tables.jobs.retain(|_, job| job.document != id);
            }
            Ok(was_there)
        })
    }
}

fn is_searched(document: &Document, scope: &Scope) -> bool {
    matches!(document.state, DocumentState::Ingested(_)) && scope.contains(&document.collections)
}

/// Whether the vector store has no current labels of an ingested document.
fn has_stale_labels(tables: &Tables, document: &Document) -> bool {
    let indexed = tables.indexed_labels.get(&document.id).copied().unwrap_or(0);
    matches!(document.state, DocumentState::Ingested(_)) && indexed != document.labels_revision
}

/// The file of a document and that of its replacement.
fn files(document: &Document) -> impl Iterator<Item = &StoredFile> {
    document.file.iter().chain(document.replacement.iter().map(|replacement| &replacement.file))
}

fn count(counts: &mut DocumentCounts, document: &Document) {
    match document.state {
        DocumentState::Pending(_) => counts.pending += 1,
        DocumentState::Ingested(_) => counts.ingested += 1,
        DocumentState::Failed(_) => counts.failed += 1,
    }
}

fn owner_exists(tables: &Tables, document: &Document) -> Result<()> {
    match document.owner {
        Some(owner) if !tables.users.contains_key(&owner) => {
            Err(violation("the document's owner does not exist"))
        }
        Some(_) | None => Ok(()),
    }
}

fn collections_exist(tables: &Tables, document: &Document) -> Result<()> {
    match document.collections.iter().all(|collection| tables.collections.contains_key(collection)) {
        true => Ok(()),
        false => Err(violation("a collection of the document does not exist")),
    }
}

fn matches(filter: &DocumentFilter, document: &Document) -> bool {
    let status = filter.status.is_none_or(|status| document.state.name() == status);
    let title = filter
        .title_contains
        .as_ref()
        .is_none_or(|text| document.title.as_str().to_lowercase().contains(&composed(text).to_lowercase()));
    let place = filter.after.is_none_or(|last| {
        let order = (document.created_at, document.id).cmp(&(last.created_at, last.id));
        match filter.order {
            TimeOrder::Newest => order.is_lt(),
            TimeOrder::Oldest => order.is_gt(),
        }
    });
    let labels = DocumentLabels::of(document);
    let condition = filter.condition.as_ref().is_none_or(|condition| condition.is_met_by(&labels));
    let failure = filter.failure.is_none_or(
        |code| matches!(&document.state, DocumentState::Failed(failed) if failed.failure.code == code),
    );
    let id = filter.ids.as_ref().is_none_or(|ids| ids.contains(&document.id));
    id && status && failure && title && place && condition && filter.scope.contains(&document.collections)
}
