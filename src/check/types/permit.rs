//! `permit` of a question: the arguments that it pins and its condition, behind the answer.

use crate::ast::item::{Let, NamedArg};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::Narrowing;
use crate::expr::ty::ANSWERED;
use crate::resolve::answer::AnswerNames;
use crate::resolve::node::place_of;
use crate::resolve::program::Permit;

use super::args::Callee;
use super::constant::Verdict;
use super::cx::Cx;

impl Cx<'_> {
    /// Brings the answer to a question and who gave it into scope, and types what it permits.
    /// `within` are the `let`s that are computed with the answer.
    pub(super) fn answered(
        &mut self,
        answer: &str,
        ty: Type,
        (lets, within, permits): (&[Let], &[Let], &[Permit]),
    ) {
        self.declare(answer, ty);
        self.declare("answered", Type::Record(ANSWERED));
        within.iter().for_each(|bound| self.bound(bound));
        let names = AnswerNames::of(answer, lets);
        for permit in permits {
            self.permit(answer, &names, permit);
        }
    }

    fn permit(&mut self, answer: &str, names: &AnswerNames, permit: &Permit) {
        let (scope, known) = (self.scope.clone(), self.facts.known.clone());
        let misnamed = self.called_answer(answer, permit);
        if let Some(each) = &permit.each {
            let element = self.elements(&each.items);
            self.declare(&each.var.node, element);
        }
        let asked = self.facts.known.clone();
        if let Some(when) = &permit.when {
            let verdict = Verdict::of(self, when);
            let before = self.diags.len();
            self.condition(when);
            let constant = verdict.filter(|_| self.diags.len() == before);
            let is = match (names.read_by(when), constant.map(|verdict| verdict.value)) {
                (false, _) => Some("doesn't read the answer"),
                (true, Some(true)) => Some("is always true"),
                (true, Some(false)) => Some("is never true"),
                (true, None) => None,
            };
            if let Some(is) = is.filter(|_| !misnamed) {
                let message = format!(
                    "the condition of `permit {}` {is}: whatever is answered, the call is permitted or not",
                    permit.name.node
                );
                let found = Diagnostic::new(&codes::ANSWER_IGNORED, message, when.span);
                self.report(found.help(format!(
                    "let the answer decide: `when {answer} == ..`, or a field of it"
                )));
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

    /// Reports `answer` where the question stands around a node: its answer has the question's name.
    fn called_answer(&mut self, name: &str, permit: &Permit) -> bool {
        if self.scope.slot("answer").is_some() {
            return false;
        }
        let places: Vec<Span> = permit
            .exprs()
            .filter_map(|e| place_of(e, "answer"))
            .collect();
        for at in &places {
            let found = Diagnostic::new(&codes::UNKNOWN_NAME, "no `answer` in scope", *at);
            let help = format!("the answer to `interrupt {name}` is called `{name}`");
            self.report(found.help(help).fix(*at, name));
        }
        if !places.is_empty() {
            self.declare("answer", Type::Error);
        }
        !places.is_empty()
    }
}
