#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod agent;
pub mod audit;
pub mod background;
pub mod backlog;
pub mod collections;
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
mod language;
mod limits;
pub mod listing;
pub mod maintenance;
mod metering;
mod model_call;
pub mod model_check;
mod network;
pub mod oauth;
mod picture_descriptions;
pub mod quotes;
pub mod rate_limit;
mod recognition;
pub mod recorder;
pub mod responses;
pub mod scope;
pub mod search;
pub mod service;
pub mod settings;
mod spans;
pub mod tokens;
mod tool_result;
pub mod usage;
pub mod webhooks;

pub use error::Error;

use accounts::keyed_locks::KeyedLocks;
use accounts::verification::OutgoingMail;
use agent::recent_searches::RecentSearches;
use agent::registry::{Agent, AgentRegistry};
use chrono::{DateTime, Utc};
use conversations::ReadBudget;
use docent_domain::fault::Fault;
use docent_domain::webhook::WebhookPayload;
use docent_ports::Ports;
use docent_ports::blob_store::BlobStore;
use docent_ports::chat_model::ChatModel;
use docent_ports::client_metadata::ClientMetadataSource;
use docent_ports::clock::Clock;
use docent_ports::embedder::Embedders;
use docent_ports::entropy::Entropy;
use docent_ports::identity_provider::ConfiguredProvider;
use docent_ports::mailer::Mailer;
use docent_ports::page_renderer::PageRenderer;
use docent_ports::password_hasher::PasswordHasher;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::recorder::Recorder;
use docent_ports::reranker::Reranker;
use docent_ports::store::Store;
use docent_ports::text_extractor::TextExtractor;
use docent_ports::text_recognizer::RecognizerDetection;
use docent_ports::token_signer::TokenSigner;
use docent_ports::token_store::TokenStore;
use docent_ports::trace::TracePropagator;
use docent_ports::user_tokens::UserTokenVerifier;
use docent_ports::vector_indexes::VectorIndexes;
use docent_ports::webhook_sender::WebhookSender;
use documents::drawing_queue::DrawingQueue;
use documents::page_failures::PageFailures;
use documents::page_image::PageImageCache;
use jobs::recognitions::Recognitions;
use jobs::running::Running;
use limits::AnswerCounts;
use settings::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// The service: ports, settings, agents, and the state of this process. Use cases are functions that take it.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) collections: Arc<dyn VectorIndexes>,
    pub(crate) embedders: Arc<dyn Embedders>,
    pub(crate) reranker: Option<Arc<dyn Reranker>>,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) fallback_model: Option<Arc<dyn ChatModel>>,
    pub(crate) vision_model: Option<Arc<dyn ChatModel>>,
    pub(crate) extractor: Arc<dyn TextExtractor>,
    pub(crate) recognizer: Arc<dyn RecognizerDetection>,
    pub(crate) renderer: Arc<dyn PageRenderer>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) signer: Arc<dyn TokenSigner>,
    pub(crate) librechat: Option<Arc<dyn UserTokenVerifier>>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) identity_providers: Vec<ConfiguredProvider>,
    pub(crate) mailer: Arc<dyn Mailer>,
    pub(crate) webhook_body: fn(&WebhookPayload<'_>) -> Result<String, Fault>,
    pub(crate) webhooks: Arc<dyn WebhookSender>,
    pub(crate) client_metadata: Arc<dyn ClientMetadataSource>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) traces: Option<Arc<dyn TracePropagator>>,
    pub(crate) settings: Settings,
    pub(crate) agents: AgentRegistry,
    pub(crate) process: Process,
}

/// State of this process, shared by its requests and jobs.
pub(crate) struct Process {
    /// Notified when a job was queued, so that the runners of this process do not wait for the next poll.
    pub(crate) new_jobs: Notify,
    /// Notifies all who wait for the end of an ingestion when a job of this process has ended.
    pub(crate) ended_jobs: Notify,
    /// Notified when a webhook delivery was queued.
    pub(crate) new_deliveries: Notify,
    /// Notified when labels of ingested documents changed.
    pub(crate) new_labels: Notify,
    pub(crate) running: Running,
    pub(crate) recognitions: Recognitions,
    pub(crate) page_images: PageImageCache,
    /// Pages that could not be drawn.
    pub(crate) page_failures: PageFailures,
    /// Shares the workers that draw pages between accounts.
    pub(crate) drawings: DrawingQueue,
    /// Serializes the making of a document's summary.
    pub(crate) summaries: KeyedLocks,
    pub(crate) answers: AnswerCounts,
    /// The memory for messages that are being read.
    pub(crate) read_budget: ReadBudget,
    /// Serializes logins of one account.
    pub(crate) logins: KeyedLocks,
    pub(crate) outgoing_mail: OutgoingMail,
    /// The runtime in which the process started, if any; it outlives the threads of requests.
    pub(crate) runtime: Option<Handle>,
    /// Answers being streamed and emails being sent.
    pub(crate) tasks: TaskTracker,
    /// Whether the server of the chat model refused tools.
    pub(crate) refuses_tools: AtomicBool,
    /// How often the model searched.
    pub(crate) searches: RecentSearches,
    /// Metadata documents of OAuth clients.
    pub(crate) client_documents: oauth::ClientDocuments,
}

