//! The agents as clients of the OpenAI API know models: below `/v1`, in that API's wire format.
//!
//! What such a client sends and this service has no use for is ignored, as most of them send more than they need;
//! what would change the answer and cannot be done is refused.

pub(crate) mod chat;
pub(crate) mod chunks;
mod completion;
pub(crate) mod embeddings;
pub(crate) mod errors;
pub(crate) mod models;
pub(crate) mod request;
pub(crate) mod whole;
