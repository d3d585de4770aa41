//! Contract of every repository of documents.

use super::records::{add_documents, add_jobs, add_users, first};
use crate::builders::{at, coverage, document, file, id, job, user};
use chrono::TimeDelta;
use docent_domain::document::{
    Deletion, Document, DocumentState, DocumentStatus, Failure, FailureCode, Pending, StoredFile,
    StoredVersion,
};
use docent_domain::extraction::{
    Coverage, IngestionStats, PageLabels, RecognitionCoverage, RecognizedPageCoverage,
};
use docent_domain::file_type::FileType;
use docent_domain::generation::IndexedRevision;
use docent_domain::job::{Job, JobKind};
use docent_domain::listing::{DocumentFilter, DocumentOrder, DocumentQuery, ListPosition, PageRequest};
use docent_domain::recognition::RecognitionFailure;
use docent_domain::retrieval::SearchedVersion;
use docent_domain::scope::Scope;
use docent_domain::text::Title;
use docent_ports::documents::{DocumentCounts, DocumentDay};
use docent_ports::store::Store;
use std::collections::HashMap;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

crate::battery! {
    documents_contract in documents (Arc<dyn Store>);

    /// All fields are stored and read unchanged, times to the microsecond.
    async fn document_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let mut full = document(1);
        full.owner = Some(user(1).id);
        full.created_at = at(1) + TimeDelta::microseconds(123_457);
        full.updated_at = at(2) + TimeDelta::microseconds(999_999);
        full.title = title("  Ünïcødé — 長い標題 🦀 “quoted” 'single' \\ % _ עברית  ");
        let file = full.file.as_mut().unwrap();
        file.bytes = (1 << 40) + 1;
        file.file_type = FileType::Docx;
        file.sha256 = std::array::from_fn(|n| u8::try_from(n * 8).unwrap());
        full.coverage = Some(Coverage {
            pages: u32::MAX,
            empty_pages: (1..=2000).collect(),
            unreliable_pages: vec![u32::MAX],
            truncated_pages: vec![],
            unread_picture_pages: vec![3, u32::MAX],
            described_pages: vec![5, 6],
            undescribed_pages: vec![7],
            lacking_result_pages: vec![4],
            characters: 1 << 40,
            chunks: u32::MAX,
            tokens: 1 << 41,
            language: Some("de".to_owned()),
            recognition: Some(RecognitionCoverage {
                recognizer: "ocr 1 (deu+eng)".to_owned(),
                pages: (2..=2000).map(|page| RecognizedPageCoverage { page, confidence: 99 }).collect(),
                picture_pages: vec![RecognizedPageCoverage { page: 1, confidence: 61 }],
                failed_pages: RecognitionFailure::ALL.map(|failure| (u32::MAX, failure)).to_vec(),
            }),
            page_labels: vec!["Slide 1".to_owned(), "Übersicht › \"Kosten\"".to_owned()].into(),
        });
        full.stats = Some(IngestionStats {
            extractor: "hayro 0.9".to_owned(),
            attempts: u32::MAX,
            extract: Duration::from_micros(1_234_567),
            chunk: Duration::ZERO,
            embed: Duration::from_secs(86_400),
            index: Duration::from_micros(1),
            shortened_passages: 7,
        });
        let bare = Document { file: None, title: title(&"長".repeat(500)), ..document(2) };
        add_documents(&*store, &[full.clone(), bare.clone()]).await;
        assert_eq!(get(&*store, &full).await, Some(full));
        assert_eq!(get(&*store, &bare).await, Some(bare));
        assert_eq!(get(&*store, &document(3)).await, None);
    }

    /// Pages for staff are filtered and sorted and have a total.
    async fn page_filters_and_sorts(store) {
        add_users(&*store, &[user(1)]).await;
        let mut large = document(2);
        large.file.as_mut().unwrap().bytes = 1 << 40;
        let documents = [
            Document { owner: Some(user(1).id), title: title("b"), ..document(1) },
            Document { title: title("C"), ..large },
            Document { title: title("ä"), file: None, ..document(3) },
            Document { title: title("a"), ..document(4).ingested(coverage(), at(5)).unwrap() },
            Document { title: title("gone"), ..document(5) },
        ];
        add_documents(&*store, &documents).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(id(5), at(9)).await.unwrap();
        unit.commit().await.unwrap();
        let all = DocumentQuery::default;
        for (query, expected) in [
            (all(), vec![4, 3, 2, 1]),
            (DocumentQuery { order: DocumentOrder::Oldest, ..all() }, vec![1, 2, 3, 4]),
            (DocumentQuery { order: DocumentOrder::Title, ..all() }, vec![2, 4, 1, 3]),
            (DocumentQuery { order: DocumentOrder::Largest, ..all() }, vec![2, 4, 1, 3]),
            (DocumentQuery { status: Some("pending"), ..all() }, vec![3, 2, 1]),
            (DocumentQuery { title_contains: Some("A".into()), ..all() }, vec![4]),
            (DocumentQuery { owner: Some(user(1).id), ..all() }, vec![1]),
        ] {
            let page = store.read().await.unwrap().documents().page(&query, first(9)).await.unwrap();
            let ids: Vec<_> = page.records.iter().map(|document| document.id).collect();
            assert_eq!(ids, expected.iter().map(|n| id(*n)).collect::<Vec<_>>(), "{query:?}");
            assert_eq!(page.total, expected.len() as u64);
        }
        let page = PageRequest { offset: 3, limit: 5 };
        let last = store.read().await.unwrap().documents().page(&all(), page).await.unwrap();
        assert_eq!((last.records, last.total), (vec![documents[0].clone()], 4));
    }

    /// Documents are counted by the UTC day of their creation.
    async fn days_counts_by_creation_day(store) {
        let on = |n: u32, second: i64| Document { created_at: at(second), ..document(n) };
        let ingested = Document { created_at: at(86_400), ..document(3).ingested(coverage(), at(86_500)).unwrap() };
        add_documents(&*store, &[on(1, -1), on(2, 0), ingested, on(4, 2 * 86_400 - 1)]).await;
        let days = store.read().await.unwrap().documents().days(at(0)).await.unwrap();
        let counts = |pending, ingested| DocumentCounts { pending, ingested, failed: 0 };
        let day = |second, counts| DocumentDay { day: at(second).date_naive(), counts };
        assert_eq!(days, [day(0, counts(1, 0)), day(86_400, counts(1, 1))]);
    }

    /// A deleted document is visible only to its removal, which also removes its jobs.
    async fn deleted_document_is_hidden_until_removed(store) {
        let ingested = document(1).ingested(coverage(), at(5)).unwrap();
        add_documents(&*store, &[ingested.clone(), document(2)]).await;
        add_jobs(&*store, &[job(1, ingested.id), job(2, document(2).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().mark_deleted(ingested.id, at(9)).await.unwrap());
        assert!(!unit.documents().mark_deleted(ingested.id, at(10)).await.unwrap(), "it is gone already");
        let delete = Job { kind: JobKind::Delete, ..job(3, ingested.id) };
        unit.jobs().insert(&delete).await.unwrap();
        unit.commit().await.unwrap();

        assert_eq!(get(&*store, &ingested).await, None);
        let mut read_latest = store.read_latest().await.unwrap();
        assert_eq!(read_latest.documents().get(ingested.id).await.unwrap(), None);
        drop(read_latest);
        let mut view = store.read().await.unwrap();
        let listed = view.documents().list(&DocumentFilter::of(Scope::SERVICE.clone())).await.unwrap();
        assert_eq!(listed, [document(2)]);
        let counts = view.documents().counts().await.unwrap();
        assert_eq!(counts, DocumentCounts { pending: 1, ..DocumentCounts::default() });
        assert!(view.documents().searchable(&[ingested.version_id], Scope::SERVICE).await.unwrap().is_empty());
        let deletion = Deletion { document: ingested.id, versions: vec![ingested.stored()], at: at(9) };
        assert!(view.documents().readable(&[ingested.id], Scope::SERVICE).await.unwrap().is_empty());
        assert_eq!(view.documents().deletion(ingested.id).await.unwrap(), Some(deletion));
        assert_eq!(view.documents().deletion(document(2).id).await.unwrap(), None);
        drop(view);

        let mut unit = store.begin().await.unwrap();
        assert!(!unit.documents().update(&ingested).await.unwrap());
        assert!(!unit.documents().remove_deleted(document(2).id).await.unwrap(), "it was not deleted");
        assert!(unit.documents().remove_deleted(ingested.id).await.unwrap());
        assert!(!unit.documents().remove_deleted(ingested.id).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.documents().deletion(ingested.id).await.unwrap(), None);
        assert_eq!(view.jobs().of_document(ingested.id).await.unwrap(), []);
        assert_eq!(view.jobs().of_document(document(2).id).await.unwrap().len(), 1);
    }

    /// A file exists as long as a document that is not deleted has it.
    async fn stored_bytes_are_those_of_one_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let mut unit = store.begin().await.unwrap();
        for (n, owner) in [(1, Some(user(1).id)), (2, Some(user(1).id)), (3, Some(user(2).id)), (4, None), (5, Some(user(1).id))] {
            unit.documents().insert(&Document { owner, ..document(n) }).await.unwrap();
        }
        assert!(unit.documents().mark_deleted(id(5), at(9)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        for (account, bytes) in [(1, 2003), (2, 1003), (3, 0)] {
            assert_eq!(view.documents().stored_bytes(user(account).id).await.unwrap(), bytes);
        }
    }

    async fn has_file_ignores_deleted_documents(store) {
        let same = document(2).file;
        let twin = Document { file: document(1).file, ..document(3) };
        add_documents(&*store, &[document(1), document(2), twin]).await;
        let has = async |file: &Option<StoredFile>| {
            let sha256 = file.as_ref().unwrap().sha256;
            store.read().await.unwrap().documents().has_file(&sha256).await.unwrap()
        };
        let delete = async |n| {
            let mut unit = store.begin().await.unwrap();
            assert!(unit.documents().mark_deleted(id(n), at(9)).await.unwrap());
            unit.commit().await.unwrap();
        };
        delete(1).await;
        assert!(has(&document(1).file).await, "another one has the same");
        delete(3).await;
        assert!(!has(&document(1).file).await);
        assert!(has(&same).await);
    }

    async fn titles_omits_deleted_documents(store) {
        let named = |n, name| Document { title: title(name), ..document(n) };
        add_documents(&*store, &[named(1, "one"), named(2, "two"), named(3, "three")]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().mark_deleted(document(3).id, at(9)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let ids = [document(1).id, document(3).id, document(4).id];
        let titles = view.documents().titles(&ids).await.unwrap();
        assert_eq!(titles, [(document(1).id, title("one"))].into());
    }

    async fn ingested_returns_ingested_documents_only(store) {
        let recognition = RecognitionCoverage {
            recognizer: "ocr 1 (eng)".to_owned(),
            pages: vec![RecognizedPageCoverage { page: 2, confidence: 87 }],
            picture_pages: vec![],
            failed_pages: vec![],
        };
        let page_labels = PageLabels::from(vec!["Slide 1".to_owned()]);
        let coverage = Coverage { recognition: Some(recognition), page_labels: page_labels.clone(), ..coverage() };
        let ingested = document(1).ingested(coverage, at(5)).unwrap();
        let failed = document(2).failed(Failure::of(FailureCode::NoText), None, at(5)).unwrap();
        add_documents(&*store, &[ingested.clone(), failed.clone(), document(3)]).await;
        let ids = [ingested.version_id, failed.version_id, id(3), id(4)];
        let mut view = store.read().await.unwrap();
        let version = SearchedVersion { document: ingested.id, number: 1, recognized_pages: vec![2], page_labels };
        let expected = HashMap::from([(ingested.version_id, version)]);
        assert_eq!(view.documents().searchable(&ids, Scope::SERVICE).await.unwrap(), expected);
        assert!(view.documents().searchable(&[], Scope::SERVICE).await.unwrap().is_empty());
    }

    /// A replacement is stored with its document, but not searched before it is ingested.
    async fn replacement_round_trips(store) {
        let ingested = Document { owner: Some(user(1).id), ..document(1).ingested(coverage(), at(5)).unwrap() };
        let other = document(2).ingested(coverage(), at(5)).unwrap();
        add_users(&*store, &[user(1)]).await;
        add_documents(&*store, &[ingested.clone(), other]).await;
        let (version, file) = (id(50), StoredFile { file_type: FileType::Epub, ..file(50, id(50)) });
        let (replaced, _) = ingested.clone().with_file(version, file.clone(), at(6));
        let failed = replaced.clone().failed(Failure::of(FailureCode::NotAPdf), None, at(7)).unwrap();
        for (document, status) in
            [(&failed, DocumentStatus::Failed), (&replaced, DocumentStatus::Pending)]
        {
            update(&*store, document).await;
            assert_eq!(get(&*store, &ingested).await.as_ref(), Some(document));
            let mut view = store.read().await.unwrap();
            let statuses = view.inventory().statuses(&[version, ingested.version_id, id(9)]).await.unwrap();
            assert_eq!(statuses, [(version, status), (ingested.version_id, DocumentStatus::Ingested)].into());
            assert_eq!(view.documents().searchable(&[version], Scope::SERVICE).await.unwrap(), HashMap::new());
            assert!(view.documents().has_file(&file.sha256).await.unwrap());
            let bytes = ingested.file.as_ref().unwrap().bytes + file.bytes;
            assert_eq!(view.documents().stored_bytes(id(1)).await.unwrap(), bytes);
            assert_eq!(view.documents().with_equal_file(&file.sha256, Scope::SERVICE).await.unwrap(), None);
        }
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(ingested.id, at(9)).await.unwrap();
        let versions = vec![ingested.stored(), StoredVersion { id: version, file: Some(file) }];
        let deletion = Deletion { document: ingested.id, versions, at: at(9) };
        assert_eq!(unit.documents().deletion(ingested.id).await.unwrap(), Some(deletion));
        unit.commit().await.unwrap();
        let statuses = store.read().await.unwrap().inventory().statuses(&[version]).await.unwrap();
        assert_eq!(statuses, [(version, DocumentStatus::Deleted)].into());
    }

    async fn next_version_is_searched_instead_of_the_first(store) {
        let ingested = document(1).ingested(coverage(), at(5)).unwrap();
        add_documents(&*store, from_ref(&ingested)).await;
        let (replaced, _) = ingested.clone().with_file(id(50), file(50, id(50)), at(6));
        let switched = replaced.ingested(coverage(), at(8)).unwrap();
        update(&*store, &switched).await;
        assert_eq!(get(&*store, &ingested).await, Some(switched));
        let mut view = store.read().await.unwrap();
        let versions = [ingested.version_id, id(50)];
        let searched = view.documents().searchable(&versions, Scope::SERVICE).await.unwrap();
        let page_labels = PageLabels::default();
        let version = SearchedVersion { document: ingested.id, number: 2, recognized_pages: vec![], page_labels };
        assert_eq!(searched, [(id(50), version)].into());
        assert_eq!(view.documents().versions(&[ingested.id], Scope::SERVICE).await.unwrap(), [id(50)]);
        assert_eq!(view.inventory().statuses(&versions).await.unwrap(), [(id(50), DocumentStatus::Ingested)].into());
        let revision =
            IndexedRevision { document: ingested.id, version: id(50), at: at(8), chunks: coverage().chunks };
        assert_eq!(view.documents().indexed_revisions(None, 9).await.unwrap(), [revision]);
    }

    async fn oldest_document_with_an_equal_file_is_found_in_the_scope(store) {
        let equal = |n| Document { file: document(1).file, ..document(n) };
        add_documents(&*store, &[equal(3), document(1), equal(2)]).await;
        let mut view = store.read().await.unwrap();
        let sha256 = document(1).file.unwrap().sha256;
        let found = view.documents().with_equal_file(&sha256, Scope::SERVICE).await.unwrap();
        assert_eq!(found, Some(document(1)));
        assert_eq!(view.documents().with_equal_file(&[9; 32], Scope::SERVICE).await.unwrap(), None);
        let elsewhere = Scope::SERVICE.within(&[id(9)]).unwrap();
        assert_eq!(view.documents().with_equal_file(&sha256, &elsewhere).await.unwrap(), None);
    }

    /// Every state is stored with its data, and every failure code.
    async fn every_state_round_trips(store) {
        let when = at(100) + TimeDelta::microseconds(1);
        let mut documents = vec![document(0), document(1).ingested(coverage(), when).unwrap()];
        for (n, code) in (2..).zip(FailureCode::ALL) {
            let failure = Failure::because(*code, format!("because of {code}: „ärger“"));
            documents.push(document(n).failed(failure, None, when).unwrap());
        }
        documents.push(document(90).failed(Failure::of(FailureCode::NoText), Some(coverage()), when).unwrap());
        add_documents(&*store, &documents).await;
        for document in documents {
            assert_eq!(get(&*store, &document).await, Some(document));
        }
    }

    /// An update writes all fields and clears data of previous states.
    async fn update_replaces_all_fields(store) {
        add_users(&*store, &[user(1)]).await;
        let failed = document(1).failed(Failure::of(FailureCode::NoText), Some(coverage()), at(5)).unwrap();
        add_documents(&*store, &[failed.clone(), document(2)]).await;
        let mut changed = Document {
            owner: Some(user(1).id),
            title: title("Another"),
            file: None,
            state: DocumentState::Pending(Pending),
            coverage: None,
            updated_at: at(9),
            ..failed
        };
        assert!(update(&*store, &changed).await);
        assert_eq!(get(&*store, &changed).await, Some(changed.clone()));
        changed = changed.ingested(coverage(), at(10)).unwrap();
        assert!(update(&*store, &changed).await);
        assert_eq!(get(&*store, &changed).await, Some(changed));
        assert_eq!(get(&*store, &document(2)).await, Some(document(2)));
    }

    async fn update_of_missing_document_returns_false(store) {
        assert!(!update(&*store, &document(1)).await);
        assert_eq!(get(&*store, &document(1)).await, None);
    }

    async fn insert_rejects_used_id(store) {
        add_documents(&*store, &[document(1)]).await;
        let second = Document { title: title("Second"), ..document(1) };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().insert(&second).await.is_err());
        drop(unit);
        assert_eq!(get(&*store, &second).await, Some(document(1)));
    }

    async fn insert_rejects_unknown_owner(store) {
        let orphan = Document { owner: Some(id(7)), ..document(1) };
        assert!(store.begin().await.unwrap().documents().insert(&orphan).await.is_err());
        add_documents(&*store, &[document(1)]).await;
        assert!(store.begin().await.unwrap().documents().update(&orphan).await.is_err());
        assert_eq!(get(&*store, &orphan).await, Some(document(1)));
    }

    /// The list is newest first; documents created at the same time are sorted by ID, highest first.
    async fn list_sorts_newest_first(store) {
        let tied = |n| Document { created_at: at(50), ..document(n) };
        let late = document(60);
        let close = Document { created_at: at(50) + TimeDelta::microseconds(1), ..document(4) };
        add_documents(&*store, &[tied(2), late.clone(), document(1), tied(3), close.clone()]).await;
        let expected = [late, close, tied(3), tied(2), document(1)];
        assert_eq!(list(&*store, DocumentFilter::of(Scope::SERVICE.clone())).await, expected);
    }

    /// The pages make up the list, even with equal creation times and concurrent inserts.
    async fn paging_neither_repeats_nor_skips(store) {
        let documents: Vec<_> =
            (0..25).map(|n| Document { created_at: at(i64::from(n % 5)), ..document(n) }).collect();
        add_documents(&*store, &documents).await;
        let all = list(&*store, DocumentFilter::of(Scope::SERVICE.clone())).await;
        assert_eq!(all.len(), 25);
        let mut paged: Vec<Document> = Vec::new();
        loop {
            let after = paged.last().map(place);
            let page = list(&*store, DocumentFilter { after, limit: Some(4), ..DocumentFilter::of(Scope::SERVICE.clone()) }).await;
            assert!(page.len() <= 4);
            if page.is_empty() {
                break;
            }
            add_documents(&*store, &[document(100 + u32::try_from(paged.len()).unwrap())]).await;
            paged.extend(page);
            assert!(paged.len() <= all.len(), "pages repeat");
        }
        assert_eq!(paged, all);
    }

    async fn list_accepts_any_limit(store) {
        add_documents(&*store, &[document(1), document(2)]).await;
        for (limit, found) in [(0, 0), (1, 1), (2, 2), (3, 2), (u64::MAX, 2)] {
            let filter = DocumentFilter { limit: Some(limit), ..DocumentFilter::of(Scope::SERVICE.clone()) };
            assert_eq!(list(&*store, filter).await.len(), found, "limit {limit}");
        }
    }

    async fn title_filter_is_literal_and_ignores_ascii_case(store) {
        let titles =
            ["Annual REPORT 2025", "100% sure", "100 percent", "snake_case", "snakeXcase", "back\\slash", "Ärger"];
        let documents: Vec<_> =
            (0..).zip(titles).map(|(n, text)| Document { title: title(text), ..document(n) }).collect();
        add_documents(&*store, &documents).await;
        for (text, found) in [
            ("report", &["Annual REPORT 2025"][..]),
            ("L rEp", &["Annual REPORT 2025"]),
            ("100%", &["100% sure"]),
            ("E_C", &["snake_case"]),
            ("k\\s", &["back\\slash"]),
            ("Ärg", &["Ärger"]),
            ("ärg", &["Ärger"]),
            ("A\u{308}RG", &["Ärger"]),
            ("%", &["100% sure"]),
            ("nothing", &[]),
            ("' OR 1=1 --", &[]),
        ] {
            let filter = DocumentFilter { title_contains: Some(text.into()), ..DocumentFilter::of(Scope::SERVICE.clone()) };
            let documents = list(&*store, filter).await;
            let titles: Vec<_> = documents.iter().map(|document| document.title.as_str()).collect();
            assert_eq!(titles, found, "{text:?}");
        }
        let filter = DocumentFilter { title_contains: Some(String::new()), ..DocumentFilter::of(Scope::SERVICE.clone()) };
        assert_eq!(list(&*store, filter).await.len(), titles.len());
    }

    async fn filters_combine(store) {
        let documents: Vec<_> = (0..12)
            .map(|n| match n % 3 {
                0 => document(n),
                1 => document(n).ingested(coverage(), at(20)).unwrap(),
                _ => document(n).failed(Failure::of(FailureCode::Internal), None, at(20)).unwrap(),
            })
            .collect();
        add_documents(&*store, &documents).await;
        let by_status = DocumentFilter { status: Some("ingested"), ..DocumentFilter::of(Scope::SERVICE.clone()) };
        assert_eq!(numbers(&list(&*store, by_status.clone()).await), [10, 7, 4, 1]);
        let next = DocumentFilter {
            after: Some(place(&documents[10])),
            limit: Some(2),
            title_contains: Some("DOCUMENT".into()),
            ..by_status
        };
        assert_eq!(numbers(&list(&*store, next).await), [7, 4]);
        let by_id = |ids: Vec<u32>| DocumentFilter {
            ids: Some(ids.into_iter().map(id).collect()),
            ..DocumentFilter::of(Scope::SERVICE.clone())
        };
        assert_eq!(list(&*store, by_id(vec![1, 1, 77])).await.len(), 1);
        assert_eq!(list(&*store, by_id(vec![])).await, []);
        let failed_with = |code| DocumentFilter { failure: Some(code), ..DocumentFilter::of(Scope::SERVICE.clone()) };
        assert_eq!(numbers(&list(&*store, failed_with(FailureCode::Internal)).await), [11, 8, 5, 2]);
        assert!(list(&*store, failed_with(FailureCode::NoText)).await.is_empty());
        let query = DocumentQuery { failure: Some(FailureCode::Internal), ..DocumentQuery::default() };
        let page = PageRequest { offset: 0, limit: 3 };
        assert_eq!(store.read().await.unwrap().documents().page(&query, page).await.unwrap().total, 4);
    }

    async fn counts_by_status(store) {
        assert_eq!(counts(&*store).await, DocumentCounts::default());
        let ingested = |n| document(n).ingested(coverage(), at(20)).unwrap();
        let failed = document(4).failed(Failure::of(FailureCode::NoText), None, at(20)).unwrap();
        add_documents(&*store, &[document(1), ingested(2), ingested(3), failed]).await;
        assert_eq!(counts(&*store).await, DocumentCounts { pending: 1, ingested: 2, failed: 1 });
    }
}

fn title(text: &str) -> Title {
    Title::parse(text).unwrap()
}

fn place(document: &Document) -> ListPosition {
    ListPosition { created_at: document.created_at, id: document.id }
}

fn numbers(documents: &[Document]) -> Vec<i64> {
    documents.iter().map(|document| (document.created_at - at(0)).num_seconds()).collect()
}

async fn get(store: &dyn Store, document: &Document) -> Option<Document> {
    store.read().await.unwrap().documents().get(document.id).await.unwrap()
}

async fn list(store: &dyn Store, filter: DocumentFilter) -> Vec<Document> {
    store.read().await.unwrap().documents().list(&filter).await.unwrap()
}

async fn counts(store: &dyn Store) -> DocumentCounts {
    store.read().await.unwrap().documents().counts().await.unwrap()
}

async fn update(store: &dyn Store, document: &Document) -> bool {
    let mut unit = store.begin().await.unwrap();
    let found = unit.documents().update(document).await.unwrap();
    unit.commit().await.unwrap();
    found
}