impl Process {
    /// Whether the chat model can be called with tools, as far as is known.
    pub(crate) fn model_knows_tools(&self) -> bool {
        !self.refuses_tools.load(Ordering::Relaxed)
    }
}

impl App {
    /// Creates the service with the built-in agents.
    pub fn new(ports: Ports, settings: Settings) -> Self {
        let Ports { store, blobs, collections, embedders, reranker, model, extractor, renderer, .. } = ports;
        let Ports { tokens, signer, limiter, hasher, mailer, webhooks, clock, entropy, .. } = ports;
        let Ports {
            webhook_body,
            recorder,
            recognizer,
            traces,
            fallback_model,
            vision_model,
            client_metadata,
            identity_providers,
            librechat,
            ..
        } = ports;
        let (iterations, prompt) = (settings.agent_max_iterations, settings.system_prompt.clone());
        let agents = AgentRegistry::standard(iterations, prompt, model.reads_records());
        let process = Process {
            new_jobs: Notify::new(),
            ended_jobs: Notify::new(),
            new_deliveries: Notify::new(),
            new_labels: Notify::new(),
            running: Running::new(settings.ingest_concurrency),
            // Half of the cores, and a quarter of the jobs, are left to documents with text.
            recognitions: Recognitions::new(settings.ingest_concurrency / 2),
            page_images: PageImageCache::default(),
            page_failures: PageFailures::default(),
            drawings: DrawingQueue::new(settings.concurrent_drawings),
            summaries: KeyedLocks::default(),
            answers: AnswerCounts::default(),
            read_budget: ReadBudget::default(),
            logins: KeyedLocks::default(),
            outgoing_mail: OutgoingMail::default(),
            runtime: Handle::try_current().ok(),
            tasks: TaskTracker::new(),
            refuses_tools: AtomicBool::new(false),
            searches: RecentSearches::default(),
            client_documents: oauth::ClientDocuments::default(),
        };
        Self {
            store,
            blobs,
            collections,
            embedders,
            reranker,
            model,
            fallback_model,
            vision_model,
            extractor,
            recognizer,
            renderer,
            tokens,
            signer,
            librechat,
            limiter,
            hasher,
            identity_providers,
            mailer,
            webhook_body,
            webhooks,
            client_metadata,
            clock,
            entropy,
            recorder,
            traces,
            settings,
            agents,
            process,
        }
    }

    /// Adds an agent, or replaces the agent of the same name.
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agents.register(agent);
        self
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether answers are quotes of documents, because no language model is connected.
    pub fn answers_by_quoting(&self) -> bool {
        self.model.reads_records()
    }

    /// Whether the server of the chat model has refused tools, so that it is called without them.
    pub fn model_refuses_tools(&self) -> bool {
        !self.model.reads_records() && !self.process.model_knows_tools()
    }

    /// All agents, sorted by name.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter()
    }

    /// The agent with this name.
    pub fn agent(&self, name: &str) -> Option<Arc<Agent>> {
        self.agents.get(name)
    }

    /// The current time.
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Returns once `pause` has passed. Cancel-safe.
    pub async fn sleep(&self, pause: Duration) {
        self.clock.sleep(pause).await;
    }

    /// Cryptographically secure random bytes.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// Runs a task on the runtime of the process, which outlives the threads of requests; [`Self::finish_tasks`] waits for it.
    /// None if there is no runtime: the process is ending.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Option<JoinHandle<T>> {
        let runtime = self.process.runtime.clone().or_else(|| Handle::try_current().ok())?;
        Some(self.process.tasks.spawn_on(task, &runtime))
    }

    /// Whether no answer is being streamed and no email being sent.
    pub fn is_idle(&self) -> bool {
        self.process.tasks.is_empty()
    }

    /// Waits until no answer is being streamed and no email being sent; returns whether `timeout` was enough.
    pub async fn finish_tasks(&self, timeout: Duration) -> bool {
        self.process.tasks.close();
        tokio::time::timeout(timeout, self.process.tasks.wait()).await.is_ok()
    }
}
