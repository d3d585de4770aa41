//! Chat and embedding models.

use super::check::{positive, within, within_if_set};
use super::declare::{text, unset, variable};
use super::reader::Reader;
use super::recognition::Vision;
use super::secret::Secret;
use super::section::section;
use super::selector::EmbeddingProvider;
use super::url::HttpUrl;
use super::value::{TextPrefix, Value};
use std::time::Duration;

section! {
    /// Chat, embedding and reranking models.
    Models "Connect models" {
        /// Base URL of a chat-completions API, such as `https://api.openai.com/v1`.
        llm_base_url: Option<HttpUrl> = unset("the built-in answerer");
        /// Name of the chat model. Required with `llm_base_url`.
        llm_model: Option<String> = unset("none");
        /// API key for the chat model.
        llm_api_key: Option<Secret> = unset("none");
        /// Longest wait for the chat model's next output; comments and empty pieces do not count as output.
        /// One response, with its reasoning, takes at most 15 minutes, or 15 times this time if that is longer.
        llm_timeout: Duration = text("60s"), positive;
        /// Embedding back end: `openai` (any API in that wire format), `builtin` (lexical, without a model) or `local:DIR`
        /// (a Model2Vec model in a folder, which is read into memory; nothing is downloaded).
        embedding_provider: EmbeddingProvider = text("builtin");
        /// Base URL of the embeddings API. Required with the provider `openai`, and for an index that was built with
        /// one of its models.
        embedding_base_url: Option<HttpUrl> = unset("none");
        /// Name of the embedding model. Required with the provider `openai`. It applies to the first index of an
        /// installation; `docent reindex` changes it later.
        embedding_model: Option<String> = unset("none");
        /// API key for embeddings.
        embedding_api_key: Option<Secret> = unset("`llm_api_key`");
        /// Timeout of an embeddings call.
        embedding_timeout: Duration = text("30s"), positive;
        /// Maximum number of texts of an embeddings call. If the server refuses as many, smaller batches are sent.
        embedding_batch: u32 = text("32"), within(1..=2048);
        /// Maximum number of tokens of a text that is embedded, estimated as four bytes each; longer passages are cut. A
        /// text that the server refuses is shortened in any case.
        embedding_max_tokens: Option<u32> = unset("learnt from what the server refuses"), within_if_set(16..=1_000_000);
        /// Text before each question that is embedded, such as `query: `; `\n` is a line break. Spaces at the end count. An
        /// empty value stands for no prefix. It applies to an index that is built, like `embedding_model`.
        embedding_query_prefix: Option<TextPrefix> = unset("that of the family of the model, or none");
        /// Text before each passage that is embedded, like `embedding_query_prefix`.
        embedding_document_prefix: Option<TextPrefix> = unset("that of the family of the model, or none");
        /// Base URL of a reranking API, without `/rerank`, such as `https://api.jina.ai/v1`. It reorders search results
        /// by reading query and passage together, with the title, the headings and the page before each passage.
        rerank_base_url: Option<HttpUrl> = unset("no reranking");
        /// Name of the reranking model. Required with `rerank_base_url`.
        rerank_model: Option<String> = unset("none");
        /// API key for reranking.
        rerank_api_key: Option<Secret> = unset("none");
        /// Longest wait for the reranker; after that the search returns its results without reranking.
        rerank_timeout: Duration = text("5s"), positive;
    }
}

impl Models {
    /// The API key for embeddings.
    pub fn embedding_key(&self) -> Option<&Secret> {
        self.embedding_api_key.as_ref().or(self.llm_api_key.as_ref())
    }
}

/// Reports settings that the chosen back ends require and that are missing.
pub(super) fn check_back_ends(reader: &mut Reader<'_>) {
    // An invalid value counts as set: it has been reported already.
    let is_set = |reader: &Reader<'_>, name| !matches!(reader.set(name), Ok(None));
    for (url, model) in [("llm_base_url", "llm_model"), ("rerank_base_url", "rerank_model")] {
        if is_set(reader, url) && !is_set(reader, model) {
            let wrong = format!("must be set with {}", variable(url));
            reader.refuse(variable(model), wrong, "the name of a model of that API");
        }
    }
    let vision = reader.set("vision").ok().flatten();
    let is_on = vision.is_some_and(|(text, _)| !matches!(Vision::parse(text.trim()), Ok(Vision::Off)));
    if is_on && !is_set(reader, "llm_base_url") {
        let wrong = format!("must be set with {}", variable("vision"));
        reader.refuse(variable("llm_base_url"), wrong, HttpUrl::accepted());
    }
    let provider = reader.set("embedding_provider").ok().flatten();
    let provider = provider.and_then(|(text, _)| EmbeddingProvider::parse(text.trim()).ok());
    // Elsewhere these settings are used for an index that was built with another provider; see their description.
    if !is_set(reader, "embedding_provider") && is_set(reader, "embedding_base_url") {
        let wrong = format!("must be set with {}", variable("embedding_base_url"));
        let accepted =
            "openai to use that API, or builtin to keep it only for an index that was built with it";
        reader.refuse(variable("embedding_provider"), wrong, accepted);
    }
    if provider == Some(EmbeddingProvider::OpenAi) {
        for (name, accepted) in [
            ("embedding_base_url", HttpUrl::accepted()),
            ("embedding_model", "the name of a model of that API".to_owned()),
        ] {
            if !is_set(reader, name) {
                let wrong = format!("must be set when {} is openai", variable("embedding_provider"));
                reader.refuse(variable(name), wrong, accepted);
            }
        }
    }
}
