//! Own properties of `llm`, `agent` and `tools` nodes.

use crate::ast::Name;
use crate::diag::{Diagnostic, codes};
use crate::ir::ModelId;

use super::super::Resolver;
use super::super::names::{Definition, Wanted};
use super::super::node::{ModelCall, Work};
use super::super::program::{Emit, ToolList};
use super::property::{Properties, all, one, placed};

/// Turns of an `agent` that says nothing of them.
const DEFAULT_TURNS: u32 = 25;

/// Words of `tool_choice` that are no tool.
const CHOICES: [&str; 3] = ["auto", "none", "required"];

impl Resolver<'_> {
    /// `agent`
    pub(super) fn agent(&mut self, of: &Properties) -> Work {
        let call = self.model_call(of);
        let turns = one!(of, MaxTurns).map(|turns| self.count(of.inside, "`max_turns`", turns));
        let turns = turns.unwrap_or_default();
        Work::Agent {
            call: Box::new(call),
            max_turns: turns.number.unwrap_or(DEFAULT_TURNS),
            turns_by: turns.by.map(Box::new),
            until: one!(of, Until).map(|until| Box::new(self.expr(of.inside.file, until))),
            parallel: parallel(of),
        }
    }

    /// `tools`
    pub(super) fn tools_node(&mut self, of: &Properties) -> Work {
        let name = &of.node.name.node;
        let messages = one!(of, Messages);
        if messages.is_none() {
            let message = format!("`tools` node `{name}` has no `messages`");
            self.missing(of, message, "write `messages state.messages`");
        }
        let own = self.node_tools(of);
        let tools = own.or_else(|| self.program.graphs[of.inside.graph].tools.clone());
        if tools.is_none() && !of.inside.has_tools {
            let message = format!("`tools` node `{name}` has no `tools`");
            self.missing(of, message, "list them here or in the graph: `tools [..]`");
        }
        Work::Tools {
            messages: messages.map(|messages| Box::new(self.expr(of.inside.file, messages))),
            tools,
            parallel: parallel(of),
        }
    }

    /// What `llm` and `agent` share.
    pub(super) fn model_call(&mut self, of: &Properties) -> ModelCall {
        let file = of.inside.file;
        let (system, prompt) = (one!(of, System), one!(of, Prompt));
        let messages = one!(of, Messages);
        if system.is_none() && prompt.is_none() && messages.is_none() {
            let (kind, name) = (of.node.kind.keyword(), &of.node.name.node);
            let message = format!("`{kind}` node `{name}` says nothing to its model");
            self.missing(of, message, "give it `messages`, `prompt` or `system`");
        }
        let tools = self.node_tools(of);
        ModelCall {
            model: self.node_model(of),
            system: system.and_then(|template| self.template(file, template)),
            prompt: prompt.and_then(|template| self.template(file, template)),
            messages: messages.map(|expr| self.expr(file, expr)),
            output: one!(of, Output).map(|ty| self.spanned_type(file, ty)),
            ensures: all!(of, Ensure).map(|e| self.require(file, e)).collect(),
            tool_choice: self.tool_choice(of, tools.as_ref()),
            tools,
            stream: one!(of, Stream).is_none_or(|stream| stream.node),
            stream_as: self.stream_as(of).map(Box::new),
        }
    }

    /// `stream as EVENT { .. }`: a piece of a reply has a name of its own in it, which no `let` may have, and there are pieces.
    fn stream_as(&mut self, of: &Properties) -> Option<Emit> {
        let (emit, property) = placed!(of, StreamAs(emit) => emit)?;
        if let Some((switch, other)) = placed!(of, Stream(switch) => switch)
            && !switch.node
        {
            let message =
                "`stream false` has a reply come whole, and `stream as` sends it in pieces";
            let (first, second) = match other.keyword.start < property.keyword.start {
                true => (other.keyword, property.keyword),
                false => (property.keyword, other.keyword),
            };
            let found = Diagnostic::new(&codes::DUPLICATE_PROPERTY, message, second)
                .label(first, "contradicts this")
                .help("take one of them out; an `emit` with `reply.text` sends the whole text");
            self.diags.push(found);
        }
        for bound in all!(of, Let) {
            self.free_of_chunk(&bound.name);
        }
        Some(self.emit(of.inside.file, emit))
    }

    fn node_model(&mut self, of: &Properties) -> Option<ModelId> {
        let inside = of.inside;
        if let Some(name) = one!(of, Model) {
            return match self.find(inside.file, name, Wanted::Model)? {
                Definition::Model(model) => Some(model),
                _ => None,
            };
        }
        let graph = &self.program.graphs[inside.graph];
        let (model, at) = (
            graph.model.as_ref().map(|model| model.node),
            graph.name.span,
        );
        // What did not parse of the graph may be its model.
        if !inside.has_model && !graph.broken {
            let message = format!("`{}` names no model", of.node.name.node);
            let help = "write `model NAME` here, or in the graph for all its nodes";
            self.missing_of(of.node, message, help, Some(at));
        }
        model
    }

    fn node_tools(&mut self, of: &Properties) -> Option<ToolList> {
        let (refs, property) = placed!(of, Tools(refs) => refs)?;
        if refs.is_empty() {
            self.no_tools("this `tools`", property.span);
        }
        Some(self.tool_list(of.inside.file, refs, property.span))
    }

    fn tool_choice(&mut self, of: &Properties, tools: Option<&ToolList>) -> Option<Name> {
        let choice = one!(of, ToolChoice)?;
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

/// Tools of one turn run at the same time unless it is said otherwise.
fn parallel(of: &Properties) -> bool {
    one!(of, Parallel).is_none_or(|parallel| parallel.node)
}
