//! Contract of every vector store.

use crate::retrieval::{document_id, entry, hybrid_entry, indexed, query, terms};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::fault::FaultKind;
use docent_domain::id::ChunkId;
use docent_domain::ranking::{
    CorpusStatistics, Frequencies, Occurrence, TermWeights, length_norm, lexical, rounded_length,
};
use docent_domain::retrieval::{ChunkFilter, IndexEntry, QueryEmbedding, ScoredChunk};
use docent_ports::vector_index::{IndexPage, VectorIndex};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

fn texts(found: &[ScoredChunk]) -> Vec<&str> {
    found.iter().map(|chunk| chunk.text.as_str()).collect()
}

fn dense(vector: &[f32]) -> QueryEmbedding {
    QueryEmbedding { sparse: None, dense: Some(vector.to_vec()) }
}

crate::battery! {
    vector_index_contract in vector_index (Arc<dyn VectorIndex>);

    async fn empty_index_finds_nothing(index) {
        index.check().await.unwrap();
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap(), []);
        assert_eq!(index.count(document_id(1)).await.unwrap(), 0);
        index.remove(document_id(1)).await.unwrap();
    }

    async fn chunk_round_trips(index) {
        let mut stored = entry(1, 3, "Ünïcode pümp 水泵 🚰");
        stored.span = Span { start: Position { page: 4, offset: 70_000 }, end: Position { page: 6, offset: 9 } };
        stored.pages = vec![PageStart { page: 4, at: 0 }, PageStart { page: 6, at: 8 }];
        index.replace(&indexed(1), vec![entry(1, 0, "valve"), stored.clone()]).await.unwrap();
        let found = index.search(&query("水泵"), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.len(), 1);
        let chunk = &found[0];
        assert_eq!((chunk.id, chunk.document_id), (ChunkId::of(document_id(1), 3), document_id(1)));
        assert_eq!((chunk.title.as_str(), chunk.text.as_str()), (indexed(1).title.as_str(), stored.text.as_str()));
        assert_eq!((chunk.span, &chunk.pages), (stored.span, &stored.pages));
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

    /// All stores use the domain's ranking functions with corpus statistics of all fields and length normalization.
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
        let pump = TermWeights::of(Frequencies { body: 3, ..once }, &totals);
        let valve = TermWeights::of(Frequencies { body: 2, heading: 3, ..once }, &totals);
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
        let found = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        let ids: Vec<_> = found.iter().map(|chunk| chunk.id).collect();
        let ids_expected: Vec<_> = expected.iter().map(|(n, at, _)| ChunkId::of(document_id(*n), *at)).collect();
        assert_eq!(ids, ids_expected);
        for (chunk, (.., score)) in found.iter().zip(&expected) {
            assert!((chunk.score - score).abs() < 1e-4, "{} is not {score}", chunk.score);
        }
    }

    /// Ties are in the order of documents and ordinals.
    async fn limit_is_exact_and_ties_are_stable(index) {
        for n in [3, 1, 2] {
            index.replace(&indexed(n), (0..4).map(|at| entry(n, at, "pump")).collect()).await.unwrap();
        }
        let all = index.search(&query("pump"), ChunkFilter::all(50)).await.unwrap();
        let order: Vec<_> = all.iter().map(|chunk| chunk.id).collect();
        let expected: Vec<_> = (1..=3).flat_map(|n| (0..4).map(move |at| ChunkId::of(document_id(n), at))).collect();
        assert_eq!(order, expected);
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), all[..5]);
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(0)).await.unwrap(), []);
    }

    async fn search_filters_by_document(index) {
        for n in 1..=3 {
            index.replace(&indexed(n), vec![entry(n, 0, "pump"), entry(n, 1, "valve")]).await.unwrap();
        }
        let named = [document_id(3), document_id(1), document_id(9)];
        let found = index.search(&query("pump"), ChunkFilter { documents: Some(&named), limit: 5 }).await.unwrap();
        let of: Vec<_> = found.iter().map(|chunk| chunk.document_id).collect();
        assert_eq!(of, [document_id(1), document_id(3)]);
        assert_eq!(index.search(&query("pump"), ChunkFilter { documents: Some(&[]), limit: 5 }).await.unwrap(), []);
    }

    async fn replace_removes_previous_chunks(index) {
        let first = ["pump one", "pump two", "pump three"];
        index.replace(&indexed(1), (0..).zip(first).map(|(n, text)| entry(1, n, text)).collect()).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump of another")]).await.unwrap();
        index.replace(&indexed(1), vec![entry(1, 0, "pump four")]).await.unwrap();
        assert_eq!(index.count(document_id(1)).await.unwrap(), 1);
        let found = index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap();
        assert_eq!(found.len(), 2);
        assert!(texts(&found).contains(&"pump four") && texts(&found).contains(&"pump of another"));
        index.replace(&indexed(1), Vec::new()).await.unwrap();
        assert_eq!(index.count(document_id(1)).await.unwrap(), 0);
        assert_eq!(texts(&index.search(&query("pump"), ChunkFilter::all(9)).await.unwrap()), ["pump of another"]);
    }

    async fn replace_is_idempotent(index) {
        let entries = || vec![entry(1, 0, "pump with valve"), entry(1, 1, "pump without")];
        index.replace(&indexed(2), vec![entry(2, 0, "a valve alone")]).await.unwrap();
        index.replace(&indexed(1), entries()).await.unwrap();
        let before = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        for _ in 0..2 {
            index.replace(&indexed(1), entries()).await.unwrap();
        }
        assert_eq!(index.count(document_id(1)).await.unwrap(), 2);
        let after = index.search(&query("pump valve"), ChunkFilter::all(9)).await.unwrap();
        assert_eq!(texts(&after), texts(&before));
    }

    async fn removed_document_is_not_found(index) {
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
        for _ in 0..2 {
            index.remove(document_id(1)).await.unwrap();
            assert_eq!(index.count(document_id(1)).await.unwrap(), 0);
            let found = index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap();
            assert_eq!(found.iter().map(|chunk| chunk.document_id).collect::<Vec<_>>(), [document_id(2)]);
        }
    }

    async fn title_terms_raise_scores(index) {
        let mut titled = entry(2, 0, "flow rates of the machine");
        titled.embedding.sparse.as_mut().unwrap().title = crate::retrieval::terms("pump");
        index.replace(&indexed(1), vec![entry(1, 0, "flow rates of the machine")]).await.unwrap();
        index.replace(&indexed(2), vec![titled]).await.unwrap();
        let found = index.search(&query("pump flow"), ChunkFilter::all(5)).await.unwrap();
        let of: Vec<_> = found.iter().map(|chunk| chunk.document_id).collect();
        assert_eq!(of, [document_id(2), document_id(1)]);
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
        assert_eq!(order, [1, 0].map(|n| ChunkId::of(document_id(1), n)));
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
        assert_eq!(found.first().map(|chunk| chunk.id), Some(ChunkId::of(document_id(1), 2)));
        assert_eq!(found.len(), 3);
    }

    async fn replaced_vectors_do_not_count(index) {
        index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[1.0, 0.0])]).await.unwrap();
        index.replace(&indexed(2), vec![hybrid_entry(2, 0, "", &[1.0, 0.0])]).await.unwrap();
        index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[0.0, 1.0])]).await.unwrap();
        let found = index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.iter().map(|chunk| chunk.document_id).collect::<Vec<_>>(), [document_id(2)]);
        let found = index.search(&dense(&[0.0, 1.0]), ChunkFilter::all(5)).await.unwrap();
        assert_eq!(found.iter().map(|chunk| chunk.document_id).collect::<Vec<_>>(), [document_id(1)]);
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
        assert!(index.counts(&[document_id(1)]).await.unwrap().is_empty());
        index.replace(&indexed(1), vec![entry(1, 0, "pump"), entry(1, 1, "valve")]).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
        index.replace(&indexed(3), vec![entry(3, 0, "pump")]).await.unwrap();
        index.remove(document_id(3)).await.unwrap();
        let asked = [document_id(3), document_id(1), document_id(9)];
        assert_eq!(index.counts(&asked).await.unwrap(), HashMap::from([(document_id(1), 2)]));
        assert!(index.counts(&[]).await.unwrap().is_empty());
    }

    /// The pages list exactly the documents with chunks, for any page size.
    async fn pages_list_every_document(index) {
        assert_eq!(index.documents(None, 3).await.unwrap(), IndexPage::default());
        for n in 1..=7 {
            index.replace(&indexed(n), (0..n).map(|at| entry(n, at, "pump")).collect()).await.unwrap();
        }
        index.remove(document_id(4)).await.unwrap();
        index.replace(&indexed(5), Vec::new()).await.unwrap();
        for limit in [1, 3, 100] {
            let (mut found, mut after, mut pages) = (BTreeSet::new(), None::<String>, 0);
            loop {
                let page = index.documents(after.as_deref(), limit).await.unwrap();
                assert!(page.documents.len() <= limit);
                found.extend(page.documents);
                pages += 1;
                after = page.next;
                if after.is_none() {
                    break;
                }
                assert!(pages < 100, "paging does not end");
            }
            assert_eq!(found, [1, 2, 3, 6, 7].map(document_id).into(), "{limit}");
        }
    }

    async fn chunks_are_read_in_order(index) {
        assert_eq!(index.chunks(document_id(1)).await.unwrap(), []);
        let mut stored: Vec<IndexEntry> =
            (0..150).map(|n| hybrid_entry(1, n, &format!("pump {n} 水泵"), &[0.6, 0.8])).collect();
        stored[1].embedding.dense = None;
        stored[2].span = Span { start: Position { page: 4, offset: 70_000 }, end: Position { page: 6, offset: 9 } };
        stored[2].pages = vec![PageStart { page: 4, at: 0 }, PageStart { page: 6, at: 8 }];
        let mut shuffled = stored.clone();
        shuffled.reverse();
        index.replace(&indexed(1), shuffled).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "valve")]).await.unwrap();
        let chunks = index.chunks(document_id(1)).await.unwrap();
        assert_eq!(chunks.len(), stored.len());
        for (chunk, entry) in chunks.iter().zip(&stored) {
            assert_eq!((chunk.ordinal, &chunk.text), (entry.ordinal, &entry.text));
            assert_eq!((chunk.span, &chunk.pages), (entry.span, &entry.pages));
            assert_eq!(chunk.dense, entry.embedding.dense);
        }
        assert_eq!(index.chunk_range(document_id(1), 70..73).await.unwrap(), chunks[70..73]);
        assert_eq!(index.chunk_range(document_id(1), 149..200).await.unwrap(), chunks[149..]);
        assert_eq!(index.chunk_range(document_id(3), 0..2).await.unwrap(), []);
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
                index.count(document_id(n)).await.unwrap()
            })
        }).collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), 3);
        }
        assert_eq!(index.search(&query("pump"), ChunkFilter::all(100)).await.unwrap().len(), 60);
    }
}
