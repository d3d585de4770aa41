//! The limits and lifetimes that use cases obey.

use docent_domain::chunk::ChunkSize;
use std::time::Duration;

/// See the configuration reference for what each one is called outside.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether access tokens are accepted.
    pub accepts_jwt: bool,
    /// Whether API keys are accepted.
    pub accepts_api_keys: bool,
    /// How long an access token is good.
    pub access_token_ttl: Duration,
    /// How long a refresh token is good.
    pub refresh_token_ttl: Duration,
    /// How long a replaced refresh token stays usable.
    pub refresh_rotation_grace: Duration,
    /// How long a link to choose a new password is good.
    pub password_reset_ttl: Duration,
    /// How long a link to confirm an address is good.
    pub email_verification_ttl: Duration,
    /// The address that people know the service by, without a slash at its end; links in mail begin with it.
    pub public_url: String,
    /// Failed logins of one account from one address that a period allows.
    pub login_max_failures: u64,
    /// That period.
    pub login_failure_period: Duration,
    /// The most bytes of an uploaded file.
    pub max_upload_bytes: u64,
    /// The most characters of a document's text.
    pub max_characters: u64,
    /// Documents that are cut into chunks at the same time.
    pub ingest_concurrency: usize,
    /// The most chunks of a document.
    pub max_chunks: u32,
    /// The most model calls for one answer of the agent `chat`.
    pub agent_max_iterations: usize,
    /// The system prompt of the agent `chat`; the model gets none without it.
    pub system_prompt: Option<String>,
    /// The most chunks that a search of an agent returns.
    pub search_limit: usize,
    /// The most tokens of earlier turns of a conversation that a model reads before a question; none when 0.
    pub conversation_history_tokens: usize,
    /// How chunks are cut.
    pub chunk_size: ChunkSize,
    /// The name of an installation's first collection of chunks; later ones have names that begin with it.
    pub collection: String,
    /// The embedding model of an installation's first index, and of those that are built without naming one.
    pub embedding_model: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accepts_jwt: true,
            accepts_api_keys: false,
            access_token_ttl: Duration::from_secs(15 * 60),
            refresh_token_ttl: Duration::from_secs(30 * 24 * 60 * 60),
            refresh_rotation_grace: Duration::from_secs(30),
            password_reset_ttl: Duration::from_secs(60 * 60),
            email_verification_ttl: Duration::from_secs(3 * 24 * 60 * 60),
            public_url: "http://127.0.0.1:8000".to_owned(),
            login_max_failures: 10,
            login_failure_period: Duration::from_secs(15 * 60),
            max_upload_bytes: 50 * 1024 * 1024,
            max_characters: 20_000_000,
            ingest_concurrency: 4,
            max_chunks: 20_000,
            agent_max_iterations: 10,
            system_prompt: None,
            search_limit: 5,
            conversation_history_tokens: 4000,
            chunk_size: ChunkSize::default(),
            collection: "docent_chunks".to_owned(),
            embedding_model: "builtin-lexical-3".to_owned(),
        }
    }
}
