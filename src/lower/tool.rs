//! Tools and their bodies.

use crate::resolve::program as from;

use super::Lowering;
use super::ends::Names;
use crate::expr::Type;
use crate::expr::infer::default_value;
use crate::ir::flow::{Sink, Tool, ToolBody, ToolSet};

impl Lowering<'_> {
    /// A tool.
    pub fn tool(&self, tool: &from::Tool) -> Tool {
        Tool {
            name: tool.name.node.clone(),
            doc: tool.doc.clone(),
            params: self.fields(&tool.params),
            returns: tool.returns.as_ref().map(|ty| ty.node.clone()),
            effect: tool.effect,
            idempotent: tool.idempotent,
            timeout_ms: tool.timeout_ms,
            approve: tool.approve.is_some(),
            unattended: tool.unattended.is_some(),
            untrusted: tool.marks.untrusted.is_some(),
            private: tool.marks.private.is_some(),
            secret: tool.marks.secret.is_some(),
            on_error: tool.on_error.as_ref().and_then(|value| {
                let ty = tool.returns.as_ref().map_or(&Type::Null, |ty| &ty.node);
                default_value(value, ty, &self.program.types)
            }),
            sinks: sinks(tool),
            body: tool.body.as_ref().map(|body| self.tool_body(body)),
            at: self.place(tool.span),
        }
    }

    fn tool_body(&self, body: &from::ToolBody) -> ToolBody {
        let reads = body.reads.iter();
        let set = body.set.iter().map(|item| ToolSet {
            field: item.field.node.clone(),
            replace: item.replace,
            value: self.expr(&item.value),
        });
        ToolBody {
            reads: reads
                .map(|field| (field.name.node.clone(), field.ty.node.clone()))
                .collect(),
            lets: self.lets(&body.lets),
            requires: self.requires(&body.requires),
            set: set.collect(),
            emits: self.emits(&body.emits),
            goto: body
                .goto
                .as_ref()
                .map(|route| self.route(route, Names::none())),
            returns: self.maybe(&body.returns),
        }
    }
}

fn sinks(tool: &from::Tool) -> Vec<Sink> {
    let marked = tool.params.iter().filter_map(|param| {
        Some(Sink {
            param: param.name.node.clone(),
            kind: param.sink?.kind,
        })
    });
    marked.collect()
}
