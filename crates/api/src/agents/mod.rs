//! Agents.

pub(crate) mod ask;
pub(crate) mod resume;
pub(crate) mod stop;

use actix_web::HttpRequest;
use docent_app::error::Error;
use docent_http::{ApiError, State};

/// Returns 404 for an unknown agent, for every method: to clients each agent is a separate path.
pub(crate) fn missing(request: &HttpRequest, context: &State) -> Option<ApiError> {
    let is_agent = request.match_pattern().as_deref() == Some("/agents/{name}");
    let name = request.match_info().get("name").filter(|_| is_agent)?;
    context.app.agent(name).is_none().then(|| Error::AgentNotFound.into())
}
