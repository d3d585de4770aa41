//! Configures and starts a service.

use crate::adapters::SECRET_KEY;
use crate::app::TestApp;
use crate::stack::{Components, Stack};
use docent_answerer::Answerer;
use docent_app::App;
use docent_app::agent::registry::Agent;
use docent_app::rate_limit::Quota;
use docent_app::settings::Settings;
use docent_domain::identity::ProviderRules;
use docent_extraction::cached_extractor::CachedExtractor;
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_models::cached_embedder::CachedEmbedder;
use docent_models::hybrid_embedder::HybridEmbedder;
use docent_models::openai::backend::BackendSettings;
use docent_models::openai::embeddings::{BatchLimits, OpenAiEmbedder};
use docent_ports::Ports;
use docent_ports::client_metadata::ClientMetadataSource;
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use docent_ports::identity_provider::ConfiguredProvider;
use docent_ports::page_renderer::PageRenderer;
use docent_ports::recorder::{NoopRecorder, Recorder};
use docent_ports::reranker::Reranker;
use docent_ports::text_extractor::TextExtractor;
use docent_ports::text_recognizer::TextRecognizer;
use docent_ports::user_tokens::UserTokenVerifier;
use docent_ports::webhook_sender::WebhookSender;
use docent_server::metrics::Metrics;
use docent_server::{HttpSettings, MetricsEndpoint, Server, SessionKey, Shutdown};
use docent_services::user_tokens::JwtUserTokens;
use docent_testkit::clock::TestClock;
use docent_testkit::entropy::TestEntropy;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::fakes::client_metadata::FakeClientMetadata;
use docent_testkit::fakes::embedders::FakeEmbedders;
use docent_testkit::fakes::identity_provider::{FakeIdentityProvider, ISSUER};
use docent_testkit::fakes::mailer::FakeMailer;
use docent_testkit::fakes::reranker::FakeReranker;
use docent_testkit::fakes::webhook_sender::FakeWebhookSender;
use docent_testkit::faults::Faulty;
use docent_testkit::wire::FakeLlm;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The services started by one test.
#[derive(Clone, Debug, Default)]
pub struct Started(Arc<Mutex<Vec<TestApp>>>);

impl Started {
    /// Stops all services.
    ///
    /// # Panics
    /// When a service has unfinished jobs and the test did not call `leave_jobs()`.
    pub async fn finish(&self) {
        let apps = std::mem::take(&mut *self.0.lock().unwrap());
        for app in apps {
            app.finish().await;
        }
    }
}

/// The configuration of a service to start.
pub struct Setup {
    stack: Stack,
    http: HttpSettings,
    settings: Settings,
    model: Arc<ScriptedChatModel>,
    is_builtin: bool,
    embeddings: Option<BackendSettings>,
    reranking: bool,
    agents: Vec<Agent>,
    renderer: Option<Arc<dyn PageRenderer>>,
    extractor: Option<Arc<dyn TextExtractor>>,
    recognizer: Option<Arc<dyn TextRecognizer>>,
    webhooks: Option<Arc<dyn WebhookSender>>,
    client_metadata: Option<Arc<dyn ClientMetadataSource>>,
    providers: Vec<ProviderRules>,
    librechat: Option<Arc<dyn UserTokenVerifier>>,
    drain: Duration,
    started: Started,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Setup({:?})", self.stack)
    }
}

impl Setup {
    /// Returns a service on this stack without a rate limit and with an empty model script; otherwise defaults.
    pub fn new(stack: Stack, started: &Started) -> Self {
        let mut http = HttpSettings::new("Docent", SessionKey::derive(SECRET_KEY));
        http.rate_limit = None;
        http.workers = Some(1);
        Self {
            stack,
            http,
            settings: Settings::default(),
            model: Arc::default(),
            is_builtin: false,
            embeddings: None,
            reranking: false,
            agents: Vec::new(),
            renderer: None,
            extractor: None,
            recognizer: None,
            webhooks: None,
            client_metadata: None,
            providers: Vec::new(),
            librechat: None,
            drain: Duration::ZERO,
            started: started.clone(),
        }
    }

