//! A running service.

use crate::adapters::Resources;
use crate::reply::Reply;
use crate::stack::Faults;
use crate::urlencoded::encode;
use crate::{documented, wait};
use docent_app::App;
use docent_app::accounts::api_keys::{ApiKeyInput, NewApiKey};
use docent_app::accounts::create::Flags;
use docent_app::audit::Initiator;
use docent_app::background::Background;
use docent_app::background::{Runner, RunnerSettings};
use docent_app::webhooks::delivery_worker::DeliveryWorker;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::audit::AuditEntry;
use docent_domain::fault::Fault;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::UserId;
use docent_domain::listing::{AuditFilter, PageRequest, SessionFilter};
use docent_domain::permission::Permission;
use docent_domain::session::Session;
use docent_domain::text::Email;
use docent_domain::usage::TokenUsage;
use docent_domain::user::{Password, User};
use docent_ports::Ports;
use docent_ports::jobs::JobCounts;
use docent_ports::mailer::Mail;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes::chat_model::ScriptedChatModel;
use docent_testkit::fakes::identity_provider::FakeIdentityProvider;
use docent_testkit::fakes::mailer::FakeMailer;
use docent_testkit::fakes::webhook_sender::FakeWebhookSender;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, io};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The password of every account that [`TestApp`] creates.
pub const PASSWORD: &str = "correct horse";

/// The permissions for the data of accounts, without which staff take over no account.
pub const DATA: &[Permission] = &[
    Permission::ViewDocument,
    Permission::AddDocument,
    Permission::ChangeDocument,
    Permission::DeleteDocument,
    Permission::ViewConversation,
    Permission::DeleteConversation,
    Permission::ViewWebhook,
    Permission::ChangeWebhook,
    Permission::DeleteWebhook,
];

/// A running service and the controls of its environment. Clones share the service.
#[derive(Clone)]
pub struct TestApp(Arc<Inner>);

/// The parts that a test can reach.
pub struct Inner {
    /// The use cases.
    pub app: Arc<App>,
    /// The ports it uses.
    pub ports: Ports,
    /// The address it listens on.
    pub address: SocketAddr,
    /// The clock.
    pub clock: Arc<TestClock>,
    /// Fault switches of the components.
    pub faults: Faults,
    /// The chat model and its recorded requests.
    pub model: Arc<ScriptedChatModel>,
    /// The mail server and the emails sent.
    pub mailer: Arc<FakeMailer>,
    /// The webhook receivers and the messages sent.
    pub receivers: Arc<FakeWebhookSender>,
    /// The identity providers.
    pub providers: Vec<Arc<FakeIdentityProvider>>,
    client: Client,
    stop: CancellationToken,
    server: Mutex<Option<JoinHandle<io::Result<()>>>>,
    may_leave_jobs: AtomicBool,
    _resources: Resources,
}

impl Deref for TestApp {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl fmt::Debug for TestApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestApp({})", self.address)
    }
}

