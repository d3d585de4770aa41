//! Composition root: chooses the adapter for each port.

mod blobs;
mod data_dir;
mod embedders;
mod identity_providers;
mod maintenance;
mod recognizer;
mod reranker;
mod workers;

use crate::telemetry::propagation::W3cPropagator;
use anyhow::{Context, bail};
use docent::config::{
    AgentSearch, AuthBackend, ConnectionUrl, DatabaseUrl, DefaultCollection, HttpUrl, KeyValueUrl,
    OpenCollections, Profile, Require2fa, Secret, Settings, VectorDb, Vision,
};
use docent_answerer::Answerer;
use docent_app::App;
use docent_app::background::RunnerSettings;
use docent_app::background::index_owner::IndexOwner;
use docent_app::background::{AuditRetention, Background};
use docent_app::rate_limit::Quota;
use docent_app::settings::SearchMode;
use docent_app::settings::{self, OpenCollectionsRule, Settings as Limits};
use docent_domain::second_factor::SecondFactorRule;
use docent_extraction::ExtractionLimits;
use docent_extraction::cached_extractor::CachedExtractor;
use docent_index::embedded_index::{self, EmbeddedIndexes};
use docent_index::qdrant::{self, QdrantCollections, QdrantIndex};
use docent_models::openai::backend::BackendSettings;
use docent_models::openai::chat::OpenAiChatModel;
use docent_ports::Ports;
use docent_ports::chat_model::ChatModel;
use docent_ports::clock::Clock;
use docent_ports::embedder::Embedder;
use docent_ports::entropy::Entropy;
use docent_ports::mailer::Mailer;
use docent_ports::password_hasher::PasswordHasher;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::recorder::{NoopRecorder, Recorder};
use docent_ports::store::Store;
use docent_ports::token_store::TokenStore;
use docent_ports::trace::TracePropagator;
use docent_ports::user_tokens::UserTokenVerifier;
use docent_ports::vector_indexes::VectorIndexes;
use docent_server::metrics::Metrics;
use docent_server::{HttpSettings, MetricsEndpoint, SessionKey, Shutdown};
use docent_services::archive::audit_export::FileExports;
use docent_services::mail::{NoMailer, SmtpMailer};
use docent_services::memory::MemoryRateLimiter;
use docent_services::password::Argon2Hasher;
use docent_services::redis::{self, Redis, RedisRateLimiter, RedisTokenStore};
use docent_services::system::{SystemClock, SystemEntropy};
use docent_services::token_signer::JwtSigner;
use docent_services::user_tokens::JwtUserTokens;
use docent_services::webhook_sender::{AllowedHosts, HttpClientMetadata, HttpWebhookSender};
use docent_sql::{SqlOptions, SqlStore, SqlTokenStore};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use blobs::blobs;
use data_dir::{create_private_dir, index_owner_id, remove_token_journal, secret_key};
use embedders::ModelEmbedders;
use identity_providers::{identity_providers, password_login};
pub(crate) use maintenance::maintenance;
pub(crate) use recognizer::Detection;
pub(crate) use workers::check_sandbox;
use workers::{concurrent_drawings, extractor, renderer};

/// Minimum timeout for the first token of a description: a model on a CPU reads a picture for a minute or longer.
const VISION_WAIT: Duration = Duration::from_secs(180);

/// The assembled service, ready to start.
pub(crate) struct Assembly {
    pub(crate) app: Arc<App>,
    /// Whether no other process uses the same job queue: the embedded vector store and a SQLite database have one owner.
    pub(crate) is_exclusive: bool,
    /// Set if the vector store is embedded but other processes can use the database.
    pub(crate) index_owner: Option<IndexOwner>,
    /// The search for the text recognizer.
    pub(crate) recognizer: Detection,
    /// Metrics, if enabled.
    metrics: Option<Arc<Metrics>>,
    secret: Vec<u8>,
}

/// Opens the relational store without checking its schema.
pub(crate) async fn store(settings: &Settings) -> anyhow::Result<SqlStore> {
    let store = match &settings.storage.database_url {
        DatabaseUrl::Sqlite(path) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            create_private_dir(folder.unwrap_or(Path::new(".")))?;
            SqlStore::connect(&SqlStore::sqlite_url(path), SqlOptions::default()).await
        }
        DatabaseUrl::Postgres(url) => SqlStore::connect(url.expose(), SqlOptions::default()).await,
    };
    store.context("DOCENT_DATABASE_URL")
}

