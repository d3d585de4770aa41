//! Contract of every reranker.

use docent_ports::reranker::Reranker;
use std::sync::Arc;

const PASSAGES: [&str; 3] =
    ["Cranes lift heavy loads.", "Centrifugal pumps move water.", "Valves regulate pressure."];

crate::battery! {
    reranker_contract in reranker (Arc<dyn Reranker>);

    /// There is one finite score per passage, independent of the other passages.
    async fn scores_are_in_passage_order(reranker) {
        let all = reranker.rerank("pumps move water", &PASSAGES).await.unwrap();
        assert_eq!(all.len(), PASSAGES.len());
        assert!(all.iter().all(|score| score.is_finite()));
        let turned: Vec<&str> = PASSAGES.iter().rev().copied().collect();
        let mut scores = reranker.rerank("pumps move water", &turned).await.unwrap();
        scores.reverse();
        assert_eq!(scores, all);
    }

    async fn answering_passage_has_highest_score(reranker) {
        for (n, passage) in PASSAGES.iter().enumerate() {
            let scores = reranker.rerank(passage, &PASSAGES).await.unwrap();
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
            assert_eq!(best, n, "{scores:?}");
        }
    }

    async fn equal_passages_have_equal_scores(reranker) {
        let scores = reranker.rerank("pumps", &[PASSAGES[1]; 4]).await.unwrap();
        assert!(scores.len() == 4 && scores.iter().all(|score| *score == scores[0]), "{scores:?}");
    }

    async fn any_text_is_scored(reranker) {
        assert!(reranker.rerank("pumps", &[]).await.unwrap().is_empty());
        let odd = ["", " \n\t", "…!?", "水泵 насос مضخة ปั๊ม 🚰", "\u{0}\u{fffd}\"\\"];
        for query in odd {
            assert_eq!(reranker.rerank(query, &odd).await.unwrap().len(), odd.len());
        }
    }

    async fn check_succeeds_and_model_has_name(reranker) {
        reranker.check().await.unwrap();
        reranker.rerank("pumps", &PASSAGES).await.unwrap();
        reranker.check().await.unwrap();
        assert!(!reranker.model().is_empty());
    }
}
