//! Agents and search.

use super::check::{within, within_if_set};
use super::declare::{text, unset};
use super::section::section;
use super::selector::choices;
use super::value::LexiconText;
use docent_app::agent::prompt::GROUNDED;

choices! {
    /// Who decides that documents are searched.
    AgentSearch "choice" {
        /// The model.
        Model = "model",
        /// The service, before the first model call.
        First = "first",
    }
}

section! {
    /// Agents and search.
    Agent "Answer questions" {
        /// The most model calls of an agent for one answer.
        agent_max_iterations: u32 = text("10"), within(1..=100);
        /// Who decides that documents are searched: `model`, by calling the tool `search_docs`, or `first`: the question is
        /// searched for before the first model call, and the model can search further. `first` is for models that answer
        /// from memory. It is used by itself, once a model server refuses tools.
        agent_search: AgentSearch = text("model");
        /// System prompt of the agent `chat`; `none` for no prompt. With a prompt, search results include title and pages
        /// of each passage. The built-in prompt asks for answers from the documents only, with page references, and
        /// tells the model to treat their content as data.
        chat_system_prompt: Option<String> = unset("the built-in prompt");
        /// The most tokens of earlier messages that the model receives, of stored conversations and of clients that send their whole
        /// history; the oldest are left out first. Instructions and the question are never left out. `0` for no history.
        history_tokens: Option<usize> = unset("4000 for stored conversations, 32000 for clients that send their history"),
            within_if_set(0..=1_000_000);
        /// Number of chunks that `search_docs` retrieves.
        search_limit: usize = text("5"), within(1..=50);
        /// Words that documents use for words of questions, in addition to the built-in lexicon: one entry per line, such
        /// as `capex, capital spending = purchases of equipment; additions`. A question with a phrase on the left also
        /// searches for the words on the right. Usually set with `DOCENT_LEXICON_FILE`.
        lexicon: Option<LexiconText> = unset("the built-in lexicon only");
    }
}

impl Agent {
    /// The system prompt of `chat`, unless it is turned off.
    pub fn system_prompt(&self) -> Option<String> {
        match self.chat_system_prompt.as_deref() {
            None => Some(GROUNDED.to_owned()),
            Some("none") => None,
            Some(text) => Some(text.to_owned()),
        }
    }
}