/// The ports that account commands need.
pub(crate) struct SystemPorts {
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

/// Creates the password hasher, clock and entropy source.
pub(crate) fn system_ports() -> anyhow::Result<SystemPorts> {
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let hasher = Arc::new(Argon2Hasher::new(Arc::clone(&entropy))?);
    Ok(SystemPorts { hasher, clock: Arc::new(SystemClock), entropy })
}

/// Resolves the name of an embedding model, with its prefixes; `builtin` is the built-in one.
pub(crate) fn resolve_model(settings: &Settings, name: &str) -> String {
    if name == "builtin" { embedders::builtin_model() } else { embedders::model_identity(settings, name) }
}

/// The stores that differ between serving and maintenance.
struct Stores {
    collections: Arc<dyn VectorIndexes>,
    /// Whether this process owns an embedded vector store, so that no other process writes to the blob store.
    owns_index: bool,
    tokens: Arc<dyn TokenStore>,
    limiter: Arc<dyn RateLimiter>,
    recorder: Arc<dyn Recorder>,
}

/// Assembles the service.
pub(crate) fn app(profile: Profile, settings: &Settings, store: SqlStore) -> anyhow::Result<Assembly> {
    let recognizer = Detection::start(settings)?;
    let system = system_ports()?;
    create_private_dir(&settings.service.data_dir)?;
    let secret = secret_key(profile, settings, &*system.entropy)?;
    let (collections, owns_index) = collections(settings, &store)?;
    remove_token_journal(&settings.service.data_dir);
    let (tokens, limiter) = key_value(settings, &store)?;
    // Other processes may use a database server, with their own embedded vector stores: their jobs must not be taken.
    let is_exclusive = owns_index && matches!(settings.storage.database_url, DatabaseUrl::Sqlite(_));
    let owner = match owns_index && !is_exclusive {
        true => Some(index_owner_id(&settings.service.data_dir, &system)?),
        false => None,
    };
    let metrics = settings.telemetry.metrics_enabled.then(|| Arc::new(Metrics::new(system.clock.now())));
    let recorder: Arc<dyn Recorder> = match &metrics {
        Some(metrics) => Arc::clone(metrics) as _,
        None => Arc::new(NoopRecorder),
    };
    let stores = Stores { collections, owns_index, tokens, limiter, recorder };
    let app = Arc::new(assemble(settings, store, system, stores, &recognizer, &secret)?);
    let index_owner = owner.map(|id| IndexOwner::new(Arc::clone(&app), id));
    Ok(Assembly { app, is_exclusive, index_owner, recognizer, metrics, secret })
}

fn assemble(
    settings: &Settings,
    store: SqlStore,
    system: SystemPorts,
    stores: Stores,
    recognizer: &Detection,
    secret: &[u8],
) -> anyhow::Result<App> {
    let SystemPorts { hasher, clock, entropy } = system;
    let Stores { collections, owns_index, tokens, limiter, recorder } = stores;
    let store: Arc<dyn Store> = Arc::new(store);
    let previous = settings.accounts.secret_key_previous.iter().map(|key| key.expose().as_bytes());
    let previous: Vec<&[u8]> = previous.collect();
    let embedders = ModelEmbedders::new(settings, &store, &clock, &recorder)?;
    let limits = Limits { embedding_model: embedders.configured_model().to_owned(), ..limits(settings) };
    let blobs = blobs(settings, &*clock, owns_index)?;
    let extractor = CachedExtractor::new(extractor(settings)?, Arc::clone(&blobs), Arc::clone(&recorder));
    let allowed_hosts = match settings.webhooks.webhook_allow_private {
        true => AllowedHosts::PublicAndPrivate,
        false => AllowedHosts::Public,
    };
    let ports = Ports {
        embedders: Arc::new(embedders),
        store,
        blobs,
        collections,
        reranker: reranker::reranker(settings, &clock)?,
        model: model(settings, settings.models.llm_timeout, &clock)?,
        fallback_model: fallback_model(settings),
        vision_model: vision_model_at(settings, &clock)?,
        extractor: Arc::new(extractor),
        recognizer: Arc::new(recognizer.clone()),
        renderer: renderer()?,
        identity_providers: identity_providers(settings, &clock)?,
        mailer: mailer(settings, &clock, &entropy)?,
        webhook_body: docent_server::webhook_body,
        webhooks: Arc::new(HttpWebhookSender::new(allowed_hosts)?),
        client_metadata: Arc::new(HttpClientMetadata::new(allowed_hosts)?),
        tokens,
        signer: Arc::new(JwtSigner::new(secret).accepting(&previous)),
        librechat: librechat(settings),
        limiter,
        hasher,
        clock,
        entropy,
        recorder,
        traces: traces(settings),
    };
    Ok(App::new(ports, limits))
}

/// Verifies the tokens of LibreChat if it is connected.
fn librechat(settings: &Settings) -> Option<Arc<dyn UserTokenVerifier>> {
    let secret = settings.accounts.librechat_jwt_secret.as_ref()?;
    Some(Arc::new(JwtUserTokens::new(secret.expose().as_bytes())))
}

/// Propagates traces if tracing is enabled.
fn traces(settings: &Settings) -> Option<Arc<dyn TracePropagator>> {
    settings.telemetry.tracing_enabled.then(|| Arc::new(W3cPropagator) as _)
}

/// Builds the HTTP settings.
pub(crate) fn http(settings: &Settings, assembly: &Assembly) -> HttpSettings {
    let (limits, origins) = (&settings.limits, &settings.http.cors_allowed_origins);
    HttpSettings {
        debug: settings.service.debug,
        rate_limit: Some(Quota {
            limit: u64::from(limits.rate_limit_requests),
            window: limits.rate_limit_period,
        }),
        trusted_proxies: settings.http.trusted_proxies.clone(),
        metrics: assembly.metrics.as_ref().map(|metrics| MetricsEndpoint {
            metrics: Arc::clone(metrics),
            token: settings.telemetry.metrics_token.as_ref().map(|token| token.expose().to_owned()),
        }),
        public_url: settings.http.public_url.as_ref().map(|url| url.as_str().to_owned()),
        cors_allowed_origins: origins.iter().map(|origin| origin.as_str().to_owned()).collect(),
        ..HttpSettings::new(settings.service.app_name.clone(), SessionKey::derive(&assembly.secret))
    }
}

/// Number of documents that a process ingests at the same time. While some use the cores, the others wait for back ends and for
/// the index, which writes waiting documents together.
pub(crate) fn concurrent_documents(settings: &Settings) -> usize {
    settings.ingestion.ingest_concurrency * 4
}

/// Builds the settings of the job runner.
pub(crate) fn runner(settings: &Settings) -> RunnerSettings {
    RunnerSettings { concurrency: concurrent_documents(settings), ..RunnerSettings::default() }
}

/// Builds the recurring work of a process that runs jobs.
pub(crate) fn background(settings: &Settings, app: &Arc<App>) -> Background {
    let interval = settings.ingestion.ingest_sweep_interval;
    let accounts = &settings.accounts;
    let retention = (!accounts.audit_retention.is_zero()).then(|| AuditRetention {
        age: accounts.audit_retention,
        exports: Arc::new(FileExports::new(accounts.audit_export_dir.clone())),
    });
    Background::new(Arc::clone(app), Some(interval).filter(|interval| !interval.is_zero()))
        .with_retention(retention)
}

/// The settings of the use cases.
pub(crate) fn limits(settings: &Settings) -> Limits {
    let (accounts, history, defaults) =
        (&settings.accounts, settings.agent.history_tokens, Limits::default());
    Limits {
        accepts_jwt: accounts.auth_backends.contains(&AuthBackend::Jwt),
        accepts_oauth: accounts.oauth,
        accepts_api_keys: accounts.auth_backends.contains(&AuthBackend::ApiKey),
        access_token_ttl: accounts.access_token_ttl,
        refresh_token_ttl: accounts.refresh_token_ttl,
        session_lifetime: accounts.session_lifetime,
        second_factor_rule: match accounts.require_2fa {
            Require2fa::No => SecondFactorRule::Optional,
            Require2fa::Staff => SecondFactorRule::Staff,
            Require2fa::Everyone => SecondFactorRule::Everyone,
        },
        default_collection: match accounts.default_collection {
            DefaultCollection::Everyone => settings::DefaultCollection::Everyone,
            DefaultCollection::Personal => settings::DefaultCollection::Personal,
        },
        open_collections: match accounts.open_collections {
            OpenCollections::Permission => OpenCollectionsRule::Permission,
            OpenCollections::Managers => OpenCollectionsRule::Managers,
        },
        public_url: public_url(settings),
        password_login: password_login(settings),
        login_max_failures: u64::from(settings.limits.login_max_failures),
        login_failure_period: settings.limits.login_failure_period,
        account_limits: settings.limits.account_limits,
        upload_types: settings.ingestion.upload_types,
        // Larger files are refused when they are uploaded, not when they are read.
        max_upload_bytes: settings.ingestion.max_upload_bytes.0.min(ExtractionLimits::default().file_bytes),
        ingest_concurrency: settings.ingestion.ingest_concurrency,
        concurrent_drawings: concurrent_drawings().get(),
        recognition_languages: settings.recognition.ocr_languages.clone(),
        max_recognized_pages: settings.recognition.ocr_max_pages,
        agent_max_iterations: settings.agent.agent_max_iterations as usize,
        agent_search: match settings.agent.agent_search {
            AgentSearch::Model => SearchMode::Model,
            AgentSearch::First => SearchMode::First,
        },
        system_prompt: settings.agent.system_prompt(),
        search_limit: settings.agent.search_limit,
        conversation_history_tokens: history.unwrap_or(defaults.conversation_history_tokens),
        client_history_tokens: history.unwrap_or(defaults.client_history_tokens),
        collection: first_collection(settings),
        ..defaults
    }
}

/// Returns how the process stops.
pub(crate) fn shutdown(settings: &Settings) -> Shutdown {
    let service = &settings.service;
    Shutdown { drain: service.shutdown_drain, timeout: service.shutdown_timeout }
}

/// Returns the base URL of links to the service.
pub(crate) fn public_url(settings: &Settings) -> String {
    let bound = || format!("http://{}", settings.http.bind_address);
    settings.http.public_url.as_ref().map_or_else(bound, |url| url.as_str().to_owned())
}

pub(crate) fn mailer(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> anyhow::Result<Arc<dyn Mailer>> {
    let mail = &settings.mail;
    match (&mail.smtp_url, &mail.mail_from) {
        (None, _) => Ok(Arc::new(NoMailer)),
        (Some(url), Some(from)) => {
            let mailer = SmtpMailer::new(url.expose(), from, Arc::clone(clock), Arc::clone(entropy));
            Ok(Arc::new(mailer.context("DOCENT_SMTP_URL, DOCENT_MAIL_FROM")?))
        }
        (Some(_), None) => bail!("DOCENT_MAIL_FROM must be set"),
    }
}

fn collections(settings: &Settings, store: &SqlStore) -> anyhow::Result<(Arc<dyn VectorIndexes>, bool)> {
    match settings.storage.vector_db {
        VectorDb::Embedded => {
            let root = &settings.service.data_dir;
            let collections = EmbeddedIndexes::for_serving(root, embedded_index::Options::default())?;
            Ok((Arc::new(collections), true))
        }
        VectorDb::Qdrant => {
            let storage = &settings.storage;
            let url = grpc_address(storage.qdrant_url.as_str());
            let key = storage.qdrant_api_key.as_ref().map(Secret::expose);
            let options = qdrant::Options {
                collection: storage.qdrant_collection.0.clone(),
                traces: traces(settings),
                on_disk: storage.qdrant_on_disk,
                ..qdrant::Options::default()
            };
            let default = QdrantIndex::new(&url, key, options, Arc::new(store.clone()))?;
            Ok((Arc::new(QdrantCollections::new(default)), false))
        }
    }
}

/// The directory in `data_dir` of the first embedded index.
pub(crate) const INDEX: &str = "index";

/// Name of the vector collection of an installation's first index; for an embedded vector store a directory in
/// `data_dir`.
fn first_collection(settings: &Settings) -> String {
    match settings.storage.vector_db {
        VectorDb::Embedded => INDEX.to_owned(),
        VectorDb::Qdrant => settings.storage.qdrant_collection.0.clone(),
    }
}

/// Replaces the default REST port 6333 by the gRPC port 6334. Any other port is taken as the gRPC port.
fn grpc_address(url: &str) -> String {
    match url.strip_suffix(":6333") {
        Some(host) => format!("{host}:6334"),
        None => url.to_owned(),
    }
}

fn key_value(
    settings: &Settings,
    store: &SqlStore,
) -> anyhow::Result<(Arc<dyn TokenStore>, Arc<dyn RateLimiter>)> {
    let storage = &settings.storage;
    let connect = |url: &ConnectionUrl| {
        let password = url.parameter("sentinel_password");
        let sentinels = url.sentinels().map(|addresses| redis::Sentinels { addresses, password });
        Redis::new(url.expose(), redis::Options { sentinels, ..redis::Options::default() })
    };
    let tokens: Arc<dyn TokenStore> = match &storage.redis_url {
        KeyValueUrl::Memory => Arc::new(SqlTokenStore::new(store.clone())),
        KeyValueUrl::Redis(url) => Arc::new(RedisTokenStore::new(connect(url).context("DOCENT_REDIS_URL")?)),
    };
    let limiter: Arc<dyn RateLimiter> =
        match storage.redis_counters_url.as_ref().unwrap_or(&storage.redis_url) {
            KeyValueUrl::Memory => Arc::new(MemoryRateLimiter::default()),
            KeyValueUrl::Redis(url) => {
                Arc::new(RedisRateLimiter::new(connect(url).context("DOCENT_REDIS_COUNTERS_URL")?))
            }
        };
    Ok((tokens, limiter))
}

/// Creates the chat model alone, to check its connection. It waits for output at least as long as `wait`.
pub(crate) fn chat_model(settings: &Settings, wait: Duration) -> anyhow::Result<Arc<dyn ChatModel>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    model(settings, settings.models.llm_timeout.max(wait), &clock)
}

/// Creates the embedder of the back end alone, to check its connection. `None` without an embedding back end.
pub(crate) fn embedding_model(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    embedders::of_settings(settings, Arc::new(SystemClock))
}

fn model(
    settings: &Settings,
    timeout: Duration,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn ChatModel>> {
    let models = &settings.models;
    match (&models.llm_base_url, &models.llm_model) {
        (None, _) => Ok(Arc::new(Answerer::new(embedders::lexicon(settings)))),
        (Some(url), Some(model)) => Ok(Arc::new(openai_model(settings, url, model, timeout, clock)?)),
        (Some(_), None) => bail!("DOCENT_LLM_MODEL must be set"),
    }
}

fn openai_model(
    settings: &Settings,
    url: &HttpUrl,
    model: &str,
    timeout: Duration,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<OpenAiChatModel> {
    let backend = backend(settings, url, settings.models.llm_api_key.as_ref(), model, timeout);
    OpenAiChatModel::new(&backend, Arc::clone(clock)).context("DOCENT_LLM_BASE_URL")
}

/// Creates the vision model alone, to check its connection. `None` without one.
pub(crate) fn vision_model(settings: &Settings) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    vision_model_at(settings, &clock)
}

/// Describes pictures. It has a connection of its own, since it may be another model.
fn vision_model_at(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
    let models = &settings.models;
    let name = match &settings.recognition.vision {
        Vision::Off => None,
        Vision::ChatModel => models.llm_model.as_deref(),
        Vision::Model(name) => Some(name.as_str()),
    };
    let (Some(name), Some(url)) = (name, &models.llm_base_url) else { return Ok(None) };
    let timeout = models.llm_timeout.max(VISION_WAIT);
    Ok(Some(Arc::new(openai_model(settings, url, name, timeout, clock)?)))
}

/// Quotes documents while the chat model cannot answer. Without a chat model, the built-in answerer does all the time.
fn fallback_model(settings: &Settings) -> Option<Arc<dyn ChatModel>> {
    let is_connected = settings.models.llm_base_url.is_some();
    is_connected.then(|| Arc::new(Answerer::new(embedders::lexicon(settings))) as _)
}

fn backend(
    settings: &Settings,
    url: &HttpUrl,
    key: Option<&Secret>,
    model: &str,
    timeout: Duration,
) -> BackendSettings {
    BackendSettings {
        base_url: url.as_str().to_owned(),
        api_key: key.map(|key| key.expose().to_owned()),
        model: model.to_owned(),
        timeout,
        traces: traces(settings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qdrant_rest_port_is_replaced_by_grpc_port() {
        assert_eq!(grpc_address("http://127.0.0.1:6333"), "http://127.0.0.1:6334");
        assert_eq!(grpc_address("https://qdrant.example.org:7000"), "https://qdrant.example.org:7000");
    }
}
