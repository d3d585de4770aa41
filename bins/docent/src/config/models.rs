//! Chat and embedding models.

use super::{
    declare::{section, text, unset, variable},
    reader::Reader,
    secret::Secret,
    selector::EmbeddingProvider,
    url::HttpUrl,
    value::{Value, lasting, within},
};
use std::time::Duration;

section! {
    /// The models that answer, embed and rerank.
    Models "Models" {
        /// The base address of a chat-completions service, such as `https://api.openai.com/v1`.
        llm_base_url: Option<HttpUrl> = unset("the built-in answerer");
        /// The chat model's name there. Must be set when `llm_base_url` is.
        llm_model: Option<String> = unset("none");
        /// The bearer key for it.
        llm_api_key: Option<Secret> = unset("none");
        /// How long the chat model may say nothing; comments and empty pieces are nothing.
        llm_timeout: Duration = text("60s"), lasting;
        /// What makes embeddings: `openai` (any service in that wire format) or `builtin` (lexical,
        /// without a download).
        embedding_provider: EmbeddingProvider = text("builtin");
        /// The base address of the embeddings service. Must be set with the provider `openai`, and wherever the
        /// index was made with one of its models.
        embedding_base_url: Option<HttpUrl> = unset("none");
        /// The embedding model's name there. Must be set with the provider `openai`. It is the model of an
        /// installation's first index; `docent reindex` changes it later.
        embedding_model: Option<String> = unset("none");
        /// The bearer key for it.
        embedding_api_key: Option<Secret> = unset("`llm_api_key`");
        /// How long one call for embeddings may take.
        embedding_timeout: Duration = text("30s"), lasting;
        /// The base address of a reranking service, before `/rerank`, such as `https://api.jina.ai/v1`. It ranks
        /// what a search finds once more, by reading it.
        rerank_base_url: Option<HttpUrl> = unset("no reranking");
        /// The reranking model's name there. Must be set when `rerank_base_url` is.
        rerank_model: Option<String> = unset("none");
        /// The bearer key for it.
        rerank_api_key: Option<Secret> = unset("none");
        /// How long a search waits for it; then it goes on without.
        rerank_timeout: Duration = text("5s"), lasting;
        /// The chunks of a search that it is given, and no fewer than the search is to give.
        rerank_candidates: usize = text("50"), within(1..=200);
    }
}

impl Models {
    /// The key for the embeddings service.
    pub fn embedding_key(&self) -> Option<&Secret> {
        self.embedding_api_key.as_ref().or(self.llm_api_key.as_ref())
    }
}

/// Reports back ends that were chosen without what they need.
pub(super) fn check_back_ends(reader: &mut Reader<'_>) {
    // A value that cannot be read has been reported, but it was set.
    let is_set = |reader: &Reader<'_>, name| !matches!(reader.set(name), Ok(None));
    for (url, model) in [("llm_base_url", "llm_model"), ("rerank_base_url", "rerank_model")] {
        if is_set(reader, url) && !is_set(reader, model) {
            let wrong = format!("must be set when {} is", variable(url));
            reader.refuse(variable(model), wrong, "the name of a model of that service");
        }
    }
    let provider = reader.set("embedding_provider").ok().flatten();
    let provider = provider.and_then(|(text, _)| EmbeddingProvider::parse(text.trim()).ok());
    if provider == Some(EmbeddingProvider::OpenAi) {
        for (name, accepted) in [
            ("embedding_base_url", HttpUrl::accepted()),
            ("embedding_model", "the name of a model of that service".to_owned()),
        ] {
            if !is_set(reader, name) {
                let wrong = format!("must be set when {} is openai", variable("embedding_provider"));
                reader.refuse(variable(name), wrong, accepted);
            }
        }
    }
}
