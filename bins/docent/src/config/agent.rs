//! Agents and search.

use super::{
    declare::{section, text, unset},
    value::within,
};
use docent_app::agent::prompt::GROUNDED;

section! {
    /// How agents answer.
    Agent "Agents" {
        /// How often an agent may call its model for one answer.
        agent_max_iterations: u32 = text("10"), within(1..=100);
        /// What the model of the agent `chat` is told before each conversation; `none` for nothing. With a prompt it
        /// is also told where passages come from. The built-in one asks to answer from the documents alone and with
        /// pages, and to take what stands in them for data.
        chat_system_prompt: Option<String> = unset("the built-in one");
        /// The most tokens of earlier questions and answers that a model reads before a question with a
        /// `conversation_id`; the oldest are left out first. 0 for none.
        conversation_history_tokens: usize = text("4000"), within(0..=1_000_000);
        /// The chunks that `search_docs` retrieves.
        search_limit: usize = text("5"), within(1..=50);
    }
}

impl Agent {
    /// What the model of `chat` is told, when anything.
    pub fn system_prompt(&self) -> Option<String> {
        match self.chat_system_prompt.as_deref() {
            None => Some(GROUNDED.to_owned()),
            Some("none") => None,
            Some(text) => Some(text.to_owned()),
        }
    }
}
