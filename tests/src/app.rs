//! A running service.

use crate::{
    documented,
    member::Member,
    reply::Reply,
    stack::{Faults, Ground},
    wait,
};
use docent_app::{
    App,
    accounts::{
        api_keys::{ApiKeyInput, NewApiKey},
        create::Flags,
    },
    audit::Initiator,
    jobs::{Runner, RunnerSettings},
    webhooks::courier::Courier,
};
use docent_domain::{
    api_key::{ApiKeyName, ApiKeyScopes},
    audit::AuditEntry,
    group::AssignedPermissions,
    id::UserId,
    permission::Permission,
    session::Session,
    text::Email,
    usage::TokenUsage,
    user::{Password, User},
};
use docent_ports::{
    audit::AuditFilter, error::Fault, jobs::JobCounts, mailer::Mail, page::PageRequest,
    sessions::SessionFilter,
};
use docent_testkit::{
    clock::TestClock,
    fakes::{chat_model::ScriptedChatModel, mailer::FakeMailer, webhook_sender::FakeWebhookSender},
};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::{
    fmt, io,
    net::SocketAddr,
    ops::Deref,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The password of every account that [`TestApp`] makes.
pub const PASSWORD: &str = "correct horse";

/// A running service, and what moves it. Clones are the same service.
#[derive(Clone)]
pub struct TestApp(Arc<Inner>);

/// What a test can reach.
pub struct Inner {
    /// The use cases and their ports.
    pub app: Arc<App>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Time.
    pub clock: Arc<TestClock>,
    /// What breaks its parts.
    pub faults: Faults,
    /// The chat model, and what it has been asked.
    pub model: Arc<ScriptedChatModel>,
    /// The mail server, and what was sent.
    pub mailer: Arc<FakeMailer>,
    /// The receivers of webhooks, and what was sent to them.
    pub receivers: Arc<FakeWebhookSender>,
    client: Client,
    stop: CancellationToken,
    server: Mutex<Option<JoinHandle<io::Result<()>>>>,
    may_leave_jobs: AtomicBool,
    _ground: Ground,
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
        address: SocketAddr,
        clock: Arc<TestClock>,
        faults: Faults,
        model: Arc<ScriptedChatModel>,
        (mailer, receivers): (Arc<FakeMailer>, Arc<FakeWebhookSender>),
        stop: CancellationToken,
        server: JoinHandle<io::Result<()>>,
        ground: Ground,
    ) -> Self {
        Self(Arc::new(Inner {
            app,
            address,
            clock,
            faults,
            model,
            mailer,
            receivers,
            client: client(),
            stop,
            server: Mutex::new(Some(server)),
            may_leave_jobs: AtomicBool::new(false),
            _ground: ground,
        }))
    }

    /// Begins a request.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    /// Sends a request and reads the answer to its end, which must be as the OpenAPI document says.
    pub async fn send(&self, request: RequestBuilder) -> Reply {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let reply = Reply::read(client.execute(request).await.unwrap()).await;
        documented::check(&method, &path, &reply);
        reply
    }

    /// GETs a path without authentication.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    /// POSTs JSON without authentication.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    /// POSTs a form of a page without authentication. Values are letters, digits and spaces.
    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+")));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = self.request(Method::POST, path);
        self.send(request.header("Content-Type", "application/x-www-form-urlencoded").body(body)).await
    }

    /// Moves time forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Runs what is due, one job after the other; says how many tries that took.
    pub async fn run_jobs(&self) -> usize {
        self.runner().drain().await.unwrap()
    }

    /// Sends the due webhook deliveries. Returns the number of attempts.
    pub async fn deliver(&self) -> usize {
        Courier::new(Arc::clone(&self.app)).drain().await.unwrap()
    }

    /// A runner of jobs with the default settings.
    pub fn runner(&self) -> Runner {
        Runner::new(Arc::clone(&self.app), RunnerSettings::default())
    }

    /// Jobs that are not done.
    pub async fn job_counts(&self) -> JobCounts {
        self.read(async || self.app.store.read().await?.jobs().counts().await).await
    }

    /// Lets the test end with jobs that are not done.
    pub fn leave_jobs(&self) {
        self.may_leave_jobs.store(true, Ordering::Relaxed);
    }

    /// Makes an account with [`PASSWORD`].
    pub async fn account(&self, email: &str, flags: Flags) -> User {
        let password = Password::parse_new(PASSWORD.to_owned()).unwrap();
        self.app
            .account_service()
            .create(&Initiator::command_line(), Email::parse(email).unwrap(), password, flags)
            .await
            .unwrap()
    }

    /// Makes an account and logs it in.
    pub async fn member(&self, email: &str) -> Member {
        let user = self.account(email, Flags::default()).await;
        Member::login(self, user).await
    }

    /// An account without further rights, logged in.
    pub async fn ada(&self) -> Member {
        self.member("ada@example.org").await
    }

    /// An account that may do everything, logged in.
    pub async fn superuser(&self) -> Member {
        let flags = Flags { is_staff: true, is_superuser: true };
        let user = self.account("root@example.org", flags).await;
        Member::login(self, user).await
    }

    /// Makes an API key with these scopes, good for ever.
    pub async fn api_key(&self, user: UserId, scopes: &[&str]) -> NewApiKey {
        let name = ApiKeyName::parse("a key").unwrap();
        let scopes = ApiKeyScopes::parse(scopes.iter().copied()).unwrap();
        let request = ApiKeyInput { user, name, scopes, expires_at: None };
        self.app.account_service().create_api_key(&Initiator::command_line(), request).await.unwrap()
    }

    /// Waits until the letters that were asked for are sent, or not.
    pub async fn settle(&self) {
        wait::until("letters are sent", async || self.app.answers.is_empty()).await;
    }

    /// The letters that were sent.
    pub async fn mails(&self) -> Vec<Mail> {
        self.settle().await;
        self.mailer.mails()
    }

    /// What stands in the audit log, newest first.
    pub async fn audit(&self, filter: AuditFilter) -> Vec<AuditEntry> {
        let page = PageRequest { offset: 0, limit: 100 };
        self.read(async || self.app.store.read().await?.audit().list(&filter, page).await).await.records
    }

    /// The account's sessions, the one used last first.
    pub async fn sessions(&self, user: UserId) -> Vec<Session> {
        let (filter, page) = (
            SessionFilter { user: Some(user), ..SessionFilter::default() },
            PageRequest { offset: 0, limit: 100 },
        );
        self.read(async || self.app.store.read().await?.sessions().list(&filter, page).await).await.records
    }

    /// Tries to log in.
    pub async fn login(&self, email: &str, password: &str) -> Reply {
        self.post("/auth/token", json!({ "email": email, "password": password })).await
    }

    /// Makes an account unusable.
    pub async fn deactivate(&self, user: UserId) {
        let mut work = self.app.store.begin().await.unwrap();
        let mut user = work.users().get(user).await.unwrap().unwrap();
        user.is_active = false;
        work.users().update(&user).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Gives an account these permissions and takes all others from it.
    pub async fn permit(&self, user: UserId, permissions: &[Permission]) {
        let rights = AssignedPermissions {
            permissions: permissions.iter().copied().collect(),
            ..AssignedPermissions::default()
        };
        let mut work = self.app.store.begin().await.unwrap();
        work.groups().set_assigned_permissions(user, &rights).await.unwrap();
        work.commit().await.unwrap();
    }

    /// What an account's answers have cost.
    pub async fn usage(&self, user: UserId) -> TokenUsage {
        self.read(async || self.app.store.begin().await?.usage().total_for_user(user).await).await
    }

    /// Reads from the database. Connections that workers of the service have made end with them, so after
    /// a stop it may take more than one.
    async fn read<T>(&self, look: impl AsyncFn() -> Result<T, Fault>) -> T {
        let mut seen = None;
        wait::until("the database answers", async || {
            seen = look().await.ok();
            seen.is_some()
        })
        .await;
        seen.unwrap()
    }

    /// Stops the service as a signal would: running answers get a second.
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
            assert_eq!((left.queued, left.leased), (0, 0), "jobs are left: run_jobs() or leave_jobs()");
        }
    }
}

/// A client that keeps no connection: a stopping service need not wait for it.
fn client() -> Client {
    // The adapters switch TLS on without a choice of cryptography; one must be made, though nothing
    // here uses it. Another client of the process may have made it before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().tls_certs_only([]).no_proxy().pool_max_idle_per_host(0);
    let client = client.redirect(reqwest::redirect::Policy::none());
    client.timeout(Duration::from_secs(30)).build().unwrap()
}
