//! Which agents there are.

use super::{search_docs::SearchDocs, tool::Tool};
use docent_domain::chat::AgentName;
use std::{collections::BTreeMap, sync::Arc};

/// An agent: a name, its tools, and how often its model is called for one answer.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "tools have no debug form")]
pub struct Agent {
    /// The name it is reached by.
    pub name: AgentName,
    /// What its model is told before the conversation, such as [`GROUNDED`](super::prompt::GROUNDED); nothing
    /// when there is none.
    pub system_prompt: Option<String>,
    /// The tools its model may ask for.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Model calls for one answer, at most.
    pub max_iterations: usize,
}

/// Agents by name; each is reached at `POST /agents/<name>`.
#[derive(Clone, Default)]
#[allow(missing_debug_implementations, reason = "tools have no debug form")]
pub struct AgentRegistry {
    agents: BTreeMap<AgentName, Arc<Agent>>,
}

impl AgentRegistry {
    /// The agents that the service ships: `chat`, with this system prompt and `search_docs`.
    pub fn standard(max_iterations: usize, system_prompt: Option<String>) -> Self {
        let mut registry = Self::default();
        // A constant that is a valid name; the test below reads it back.
        if let Ok(name) = AgentName::parse("chat") {
            let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(SearchDocs)];
            registry.register(Agent { name, system_prompt, tools, max_iterations });
        }
        registry
    }

    /// Adds an agent; one of the same name is replaced.
    pub fn register(&mut self, agent: Agent) {
        self.agents.insert(agent.name.clone(), Arc::new(agent));
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Option<Arc<Agent>> {
        let name = AgentName::parse(name).ok()?;
        self.agents.get(&name).map(Arc::clone)
    }

    /// All agents, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values().map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_agent_is_chat_with_search() {
        let registry = AgentRegistry::standard(10, None);
        let chat = registry.get("chat").unwrap();
        assert_eq!(chat.tools[0].spec().name, "search_docs");
        assert!(registry.get("nobody").is_none());
        assert!(registry.get("../chat").is_none());
    }
}
