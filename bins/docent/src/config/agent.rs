//! Agents and search.

use super::{
    declare::{section, text},
    value::within,
};

section! {
    /// How agents answer.
    Agent "Agents" {
        /// How often an agent may call its model for one answer.
        agent_max_iterations: u32 = text("10"), within(1..=100);
        /// The chunks that `search_docs` retrieves.
        search_limit: usize = text("5"), within(1..=50);
    }
}
