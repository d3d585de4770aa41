//! Contract of every vector store.

use crate::builders::id;
use crate::retrieval::{entry, hybrid_entry, indexed, labelled, query, terms, version_id};
use chrono::DateTime;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::fault::FaultKind;
use docent_domain::id::{ChunkId, CollectionId, UserId, VersionId};
use docent_domain::ranking::{
    CorpusStatistics, Frequencies, Occurrence, TermWeights, length_norm, lexical, rounded_length,
};
use docent_domain::retrieval::{ChunkFilter, FoundChunk, IndexEntry, QueryEmbedding, QueryTerm};
use docent_domain::scope::Scope;
use docent_ports::vector_index::{IndexPage, VectorIndex};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

fn texts(found: &[FoundChunk]) -> Vec<&str> {
    found.iter().map(|chunk| chunk.text.as_str()).collect()
}

fn dense(vector: &[f32]) -> QueryEmbedding {
    QueryEmbedding { sparse: None, dense: Some(vector.to_vec()) }
}

fn scope(collections: &[u32]) -> Scope {
    Scope::SERVICE.within(&collections.iter().map(|n| id(*n)).collect::<Vec<_>>()).unwrap()
}

/// The documents that a search for `pump` finds, sorted.
async fn found(index: &dyn VectorIndex, filter: ChunkFilter<'_>) -> Vec<VersionId> {
    let chunks = index.search(&query("pump"), filter).await.unwrap();
    let documents: BTreeSet<VersionId> = chunks.iter().map(|chunk| chunk.version).collect();
    documents.into_iter().collect()
}

