//! `POST /v1/embeddings`

use super::errors;
use crate::openapi::wire;
use actix_web::HttpResponse;
use base64::{Engine, engine::general_purpose::STANDARD};
use docent_app::embeddings as use_case;
use docent_domain::access::Chat;
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use utoipa::ToSchema;

const TEXTS_MAX: usize = 2048;
/// The most characters of all texts together.
const CHARACTERS_MAX: usize = 1_000_000;

/// Texts to embed. Other fields are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "model": "multilingual-e5-small", "input": ["How long is the warranty?"] }))]
pub(crate) struct EmbeddingRequest {
    /// The embedding model that serves.
    model: String,
    /// A text, or some; at most 1,000,000 characters together.
    input: EmbeddingInput,
    /// How to write the vectors; `float` when left out.
    encoding_format: Option<EncodingFormat>,
}

/// A text or some, none of them blank.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what the handler reads")]
pub(crate) enum EmbeddingInput {
    /// One text.
    Text(EmbeddingText),
    /// From 1 up to 2048.
    Texts(Vec<EmbeddingText>),
}

/// A text.
#[derive(Serialize, ToSchema)]
#[schema(min_length = 1, pattern = r"\S")]
pub(crate) struct EmbeddingText(String);

/// How vectors are written.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names the handler reads")]
pub(crate) enum EncodingFormat {
    /// As a list of numbers.
    Float,
    /// As numbers of 32 bits, the lowest byte first, in Base64.
    Base64,
}

/// Vectors of unit length, in the order of the texts.
#[derive(Serialize, ToSchema)]
pub(crate) struct EmbeddingList<'a> {
    /// Always `list`.
    object: &'static str,
    /// The vectors.
    data: Vec<Embedding>,
    /// The name that was sent.
    model: &'a str,
    /// What it cost.
    usage: EmbeddingUsage,
}

/// The vector of a text.
#[derive(Serialize, ToSchema)]
pub(crate) struct Embedding {
    /// Always `embedding`.
    object: &'static str,
    /// Which text it is of, counted from 0.
    index: usize,
    /// The vector, as it was asked for.
    #[schema(value_type = EmbeddingVector)]
    embedding: Value,
}

/// A vector.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what the handler writes")]
pub(crate) enum EmbeddingVector {
    /// As numbers.
    Numbers(Vec<f32>),
    /// In Base64.
    Base64(String),
}

/// What embedding cost.
#[derive(Serialize, ToSchema)]
pub(crate) struct EmbeddingUsage {
    /// Tokens of the texts.
    prompt_tokens: u64,
    /// The same.
    total_tokens: u64,
}

/// Embed texts (extension)
///
/// By the model that embeds the documents, which `model` names, if that makes vectors; the one that is built in makes none.
#[utoipa::path(
    post, path = "/v1/embeddings", operation_id = "create_embeddings", tag = "OpenAI wire",
    request_body = EmbeddingRequest,
    responses(
        (status = 200, description = "The vectors.", body = EmbeddingList<'_>),
        wire::Guarded,
        wire::NoModel,
        wire::BodyRead,
        wire::ModelAway,
        wire::StoreAway,
    ),
)]
pub(crate) async fn embed(by: Granted<Chat>, context: State, body: Body) -> Reply {
    let Wanted { model, texts, is_base64 } = parse(body.fields().await?)?;
    let app = Arc::clone(&context.app);
    let (actor, name) = (by.actor, model.clone());
    // Connections to back ends outlive this request's thread.
    let embedding = async move { use_case::embed(&app, &by.grant, &actor, &name, &texts).await };
    let embedding = context.runtime.spawn(embedding.in_current_span());
    let embedded = AbortOnDropHandle::new(embedding).await.map_err(|_| ApiError::internal())??;
    let embedded = match embedded {
        use_case::Embedded::Vectors(embedded) => embedded,
        use_case::Embedded::OtherModel => return Err(errors::no_such_model(&model)),
        use_case::Embedded::NoVectors => {
            return Err(errors::no_vectors());
        }
    };
    let data = embedded.vectors.iter().enumerate().map(|(index, vector)| {
        let embedding = if is_base64 { json!(base64(vector)) } else { json!(vector) };
        Embedding { object: "embedding", index, embedding }
    });
    let data = data.collect();
    let usage = EmbeddingUsage { prompt_tokens: embedded.tokens, total_tokens: embedded.tokens };
    Ok(HttpResponse::Ok().json(EmbeddingList { object: "list", data, model: &model, usage }))
}

/// Numbers of 32 bits, the lowest byte first.
fn base64(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}

struct Wanted {
    model: String,
    texts: Vec<String>,
    is_base64: bool,
}

fn parse(mut body: Fields) -> Result<Wanted, ApiError> {
    let model = body.text("model");
    let texts = texts(&mut body);
    let is_base64 = match body.optional_text("encoding_format").as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => body.wrong("encoding_format", "must be float or base64").unwrap_or(false),
    };
    if body.value("dimensions").is_some() {
        let _: Option<()> = body.wrong("dimensions", "cannot be chosen");
    }
    let wanted = model.zip(texts).map(|(model, texts)| Wanted { model, texts, is_base64 });
    body.done(wanted)
}

fn texts(body: &mut Fields) -> Option<Vec<String>> {
    let text = |value: Value| match value {
        Value::String(text) => Some(text),
        _ => None,
    };
    let texts = match body.value("input") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => match items.into_iter().map(text).collect() {
            Some(texts) => texts,
            None => {
                return body.wrong("input", "must be a string or a list of strings; tokens are not taken");
            }
        },
        Some(_) => return body.wrong("input", "must be a string or a list of strings"),
        None => return body.wrong("input", "is required"),
    };
    match texts.iter().map(|text| text.chars().count()).sum::<usize>() {
        _ if texts.is_empty() => body.wrong("input", "must have at least one text"),
        _ if texts.len() > TEXTS_MAX => body.wrong("input", "must have at most 2048 texts"),
        _ if texts.iter().any(|text| text.trim().is_empty()) => {
            body.wrong("input", "must have no text that is empty")
        }
        CHARACTERS_MAX.. => body.wrong("input", "must have at most 1000000 characters together"),
        _ => Some(texts),
    }
}
