//! The registry of agents.

use super::list_documents::{self, ListDocuments};
use super::search_docs::SearchDocs;
use super::tool::Tool;
use crate::search::search_docs;
use docent_domain::chat::AgentName;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An agent: a name, a system prompt, tools, and the maximum number of model calls per answer.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "tools have no debug form")]
pub struct Agent {
    /// The name, as in `POST /agents/<name>`.
    pub name: AgentName,
    /// The system prompt, such as [`GROUNDED`](super::prompt::GROUNDED), if any.
    pub system_prompt: Option<String>,
    /// The tools that the model may call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Maximum number of model calls for one answer.
    pub max_iterations: usize,
}

impl Agent {
    /// The agent with the tools of a model that reads records.
    pub(super) fn reading_records(&self) -> Self {
        let mut agent = self.clone();
        let lists = |tool: &Arc<dyn Tool>| tool.spec().name == list_documents::SPEC.name;
        if !agent.tools.iter().any(lists) {
            agent.tools.push(Arc::new(ListDocuments));
        }
        agent
    }

    /// Whether it can search documents.
    pub(super) fn has_search(&self) -> bool {
        self.tools.iter().any(|tool| tool.spec().name == search_docs::SPEC.name)
    }
}

/// Agents by name; each is available at `POST /agents/<name>`.
#[derive(Clone, Default)]
#[allow(missing_debug_implementations, reason = "tools have no debug form")]
pub struct AgentRegistry {
    agents: BTreeMap<AgentName, Arc<Agent>>,
}

impl AgentRegistry {
    /// The built-in agents: `chat`, with this system prompt and the tool `search_docs`. If the model reads records, it also
    /// has the tool `list_documents`.
    pub fn standard(max_iterations: usize, system_prompt: Option<String>, reads_records: bool) -> Self {
        let mut registry = Self::default();
        // The constant is a valid name; the test below checks that the agent is registered.
        if let Ok(name) = AgentName::parse("chat") {
            let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(SearchDocs)];
            if reads_records {
                tools.push(Arc::new(ListDocuments));
            }
            registry.register(Agent { name, system_prompt, tools, max_iterations });
        }
        registry
    }

    /// Adds an agent, or replaces the agent of the same name.
    pub fn register(&mut self, agent: Agent) {
        self.agents.insert(agent.name.clone(), Arc::new(agent));
    }

    /// The agent with this name.
    pub fn get(&self, name: &str) -> Option<Arc<Agent>> {
        let name = AgentName::parse(name).ok()?;
        self.agents.get(&name).map(Arc::clone)
    }

    /// All agents, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values().map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_registry_has_chat_with_search_docs() {
        let registry = AgentRegistry::standard(10, None, false);
        let names = |registry: &AgentRegistry| -> Vec<&'static str> {
            registry.get("chat").unwrap().tools.iter().map(|tool| tool.spec().name).collect()
        };
        assert_eq!(names(&registry), ["search_docs"]);
        assert_eq!(names(&AgentRegistry::standard(10, None, true)), ["search_docs", "list_documents"]);
        assert!(registry.get("unknown").is_none());
        assert!(registry.get("../chat").is_none());
    }
}
