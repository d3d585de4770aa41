//! Embedders by the names of their models, as a test likes them.

use docent_ports::{
    embedder::{Embedder, Embedders},
    error::Result,
};
use std::sync::Arc;

type Find = dyn Fn(&str) -> Result<Arc<dyn Embedder>> + Send + Sync;

/// Gives what a function gives.
pub struct FakeEmbedders(Box<Find>);

impl FakeEmbedders {
    /// This one, whatever model is asked for.
    pub fn always(embedder: Arc<dyn Embedder>) -> Self {
        Self::by(move |_| Ok(Arc::clone(&embedder)))
    }

    /// What `find` gives for a model.
    pub fn by(find: impl Fn(&str) -> Result<Arc<dyn Embedder>> + Send + Sync + 'static) -> Self {
        Self(Box::new(find))
    }
}

impl Embedders for FakeEmbedders {
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        (self.0)(model)
    }
}
