#![doc = include_str!("../README.md")]

pub mod api_keys;
pub mod archive;
pub mod audit;
pub mod blob_store;
pub mod chat_model;
pub mod client_metadata;
pub mod clock;
pub mod collections;
pub mod conversations;
pub mod documents;
pub mod embedder;
pub mod embedding_cache;
pub mod entropy;
pub mod generations;
pub mod groups;
pub mod identities;
pub mod identity_provider;
pub mod inventory;
pub mod invitations;
pub mod jobs;
pub mod mailer;
pub mod oauth;
pub mod page_renderer;
pub mod password_hasher;
pub mod rate_limiter;
pub mod recorder;
pub mod records;
pub mod reranker;
pub mod sessions;
pub mod singleton_tasks;
pub mod store;
pub mod term_statistics;
pub mod text_extractor;
pub mod text_recognizer;
pub mod token_signer;
pub mod token_store;
pub mod trace;
pub mod usage;
pub mod user_tokens;
pub mod users;
pub mod vector_index;
pub mod vector_indexes;
pub mod verifications;
pub mod webhook_sender;
pub mod webhooks;

use docent_domain::fault::Result;
use docent_domain::webhook::WebhookPayload;
use std::sync::Arc;

/// One implementation of each port: everything outside of the process that the use cases call.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Ports {
    /// Records.
    pub store: Arc<dyn store::Store>,
    /// Uploaded files.
    pub blobs: Arc<dyn blob_store::BlobStore>,
    /// Vector indexes by name; the store says which one is active.
    pub collections: Arc<dyn vector_indexes::VectorIndexes>,
    /// Embedding models by name.
    pub embedders: Arc<dyn embedder::Embedders>,
    /// Scores the passages of a search; optional.
    pub reranker: Option<Arc<dyn reranker::Reranker>>,
    /// Writes answers.
    pub model: Arc<dyn chat_model::ChatModel>,
    /// Quotes documents while the model cannot answer; optional.
    pub fallback_model: Option<Arc<dyn chat_model::ChatModel>>,
    /// Describes pictures on pages; optional.
    pub vision_model: Option<Arc<dyn chat_model::ChatModel>>,
    /// Extracts the text of PDFs.
    pub extractor: Arc<dyn text_extractor::TextExtractor>,
    /// Recognises the text on images of pages; optional.
    pub recognizer: Arc<dyn text_recognizer::RecognizerDetection>,
    /// Renders pages of PDFs as images.
    pub renderer: Arc<dyn page_renderer::PageRenderer>,
    /// Valid refresh tokens.
    pub tokens: Arc<dyn token_store::TokenStore>,
    /// Signs and verifies access and refresh tokens.
    pub signer: Arc<dyn token_signer::TokenSigner>,
    /// Counts requests and failed logins.
    pub limiter: Arc<dyn rate_limiter::RateLimiter>,
    /// Verifies the tokens by which LibreChat names its users; none if it is not connected.
    pub librechat: Option<Arc<dyn user_tokens::UserTokenVerifier>>,
    /// Hashes passwords.
    pub hasher: Arc<dyn password_hasher::PasswordHasher>,
    /// Identity providers, in the order of their buttons.
    pub identity_providers: Vec<identity_provider::ConfiguredProvider>,
    /// Sends email.
    pub mailer: Arc<dyn mailer::Mailer>,
    /// Serializes the body of webhook messages.
    pub webhook_body: fn(&WebhookPayload<'_>) -> Result<String>,
    /// Sends webhook messages.
    pub webhooks: Arc<dyn webhook_sender::WebhookSender>,
    /// Fetches metadata of OAuth clients.
    pub client_metadata: Arc<dyn client_metadata::ClientMetadataSource>,
    /// Time.
    pub clock: Arc<dyn clock::Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn entropy::Entropy>,
    /// Records metrics.
    pub recorder: Arc<dyn recorder::Recorder>,
    /// Propagates traces; none when tracing is off.
    pub traces: Option<Arc<dyn trace::TracePropagator>>,
}
