//! Chat and embedding models.

use super::{
    declare::{section, text, unset, variable},
    reader::Reader,
    secret::Secret,
    selector::EmbeddingProvider,
    url::HttpUrl,
    value::{Value, lasting},
};
use std::time::Duration;

section! {
    /// The models that answer and that embed.
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
    if is_set(reader, "llm_base_url") && !is_set(reader, "llm_model") {
        let wrong = format!("must be set when {} is", variable("llm_base_url"));
        reader.refuse(variable("llm_model"), wrong, "the name of a model of that service");
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
