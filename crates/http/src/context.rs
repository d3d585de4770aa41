//! Shared state of handlers and middleware.

use crate::base_path::BasePath;
use crate::body_budget::BodyBudget;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::settings::HttpSettings;
use crate::table::Table;
use crate::untrusted_proxies::UntrustedProxies;
use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use docent_app::App;
use docent_app::health::SharedCheck;
use docent_app::rate_limit::RateLimit;
use std::io;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// State shared by all threads of the server.
pub struct Context {
    /// The use cases.
    pub app: Arc<App>,
    /// HTTP settings.
    pub settings: HttpSettings,
    /// Path of the public URL.
    pub base_path: BasePath,
    /// Rate limit per client.
    pub rate_limit: Option<RateLimit>,
    /// Memory for large request bodies.
    pub body_budget: BodyBudget,
    /// Results of health checks.
    pub health: SharedCheck,
    /// Peers whose forwarding headers are ignored.
    pub untrusted_proxies: UntrustedProxies,
    /// Start time of the server.
    pub started_at: DateTime<Utc>,
    /// Route tables of the service.
    pub tables: Vec<Table>,
    /// Runtime that outlives the threads of the server, for work that continues after its request.
    pub runtime: Handle,
    /// Cancelled when the server begins to stop: it is not ready, but requests are served.
    pub stopping: CancellationToken,
    /// Cancelled when the time of a stopping server for streams ends.
    pub cut: CancellationToken,
}

impl Context {
    /// Creates the context of a server that starts now. Must be called on the runtime that outlives the server.
    ///
    /// # Errors
    /// If there is no runtime.
    pub fn new(app: Arc<App>, settings: HttpSettings, tables: Vec<Table>) -> io::Result<Self> {
        Ok(Self {
            started_at: app.now(),
            base_path: BasePath::of_url(&app.settings().public_url),
            app,
            rate_limit: settings.rate_limit.map(RateLimit::new),
            body_budget: BodyBudget::default(),
            health: SharedCheck::default(),
            untrusted_proxies: UntrustedProxies::default(),
            tables,
            runtime: Handle::try_current().map_err(io::Error::other)?,
            settings,
            stopping: CancellationToken::new(),
            cut: CancellationToken::new(),
        })
    }

    /// Runs `work` on [`Context::runtime`], since connections to back ends outlive the thread of the request. Dropping the future
    /// aborts the work.
    ///
    /// # Errors
    /// 500 if the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ApiError> {
        let task = AbortOnDropHandle::new(self.runtime.spawn(work.in_current_span()));
        task.await.map_err(|_| ApiError::internal())
    }

    /// The metrics, if enabled.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.settings.metrics.as_ref().map(|endpoint| &*endpoint.metrics)
    }
}

/// Extractor of the context.
pub type State = Data<Context>;

/// Returns the context of a request, for extractors.
pub fn from_request(request: &HttpRequest) -> Result<State, ApiError> {
    request.app_data::<State>().cloned().ok_or_else(ApiError::internal)
}

/// Returns the context of a request, for middleware.
pub fn from_service(request: &ServiceRequest) -> Result<State, ApiError> {
    request.app_data::<State>().cloned().ok_or_else(ApiError::internal)
}
