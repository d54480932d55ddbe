//! Own properties of `llm`, `agent` and `tools` nodes.

use crate::ast::Name;
use crate::ast::node::{Node as Written, PropertyKind};
use crate::diag::{Diagnostic, codes};
use crate::ir::ModelId;

use super::super::Resolver;
use super::super::names::{Thing, Wanted};
use super::super::node::{ModelCall, Work};
use super::super::program::ToolList;
use super::Inside;
use super::property::Properties;

/// Turns of an `agent` that says nothing of them.
const DEFAULT_TURNS: u32 = 25;

/// Words of `tool_choice` that are no tool.
const CHOICES: [&str; 3] = ["auto", "none", "required"];

impl Resolver<'_> {
    /// `agent`
    pub(super) fn agent(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Work {
        let max_turns = properties.one(|kind| match kind {
            PropertyKind::MaxTurns(turns) => Some(turns),
            _ => None,
        });
        let until = properties.one(|kind| match kind {
            PropertyKind::Until(condition) => Some(condition),
            _ => None,
        });
        let call = self.model_call(inside, node, properties);
        let turns = max_turns
            .map(|turns| self.count((inside.file, inside.graph), "`max_turns`", turns))
            .unwrap_or_default();
        Work::Agent {
            call: Box::new(call),
            max_turns: turns.number.unwrap_or(DEFAULT_TURNS),
            turns_by: turns.by.map(Box::new),
            until: until.map(|condition| Box::new(self.expr(inside.file, condition))),
            parallel: parallel(properties),
        }
    }

    /// `tools`
    pub(super) fn tools_node(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Work {
        let written = messages(properties);
        if written.is_none() {
            let message = format!("`tools` node `{}` has no `messages`", node.name.node);
            self.missing(node, message, "write `messages state.messages`");
        }
        let own = self.node_tools(inside, properties);
        let tools = own.or_else(|| self.program.graphs[inside.graph].tools.clone());
        if tools.is_none() && !inside.has_tools {
            let message = format!("`tools` node `{}` has no `tools`", node.name.node);
            self.missing(
                node,
                message,
                "list them here or in the graph: `tools [..]`",
            );
        }
        Work::Tools {
            messages: written.map(|expr| Box::new(self.expr(inside.file, expr))),
            tools,
            parallel: parallel(properties),
        }
    }

    /// What `llm` and `agent` share.
    pub(super) fn model_call(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> ModelCall {
        let file = inside.file;
        let system = properties.one(|kind| match kind {
            PropertyKind::System(template) => Some(template),
            _ => None,
        });
        let prompt = properties.one(|kind| match kind {
            PropertyKind::Prompt(template) => Some(template),
            _ => None,
        });
        let output = properties.one(|kind| match kind {
            PropertyKind::Output(ty) => Some(ty),
            _ => None,
        });
        let stream = properties.one(|kind| match kind {
            PropertyKind::Stream(stream) => Some(stream.node),
            _ => None,
        });
        let ensures = properties.all(|kind| match kind {
            PropertyKind::Ensure(ensure) => Some(&**ensure),
            _ => None,
        });
        let ensures = ensures.into_iter().map(|e| self.require(file, e)).collect();
        let written = messages(properties);
        if system.is_none() && prompt.is_none() && written.is_none() {
            let kind = node.kind.keyword();
            let message = format!(
                "`{kind}` node `{}` says nothing to its model",
                node.name.node
            );
            self.missing(node, message, "give it `messages`, `prompt` or `system`");
        }
        let tools = self.node_tools(inside, properties);
        ModelCall {
            model: self.node_model(inside, node, properties),
            system: system.and_then(|template| self.template(file, template)),
            prompt: prompt.and_then(|template| self.template(file, template)),
            messages: written.map(|expr| self.expr(file, expr)),
            output: output.map(|ty| self.spanned_type(file, ty)),
            ensures,
            tool_choice: self.tool_choice(properties, tools.as_ref()),
            tools,
            stream: stream.unwrap_or(true),
        }
    }

    fn node_model(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Option<ModelId> {
        let own = properties.one(|kind| match kind {
            PropertyKind::Model(name) => Some(name),
            _ => None,
        });
        if let Some(name) = own {
            return match self.find(inside.file, name, Wanted::Model)? {
                Thing::Model(model) => Some(model),
                _ => None,
            };
        }
        // What did not parse of the graph may be its model.
        if !inside.has_model && !self.program.graphs[inside.graph].broken {
            let message = format!("`{}` names no model", node.name.node);
            let help = "write `model NAME` here, or in the graph for all its nodes";
            let graph = self.program.graphs[inside.graph].name.span;
            self.missing_of(node, message, help, Some(graph));
        }
        self.program.graphs[inside.graph]
            .model
            .map(|model| model.node)
    }

    fn node_tools(&mut self, inside: &Inside, properties: &Properties) -> Option<ToolList> {
        let property = properties.whole(|kind| matches!(kind, PropertyKind::Tools(_)))?;
        match &property.kind {
            PropertyKind::Tools(refs) => {
                if refs.is_empty() {
                    self.no_tools("this `tools`", property.span);
                }
                Some(self.tool_list(inside.file, refs, property.span))
            }
            _ => None,
        }
    }

    fn tool_choice(&mut self, properties: &Properties, tools: Option<&ToolList>) -> Option<Name> {
        let choice = properties.one(|kind| match kind {
            PropertyKind::ToolChoice(name) => Some(name),
            _ => None,
        })?;
        if CHOICES.contains(&choice.node.as_str()) {
            if choice.node == "required" && tools.is_none() {
                let message = "`tool_choice required` needs `tools` that the model can choose from";
                let found = Diagnostic::new(&codes::MISSING_PROPERTY, message, choice.span);
                self.diags
                    .push(found.help("write `tools [..]`, or take `tool_choice` out"));
            }
            return Some(choice.clone());
        }
        let listed = tools.into_iter().flat_map(|list| &list.tools);
        let all = &self.program.tools;
        let names: Vec<&str> = listed
            .filter_map(|used| all.get(used.tool).map(|tool| tool.name.node.as_str()))
            .collect();
        if names.contains(&choice.node.as_str()) {
            return Some(choice.clone());
        }
        let message = format!("`{}` is none of the node's tools", choice.node);
        let words: Vec<&str> = names.iter().copied().chain(CHOICES).collect();
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_TOOL, message, choice.span);
        self.diags
            .push(diagnostic.meant(choice.span, &choice.node, words, "it can be"));
        None
    }
}

fn messages<'w>(properties: &Properties<'w>) -> Option<&'w crate::ast::expr::Expr> {
    properties.one(|kind| match kind {
        PropertyKind::Messages(messages) => Some(messages),
        _ => None,
    })
}

/// Tools of one turn run at the same time unless it is said otherwise.
fn parallel(properties: &Properties) -> bool {
    let written = properties.one(|kind| match kind {
        PropertyKind::Parallel(parallel) => Some(parallel.node),
        _ => None,
    });
    written.unwrap_or(true)
}
