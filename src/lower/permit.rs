//! `permit` of questions: every argument of the tool, and which of them are known ahead of the answer.

use crate::ast::item::{Let, NamedArg};
use crate::ir::node::{Permit, PermitEach, Pin};
use crate::resolve::answer::AnswerNames;
use crate::resolve::node as from;
use crate::resolve::program::Tool;

use super::Lowering;

impl Lowering<'_> {
    /// The permissions of the question whose answer has that name.
    pub(super) fn permits(
        &self,
        answer: &str,
        lets: &[Let],
        permits: &[from::Permit],
    ) -> Vec<Permit> {
        let names = AnswerNames::of(answer, lets);
        let permits = permits.iter().filter_map(|permit| {
            let tool = permit.tool?;
            let pins = permit.args.as_ref().map(|args| {
                let declared = &self.program.tools[tool];
                self.pins(declared, permit, args, &names)
            });
            Some(Permit {
                tool,
                once: permit.once,
                each: permit.each.as_ref().map(|each| PermitEach {
                    var: each.var.node.clone(),
                    items: self.expr(&each.items),
                    by_answer: names.read_by(&each.items),
                }),
                pins,
                when: self.maybe(&permit.when),
                at: self.place(permit.span),
            })
        });
        permits.collect()
    }

    /// One for each parameter, in the tool's order: its default where the permission doesn't name it.
    fn pins(
        &self,
        tool: &Tool,
        permit: &from::Permit,
        args: &[NamedArg],
        names: &AnswerNames,
    ) -> Vec<Pin> {
        let pins = tool.params.iter().map(|param| {
            let given = args.iter().find(|arg| arg.name.node == param.name.node);
            Pin {
                name: param.name.node.clone(),
                by_answer: given.is_some_and(|arg| names.read_by(&arg.value)),
                value: match given {
                    Some(arg) => self.expr(&arg.value),
                    None => self.left_out(param, self.place(permit.name.span)),
                },
            }
        });
        pins.collect()
    }
}
