//! Contract of every embedder.

use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding};
use docent_ports::embedder::Embedder;
use std::sync::Arc;

const CHUNKS: [(u32, &str); 3] =
    [(1, "Centrifugal pumps move water."), (2, "Valves regulate pressure."), (9, "Cranes lift heavy loads.")];

fn passages<'a>(chunks: &'a [(u32, &'a str)]) -> Passages<'a> {
    Passages { title: "Machines", lead: "About machines.", chunks, headings: &[] }
}

/// How much a query and a chunk have in common, counted simply.
fn nearness(query: &QueryEmbedding, chunk: &Embedding) -> f32 {
    let shared = match (&query.sparse, &chunk.sparse) {
        (Some(query), Some(chunk)) => {
            query.iter().filter(|term| chunk.body.iter().any(|(other, _)| *other == *term.text)).count()
        }
        _ => 0,
    };
    let cosine: f32 = match (&query.dense, &chunk.dense) {
        (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| a * b).sum(),
        _ => 0.0,
    };
    shared as f32 + cosine
}

fn assert_unit(vector: Option<&Vec<f32>>) {
    if let Some(vector) = vector {
        let length: f32 = vector.iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-3, "a dense vector has unit length");
    }
}

/// A vector whose cosine with every other one is a number.
fn assert_unit_or_zero(vector: Option<&Vec<f32>>) {
    if vector.is_some_and(|vector| vector.iter().any(|number| *number != 0.0)) {
        assert_unit(vector);
    }
}

crate::battery! {
    embedder_contract in embedder (Arc<dyn Embedder>);

    async fn makes_vectors_matches_embeddings(embedder) {
        let embeddings = embedder.embed_passages(passages(&CHUNKS)).await.unwrap();
        assert!(embeddings.iter().all(|embedding| embedding.dense.is_some() == embedder.makes_vectors()));
    }

    /// There is one embedding per chunk, in order, independent of the other chunks.
    async fn passages_are_embedded_in_order(embedder) {
        let all = embedder.embed_passages(passages(&CHUNKS)).await.unwrap();
        assert_eq!(all.len(), CHUNKS.len());
        for (n, chunk) in CHUNKS.iter().enumerate() {
            let alone = embedder.embed_passages(passages(&[*chunk])).await.unwrap();
            assert_eq!(alone, all[n..=n]);
        }
        assert_eq!(embedder.embed_passages(passages(&[])).await.unwrap(), []);
    }

    /// Every embedding has a part, and chunks have the same parts as queries.
    async fn passages_and_queries_have_same_parts(embedder) {
        let query = embedder.embed_query("pumps").await.unwrap();
        assert!(query.sparse.is_some() || query.dense.is_some());
        assert_unit(query.dense.as_ref());
        for chunk in embedder.embed_passages(passages(&CHUNKS)).await.unwrap() {
            assert_eq!(chunk.sparse.is_some(), query.sparse.is_some());
            assert_eq!(chunk.dense.as_ref().map(Vec::len), query.dense.as_ref().map(Vec::len));
            assert_unit(chunk.dense.as_ref());
        }
    }

    /// A query made of a chunk's words is nearest to that chunk.
    async fn query_is_nearest_to_its_passage(embedder) {
        let chunks = embedder.embed_passages(passages(&CHUNKS)).await.unwrap();
        for (n, (_, text)) in CHUNKS.iter().enumerate() {
            let query = embedder.embed_query(text).await.unwrap();
            let nearness: Vec<f32> = chunks.iter().map(|chunk| nearness(&query, chunk)).collect();
            let best = (0..nearness.len()).max_by(|a, b| nearness[*a].total_cmp(&nearness[*b])).unwrap();
            assert_eq!(best, n, "{nearness:?}");
        }
    }

    /// Text without words or in any script is embedded.
    async fn any_text_is_embedded(embedder) {
        let odd = ["", " \n\t", "…!?", "水泵 насос مضخة ปั๊ม 🚰", "\u{0}\u{fffd}"];
        for text in odd {
            assert_unit_or_zero(embedder.embed_query(text).await.unwrap().dense.as_ref());
            let empty = Passages { title: text, lead: text, chunks: &[(1, text)], headings: &[text.to_owned()] };
            let embeddings = embedder.embed_passages(empty).await.unwrap();
            assert_eq!(embeddings.len(), 1);
            assert_unit_or_zero(embeddings[0].dense.as_ref());
        }
    }

    async fn sparse_vectors_alone_are_those_of_the_embeddings(embedder) {
        let chunks = [(1, "It rose sharply."), (2, "Close the valve.")];
        let headings = ["Results".to_owned(), "Pumps".to_owned()];
        let all = Passages { headings: &headings, ..passages(&chunks) };
        let embeddings = embedder.embed_passages(all).await.unwrap();
        let expected: Vec<_> = embeddings.into_iter().map(|embedding| embedding.sparse).collect();
        match embedder.embed_sparse(all).await.unwrap() {
            Some(sparse) => assert_eq!(sparse.into_iter().map(Some).collect::<Vec<_>>(), expected),
            None => assert_eq!(expected, [None, None]),
        }
    }

    async fn model_has_name(embedder) {
        assert!(!embedder.model().is_empty());
    }

    /// A misspelled word leads to the terms of the word that is meant.
    async fn speller_finds_the_word_that_is_meant(embedder) {
        let query = embedder.embed_query("centrifgal pumps").await.unwrap();
        assert_eq!(embedder.speller().is_some(), query.sparse.is_some());
        let Some(speller) = embedder.speller() else { return };
        let words = speller.words("centrifgal pumps");
        let written: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
        assert_eq!(written, ["centrifgal", "pumps"]);
        let sparse = query.sparse.unwrap();
        for term in words.iter().flat_map(|word| &word.terms) {
            assert!(sparse.iter().any(|other| *other.text == **term), "{term}");
        }
        let meant = speller.meant_by("centrifgal", "centrifgal pumps");
        let meant = meant.iter().find(|word| word.word == "centrifugal").unwrap();
        let chunks = embedder.embed_passages(passages(&CHUNKS)).await.unwrap();
        let body = &chunks[0].sparse.as_ref().unwrap().body;
        assert!(meant.terms.iter().any(|term| body.iter().any(|(other, _)| other == term)));
        assert!(speller.words("").is_empty());
    }
}
