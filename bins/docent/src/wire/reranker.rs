//! Creates the reranker.

use super::backend;
use anyhow::{Context, bail};
use docent::config::Settings;
use docent_models::openai::rerank::HttpReranker;
use docent_ports::clock::Clock;
use docent_ports::reranker::Reranker;
use std::sync::Arc;

/// Creates the configured reranker, if any.
///
/// # Errors
/// If it cannot be used.
pub(super) fn reranker(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Arc<dyn Reranker>>> {
    let models = &settings.models;
    match (&models.rerank_base_url, &models.rerank_model) {
        (None, _) => Ok(None),
        (Some(url), Some(model)) => {
            let backend =
                backend(settings, url, models.rerank_api_key.as_ref(), model, models.rerank_timeout);
            let reranker = HttpReranker::new(&backend, Arc::clone(clock));
            Ok(Some(Arc::new(reranker.context("DOCENT_RERANK_BASE_URL")?)))
        }
        (Some(_), None) => bail!("DOCENT_RERANK_MODEL must be set"),
    }
}
