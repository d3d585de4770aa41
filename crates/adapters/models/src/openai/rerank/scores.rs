//! Parses rerank responses.

use crate::openai::fault::parse_failure;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use serde::Deserialize;

/// Both common forms: an object, and the plain list of text-embeddings-inference.
#[derive(Deserialize)]
#[serde(untagged)]
enum RerankResponse {
    Named {
        #[serde(alias = "data")]
        results: Vec<Row>,
    },
    Bare(Vec<Row>),
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    relevance_score: Option<f64>,
    score: Option<f64>,
}

fn invalid_response(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Component::Reranker, FaultKind::InvalidResponse, message)
}

/// Parses the scores of `count` passages, in their order.
pub(super) fn read(body: &[u8], count: usize) -> Result<Vec<f32>> {
    let response: RerankResponse =
        serde_json::from_slice(body).map_err(|error| invalid_response(parse_failure(&error)))?;
    let (RerankResponse::Named { results: rows } | RerankResponse::Bare(rows)) = response;
    let mut scores = vec![None; count];
    for row in &rows {
        let place =
            scores.get_mut(row.index).ok_or_else(|| invalid_response("passage index out of range"))?;
        let score = row.relevance_score.or(row.score).map(|score| score as f32);
        let score = score
            .filter(|score| score.is_finite())
            .ok_or_else(|| invalid_response("a score is missing or not finite"))?;
        if place.replace(score).is_some() {
            return Err(invalid_response("duplicate passage index"));
        }
    }
    let missing = || invalid_response(format!("{} scores for {count} passages", rows.len()));
    scores.into_iter().map(|score| score.ok_or_else(missing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_ordered_by_index() {
        let forms = [
            r#"{"id":"r","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":-3}],"meta":{}}"#,
            r#"{"results":[{"index":1,"document":{"text":"x"},"relevance_score":0.9},{"index":0,"relevance_score":-3}]}"#,
            r#"{"object":"list","data":[{"index":0,"relevance_score":-3},{"index":1,"relevance_score":0.9}]}"#,
            r#"[{"index":1,"score":0.9},{"index":0,"score":-3.0,"text":"x"}]"#,
        ];
        for form in forms {
            assert_eq!(read(form.as_bytes(), 2).unwrap(), [-3.0, 0.9], "{form}");
        }
    }

    #[test]
    fn incomplete_or_invalid_scores_are_rejected() {
        for body in [
            "",
            "<html>",
            "[]",
            "{}",
            "null",
            r#"{"error":{"message":"the secret text"}}"#,
            r#"{"results":[]}"#,
            r#"[{"index":0,"score":1}]"#,
            r#"[{"index":0,"score":1},{"index":0,"score":2}]"#,
            r#"[{"index":0,"score":1},{"index":2,"score":2}]"#,
            r#"[{"index":0,"score":1},{"index":-1,"score":2}]"#,
            r#"[{"index":0,"score":1},{"index":1}]"#,
            r#"[{"index":0,"score":1},{"index":1,"score":null}]"#,
            r#"[{"index":0,"score":1},{"index":1,"score":"2"}]"#,
            r#"[{"index":0,"score":1},{"index":1,"score":1e300}]"#,
        ] {
            let fault = read(body.as_bytes(), 2).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::InvalidResponse, "{body}");
            assert!(!fault.report().contains("secret"), "{fault}");
        }
    }
}
