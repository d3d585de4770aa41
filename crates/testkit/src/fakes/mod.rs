//! In-memory implementations of the ports.

pub mod archive;
pub mod blob_store;
pub mod chat_model;
pub mod client_metadata;
pub mod embedder;
pub mod embedders;
pub mod identity_provider;
pub mod mailer;
pub mod page_renderer;
pub mod password_hasher;
pub mod rate_limiter;
pub mod recorder;
pub mod reranker;
pub mod store;
pub mod text_extractor;
pub mod text_recognizer;
pub mod token_signer;
pub mod token_store;
pub mod trace;
pub mod vector_index;
pub mod vector_indexes;
pub mod webhook_sender;

use crate::clock::TestClock;
use crate::entropy::TestEntropy;
use docent_ports::Ports;
use std::sync::Arc;

/// A fake of every port, without a reranker and a recognizer. The chat model answers "ready" to everything.
pub fn ports() -> Ports {
    let embedder = Arc::new(embedder::FakeEmbedder::default());
    let ready = chat_model::Turn::saying("ready");
    Ports {
        store: Arc::new(store::FakeStore::default()),
        blobs: Arc::new(blob_store::FakeBlobStore::default()),
        collections: Arc::new(vector_indexes::FakeVectorIndexes::default()),
        embedders: Arc::new(embedders::FakeEmbedders::always(embedder)),
        reranker: None,
        model: Arc::new(chat_model::ScriptedChatModel::always(ready)),
        fallback_model: None,
        vision_model: None,
        extractor: Arc::new(text_extractor::FakeTextExtractor),
        recognizer: Arc::new(None),
        renderer: Arc::new(page_renderer::FakePageRenderer::default()),
        tokens: Arc::new(token_store::FakeTokenStore::default()),
        signer: Arc::new(token_signer::FakeTokenSigner),
        limiter: Arc::new(rate_limiter::FakeRateLimiter::default()),
        librechat: None,
        hasher: Arc::new(password_hasher::FakePasswordHasher::default()),
        identity_providers: Vec::new(),
        mailer: Arc::new(mailer::FakeMailer::default()),
        webhook_body: webhook_sender::fake_body,
        webhooks: Arc::new(webhook_sender::FakeWebhookSender::default()),
        client_metadata: Arc::new(client_metadata::FakeClientMetadata::default()),
        clock: Arc::new(TestClock::default()),
        entropy: Arc::new(TestEntropy::default()),
        recorder: Arc::new(recorder::FakeRecorder::default()),
        traces: None,
    }
}
