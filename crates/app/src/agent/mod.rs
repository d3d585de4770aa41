//! Agents: a chat model that calls tools in a loop.
//!
//! The model receives the conversation and the tools. If it calls tools, they are run, their outputs are appended to
//! the conversation, and the model is called again. The loop ends when the model answers, or at the iteration cap.
//! To add an agent, register one in [`registry`]; to add a tool, implement [`tool::Tool`].

pub mod answer;
mod citations;
mod events;
pub(crate) mod first_search;
mod history;
mod list_documents;
pub mod prompt;
pub(crate) mod recent_searches;
mod recording;
pub mod registry;
mod request;
pub mod search_docs;
mod text_limits;
pub mod tool;

pub use citations::{LocatedCitation, locate as locate_citations};
pub use events::{AnswerEvent, AnswerMetadata, AnswerOutcome, AnswerStream, EndReason, FoundPassages};
pub use recent_searches::UnsearchedAnswers;
pub use request::{AgentRequest, SearchLimits};
pub use text_limits::TextLimits;
