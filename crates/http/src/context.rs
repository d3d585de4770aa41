//! What every handler can reach.

use crate::{error::ApiError, metrics::Metrics, settings::HttpSettings, table::Table};
use actix_web::{HttpRequest, dev::ServiceRequest, web::Data};
use chrono::{DateTime, Utc};
use docent_app::{App, rate_limit::RateLimit};
use std::{io, sync::Arc};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// The use cases and what the server itself needs, shared by all of its threads.
pub struct Context {
    /// The use cases.
    pub app: Arc<App>,
    /// How the service appears over HTTP.
    pub settings: HttpSettings,
    /// The limit of requests per client.
    pub rate_limit: Option<RateLimit>,
    /// When this process began to serve.
    pub started_at: DateTime<Utc>,
    /// Every path of the service.
    pub tables: Vec<Table>,
    /// The runtime that outlives the server's threads. Work that must go on when its request is over
    /// belongs there.
    pub runtime: Handle,
    /// Cancelled when the time is over that a stopping server gives to streams.
    pub cut: CancellationToken,
}

impl Context {
    /// The context of a server that begins now. Must be called on the runtime that outlives it.
    ///
    /// # Errors
    /// When there is no runtime.
    pub fn new(app: Arc<App>, settings: HttpSettings, tables: Vec<Table>) -> io::Result<Self> {
        Ok(Self {
            started_at: app.now(),
            app,
            rate_limit: settings.rate_limit.map(RateLimit::new),
            tables,
            runtime: Handle::try_current().map_err(io::Error::other)?,
            settings,
            cut: CancellationToken::new(),
        })
    }

    /// The counters, where they are on.
    pub fn metrics(&self) -> Option<&Metrics> {
        self.settings.metrics.as_ref().map(|endpoint| &*endpoint.metrics)
    }
}

/// The context as handlers take it.
pub type State = Data<Context>;

/// The context of a request that extractors look at.
pub fn of(request: &HttpRequest) -> Result<State, ApiError> {
    request.app_data::<State>().cloned().ok_or_else(ApiError::internal)
}

/// The context of a request that middleware looks at.
pub fn of_service(request: &ServiceRequest) -> Result<State, ApiError> {
    request.app_data::<State>().cloned().ok_or_else(ApiError::internal)
}
