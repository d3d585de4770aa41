//! Embedders by model name, chosen by the test.

use docent_domain::fault::Result;
use docent_ports::embedder::{Embedder, Embedders};
use std::sync::Arc;

type Find = dyn Fn(&str) -> Result<Arc<dyn Embedder>> + Send + Sync;

/// Returns the embedders of a function.
pub struct FakeEmbedders(Box<Find>);

impl FakeEmbedders {
    /// Creates embedders that return the same one for every model.
    pub fn always(embedder: Arc<dyn Embedder>) -> Self {
        Self::by(move |_| Ok(Arc::clone(&embedder)))
    }

    /// Creates embedders that return the result of `find`.
    pub fn by(find: impl Fn(&str) -> Result<Arc<dyn Embedder>> + Send + Sync + 'static) -> Self {
        Self(Box::new(find))
    }
}

impl Embedders for FakeEmbedders {
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        (self.0)(model)
    }
}
