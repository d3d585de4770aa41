//! Parses embeddings responses.

use super::invalid_response;
use crate::openai::fault::parse_failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_domain::fault::Result;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// Vectors in the order of the texts, and what the back end reports about them.
#[derive(Debug, PartialEq)]
pub(in crate::openai) struct EmbeddingsResponse {
    pub(in crate::openai) vectors: Vec<Vec<f32>>,
    pub(super) model: Option<String>,
    pub(super) tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct WireResponse {
    data: Vec<WireEmbedding>,
    model: Option<Value>,
    usage: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct WireEmbedding {
    index: Option<usize>,
    embedding: Numbers,
}

/// A vector, encoded as JSON numbers or as base64 of little-endian bytes.
#[derive(Debug)]
struct Numbers(Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers or base64")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Numbers, E> {
        let bytes = STANDARD.decode(text).map_err(|_| E::custom("invalid base64"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::custom("incomplete number"));
        }
        Ok(Numbers(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = sequence.next_element::<f32>()? {
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }
}

/// Parses the response to `count` texts.
///
/// # Errors
/// If the response is invalid, the number of vectors is wrong, or a vector is zero or not finite.
pub(in crate::openai) fn read(body: &[u8], count: usize) -> Result<EmbeddingsResponse> {
    let response: WireResponse =
        serde_json::from_slice(body).map_err(|error| invalid_response(parse_failure(&error)))?;
    if response.data.len() != count {
        return Err(invalid_response(format!("{} vectors for {count} texts", response.data.len())));
    }
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
    for (place, embedding) in response.data.into_iter().enumerate() {
        let vector = unit(embedding.embedding.0)?;
        // Without a number it stands where it belongs.
        match vectors.get_mut(embedding.index.unwrap_or(place)) {
            Some(slot) if slot.is_empty() => *slot = vector,
            Some(_) => return Err(invalid_response("duplicate vector index")),
            None => return Err(invalid_response("vector index out of range")),
        }
    }
    let model = response.model.and_then(|model| model.as_str().map(str::to_owned));
    let tokens = response.usage.and_then(|usage| usage.get("prompt_tokens")?.as_u64());
    Ok(EmbeddingsResponse { vectors, model, tokens })
}

/// Scales a vector to unit length. Empty and zero vectors are errors.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err(invalid_response("a vector contains numbers that are not finite"));
    }
    if length == 0.0 {
        return Err(invalid_response("a vector is empty or zero"));
    }
    for number in &mut vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::fault::{Fault, FaultKind};

    fn response(data: &str) -> String {
        format!(r#"{{"object":"list","data":[{data}],"model":"m","usage":{{"prompt_tokens":7}}}}"#)
    }

    fn fault(body: &str, count: usize) -> Fault {
        let fault = read(body.as_bytes(), count).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::InvalidResponse);
        fault
    }

    fn base64(numbers: &[f32]) -> String {
        STANDARD.encode(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn numbers_and_base64_yield_the_same_unit_vectors() {
        let text = response(r#"{"index":0,"embedding":[3,-4.0]}"#);
        let bytes = response(&format!(r#"{{"index":0,"embedding":"{}"}}"#, base64(&[3.0, -4.0])));
        for body in [text, bytes] {
            let read = read(body.as_bytes(), 1).unwrap();
            let expected = EmbeddingsResponse {
                vectors: vec![vec![0.6, -0.8]],
                model: Some("m".into()),
                tokens: Some(7),
            };
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn vectors_are_ordered_by_index() {
        let body = response(r#"{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}"#);
        assert_eq!(read(body.as_bytes(), 2).unwrap().vectors, [[1.0, 0.0], [0.0, 1.0]]);
        let unnumbered = r#"{"data":[{"embedding":[0,1]},{"embedding":[1,0]}]}"#;
        assert_eq!(read(unnumbered.as_bytes(), 2).unwrap().vectors, [[0.0, 1.0], [1.0, 0.0]]);
    }

    #[test]
    fn missing_duplicate_and_extra_vectors_are_invalid() {
        let one = r#"{"index":0,"embedding":[1]}"#;
        assert_eq!(fault(&response(one), 2).to_string(), "embedding back end: 1 vectors for 2 texts");
        assert_eq!(fault(&response(""), 1).to_string(), "embedding back end: 0 vectors for 1 texts");
        let duplicate = fault(&response(&format!("{one},{one}")), 2);
        assert_eq!(duplicate.to_string(), "embedding back end: duplicate vector index");
        fault(&response(r#"{"index":5,"embedding":[1]}"#), 1);
    }

    #[test]
    fn zero_and_non_finite_vectors_are_invalid() {
        for numbers in ["[]", "[0,0]", "[1e39]", "[null]", "[\"1\"]", "\"AAAA\"", "\"****\"", "null", "{}"] {
            fault(&response(&format!(r#"{{"index":0,"embedding":{numbers}}}"#)), 1);
        }
        for number in [f32::NAN, f32::INFINITY] {
            fault(&response(&format!(r#"{{"index":0,"embedding":"{}"}}"#, base64(&[1.0, number]))), 1);
        }
    }

    #[test]
    fn tiny_and_huge_vectors_keep_their_direction() {
        let body = response(r#"{"index":0,"embedding":[3e-38,4e-38]},{"index":1,"embedding":[3e37,4e37]}"#);
        for vector in read(body.as_bytes(), 2).unwrap().vectors {
            assert!((vector[0] - 0.6).abs() < 1e-6 && (vector[1] - 0.8).abs() < 1e-6, "{vector:?}");
        }
    }

    #[test]
    fn fault_message_does_not_quote_the_response() {
        let quoting = fault(r#"{"data":"the secret text"}"#, 1);
        assert!(!quoting.report().contains("secret"), "{quoting}");
        for body in ["", "<html>", "[]", "{}", r#"{"error":{"message":"no"}}"#] {
            fault(body, 1);
        }
    }
}
