//! `permit` of a question: the arguments that it pins and its condition, behind the answer.

use crate::ast::expr::Expr;
use crate::ast::item::{Let, NamedArg};
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::Narrowing;
use crate::expr::ty::ANSWERED;
use crate::resolve::answer::AnswerNames;
use crate::resolve::program::Permit;

use super::args::Callee;
use super::constant::Decides;
use super::cx::Cx;

impl Cx<'_> {
    /// Brings the answer to a question and who gave it into scope, and types what it permits.
    pub(super) fn answered(
        &mut self,
        answer: &str,
        ty: Type,
        (lets, permits): (&[Let], &[Permit]),
    ) {
        self.declare(answer, ty);
        self.declare("answered", Type::Record(ANSWERED));
        let names = AnswerNames::of(answer, lets);
        for permit in permits {
            self.permit(answer, &names, permit);
        }
    }

    fn permit(&mut self, answer: &str, names: &AnswerNames, permit: &Permit) {
        let (scope, known) = (self.scope.clone(), self.facts.known.clone());
        if let Some(each) = &permit.each {
            let element = self.elements(&each.items);
            self.declare(&each.var.node, element);
        }
        let asked = self.facts.known.clone();
        if let Some(when) = &permit.when {
            match names.read_by(when) {
                true => _ = self.deciding(when, Decides::Permit(&permit.name.node)),
                false => {
                    self.condition(when);
                    self.ignores_answer(answer, permit, when);
                }
            }
            self.assume(when, true);
        }
        // What doesn't read the answer is computed ahead of it, whatever the condition will say.
        let behind = self.facts.known.clone();
        let late = permit
            .each
            .as_ref()
            .is_some_and(|each| names.read_by(&each.items));
        self.pins(permit, |arg| match late || names.read_by(&arg.value) {
            true => behind.clone(),
            false => asked.clone(),
        });
        self.scope = scope;
        self.facts.known = known;
    }

    fn pins(&mut self, permit: &Permit, known: impl Fn(&NamedArg) -> Narrowing) {
        let tool = permit.tool.and_then(|id| self.program.tools.get(id));
        let (Some(tool), Some(args)) = (tool, &permit.args) else {
            return;
        };
        let callee = Callee {
            what: format!("tool `{}`", permit.name.node),
            params: &tool.params,
            span: permit.name.span,
            declared: tool.name.span,
        };
        self.args_knowing(&callee, args, known);
    }

    fn ignores_answer(&mut self, answer: &str, permit: &Permit, when: &Expr) {
        let message = format!(
            "the condition of `permit {}` doesn't read the answer: whatever is answered, the call is permitted or not",
            permit.name.node
        );
        self.report(
            Diagnostic::new(&codes::ANSWER_IGNORED, message, when.span).help(format!(
                "let the answer decide: `when {answer} == ..`, or a field of it"
            )),
        );
    }
}
