//! `POST /v1/embeddings`

use super::errors;
use crate::openai::wire;
use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deserr::Deserr;
use docent_app::{embeddings as use_case, tokens};
use docent_domain::access::Chat;
use docent_domain::error::ValidationError;
use docent_http::extract::deserialize::Whole;
use docent_http::{ApiError, Body, BodyErrors, Granted, Reply, State};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

const TEXTS_MAX: usize = 2048;
/// Maximum number of tokens of all texts together. A token has up to 128 characters.
const TOKENS_MAX: usize = 300_000;
/// Maximum number of characters of all texts together.
const CHARACTERS_MAX: usize = 1_000_000;

/// Texts to embed. Other fields are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "model": "multilingual-e5-small", "input": ["How long is the warranty?"] }))]
pub(crate) struct EmbeddingRequest {
    /// Name of the active embedding model.
    model: String,
    /// One or more texts, or lists of tokens of the vocabulary `cl100k_base`; at most 1,000,000 characters together.
    input: EmbeddingInput,
    /// Encoding of the vectors. Default: `float`.
    #[deserr(default)]
    encoding_format: Option<EncodingFormat>,
    /// Length of the vectors. The model determines it, so only that length is accepted.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    dimensions: Option<Whole<1, 1_000_000>>,
}

/// One text or several, none of them blank, as strings or as tokens.
#[derive(Deserialize, Deserr, ToSchema)]
#[serde(untagged)]
#[deserr(error = BodyErrors, try_from(Value) = EmbeddingInput::parse -> ValidationError)]
pub(crate) enum EmbeddingInput {
    /// One text.
    Text(EmbeddingText),
    /// From 1 to 2048 texts.
    Texts(Vec<EmbeddingText>),
    /// One text as tokens.
    Tokens(Vec<u32>),
    /// From 1 to 2048 texts as tokens.
    TokenLists(Vec<Vec<u32>>),
}

/// A text.
#[derive(Deserialize, ToSchema)]
#[schema(min_length = 1, pattern = r"\S")]
pub(crate) struct EmbeddingText(String);

impl EmbeddingInput {
    fn parse(value: Value) -> Result<Self, ValidationError> {
        let Ok(input) = serde_json::from_value::<Self>(value) else {
            return Err(invalid(
                "must be a string, a list of strings, a list of tokens or a list of such lists",
            ));
        };
        // An empty list is one of strings.
        let (texts, tokens) = match &input {
            Self::Text(_) => (1, 0),
            Self::Texts(texts) => (texts.len(), 0),
            Self::Tokens(tokens) => (1, tokens.len()),
            Self::TokenLists(lists) => (lists.len(), lists.iter().map(Vec::len).sum()),
        };
        match texts {
            0 => Err(invalid("must have at least one text")),
            _ if texts > TEXTS_MAX => Err(invalid("must have at most 2048 texts")),
            _ if tokens > TOKENS_MAX => Err(invalid("must have at most 300000 tokens together")),
            _ => Ok(input),
        }
    }

    /// The texts. Tokens are decoded with the vocabulary that clients use for models they do not know.
    async fn into_texts(self) -> Result<Vec<String>, ApiError> {
        let refused = |error: ValidationError| ApiError::invalid_field(&["body", error.field], error.reason);
        let lists = match self {
            Self::Text(EmbeddingText(text)) => return check(vec![text]).map_err(refused),
            Self::Texts(texts) => {
                let texts = texts.into_iter().map(|EmbeddingText(text)| text).collect();
                return check(texts).map_err(refused);
            }
            Self::Tokens(tokens) => vec![tokens],
            Self::TokenLists(lists) => lists,
        };
        let unknown = |_| refused(invalid("has a token that is not in the vocabulary cl100k_base"));
        check(tokens::decode(lists).await.map_err(unknown)?).map_err(refused)
    }
}

fn invalid(reason: &'static str) -> ValidationError {
    ValidationError::new("input", reason)
}

