//! Agents: a chat model that may use tools, in a loop.
//!
//! The model gets the conversation and the tools. When it asks for tools they are run, their outputs
//! are appended, and it is called again; when it answers, or at the iteration cap, the loop ends.
//! To add an agent, register one in [`registry`]; to add a tool, implement [`tool::Tool`].

pub mod answer;
mod history;
mod metering;
pub mod prompt;
mod recording;
pub mod registry;
pub mod search_docs;
pub mod tool;

pub use answer::{Answer, AnswerEvent, Outcome, Question};
