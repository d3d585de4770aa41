//! What every handler can reach.

use crate::{error::Refusal, metrics::Metrics, settings::HttpSettings, streams::Streams};
use actix_web::{HttpRequest, dev::ServiceRequest, web::Data};
use chrono::{DateTime, Utc};
use docent_app::{App, rate_limit::RateLimit};
use std::sync::Arc;
use tera::Tera;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// The use cases and what the server itself needs, shared by all of its threads.
pub(crate) struct Context {
    pub(crate) app: Arc<App>,
    pub(crate) settings: HttpSettings,
    pub(crate) rate_limit: Option<RateLimit>,
    /// When this process began to serve.
    pub(crate) started_at: DateTime<Utc>,
    pub(crate) pages: Tera,
    /// Answers that clients may come back to.
    pub(crate) streams: Streams,
    /// The runtime that outlives the server's threads. Work that must go on when its request is over
    /// belongs there.
    pub(crate) runtime: Handle,
    /// Cancelled when the time is over that a stopping server gives to streams.
    pub(crate) cut: CancellationToken,
}

impl Context {
    /// The counters, where they are on.
    pub(crate) fn metrics(&self) -> Option<&Metrics> {
        self.settings.metrics.as_ref().map(|endpoint| &*endpoint.metrics)
    }
}

/// The context as handlers take it.
pub(crate) type State = Data<Context>;

/// The context of a request that extractors look at.
pub(crate) fn of(request: &HttpRequest) -> Result<State, Refusal> {
    request.app_data::<State>().cloned().ok_or_else(Refusal::internal)
}

/// The context of a request that middleware looks at.
pub(crate) fn of_service(request: &ServiceRequest) -> Result<State, Refusal> {
    request.app_data::<State>().cloned().ok_or_else(Refusal::internal)
}
