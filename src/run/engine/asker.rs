//! Who reads the answer to an interrupt: the task that asked, as this version of the flow has it.
//!
//! An answer is taken only where that task will read it. One that nothing reads would be lost without a word.

use serde_json::Value as Json;

use crate::expr::Type;
use crate::ir::{GraphId, ToolId};
use crate::run::error::RunError;
use crate::run::interrupt::OpenInterrupt;
use crate::run::plan::{NodePlan, WorkPlan};
use crate::run::work::{approve, in_doubt, narrow};
use crate::value::Map;

use super::{Engine, Gone, StartError};

/// Who waits for an answer.
struct Asker<'p> {
    /// The node of the task.
    node: &'p NodePlan,
    /// The graphs above the one that the node is in, from the outermost in.
    callers: Vec<GraphId>,
}

impl Engine {
    /// The type of an interrupt's answer in this version of the flow.
    ///
    /// # Errors
    /// [`StartError::Version`] where the task that waits for it does not ask any more.
    pub(super) fn expected(
        &self,
        graph: GraphId,
        open: &OpenInterrupt,
    ) -> Result<&Type, StartError> {
        let asker = self.asker(graph, &open.task);
        let node = asker.as_ref().map(|asker| asker.node);
        if in_doubt::is_question(open) {
            let tool = node.and_then(|node| self.called(node, open));
            return match tool.filter(|tool| self.leaves(*tool)) {
                Some(_) => Ok(self.plan.happened.as_ref().unwrap_or(&Type::Json)),
                None => Err(self.unread(open, "whether a call of", "has happened")),
            };
        }
        if approve::is_approval(open) {
            let tool = node.and_then(|node| self.called(node, open));
            return match tool.filter(|tool| self.plan.flow.tools[*tool].asks()) {
                Some(_) => Ok(self.plan.approval.as_ref().unwrap_or(&Type::Json)),
                None => Err(self.unread(open, "whether", "may be called")),
            };
        }
        node.and_then(|node| own(node, &open.node)).ok_or_else(|| {
            // A node that is there under its name has not been renamed.
            let gone = match node {
                Some(_) => Gone::Question,
                None => Gone::Node(open.node.clone()),
            };
            let message = format!(
                "the thread waits at `{}`, which is no interrupt of the flow any more",
                open.place()
            );
            StartError::Version { message, gone }
        })
    }

    /// The type of which a task takes the answer to a question at a path, where it asks it at all in this version.
    pub(super) fn takes(&self, graph: GraphId, task: &str, path: &str) -> Option<&Type> {
        let name = path.rsplit('/').next().unwrap_or(path);
        own(self.asker(graph, task)?.node, name)
    }

    /// Whether the task that asks if a tool may be called may call it with those arguments.
    ///
    /// # Errors
    /// Kind `tool_error`, with the condition that does not hold or the fixed argument that is another.
    pub(super) fn let_through(
        &self,
        graph: GraphId,
        open: &OpenInterrupt,
        args: &Map,
    ) -> Result<(), RunError> {
        let Some(asker) = self.asker(graph, &open.task) else {
            return Ok(());
        };
        match self.called(asker.node, open) {
            Some(tool) => {
                let declared = &self.plan.flow.tools[tool];
                let asked = open.ask.get("args").unwrap_or(&Json::Null);
                narrow::unchanged(asker.node, (tool, declared), asked, args)?;
                narrow::held(&self.plan, asker.node, &asker.callers, tool, args)
            }
            None => Ok(()),
        }
    }

    /// The node of a task, by the task's key: `0:content/1:inner[2]`.
    fn asker(&self, graph: GraphId, task: &str) -> Option<Asker<'_>> {
        let mut graph = Some(graph);
        let mut callers = Vec::new();
        let mut node = None;
        for part in task.split('/') {
            let (_, name) = part.split_once(':')?;
            let name = name.split('[').next().unwrap_or(name);
            callers.push(graph?);
            let mut nodes = self.plan.graphs[graph?].nodes.iter();
            node = nodes.find(|node| *node.name == *name);
            graph = match &node?.work {
                WorkPlan::Subgraph { graph, .. } => Some(*graph),
                _ => None,
            };
        }
        callers.pop();
        node.map(|node| Asker { node, callers })
    }

    /// The tool that an interrupt is about, where the node may call it.
    fn called(&self, node: &NodePlan, open: &OpenInterrupt) -> Option<ToolId> {
        let name = open.ask.get("tool")?.as_str()?;
        let tools = match &node.work {
            WorkPlan::Call { tool, .. } => std::slice::from_ref(tool),
            WorkPlan::Agent { call, .. } => &call.tools,
            WorkPlan::Tools { tools, .. } => tools,
            _ => return None,
        };
        let mut tools = tools.iter().copied();
        tools.find(|tool| *self.plan.tools[*tool].name == *name)
    }

    /// Whether calls of a tool leave the process.
    fn leaves(&self, tool: ToolId) -> bool {
        let served = self.backends.tools.get(tool).and_then(Option::as_ref);
        self.plan.tools[tool].body.is_none() || served.is_some()
    }

    fn unread(&self, open: &OpenInterrupt, asked: &str, of: &str) -> StartError {
        let tool = open.ask.get("tool").and_then(|tool| tool.as_str());
        let message = format!(
            "the thread has asked {asked} `{}` {of} (`{}`), and nothing of the flow reads the answer any more; the thread is as it was",
            tool.unwrap_or_default(),
            open.place()
        );
        let gone = Gone::Question;
        StartError::Version { message, gone }
    }
}

/// The type of the answer that a node waits for under that name: its own, or of an interrupt around it.
fn own<'p>(node: &'p NodePlan, name: &str) -> Option<&'p Type> {
    if *node.name == *name {
        return match &node.work {
            WorkPlan::Interrupt { expect, .. } => Some(expect),
            _ => None,
        };
    }
    let mut stops = node.before.iter().chain(&node.after);
    let stop = stops.find(|stop| *stop.name == *name)?;
    Some(&stop.expect)
}
