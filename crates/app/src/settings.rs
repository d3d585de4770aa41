//! Limits and lifetimes.

use docent_domain::chunk::ChunkSize;
use docent_domain::file_type::FileTypes;
use docent_domain::limits::Limits;
use docent_domain::recognition::Languages;
use docent_domain::second_factor::SecondFactorRule;
use docent_domain::text::Email;
use std::time::Duration;

/// The settings of the use cases. Their external names are in the configuration reference.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether access tokens are accepted.
    pub accepts_jwt: bool,
    /// Whether API keys are accepted.
    pub accepts_api_keys: bool,
    /// Whether applications can be connected (OAuth).
    pub accepts_oauth: bool,
    /// Lifetime of an access token.
    pub access_token_ttl: Duration,
    /// Lifetime of a refresh token.
    pub refresh_token_ttl: Duration,
    /// How long a login can be extended with refresh tokens.
    pub session_lifetime: Duration,
    /// The accounts that must have a second factor.
    pub second_factor_rule: SecondFactorRule,
    /// The accounts that can sign in with their password.
    pub password_login: PasswordLogin,
    /// The base URL of links in emails, without a trailing slash.
    pub public_url: String,
    /// Maximum number of failed logins per account and address in a period.
    pub login_max_failures: u64,
    /// Length of that period.
    pub login_failure_period: Duration,
    /// Limits of each account, unless it has its own.
    pub account_limits: Limits,
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
    /// Name of the first vector collection; the names of later ones begin with it.
    pub collection: String,
    /// The embedding model of the first index, and of indexes built without naming one.
    pub embedding_model: String,
}

/// The accounts that can sign in with their password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PasswordLogin {
    /// All accounts that have one.
    #[default]
    Everyone,
    /// These accounts.
    Only(Vec<Email>),
}

impl PasswordLogin {
    /// Whether the account with this email address can.
    pub fn allows(&self, email: &Email) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(emails) => emails.contains(email),
        }
    }
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

/// Who decides that documents are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// The model: it calls `search_docs` when it wants to.
    Model,
    /// The service: it searches for the question before the first model call. The model can search further.
    First,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accepts_jwt: true,
            accepts_api_keys: false,
            accepts_oauth: true,
            access_token_ttl: Duration::from_secs(15 * 60),
            refresh_token_ttl: Duration::from_secs(30 * 24 * 60 * 60),
            session_lifetime: Duration::from_secs(90 * 24 * 60 * 60),
            second_factor_rule: SecondFactorRule::Optional,
            password_login: PasswordLogin::Everyone,
            public_url: "http://127.0.0.1:8000".to_owned(),
            login_max_failures: 10,
            login_failure_period: Duration::from_secs(15 * 60),
            account_limits: Limits { answers: 32, page_images_per_hour: 1000, ..Limits::default() },
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
            collection: "docent_chunks".to_owned(),
            embedding_model: "builtin-lexical-5".to_owned(),
        }
    }
}