/// Checks the texts themselves.
fn check(texts: Vec<String>) -> Result<Vec<String>, ValidationError> {
    if texts.iter().any(|text| text.trim().is_empty()) {
        return Err(invalid("must have no text that is empty"));
    }
    match texts.iter().map(|text| text.chars().count()).sum::<usize>() {
        CHARACTERS_MAX.. => Err(invalid("must have at most 1000000 characters together")),
        _ => Ok(texts),
    }
}

/// Encoding of vectors.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum EncodingFormat {
    /// A list of numbers.
    Float,
    /// 32-bit little-endian floating-point numbers in Base64.
    Base64,
}

/// Vectors of unit length, in the order of the texts.
#[derive(Serialize, ToSchema)]
pub(crate) struct EmbeddingList<'a> {
    /// Always `list`.
    object: &'static str,
    /// The vectors.
    data: Vec<Embedding>,
    /// Name from the request.
    model: &'a str,
    /// Token usage.
    usage: EmbeddingUsage,
}

/// The vector of a text.
#[derive(Serialize, ToSchema)]
pub(crate) struct Embedding {
    /// Always `embedding`.
    object: &'static str,
    /// Index of the text, counted from 0.
    index: usize,
    /// The vector, in the requested encoding.
    embedding: EmbeddingVector,
}

/// A vector.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum EmbeddingVector {
    /// Numbers.
    Numbers(#[serde(serialize_with = "as_doubles")] Vec<f32>),
    /// Base64.
    Base64(String),
}

/// Writes all digits of the numbers, as clients expect them.
fn as_doubles<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().copied().map(f64::from))
}

/// Tokens of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct EmbeddingUsage {
    /// Tokens of the texts.
    prompt_tokens: u64,
    /// Equal to `prompt_tokens`.
    total_tokens: u64,
}

/// Embed texts (extension)
///
/// Uses the embedding model of the documents, which `model` must name. The built-in model makes no vectors.
#[utoipa::path(
    post, path = "/v1/embeddings", operation_id = "create_embeddings", tag = "OpenAI wire",
    request_body = EmbeddingRequest,
    responses(
        (status = 200, description = "The vectors.", body = EmbeddingList<'_>),
        wire::UnknownModel, wire::InvalidBody, wire::ModelFailed,
    ),
)]
pub(crate) async fn embed(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let EmbeddingRequest { model, input, encoding_format, dimensions } = body.read().await?;
    let texts = input.into_texts().await?;
    let app = Arc::clone(&context.app);
    let (actor, name) = (by.actor, model.clone());
    let embedding = async move { use_case::embed(&app, &by.grant, &actor, &name, &texts).await };
    let embedded = match context.run(embedding).await?? {
        use_case::EmbeddingOutcome::Vectors(embedded) => embedded,
        use_case::EmbeddingOutcome::UnknownModel => return Err(errors::no_such_model(&model)),
        use_case::EmbeddingOutcome::NoVectors => return Err(errors::no_vectors()),
    };
    let length = embedded.vectors.first().map_or(0, Vec::len);
    if dimensions.is_some_and(|Whole(asked)| usize::try_from(asked) != Ok(length)) {
        let reason = format!("must be {length}, the length of the model's vectors, or left out");
        return Err(ApiError::invalid_field(&["body", "dimensions"], reason));
    }
    let encode = |vector: Vec<f32>| match encoding_format {
        Some(EncodingFormat::Base64) => EmbeddingVector::Base64(base64(&vector)),
        Some(EncodingFormat::Float) | None => EmbeddingVector::Numbers(vector),
    };
    let vectors = embedded.vectors.into_iter().enumerate();
    let data =
        vectors.map(|(index, vector)| Embedding { object: "embedding", index, embedding: encode(vector) });
    let data = data.collect();
    let usage = EmbeddingUsage { prompt_tokens: embedded.tokens, total_tokens: embedded.tokens };
    Ok(HttpResponse::Ok().json(EmbeddingList { object: "list", data, model: &model, usage }))
}

/// Encodes 32-bit little-endian floating-point numbers.
fn base64(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}
