//! How files are split into passages, as clients of the OpenAI API ask for it.

use deserr::{Deserr, ValuePointerRef};
use docent_domain::chunk::ChunkSize;
use docent_http::extract::deserialize::Whole;
use docent_http::{ApiError, BodyErrors};
use serde::Serialize;
use utoipa::ToSchema;

/// How to split files. The setting of the service decides, so that only what it keeps to is accepted.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = ChunkingStrategy::require_sizes -> BodyErrors)]
pub(crate) struct ChunkingStrategy {
    /// `auto` or `static`.
    #[deserr(rename = "type")]
    r#type: ChunkingType,
    /// The sizes of `static`.
    #[deserr(default, rename = "static")]
    #[schema(rename = "static")]
    sizes: Option<StaticChunking>,
}

/// Type of a strategy.
#[derive(Deserr, PartialEq, Eq, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ChunkingType {
    /// The setting of the service.
    Auto,
    /// The sizes of the request.
    Static,
}

/// Sizes in tokens.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = StaticChunking::check_overlap -> BodyErrors)]
pub(crate) struct StaticChunking {
    /// Maximum size of a passage in the index: at least that of the service's setting.
    #[schema(value_type = u64, minimum = 100, maximum = 4096)]
    max_chunk_size_tokens: Whole<100, 4096>,
    /// Overlap: at most half of the size. The service uses its own.
    #[schema(value_type = u64, minimum = 0, maximum = 2048)]
    chunk_overlap_tokens: Whole<0, 2048>,
}

impl StaticChunking {
    fn check_overlap(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        if self.chunk_overlap_tokens.0 * 2 <= self.max_chunk_size_tokens.0 {
            return Ok(self);
        }
        let msg = "must be at most half of max_chunk_size_tokens";
        Err(BodyErrors::at(location.push_key("chunk_overlap_tokens"), msg))
    }
}

impl ChunkingStrategy {
    fn require_sizes(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        match (&self.r#type, &self.sizes) {
            (ChunkingType::Auto, _) | (ChunkingType::Static, Some(_)) => Ok(self),
            (ChunkingType::Static, None) => Err(BodyErrors::at(location.push_key("static"), "is required")),
        }
    }
}

/// Checks that the service keeps to the strategies of a request.
///
/// # Errors
/// 400 if it makes larger passages.
pub(crate) fn check<'s>(
    strategies: impl IntoIterator<Item = &'s ChunkingStrategy>,
    size: ChunkSize,
) -> Result<(), ApiError> {
    let largest = size.tokens as u64;
    let is_smaller = |strategy: &ChunkingStrategy| {
        let sizes = strategy.sizes.as_ref().filter(|_| strategy.r#type == ChunkingType::Static);
        sizes.is_some_and(|sizes| sizes.max_chunk_size_tokens.0 < largest)
    };
    if !strategies.into_iter().any(is_smaller) {
        return Ok(());
    }
    let loc = ["body", "chunking_strategy", "static", "max_chunk_size_tokens"];
    Err(ApiError::invalid_field(&loc, format!("must be at least {largest}, the setting of this service")))
}

/// How the service splits files.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChunkingObject {
    /// Always `static`.
    r#type: &'static str,
    /// Its sizes.
    r#static: ChunkingSizes,
}

/// Sizes in tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChunkingSizes {
    /// Maximum size of a passage in the index.
    max_chunk_size_tokens: usize,
    /// Maximum overlap.
    chunk_overlap_tokens: usize,
}

impl From<ChunkSize> for ChunkingObject {
    fn from(ChunkSize { tokens, overlap }: ChunkSize) -> Self {
        let sizes = ChunkingSizes { max_chunk_size_tokens: tokens, chunk_overlap_tokens: overlap };
        Self { r#type: "static", r#static: sizes }
    }
}