crate::battery! {
    vector_index_contract in vector_index (Arc<dyn VectorIndex>);

    async fn empty_index_finds_nothing(index) {
        index.check().await.unwrap();
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.count(version_id(1)).await.unwrap(), 0);
        index.remove(version_id(1)).await.unwrap();
    }

    async fn chunk_round_trips(index) {
        let mut stored = entry(1, 3, "Ünïcode pümp 水泵 🚰");
        stored.span = Span { start: Position { page: 4, offset: 70_000 }, end: Position { page: 6, offset: 9 } };
        stored.pages = vec![PageStart { page: 4, at: 0 }, PageStart { page: 6, at: 8 }];
        stored.headings = "Ünits\nPumps".to_owned();
        index.replace(&indexed(1), vec![entry(1, 0, "valve"), stored.clone()]).await.unwrap();
        let found = index.search(&query("水泵"), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.len(), 1);
        let chunk = &found[0];
        assert_eq!((chunk.id, chunk.version), (ChunkId::of(version_id(1), 3), version_id(1)));
        assert_eq!((chunk.title.as_str(), chunk.text.as_str()), (indexed(1).labels.title.as_str(), stored.text.as_str()));
        assert_eq!((chunk.span, &chunk.pages, &chunk.headings), (stored.span, &stored.pages, &stored.headings));
        assert!(chunk.score > 0.0);
    }

    async fn unrelated_chunks_are_omitted(index) {
        index.replace(&indexed(1), vec![entry(1, 0, "pump"), entry(1, 1, "valve")]).await.unwrap();
        assert_eq!(texts(&index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap()), ["pump"]);
        assert_eq!(index.search(&query("crane"), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.search(&query(""), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.search(&QueryEmbedding { sparse: None, dense: None }, ChunkFilter::all(5)).await.unwrap(), []);
    }

    async fn results_are_sorted_by_score(index) {
        let texts_in = ["red pump with green valve", "red pump and many other words that say nothing", "green door"];
        let entries = (0..).zip(texts_in).map(|(n, text)| entry(1, n, text)).collect();
        index.replace(&indexed(1), entries).await.unwrap();
        let found = index.search(&query("pump valve"), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(texts(&found), [texts_in[0], texts_in[1]]);
        assert!(found[0].score > found[1].score);
    }

    // Invariant: Every vector store ranks with the domain's functions, and its corpus statistics are exact
    // after deletions.
    async fn scores_match_domain_ranking(index) {
        let long = "pump ".to_owned() + &"other words ".repeat(40);
        let texts_in = [
            (1, "pump manual", "about the red pump", ["pump pump valve", long.as_str()]),
            (2, "valve manual", "about the green valve", ["pump seal", "seal and nothing else"]),
            (3, "minutes", "who was there", ["valve", "none"]),
        ];
        let of_document = |(n, title, lead, chunks): (u32, &str, &str, [&str; 2])| {
            let entries = (0..).zip(chunks).map(|(at, text)| {
                let mut entry = entry(n, at, text);
                if let Some(sparse) = &mut entry.embedding.sparse {
                    (sparse.title, sparse.lead) = (terms(title), terms(lead));
                    sparse.headings = if at == 0 { terms("valve care") } else { terms("closing") };
                }
                entry
            });
            (indexed(n), entries.collect::<Vec<_>>())
        };
        let documents = texts_in.map(of_document);
        for (document, entries) in &documents {
            index.replace(document, entries.clone()).await.unwrap();
        }

        let length = documents.iter().flat_map(|(_, entries)| entries).map(|entry| {
            entry.embedding.sparse.as_ref().map_or(0, |sparse| sparse.body.total())
        });
        let totals = CorpusStatistics { documents: 3, chunks: 6, length: length.sum() };
        // In how many chunks, titles and leads the words of the query are.
        let once = Frequencies { title: 1, lead: 1, ..Frequencies::default() };
        let pump = TermWeights::of(&QueryTerm::word("pump"), Frequencies { body: 3, ..once }, &totals);
        let valve = QueryTerm { weight: 0.75, is_name: true, ..QueryTerm::word("valve") };
        let terms = [QueryTerm::word("pump"), valve.clone()].into_iter().collect();
        let query = QueryEmbedding { sparse: Some(terms), dense: None };
        let valve = TermWeights::of(&valve, Frequencies { body: 2, heading: 3, ..once }, &totals);
        let found = |body, title, lead| Occurrence { body, title, lead, heading: false };
        let heading = |found| Occurrence { heading: true, ..found };
        let score = |words: usize, pumps, valves| {
            let length = rounded_length(u32::try_from(words).unwrap());
            lexical(&[(pump, pumps), (valve, valves)], length_norm(length, totals.average_length()))
        };
        let no = found(0, false, false);
        let mut expected = vec![
            (1, 0, score(3, found(2, true, true), heading(found(1, false, false)))),
            (1, 1, score(81, found(1, true, true), no)),
            (2, 0, score(2, found(1, false, false), heading(found(0, true, true)))),
            (2, 1, score(4, no, found(0, true, true))),
            (3, 0, score(1, no, heading(found(1, false, false)))),
        ];
        expected.sort_by(|a, b| b.2.total_cmp(&a.2));
        let found = index.search(&query, ChunkFilter::all(9)).await.unwrap();
        let ids: Vec<_> = found.iter().map(|chunk| chunk.id).collect();
        let ids_expected: Vec<_> = expected.iter().map(|(n, at, _)| ChunkId::of(version_id(*n), *at)).collect();
        assert_eq!(ids, ids_expected);
        for (chunk, (.., score)) in found.iter().zip(&expected) {
            assert!((chunk.score - score).abs() < 1e-4, "{} is not {score}", chunk.score);
        }
        // The explanation has the same parts.
        let explained = index.explain(&query, ChunkFilter::all(9)).await.unwrap();
        assert_eq!(explained.len(), found.len());
        for chunk in &found {
            let fields = explained[&chunk.id];
            assert!((fields.lexical_sum() - chunk.score).abs() < 1e-4, "{fields:?} is not {}", chunk.score);
        }
        let fields = explained[&ChunkId::of(version_id(2), 0)];
        assert!((fields.title - valve.title).abs() < 1e-4 && (fields.lead - valve.lead).abs() < 1e-4, "{fields:?}");
        assert!((fields.headings - valve.heading).abs() < 1e-4, "{fields:?}");
        assert_eq!(fields.dense, None);
    }

    async fn frequency_is_the_number_of_chunks_with_a_term_in_their_text(index) {
        let mut titled = entry(1, 0, "pump pump valve");
        titled.embedding.sparse.as_mut().unwrap().title = terms("crane");
        index.replace(&indexed(1), vec![titled, entry(1, 1, "pump")]).await.unwrap();
        let sought = ["seal", "pump", "crane"].map(String::from);
        assert_eq!(index.frequencies(&sought).await.unwrap(), [0, 2, 0]);
        index.remove(version_id(1)).await.unwrap();
        assert_eq!(index.frequencies(&sought).await.unwrap(), [0; 3]);
    }

    /// Only what a search finds is explained, with the cosine of the dense vectors.
    async fn explanation_follows_the_filter_and_has_the_cosine(index) {
        for n in 1..=2 {
            let entries = vec![hybrid_entry(n, 0, "pump", &[0.6, 0.8]), hybrid_entry(n, 1, "valve", &[-1.0, 0.0])];
            index.replace(&indexed(n), entries).await.unwrap();
        }
        let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
        let versions = [version_id(2)];
        let filter = ChunkFilter { versions: Some(&versions), ..ChunkFilter::all(9) };
        let explained = index.explain(&both, filter).await.unwrap();
        let [(id, fields)] = explained.into_iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(id, ChunkId::of(version_id(2), 0));
        assert!(fields.body > 0.0 && fields.headings == 0.0, "{fields:?}");
        assert!((fields.dense.unwrap() - 0.6).abs() < 1e-5, "{fields:?}");
        let limited = index.explain(&query("pump"), ChunkFilter::all(1)).await.unwrap();
        assert_eq!(limited.keys().copied().collect::<Vec<_>>(), [ChunkId::of(version_id(1), 0)]);
        assert!(index.explain(&query("crane"), ChunkFilter::all(9)).await.unwrap().is_empty());
    }

    /// Ties are in the order of documents and ordinals.
    async fn limit_is_exact_and_ties_are_stable(index) {
        for n in [3, 1, 2] {
            index.replace(&indexed(n), (0..4).map(|at| entry(n, at, "pump")).collect()).await.unwrap();
        }
        let all = index.search(&query("pump"), ChunkFilter::all(50)).await.unwrap();
        let order: Vec<_> = all.iter().map(|chunk| chunk.id).collect();
        let expected: Vec<_> = (1..=3).flat_map(|n| (0..4).map(move |at| ChunkId::of(version_id(n), at))).collect();
        assert_eq!(order, expected);
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), all[..5]);
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(0)).await.unwrap(), []);
    }

    async fn search_filters_by_document(index) {
        for n in 1..=3 {
            index.replace(&indexed(n), vec![entry(n, 0, "pump"), entry(n, 1, "valve")]).await.unwrap();
        }
        let named = [version_id(3), version_id(1), version_id(9)];
        let found = index.search(&query("pump"), ChunkFilter { versions: Some(&named), ..ChunkFilter::all(5) }).await.unwrap();
        let of: Vec<_> = found.iter().map(|chunk| chunk.version).collect();
        assert_eq!(of, [version_id(1), version_id(3)]);
        assert_eq!(index.search(&query("pump"), ChunkFilter { versions: Some(&[]), ..ChunkFilter::all(5) }).await.unwrap(), []);
    }

    async fn replace_removes_previous_chunks(index) {
        let first = ["pump one", "pump two", "pump three"];
        index.replace(&indexed(1), (0..).zip(first).map(|(n, text)| entry(1, n, text)).collect()).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump of another")]).await.unwrap();
        index.replace(&indexed(1), vec![entry(1, 0, "pump four")]).await.unwrap();
        assert_eq!(index.count(version_id(1)).await.unwrap(), 1);
        let found = index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap();
        assert_eq!(found.len(), 2);
        assert!(texts(&found).contains(&"pump four") && texts(&found).contains(&"pump of another"));
        index.replace(&indexed(1), Vec::new()).await.unwrap();
        assert_eq!(index.count(version_id(1)).await.unwrap(), 0);
        assert_eq!(texts(&index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap()), ["pump of another"]);
    }

    // Invariant: Indexing a document again yields the same chunks.
    async fn replace_is_idempotent(index) {
        let entries = || vec![entry(1, 0, "pump with valve"), entry(1, 1, "pump without")];
        index.replace(&indexed(2), vec![entry(2, 0, "a valve alone")]).await.unwrap();
        index.replace(&indexed(1), entries()).await.unwrap();
        let before = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        for _ in 0..2 {
            index.replace(&indexed(1), entries()).await.unwrap();
        }
        assert_eq!(index.count(version_id(1)).await.unwrap(), 2);
        let after = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        assert_eq!(texts(&after), texts(&before));
    }

    async fn removed_document_is_not_found(index) {
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
        for _ in 0..2 {
            index.remove(version_id(1)).await.unwrap();
            assert_eq!(index.count(version_id(1)).await.unwrap(), 0);
            let found = index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap();
            assert_eq!(found.iter().map(|chunk| chunk.version).collect::<Vec<_>>(), [version_id(2)]);
        }
    }

    async fn title_terms_raise_scores(index) {
        let mut titled = entry(2, 0, "flow rates of the machine");
        titled.embedding.sparse.as_mut().unwrap().title = crate::retrieval::terms("pump");
        index.replace(&indexed(1), vec![entry(1, 0, "flow rates of the machine")]).await.unwrap();
        index.replace(&indexed(2), vec![titled]).await.unwrap();
        let found = index.search(&query("pump flow"), ChunkFilter::all(5)).await.unwrap();
        let of: Vec<_> = found.iter().map(|chunk| chunk.version).collect();
        assert_eq!(of, [version_id(2), version_id(1)]);
    }

    /// Vectors that point away are omitted.
    async fn dense_vectors_rank_by_cosine(index) {
        let entries = vec![
            hybrid_entry(1, 0, "", &[0.6, 0.8]),
            hybrid_entry(1, 1, "", &[1.0, 0.0]),
            hybrid_entry(1, 2, "", &[-1.0, 0.0]),
        ];
        index.replace(&indexed(1), entries).await.unwrap();
        let found = index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap();
        let order: Vec<_> = found.iter().map(|chunk| chunk.id).collect();
        assert_eq!(order, [1, 0].map(|n| ChunkId::of(version_id(1), n)));
        assert!((found[0].score - 1.0).abs() < 1e-5 && (found[1].score - 0.6).abs() < 1e-5);
    }

    async fn hybrid_search_uses_both_parts(index) {
        let entries = vec![
            hybrid_entry(1, 0, "pump", &[0.0, 1.0]),
            hybrid_entry(1, 1, "valve", &[1.0, 0.0]),
            hybrid_entry(1, 2, "pump", &[0.8, 0.6]),
            entry(1, 3, "crane"),
        ];
        index.replace(&indexed(1), entries).await.unwrap();
        let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
        let found = index.search(&both, ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.first().map(|chunk| chunk.id), Some(ChunkId::of(version_id(1), 2)));
        assert_eq!(found.len(), 3);
    }

    async fn replaced_vectors_do_not_count(index) {
        index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[1.0, 0.0])]).await.unwrap();
        index.replace(&indexed(2), vec![hybrid_entry(2, 0, "", &[1.0, 0.0])]).await.unwrap();
        index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[0.0, 1.0])]).await.unwrap();
        let found = index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.iter().map(|chunk| chunk.version).collect::<Vec<_>>(), [version_id(2)]);
        let found = index.search(&dense(&[0.0, 1.0]), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.iter().map(|chunk| chunk.version).collect::<Vec<_>>(), [version_id(1)]);
    }

    /// The fault is permanent, and nothing changes.
    async fn other_dimensions_are_rejected(index) {
        index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
        for wrong in [vec![hybrid_entry(1, 0, "crane", &[1.0, 0.0, 0.0])],
            vec![hybrid_entry(1, 0, "crane", &[1.0, 0.0]), hybrid_entry(1, 1, "crane", &[1.0])]] {
            let fault = index.replace(&indexed(1), wrong).await.unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected);
            assert!(!fault.is_transient());
        }
        let fault = index.search(&dense(&[1.0]), ChunkFilter::all(5)).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Rejected);
        assert_eq!(texts(&index.search(&query("pump crane"), ChunkFilter::all(5)).await.unwrap()), ["pump"]);
    }

    async fn counts_omits_documents_without_chunks(index) {
        assert!(index.counts(&[version_id(1)]).await.unwrap().is_empty());
        index.replace(&indexed(1), vec![entry(1, 0, "pump"), entry(1, 1, "valve")]).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
        index.replace(&indexed(3), vec![entry(3, 0, "pump")]).await.unwrap();
        index.remove(version_id(3)).await.unwrap();
        let asked = [version_id(3), version_id(1), version_id(9)];
        assert_eq!(index.counts(&asked).await.unwrap(), HashMap::from([(version_id(1), 2)]));
        assert!(index.counts(&[]).await.unwrap().is_empty());
    }

    /// The pages list exactly the documents with chunks, for any page size.
    async fn pages_list_every_document(index) {
        assert_eq!(index.versions(None, 3).await.unwrap(), IndexPage::default());
        for n in 1..=7 {
            index.replace(&indexed(n), (0..n).map(|at| entry(n, at, "pump")).collect()).await.unwrap();
        }
        index.remove(version_id(4)).await.unwrap();
        index.replace(&indexed(5), Vec::new()).await.unwrap();
        for limit in [1, 3, 100] {
            let (mut found, mut after, mut pages) = (BTreeSet::new(), None::<String>, 0);
            loop {
                let page = index.versions(after.as_deref(), limit).await.unwrap();
                assert!(page.versions.len() <= limit);
                found.extend(page.versions);
                pages += 1;
                after = page.next;
                if after.is_none() {
                    break;
                }
                assert!(pages < 100, "paging does not end");
            }
            assert_eq!(found, [1, 2, 3, 6, 7].map(version_id).into(), "{limit}");
        }
    }

    async fn chunks_are_read_in_order(index) {
        assert_eq!(index.chunks(version_id(1)).await.unwrap(), []);
        let mut stored: Vec<IndexEntry> =
            (0..150).map(|n| hybrid_entry(1, n, &format!("pump {n} 水泵"), &[0.6, 0.8])).collect();
        stored[1].embedding.dense = None;
        stored[2].span = Span { start: Position { page: 4, offset: 70_000 }, end: Position { page: 6, offset: 9 } };
        stored[2].pages = vec![PageStart { page: 4, at: 0 }, PageStart { page: 6, at: 8 }];
        let mut shuffled = stored.clone();
        shuffled.reverse();
        index.replace(&indexed(1), shuffled).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "valve")]).await.unwrap();
        let chunks = index.chunks(version_id(1)).await.unwrap();
        assert_eq!(chunks.len(), stored.len());
        for (chunk, entry) in chunks.iter().zip(&stored) {
            assert_eq!((chunk.ordinal, &chunk.text), (entry.ordinal, &entry.text));
            assert_eq!((chunk.span, &chunk.pages), (entry.span, &entry.pages));
            assert_eq!(chunk.dense, entry.embedding.dense);
        }
        assert_eq!(index.chunk_range(version_id(1), 70..73).await.unwrap(), chunks[70..73]);
        assert_eq!(index.chunk_range(version_id(1), 149..200).await.unwrap(), chunks[149..]);
        assert_eq!(index.chunk_range(version_id(3), 0..2).await.unwrap(), []);
    }

    async fn dimensions_match_vectors(index) {
        assert_eq!(index.dimensions().await.unwrap(), None);
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        assert_eq!(index.dimensions().await.unwrap(), None);
        index.replace(&indexed(2), vec![hybrid_entry(2, 0, "pump", &[0.6, 0.8])]).await.unwrap();
        assert_eq!(index.dimensions().await.unwrap(), Some(2));
    }

    async fn concurrent_replaces_are_all_visible(index) {
        let calls: Vec<_> = (1..=20).map(|n| {
            let index = Arc::clone(&index);
            tokio::spawn(async move {
                let entries: Vec<IndexEntry> = (0..3).map(|at| entry(n, at, "pump")).collect();
                index.replace(&indexed(n), entries).await.unwrap();
                index.count(version_id(n)).await.unwrap()
            })
        }).collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), 3);
        }
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(100)).await.unwrap().len(), 60);
    }

    // Invariant: Searches rank only chunks of the scope, and what leaves it is not found from that moment.
    async fn search_is_limited_to_the_scope(index) {
        for n in 1..=40 {
            index.replace(&labelled(n, &[1 + n % 2], 2000.0), vec![entry(n, 0, "pump pump pump")]).await.unwrap();
        }
        index.replace(&labelled(50, &[3, 4], 2000.0), vec![entry(50, 0, "pump and a lot of other words")]).await.unwrap();
        for (of, expected) in [(&[3][..], 1), (&[4, 5], 1), (&[1], 20), (&[2, 3], 21), (&[5], 0), (&[], 0)] {
            let scope = scope(of);
            let filter = ChunkFilter { scope: &scope, ..ChunkFilter::all(100) };
            let documents = found(&*index, filter).await;
            assert_eq!(documents.len(), expected, "{of:?}");
            assert_eq!(documents.contains(&version_id(50)), of.iter().any(|n| [3, 4].contains(n)));
            let one = found(&*index, ChunkFilter { limit: 1, ..filter }).await;
            assert_eq!(one.len(), expected.min(1), "{of:?}");
            let both = found(&*index, ChunkFilter { versions: Some(&[version_id(50), version_id(1)]), ..filter }).await;
            let inside = [1, 50].into_iter().filter(|n| documents.contains(&version_id(*n)));
            assert_eq!(both, inside.map(version_id).collect::<Vec<_>>(), "{of:?}");
        }
    }

    /// Scores do not depend on the scope.
    async fn scope_does_not_change_scores(index) {
        for (n, text) in [(1, "pump pump"), (2, "pump valve"), (3, "valve")] {
            index.replace(&labelled(n, &[n], 2000.0), vec![entry(n, 0, text)]).await.unwrap();
        }
        let all = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        for chunk in all {
            let of = scope(&[u32::try_from(chunk.version.as_uuid().as_u128() & 0xff).unwrap()]);
            let filter = ChunkFilter { scope: &of, ..ChunkFilter::all(9) };
            let alone = index.search(&query("pump valve"), filter).await.unwrap();
            assert_eq!(alone, [chunk]);
        }
    }

    // Invariant: Conditions select the same documents in lists and in searches, in every store.
    async fn search_is_limited_by_conditions(index) {
        let key = |text: &str| AttributeKey::parse(text).unwrap();
        let text = |text: &str| AttributeValue::string(text).unwrap();
        let mut documents = vec![
            labelled(1, &[1], 2021.0), labelled(2, &[2], 2022.5), labelled(3, &[1, 2], -3.0), indexed(4), indexed(5), indexed(6),
        ];
        documents[3].labels.attributes = Attributes::new(BTreeMap::from([
            (key("year"), text("2021")), (key("a.b-c"), text("ü x")), (key("ok"), AttributeValue::Boolean(true)),
        ])).unwrap();
        documents[4].labels.attributes = Attributes::new(BTreeMap::from([
            (key("ok"), AttributeValue::Boolean(false)), (key("a.b-c"), text("")),
        ])).unwrap();
        documents[5].labels.owner = Some(id(9));
        documents[5].labels.created_at = DateTime::from_timestamp(1_700_000_000, 999_999_000).unwrap();
        for (n, document) in (1..).zip(&documents) {
            index.replace(document, vec![entry(n, 0, "pump"), entry(n, 1, "the pump")]).await.unwrap();
        }
        let values = [
            AttributeValue::Number(2021.0), AttributeValue::Number(2022.5), AttributeValue::Number(-3.0),
            AttributeValue::Number(2.0), AttributeValue::Number(1_700_000_000.0), text("2021"), text("ü x"), text(""),
            AttributeValue::Boolean(true), AttributeValue::Boolean(false), text(&id::<CollectionId>(2).to_string()),
            text(&id::<UserId>(9).to_string()), text("Document 6"), text("document-5.pdf"), text("en"),
        ];
        let select = async |condition: &Condition| {
            let expected: Vec<_> = documents.iter()
                .filter(|document| condition.is_met_by(&document.labels)).map(|document| document.id).collect();
            let filter = ChunkFilter { condition: Some(condition), ..ChunkFilter::all(99) };
            assert_eq!(found(&*index, filter).await, expected, "{condition:?}");
            expected.len()
        };
        let mut selected = 0;
        for name in ["year", "a.b-c", "ok", "none", "owner", "collection", "title", "file_name", "pages", "language", "created_at"] {
            for (_, comparison) in Comparison::ALL {
                let lists = [values[..2].to_vec(), values[5..].to_vec(), Vec::new()];
                for values in values.iter().map(|value| vec![value.clone()]).chain(lists) {
                    let Ok(condition) = Condition::compare(key(name), *comparison, values) else { continue };
                    selected += select(&condition).await;
                }
            }
        }
        assert!(selected > 100, "{selected}");
        let year = |operator: &str, n: f64| {
            let comparison = Comparison::parse(operator).unwrap();
            Condition::compare(key("year"), comparison, vec![AttributeValue::Number(n)]).unwrap()
        };
        let either = Condition::Or(vec![year("eq", 2021.0), year("lt", 0.0)]);
        assert_eq!(select(&either).await, 2);
        assert_eq!(select(&Condition::And(vec![either.clone(), year("gt", 0.0)])).await, 1);
        assert_eq!(select(&Condition::Or(vec![Condition::And(vec![either, year("ne", 2021.0)]), year("eq", 2022.5)])).await, 2);
        assert_eq!(select(&Condition::And(Vec::new())).await, 6);
        assert_eq!(select(&Condition::Or(Vec::new())).await, 0);
        let of = scope(&[1]);
        let positive = year("gt", 0.0);
        let filter = ChunkFilter { scope: &of, condition: Some(&positive), ..ChunkFilter::all(99) };
        assert_eq!(found(&*index, filter).await, [version_id(1)]);
    }

    /// New labels count at once and change nothing else.
    async fn relabelled_document_is_found_by_its_new_labels(index) {
        index.replace(&labelled(1, &[1], 2020.0), vec![entry(1, 0, "pump"), entry(1, 1, "pump valve")]).await.unwrap();
        index.replace(&labelled(2, &[1], 2020.0), vec![entry(2, 0, "pump")]).await.unwrap();
        let before = index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap();
        for _ in 0..2 {
            index.relabel(&labelled(1, &[2], 2021.0)).await.unwrap();
        }
        index.relabel(&labelled(3, &[1], 2021.0)).await.unwrap();
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap(), before);
        assert_eq!((index.count(version_id(1)).await.unwrap(), index.count(version_id(3)).await.unwrap()), (2, 0));
        let (old, new) = (scope(&[1]), scope(&[2]));
        assert_eq!(found(&*index, ChunkFilter { scope: &old, ..ChunkFilter::all(9) }).await, [version_id(2)]);
        assert_eq!(found(&*index, ChunkFilter { scope: &new, ..ChunkFilter::all(9) }).await, [version_id(1)]);
        index.remove(version_id(1)).await.unwrap();
        assert_eq!(found(&*index, ChunkFilter { scope: &new, ..ChunkFilter::all(9) }).await, []);
    }
}
