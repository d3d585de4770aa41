//! `GET /metrics`

use crate::answers;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use docent_app::backlog;
use docent_app::error::Error;
use docent_http::extract::granted::bearer;
use docent_http::metrics::Format;
use docent_http::{ApiError, Reply, State, routes};

/// Read metrics
///
/// Metrics for Prometheus, in OpenMetrics if `Accept` prefers it to `text/plain`, or else in the text format. Requires `metrics_enabled`, and `metrics_token` as bearer token if it is set.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "Service", security((), ("metrics_token" = [])),
    responses(
        (
            status = 200, description = "Counters, gauges and histograms.",
            content(
                (String = "text/plain; version=0.0.4; charset=utf-8", example = "# TYPE docent_http_requests_total counter\n"),
                (
                    String = "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    example = "# TYPE docent_http_requests counter\n# EOF\n",
                ),
            ),
        ),
        answers::Unauthorized, answers::UnknownPath,
    ),
)]
pub(crate) async fn metrics(context: State, request: HttpRequest) -> Reply {
    let Some(endpoint) = &context.settings.metrics else { return routes::not_found().await };
    if !endpoint.admits(bearer(request.headers())) {
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, "Could not validate credentials"));
    }
    // Without the database only its own series are missing.
    let backlog = backlog::read(&context.app).await.inspect_err(|error| {
        if let Error::Fault(fault) = error {
            context.app.record_fault(fault.component(), fault.kind());
        }
    });
    let format = Format::of(&request);
    let text = endpoint.metrics.render(format, backlog.ok()).map_err(|_| ApiError::internal())?;
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, format.content_type())).body(text))
}
