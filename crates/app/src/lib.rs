#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod agent;
pub mod audit;
pub mod backlog;
pub mod conversations;
pub mod dashboard;
pub mod documents;
pub mod embeddings;
pub mod error;
pub mod evaluation;
mod extractions;
pub mod generations;
pub mod health;
pub mod ids;
pub mod ingest;
pub mod jobs;
pub mod listing;
pub mod maintenance;
pub mod rate_limit;
pub mod recorder;
pub mod search;
pub mod settings;
mod spans;
pub mod tokens;
pub mod usage;
pub mod webhooks;

pub use error::Error;

use accounts::{keyed_locks::KeyedLocks, verification::OutgoingMail};
use agent::registry::AgentRegistry;
use docent_ports::{
    blob_store::BlobStore, chat_model::ChatModel, clock::Clock, embedder::Embedders, entropy::Entropy,
    mailer::Mailer, page_renderer::PageRenderer, password_hasher::PasswordHasher, rate_limiter::RateLimiter,
    recorder::Recorder, reranker::Reranker, store::Store, text_extractor::TextExtractor,
    token_signer::TokenSigner, token_store::TokenStore, vector_indexes::VectorIndexes,
    webhook_sender::WebhookSender,
};
use documents::page_image::PageImageCache;
use jobs::running::Running;
use settings::Settings;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// Everything that the use cases run on.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct App {
    /// Records.
    pub store: Arc<dyn Store>,
    /// Uploaded files.
    pub blobs: Arc<dyn BlobStore>,
    /// Chunks, in collections; which of them serves is read from the store.
    pub collections: Arc<dyn VectorIndexes>,
    /// What chunks and questions are found by, by model.
    pub embedders: Arc<dyn Embedders>,
    /// What ranks the passages that were found once more, if anything does.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// What answers.
    pub model: Arc<dyn ChatModel>,
    /// What reads PDFs.
    pub extractor: Arc<dyn TextExtractor>,
    /// What draws their pages.
    pub renderer: Arc<dyn PageRenderer>,
    /// Which refresh tokens are good.
    pub tokens: Arc<dyn TokenStore>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Counts requests and failed logins.
    pub limiter: Arc<dyn RateLimiter>,
    /// Hashes passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Sends mail.
    pub mailer: Arc<dyn Mailer>,
    /// Sends what webhooks are to be told.
    pub webhooks: Arc<dyn WebhookSender>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Counts what happens.
    pub recorder: Arc<dyn Recorder>,
    /// Who answers under which name.
    pub agents: AgentRegistry,
    /// Limits and lifetimes.
    pub settings: Settings,
    /// Wakes job runners of this process when there is something to do.
    pub work: Notify,
    /// Wakes couriers of this process when webhooks are to be told something.
    pub deliveries: Notify,
    /// Ingestions under way in this process.
    pub running: Running,
    /// Pictures of pages that were drawn lately.
    pub album: PageImageCache,
    /// Logins of one account from one address take turns.
    pub logins: KeyedLocks,
    /// Letters being written and sent.
    pub letters: OutgoingMail,
    /// Answers being streamed, and letters being sent; a stopping server waits for them.
    pub answers: TaskTracker,
}
