//! What an embedding program brings itself, by the names of the flow.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::project::lacking::Brings;
use crate::run::extern_node::ExternNode;
use crate::run::memory;
use crate::run::model::ChatModel;
use crate::run::tool::ToolBackend;

/// Models, tools and `extern` nodes that go before all that settings or a scenario say.
#[derive(Clone, Default)]
pub struct Given {
    /// By name of the model in the flow.
    pub models: BTreeMap<String, Arc<dyn ChatModel>>,
    /// For models that have no entry of their own.
    pub every_model: Option<Arc<dyn ChatModel>>,
    /// By name of the tool, also of one that has a body.
    pub tools: BTreeMap<String, Arc<dyn ToolBackend>>,
    /// By the name that the `extern` node has.
    pub externs: BTreeMap<String, Arc<dyn ExternNode>>,
    /// How long-term memory works.
    pub memory: Option<Arc<memory::Settings>>,
}

impl Given {
    /// The model of that name.
    pub fn model(&self, name: &str) -> Option<Arc<dyn ChatModel>> {
        let own = self.models.get(name).or(self.every_model.as_ref());
        own.map(Arc::clone)
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<Arc<dyn ToolBackend>> {
        self.tools.get(name).map(Arc::clone)
    }
}

impl Brings for Given {
    fn brings_model(&self, name: &str) -> bool {
        self.every_model.is_some() || self.models.contains_key(name)
    }

    fn brings_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    fn brings_memory(&self) -> bool {
        self.memory.is_some()
    }
}
