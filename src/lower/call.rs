//! What nodes do.

use crate::expr::ty::Type;
use crate::ir::{FieldId, FieldMode, ModelId, ToolId};
use crate::resolve::graph::Graph;
use crate::resolve::node as from;
use crate::resolve::program::ToolList;

use super::Lowering;
use super::ends::Names;
use crate::ir::node::{Ask, Binding, InterruptTimeout, ModelCall, Pass, Work};

impl Lowering<'_> {
    /// The node's own work.
    pub fn work(&self, graph: &Graph, node: &from::Node, names: Names<'_>) -> Work {
        match &node.work {
            from::Work::Llm(call) => Work::Llm(self.model_call(call).into()),
            from::Work::Agent {
                call,
                max_turns,
                until,
                parallel,
                ..
            } => Work::Agent {
                call: self.model_call(call).into(),
                max_turns: *max_turns,
                until: until.as_ref().map(|until| self.expr(until)),
                parallel: *parallel,
            },
            from::Work::Tools {
                messages: Some(messages),
                tools,
                parallel,
            } => Work::Tools {
                messages: self.expr(messages),
                tools: tool_ids(tools),
                parallel: *parallel,
            },
            from::Work::Call {
                tool: Some(tool),
                args,
                ..
            } => Work::Call {
                tool: *tool,
                args: self.named(args),
            },
            from::Work::Branch => Work::Branch,
            from::Work::Interrupt {
                ask: Some(ask),
                expect,
                permits,
                timeout,
            } => Work::Interrupt {
                permits: self.permits("answer", &node.lets, permits),
                ask: self.ask(ask),
                expect: expect.as_ref().map(|ty| ty.node.clone()),
                timeout: timeout.as_ref().map(|timeout| InterruptTimeout {
                    after_ms: timeout.after_ms,
                    to: self.jump(&timeout.to, names),
                }),
            },
            from::Work::Subgraph {
                graph: Some(called),
                with,
                into,
                persist,
                ..
            } => Work::Subgraph {
                graph: *called,
                with: self.with(graph, &self.program.graphs[*called], with),
                into: self.into(graph, &self.program.graphs[*called], into),
                persist: *persist,
            },
            from::Work::Extern {
                name,
                reads,
                writes,
            } => Work::Extern {
                name: name.node.clone(),
                reads: reads.iter().map(|field| field.node).collect(),
                writes: writes.iter().map(|field| field.node).collect(),
            },
            // Pure, or left open by an error.
            _ => Work::Update,
        }
    }

    fn model_call(&self, call: &from::ModelCall) -> ModelCall {
        let ty = |ty: &crate::base::Spanned<Type>| ty.node.clone();
        ModelCall {
            // Without a model there is an error, and no flow.
            model: call.model.unwrap_or(ModelId(0)),
            system: call.system.as_ref().map(|text| self.words(text)),
            prompt: call.prompt.as_ref().map(|text| self.words(text)),
            messages: self.maybe(&call.messages),
            output: call.output.as_ref().map(ty),
            ensures: self.requires(&call.ensures),
            tools: tool_ids(&call.tools),
            tool_choice: call.tool_choice.as_ref().map(|name| name.node.clone()),
            stream: call.stream,
            stream_as: call.stream_as.as_deref().and_then(|emit| self.emit(emit)),
        }
    }

    /// What an interrupt shows.
    pub(super) fn ask(&self, ask: &from::Ask) -> Ask {
        match ask {
            from::Ask::Fields(fields) => Ask::Fields(self.named(fields)),
            from::Ask::Text(text) => Ask::Text(self.words(text)),
        }
    }

    /// `in` fields of the called graph in its order: as written, else from the caller's field of that name.
    fn with(&self, caller: &Graph, called: &Graph, with: &[from::Pass]) -> Vec<Pass> {
        let pass = |to: FieldId, name: &str| {
            let written = with.iter().find(|pass| pass.to == Some(to));
            match written {
                Some(pass) if pass.sent => Some(Pass::Sent { to }),
                Some(pass) => Some(Pass::Value {
                    to,
                    value: self.expr(&pass.value),
                }),
                None => caller.field(name).map(|from| Pass::Field { to, from }),
            }
        };
        let fields = called.fields.entries();
        fields
            .filter(|(_, field)| field.mode.is_in())
            .filter_map(|(to, field)| pass(to, &field.name.node))
            .collect()
    }

    /// `out` fields of the called graph in its order: as written, else into the caller's field of
    /// that name that may be written.
    fn into(&self, caller: &Graph, called: &Graph, into: &[from::Binding]) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for (from, field) in called.fields.entries() {
            if !field.mode.is_out() {
                continue;
            }
            let written: Vec<FieldId> = into
                .iter()
                .filter(|binding| binding.from == Some(from))
                .filter_map(|binding| binding.to)
                .collect();
            if written.is_empty() {
                let own = caller.field(&field.name.node);
                let writable = own.filter(|to| caller.fields[*to].mode != FieldMode::In);
                bindings.extend(writable.map(|to| Binding { from, to }));
            }
            bindings.extend(written.into_iter().map(|to| Binding { from, to }));
        }
        bindings
    }
}

fn tool_ids(list: &Option<ToolList>) -> Vec<ToolId> {
    let tools = list.iter().flat_map(|list| &list.tools);
    tools.map(|used| used.tool).collect()
}
