//! The adapters of a stack.

use docent_ports::blob_store::BlobStore;
use docent_ports::chat_model::ChatModel;
use docent_ports::embedder::Embedder;
use docent_ports::password_hasher::PasswordHasher;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::store::Store;
use docent_ports::token_signer::TokenSigner;
use docent_ports::token_store::TokenStore;
use docent_ports::vector_indexes::VectorIndexes;
use std::any::Any;
use std::sync::Arc;

/// The secret key of the service.
pub(crate) const SECRET_KEY: &[u8] = b"a secret key for tests, of more than 32 bytes";

/// What must live as long as the adapters, such as a temporary folder or a database schema.
pub(crate) type Resources = Box<dyn Any + Send + Sync>;

/// The adapters that differ between the stacks.
pub(crate) struct Adapters {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) collections: Arc<dyn VectorIndexes>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) signer: Arc<dyn TokenSigner>,
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) resources: Resources,
}