impl TestApp {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        app: Arc<App>,
        ports: Ports,
        address: SocketAddr,
        clock: Arc<TestClock>,
        faults: Faults,
        model: Arc<ScriptedChatModel>,
        (mailer, receivers, providers): (
            Arc<FakeMailer>,
            Arc<FakeWebhookSender>,
            Vec<Arc<FakeIdentityProvider>>,
        ),
        stop: CancellationToken,
        server: JoinHandle<io::Result<()>>,
        resources: Resources,
    ) -> Self {
        Self(Arc::new(Inner {
            app,
            ports,
            address,
            clock,
            faults,
            model,
            mailer,
            receivers,
            providers,
            client: client(),
            stop,
            server: Mutex::new(Some(server)),
            may_leave_jobs: AtomicBool::new(false),
            _resources: resources,
        }))
    }

    /// Builds a request.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    /// Sends a request, reads the whole response and checks it against the OpenAPI document.
    pub async fn send(&self, request: RequestBuilder) -> Reply {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let reply = Reply::read(client.execute(request).await.unwrap()).await;
        documented::check(&method, &self.within(&path), &reply);
        reply
    }

    /// Returns the path within the service of a path of its host.
    fn within(&self, path: &str) -> String {
        let public_url = Url::parse(&self.app.settings().public_url).unwrap();
        path.strip_prefix(public_url.path().trim_end_matches('/')).unwrap_or(path).to_owned()
    }

    /// GETs a path without credentials.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    /// POSTs JSON without credentials.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    /// POSTs a form without credentials.
    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = self.request(Method::POST, path);
        self.send(request.header("Content-Type", "application/x-www-form-urlencoded").body(body)).await
    }

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Runs due jobs one after the other; returns the number of attempts.
    pub async fn run_jobs(&self) -> usize {
        self.runner().drain().await.unwrap()
    }

    /// Sends due webhook deliveries; returns the number of attempts.
    pub async fn deliver(&self) -> usize {
        DeliveryWorker::new(Arc::clone(&self.app)).drain().await.unwrap()
    }

    /// Returns a job runner with default settings.
    pub fn runner(&self) -> Runner {
        Runner::new(Arc::clone(&self.app), RunnerSettings::default())
    }

    /// Returns the recurring background work.
    pub fn background(&self) -> Background {
        Background::new(Arc::clone(&self.app), Some(Duration::from_secs(60 * 60)))
    }

    /// Returns the numbers of unfinished jobs.
    pub async fn job_counts(&self) -> JobCounts {
        self.read(async || self.ports.store.read().await?.jobs().counts().await).await
    }

    /// Lets the test end with unfinished jobs.
    pub fn leave_jobs(&self) {
        self.may_leave_jobs.store(true, Ordering::Relaxed);
    }

    /// Creates an account with [`PASSWORD`].
    pub async fn account(&self, email: &str, flags: Flags) -> User {
        let password = Password::parse_new(PASSWORD.to_owned()).unwrap();
        self.app
            .account_service()
            .create(&Initiator::command_line(), Email::parse(email).unwrap(), password, flags)
            .await
            .unwrap()
    }

    /// Creates an API key with these scopes that never expires.
    pub async fn api_key(&self, user: UserId, scopes: &[&str]) -> NewApiKey {
        self.limited_key(user, scopes, None).await
    }

    /// Creates an API key with these scopes for these collections.
    pub async fn limited_key(
        &self,
        user: UserId,
        scopes: &[&str],
        collections: Option<&[&str]>,
    ) -> NewApiKey {
        let name = ApiKeyName::parse("a key").unwrap();
        let scopes = ApiKeyScopes::parse(scopes.iter().copied()).unwrap();
        let collections = collections.map(|ids| ids.iter().map(|id| id.parse().unwrap()).collect());
        let request = ApiKeyInput { user, name, scopes, collections, expires_at: None };
        self.app.account_service().create_api_key(&Initiator::command_line(), request).await.unwrap()
    }

    /// Writes changed labels of documents to the index.
    pub async fn write_labels(&self) {
        self.background().write_labels().await.unwrap();
    }

    /// Waits until all requested emails are sent or refused.
    pub async fn settle(&self) {
        wait::until("emails are sent", async || self.app.is_idle()).await;
    }

    /// Returns the emails sent.
    pub async fn mails(&self) -> Vec<Mail> {
        self.settle().await;
        self.mailer.mails()
    }

    /// Returns entries of the audit log, newest first.
    pub async fn audit(&self, filter: AuditFilter) -> Vec<AuditEntry> {
        let page = PageRequest { offset: 0, limit: 100 };
        self.read(async || self.ports.store.read().await?.audit().list(&filter, page).await).await.records
    }

    /// Returns the account's sessions, the most recently used first.
    pub async fn sessions(&self, user: UserId) -> Vec<Session> {
        let (filter, page) = (
            SessionFilter { user: Some(user), ..SessionFilter::default() },
            PageRequest { offset: 0, limit: 100 },
        );
        self.read(async || self.ports.store.read().await?.sessions().list(&filter, page).await).await.records
    }

    /// Requests tokens with these credentials.
    pub async fn login(&self, email: &str, password: &str) -> Reply {
        self.post("/auth/token", json!({ "email": email, "password": password })).await
    }

    /// Deactivates an account.
    pub async fn deactivate(&self, user: UserId) {
        let mut work = self.ports.store.begin().await.unwrap();
        let mut user = work.users().get(user).await.unwrap().unwrap();
        user.is_active = false;
        work.users().update(&user).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Sets an account's permissions.
    pub async fn permit(&self, user: UserId, permissions: &[Permission]) {
        let rights = AssignedPermissions {
            permissions: permissions.iter().copied().collect(),
            ..AssignedPermissions::default()
        };
        let mut work = self.ports.store.begin().await.unwrap();
        work.groups().set_assigned_permissions(user, &rights).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Returns the token usage of an account's answers.
    pub async fn usage(&self, user: UserId) -> TokenUsage {
        self.read(async || self.ports.store.begin().await?.usage().total_for_user(user).await).await
    }

    /// Reads from the database, and retries: connections opened by the service's workers end with them, so a read after
    /// a stop may fail once.
    async fn read<T>(&self, query: impl AsyncFn() -> Result<T, Fault>) -> T {
        let mut result = None;
        wait::until("the database answers", async || {
            result = query().await.ok();
            result.is_some()
        })
        .await;
        result.unwrap()
    }

    /// Begins to stop the service as a signal would, without waiting for its end.
    pub fn begin_stop(&self) {
        self.stop.cancel();
    }

    /// Whether the service has stopped.
    pub fn has_stopped(&self) -> bool {
        self.server.lock().unwrap().as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the service as a signal would; running answers have one second.
    pub async fn stop(&self) {
        self.stop.cancel();
        let server = self.server.lock().unwrap().take();
        if let Some(server) = server {
            server.await.unwrap().unwrap();
        }
    }

    pub(crate) async fn finish(&self) {
        self.stop().await;
        self.faults.database.all.clear();
        if !self.may_leave_jobs.load(Ordering::Relaxed) {
            let left = self.job_counts().await;
            assert_eq!(
                (left.queued, left.leased),
                (0, 0),
                "unfinished jobs: call run_jobs() or leave_jobs()"
            );
        }
    }
}

/// Builds a client that keeps no connections open, so that a stopping service does not wait for it.
fn client() -> Client {
    // The adapters enable TLS without a crypto provider, so one must be installed, though nothing here uses it.
    // An error means that another client of this process has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().tls_certs_only([]).no_proxy().pool_max_idle_per_host(0);
    let client = client.redirect(reqwest::redirect::Policy::none());
    client.timeout(Duration::from_secs(30)).build().unwrap()
}
