//! Limits and lifetimes.

use crate::agent::SearchMode;
use docent_domain::chunk::ChunkSize;
use docent_domain::file_type::FileTypes;
use docent_domain::limits::Limits;
use docent_domain::recognition::Languages;
use docent_domain::second_factor::SecondFactorRule;
use std::time::Duration;

/// The settings of the use cases. Their external names are in the configuration reference.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether access tokens are accepted.
    pub accepts_jwt: bool,
    /// Whether API keys are accepted.
    pub accepts_api_keys: bool,
    /// Lifetime of an access token.
    pub access_token_ttl: Duration,
    /// Lifetime of a refresh token.
    pub refresh_token_ttl: Duration,
    /// How long a login can be extended with refresh tokens.
    pub session_lifetime: Duration,
    /// How long a replaced refresh token stays usable.
    pub refresh_rotation_grace: Duration,
    /// The accounts that must have a second factor.
    pub second_factor_rule: SecondFactorRule,
    /// Lifetime of a link that resets a password.
    pub password_reset_ttl: Duration,
    /// Lifetime of a link that confirms an email address.
    pub email_verification_ttl: Duration,
    /// The base URL of links in emails, without a trailing slash.
    pub public_url: String,
    /// Maximum number of failed logins per account and address in a period.
    pub login_max_failures: u64,
    /// Length of that period.
    pub login_failure_period: Duration,
    /// Limits of each account, unless it has its own.
    pub account_limits: Limits,
    /// Limits of each API key, in addition to those of its account. Files belong to accounts only.
    pub api_key_limits: Limits,
    /// The collection of documents that are added without naming one.
    pub default_collection: DefaultCollection,
    /// Who can open collections to all accounts.
    pub open_collections: OpenCollectionsRule,
    /// Types of files that are accepted.
    pub upload_types: FileTypes,
    /// Maximum size of an uploaded file in bytes.
    pub max_upload_bytes: u64,
    /// Maximum number of characters of a document.
    pub max_characters: u64,
    /// Maximum number of documents that are split into chunks at the same time.
    pub ingest_concurrency: usize,
    /// Maximum number of chunks of a document.
    pub max_chunks: u32,
    /// Maximum number of pages that are drawn for readers at the same time, at least 2.
    pub concurrent_drawings: usize,
    /// Languages of the text on images of pages.
    pub recognition_languages: Languages,
    /// Maximum number of pages of a document whose images are read.
    pub max_recognized_pages: u32,
    /// Maximum number of model calls for one answer of the agent `chat`.
    pub agent_max_iterations: usize,
    /// Whether the model decides that documents are searched.
    pub agent_search: SearchMode,
    /// The system prompt of the agent `chat`, if any.
    pub system_prompt: Option<String>,
    /// Maximum number of chunks that a search of an agent returns.
    pub search_limit: usize,
    /// Maximum number of tokens of recorded conversation history sent to the model; 0 for none.
    pub conversation_history_tokens: usize,
    /// Maximum number of tokens of earlier messages of a client sent to the model.
    pub client_history_tokens: usize,
    /// Size of chunks.
    pub chunk_size: ChunkSize,
    /// Whether ingestion adds a line of context to each passage.
    pub passage_context: PassageContext,
    /// Name of the first vector collection; the names of later ones begin with it.
    pub collection: String,
    /// The embedding model of the first index, and of indexes built without naming one.
    pub embedding_model: String,
}

/// The collection of documents that are added without naming one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultCollection {
    /// The collection of everyone.
    #[default]
    Everyone,
    /// The personal collection of the account.
    Personal,
}

/// Who can give every account a role on a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenCollectionsRule {
    /// Managers of the collection with the permission.
    #[default]
    Permission,
    /// All managers of the collection.
    Managers,
}

/// The lines of context of passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassageContext {
    /// Passages have none.
    #[default]
    None,
    /// The chat model writes one for each passage.
    Model,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accepts_jwt: true,
            accepts_api_keys: false,
            access_token_ttl: Duration::from_secs(15 * 60),
            refresh_token_ttl: Duration::from_secs(30 * 24 * 60 * 60),
            session_lifetime: Duration::from_secs(90 * 24 * 60 * 60),
            refresh_rotation_grace: Duration::from_secs(30),
            second_factor_rule: SecondFactorRule::Optional,
            password_reset_ttl: Duration::from_secs(60 * 60),
            email_verification_ttl: Duration::from_secs(3 * 24 * 60 * 60),
            public_url: "http://127.0.0.1:8000".to_owned(),
            login_max_failures: 10,
            login_failure_period: Duration::from_secs(15 * 60),
            account_limits: Limits { answers: 32, page_images_per_hour: 1000, ..Limits::default() },
            api_key_limits: Limits::default(),
            default_collection: DefaultCollection::Everyone,
            open_collections: OpenCollectionsRule::Permission,
            upload_types: FileTypes::default(),
            max_upload_bytes: 50 * 1024 * 1024,
            max_characters: 20_000_000,
            ingest_concurrency: 4,
            max_chunks: 20_000,
            concurrent_drawings: 4,
            recognition_languages: Languages::default(),
            max_recognized_pages: 500,
            agent_max_iterations: 10,
            agent_search: SearchMode::Model,
            system_prompt: None,
            search_limit: 5,
            conversation_history_tokens: 4000,
            client_history_tokens: 32_000,
            chunk_size: ChunkSize::default(),
            passage_context: PassageContext::None,
            collection: "docent_chunks".to_owned(),
            embedding_model: "builtin-lexical-4".to_owned(),
        }
    }
}
