//! `permit` of a question: the arguments that it pins and its condition, behind the answer.

use std::collections::BTreeSet;

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
        expect: Option<&Type>,
        (lets, within, permits): (&[Let], &[Let], &[Permit]),
    ) {
        self.declare(answer, expect.cloned().unwrap_or(Type::Json));
        self.declare("answered", Type::Record(ANSWERED));
        within.iter().for_each(|bound| self.bound(bound));
        for permit in permits {
            if permit.when.is_none() && permit.args.is_some() {
                self.permits_a_no(answer, expect, permit);
            }
            self.permit(answer, lets, permit);
        }
    }

    /// Reports a permission that each answer gives, where one of them may mean no.
    fn permits_a_no(&mut self, answer: &str, expect: Option<&Type>, permit: &Permit) {
        let Some(ty) = expect.filter(|ty| self.may_refuse(ty)) else {
            return;
        };
        let message = format!(
            "each answer permits `{}`, though one of type {} may mean no",
            permit.name.node,
            self.show(ty)
        );
        let found = Diagnostic::new(&codes::ANSWER_IGNORED, message, permit.span);
        let yes = self.yes(answer, ty);
        let found = found.help(format!("say which answers permit it: `when {yes}`"));
        self.report(match ty {
            Type::Bool => found.fix(permit.span.after(), format!(" when {yes}")),
            _ => found,
        });
    }

    /// Whether an answer of the type may mean no. A text, a number or a time says how, not whether; in a record
    /// what is null was left out.
    fn may_refuse(&self, ty: &Type) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            match ty {
                Type::Bool | Type::Enum(_) | Type::Union(_) | Type::Nullable(_) | Type::Json => {
                    return true;
                }
                Type::List(of) | Type::Map(of) => open.push(of),
                Type::Record(id) if seen.insert(*id) => {
                    let fields = self.program.types.records.get(*id).into_iter();
                    let fields = fields.flat_map(|record| &record.fields);
                    open.extend(fields.map(|field| match &field.ty {
                        Type::Nullable(of) => of,
                        ty => ty,
                    }));
                }
                _ => {}
            }
        }
        false
    }

    /// A condition that an answer of the type may be asked.
    fn yes(&self, answer: &str, ty: &Type) -> String {
        match ty {
            Type::Bool => answer.to_owned(),
            Type::Record(id) => {
                let fields = self.program.types.records.get(*id).into_iter();
                let mut fields = fields.flat_map(|record| &record.fields);
                match fields.find(|field| field.ty == Type::Bool) {
                    Some(field) => format!("{answer}.{}", field.name),
                    None => format!("{answer}.FIELD == .."),
                }
            }
            _ => format!("{answer} == .."),
        }
    }

    fn permit(&mut self, answer: &str, lets: &[Let], permit: &Permit) {
        let names = AnswerNames::of(answer, lets);
        let mut itself = AnswerNames::itself(answer, lets);
        let (scope, known) = (self.scope.clone(), self.facts.known.clone());
        let misnamed = self.called_answer(answer, permit);
        if let Some(each) = &permit.each {
            let element = self.elements(&each.items);
            self.declare(&each.var.node, element);
            if itself.read_by(&each.items) {
                itself.add(&each.var.node);
            }
        }
        let asked = self.facts.known.clone();
        if let Some(when) = &permit.when {
            let verdict = Verdict::of(self, when);
            let before = self.diags.len();
            self.condition(when);
            let constant = verdict.filter(|_| self.diags.len() == before);
            let is = match (itself.read_by(when), constant.map(|verdict| verdict.value)) {
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
