//! Tools and their bodies.

use crate::resolve::program as from;

use super::Lowering;
use super::ends::Names;
use crate::expr::Type;
use crate::expr::infer::default_value;
use crate::ir::FieldId;
use crate::ir::flow::{Sink, Tool, ToolBody, ToolSet};
use crate::ir::jump::{Jump, Route, SetItem};
use crate::resolve::target::Route as Written;

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
            progress: tool.progress,
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
            module: tool.module.clone(),
            body: tool.body.as_ref().map(|body| self.tool_body(body)),
            at: self.place(tool.span),
        }
    }

    fn tool_body(&self, body: &from::ToolBody) -> ToolBody {
        let reads = body.reads.iter();
        let set = body.set.iter().map(|item| ToolSet {
            field: item.name.node.clone(),
            replace: item.replace,
            value: self.expr(&item.value),
        });
        let mut fields: Vec<String> = Vec::new();
        for item in body.jump_sets() {
            if !fields.contains(&item.name.node) {
                fields.push(item.name.node.clone());
            }
        }
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
                .map(|route| self.tool_route(route, &fields)),
            fields,
            returns: self.maybe(&body.returns),
        }
    }

    /// A tool's jump: what its jumps write is named by position in `fields`.
    fn tool_route(&self, route: &Written, fields: &[String]) -> Route {
        let mut lowered = self.route(route, Names::none());
        let jumps: Vec<&mut Jump> = match &mut lowered {
            Route::Always(jump) => vec![jump],
            Route::Arms(arms) => arms.iter_mut().map(|arm| &mut arm.jump).collect(),
        };
        for (jump, written) in jumps.into_iter().zip(route.jumps()) {
            let items = written.set.iter().filter_map(|item| {
                let at = fields.iter().position(|name| *name == item.name.node)?;
                Some(SetItem {
                    field: FieldId(at as u32),
                    replace: item.replace,
                    value: self.expr(&item.value),
                })
            });
            jump.set = items.collect();
        }
        lowered
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
