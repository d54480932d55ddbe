//! `brief: prompt(round: int, notes: string)`: the values that a prompt is given which stands for a parameter.
//!
//! Such a prompt takes any of them. What it takes beside them nobody would give it.

use crate::ast::graph::Graph as Written;
use crate::ast::ty::Field;
use crate::base::name::list;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::assignable;

use super::super::Resolver;
use super::super::names::Definition;
use super::binding::{Binding, Given};

impl Resolver<'_> {
    /// Holds the prompts that are given to the values that they will be given.
    pub(super) fn briefs(
        &mut self,
        file: FileId,
        written: &Written,
        params: &[Binding],
        places: &[Span],
    ) {
        for (param, at) in params.iter().zip(places) {
            let mut briefs = written.briefs.iter();
            if let Some((_, values)) = briefs.find(|(name, _)| *name == param.declared.node) {
                self.takes_only(file, param, values, *at);
            }
        }
    }

    fn takes_only(&mut self, file: FileId, param: &Binding, values: &[Field], at: Span) {
        let types = values
            .iter()
            .map(|field| self.spanned_type(file, &field.ty));
        let types: Vec<_> = types.collect();
        let Given::Definition(Definition::Prompt(prompt)) = &param.given else {
            return;
        };
        let Some(prompt) = self.program.prompts.get(*prompt) else {
            return;
        };
        let (name, known) = (&param.shown, &self.program.types);
        let mut more = Vec::new();
        let mut found = Vec::new();
        for taken in &prompt.params {
            let mut given = values.iter().zip(&types);
            match given.find(|(value, _)| value.name.node == taken.name.node) {
                None if taken.default.is_none() && !taken.ty.node.admits_null() => more.push(taken),
                Some((value, ty)) if !assignable(&ty.node, &taken.ty.node, known) => {
                    let message = format!(
                        "`{}` of prompt `{name}` is `{}`, it is given a `{}`",
                        taken.name.node,
                        known.show(&taken.ty.node),
                        known.show(&ty.node)
                    );
                    let mismatch = Diagnostic::new(&codes::TYPE_MISMATCH, message, at);
                    let mismatch = mismatch.label(taken.name.span, "declared here");
                    found.push(mismatch.label(value.span, "given here"));
                }
                _ => {}
            }
        }
        if !more.is_empty() {
            let names = list(more.iter().map(|taken| taken.name.node.as_str()));
            let given = list(values.iter().map(|value| value.name.node.as_str()));
            let message = format!("prompt `{name}` takes {names}, which nobody gives it here");
            let mut lacks = Diagnostic::new(&codes::MISSING_FIELD, message, at);
            for taken in more {
                lacks = lacks.label(taken.name.span, "declared here");
            }
            let help = match values.is_empty() {
                true => "it is given nothing: give it a default".to_owned(),
                false => format!("take any of {given}, or give it a default"),
            };
            let lacks = lacks.label(param.declared.span, "what it is given is said here");
            found.push(lacks.help(help));
        }
        found.into_iter().for_each(|found| self.diags.push(found));
    }
}