    /// Limits the requests per client.
    #[must_use]
    pub fn rate_limit(mut self, limit: u64, seconds: u64) -> Self {
        self.http.rate_limit = Some(Quota { limit, window: Duration::from_secs(seconds) });
        self
    }

    /// Adds an agent beside `chat`.
    #[must_use]
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents.push(agent);
        self
    }

    /// Serves for this time after the signal to stop.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Changes the HTTP settings.
    #[must_use]
    pub fn http(mut self, change: impl FnOnce(&mut HttpSettings)) -> Self {
        change(&mut self.http);
        self
    }

    /// Serves metrics; with a token, only to requests that carry it.
    #[must_use]
    pub fn metrics(mut self, token: Option<&str>) -> Self {
        let metrics = Arc::new(Metrics::new(TestClock::default().now()));
        self.http.metrics = Some(MetricsEndpoint { metrics, token: token.map(str::to_owned) });
        self
    }

    /// Changes the application settings.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Accepts API keys in addition to access tokens.
    #[must_use]
    pub fn api_keys(self) -> Self {
        self.settings(|settings| settings.accepts_api_keys = true)
    }

    /// Scripts the chat model's turns.
    #[must_use]
    pub fn script(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.model = Arc::new(ScriptedChatModel::new(turns));
        self
    }

    /// Makes the chat model answer every request with this turn.
    #[must_use]
    pub fn always(mut self, turn: Turn) -> Self {
        self.model = Arc::new(ScriptedChatModel::always(turn));
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system_prompt(mut self, text: &str) -> Self {
        self.settings.system_prompt = Some(text.to_owned());
        self
    }

    /// Uses the built-in answerer instead of the chat model.
    #[must_use]
    pub fn builtin_answerer(mut self) -> Self {
        self.is_builtin = true;
        self
    }

    /// Computes dense embeddings with a back end, as `docent serve` does, in batches of two texts.
    #[must_use]
    pub fn embeddings(mut self, back_end: &FakeLlm) -> Self {
        self.embeddings = Some(BackendSettings {
            base_url: back_end.base_url(),
            api_key: None,
            model: "test".to_owned(),
            timeout: Duration::from_secs(60),
            traces: None,
        });
        self
    }

    /// Adds a reranker.
    #[must_use]
    pub fn reranking(mut self) -> Self {
        self.reranking = true;
        self
    }

    /// Recognises text on images of pages.
    #[must_use]
    pub fn recognizer(mut self, recognizer: impl TextRecognizer + 'static) -> Self {
        self.recognizer = Some(Arc::new(recognizer));
        self
    }

    /// Replaces the text extractor.
    #[must_use]
    pub fn extractor(mut self, extractor: impl TextExtractor + 'static) -> Self {
        self.extractor = Some(Arc::new(extractor));
        self
    }

    /// Replaces the page renderer.
    #[must_use]
    pub fn renderer(mut self, renderer: impl PageRenderer + 'static) -> Self {
        self.renderer = Some(Arc::new(renderer));
        self
    }

    /// Adds an identity provider; the issuer of the first is [`ISSUER`](docent_testkit::fakes::identity_provider::ISSUER).
    #[must_use]
    pub fn identity_provider(mut self, rules: ProviderRules) -> Self {
        self.providers.push(rules);
        self
    }

    /// Connects LibreChat, with this secret.
    #[must_use]
    pub fn librechat(mut self, secret: &str) -> Self {
        self.librechat = Some(Arc::new(JwtUserTokens::new(secret.as_bytes())));
        self
    }

    /// Replaces the webhook sender.
    #[must_use]
    pub fn webhooks(mut self, sender: impl WebhookSender + 'static) -> Self {
        self.webhooks = Some(Arc::new(sender));
        self
    }

    /// Replaces the source of metadata of OAuth clients.
    #[must_use]
    pub fn client_metadata(mut self, source: Arc<dyn ClientMetadataSource>) -> Self {
        self.client_metadata = Some(source);
        self
    }

    /// Starts the service on a free port.
    pub async fn start(self) -> TestApp {
        let clock = Arc::new(TestClock::default());
        let entropy: Arc<dyn Entropy> = Arc::new(TestEntropy::default());
        let Components { adapters, extractor, renderer, faults } = self
            .stack
            .components(Arc::clone(&self.model), Arc::clone(&clock) as _, Arc::clone(&entropy))
            .await;
        let recorder: Arc<dyn Recorder> = match &self.http.metrics {
            Some(endpoint) => Arc::clone(&endpoint.metrics) as _,
            None => Arc::new(NoopRecorder),
        };
        let embedder = match &self.embeddings {
            None => adapters.embedder,
            Some(back_end) => {
                let limits = BatchLimits { texts: 2, ..BatchLimits::default() };
                let dense = OpenAiEmbedder::new(back_end, limits, Arc::clone(&clock) as _).unwrap();
                let (store, clock) = (Arc::clone(&adapters.store), Arc::clone(&clock) as _);
                let dense = CachedEmbedder::new(Arc::new(dense), store, clock, Arc::clone(&recorder));
                Arc::new(HybridEmbedder::new(Arc::new(BuiltinEmbedder::default()), Arc::new(dense)))
            }
        };
        let reranker = self.reranking.then(|| {
            let fake: Arc<dyn Reranker> = Arc::new(FakeReranker);
            Arc::new(Faulty::new(fake, &faults.reranker)) as _
        });
        let mailer = Arc::new(FakeMailer::default());
        let receivers = Arc::new(FakeWebhookSender::default());
        let fake_provider = |rules: &ProviderRules| {
            let issuer = match rules.name.as_str() {
                "sso" => ISSUER.to_owned(),
                name => format!("https://{name}.example.net"),
            };
            Arc::new(FakeIdentityProvider::with_issuer(Arc::clone(&clock) as _, &issuer))
        };
        let providers: Vec<_> = self.providers.iter().map(fake_provider).collect();
        let configured = self.providers.iter().zip(&providers).map(|(rules, provider)| ConfiguredProvider {
            rules: rules.clone(),
            provider: Arc::clone(provider) as _,
        });
        let blobs = adapters.blobs;
        let extractor = CachedExtractor::new(
            self.extractor.unwrap_or(extractor),
            Arc::clone(&blobs),
            Arc::clone(&recorder),
        );
        let ports = Ports {
            store: adapters.store,
            blobs,
            collections: adapters.collections,
            embedders: Arc::new(FakeEmbedders::always(embedder)),
            reranker,
            model: if self.is_builtin { Arc::new(Answerer::default()) } else { adapters.model },
            vision_model: None,
            fallback_model: (!self.is_builtin).then(|| Arc::new(Answerer::default()) as _),
            extractor: Arc::new(extractor),
            recognizer: Arc::new(self.recognizer),
            renderer: self.renderer.unwrap_or(renderer),
            tokens: adapters.tokens,
            signer: adapters.signer,
            librechat: self.librechat,
            limiter: adapters.limiter,
            hasher: adapters.hasher,
            identity_providers: configured.collect(),
            mailer: Arc::clone(&mailer) as _,
            webhook_body: docent_server::webhook_body,
            webhooks: self.webhooks.unwrap_or_else(|| Arc::clone(&receivers) as _),
            client_metadata: self.client_metadata.unwrap_or_else(|| Arc::new(FakeClientMetadata::default())),
            clock: Arc::clone(&clock) as _,
            entropy,
            recorder,
            traces: None,
        };
        let app = App::new(ports.clone(), self.settings);
        let app = Arc::new(self.agents.into_iter().fold(app, App::with_agent));
        let server = Server::bind(Arc::clone(&app), self.http, ("127.0.0.1", 0)).unwrap();
        let address = server.address();
        let stop = CancellationToken::new();
        let running = tokio::spawn(
            server.run(stop.clone(), Shutdown { drain: self.drain, timeout: Duration::from_secs(1) }),
        );
        let app = TestApp::new(
            app,
            ports,
            address,
            clock,
            faults,
            self.model,
            (mailer, receivers, providers),
            stop,
            running,
            adapters.resources,
        );
        self.started.0.lock().unwrap().push(app.clone());
        app
    }
}
