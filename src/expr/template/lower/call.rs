//! Calls: of methods, and of Jinja's functions.

use std::ops::Range;

use minijinja::machinery::ast::{self, CallArg};

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::LOOP;
use crate::base::foreign;
use crate::base::name::did_you_mean;
use crate::diag::{Diagnostic, Fact, codes};

use super::super::super::function::{self, jinja};
use super::expression::begins;
use super::{Lower, range};

/// The functions of Jinja's that a template may call.
const FUNCTIONS: [&str; 3] = ["dict", "namespace", "range"];

impl Lower<'_> {
    pub(super) fn call(&mut self, call: &ast::Call, place: Range<usize>) -> Expr {
        match call.identify_call() {
            ast::CallType::Function(name) => {
                let at = range(call.expr.span());
                self.function(name, at.clone(), &call.args, at.start..place.end)
            }
            ast::CallType::Method(receiver, name) => {
                let receiver = self.expr(receiver);
                let name = self.name_behind(&receiver, place.end, name);
                self.method(receiver, name, &call.args, place.end)
            }
            ast::CallType::Object(_) => {
                let message = "only a function or a method can be called".to_owned();
                self.problem(&codes::BAD_TEMPLATE, message, place.clone());
                self.make(ExprKind::Error, place)
            }
        }
    }

    fn method(&mut self, receiver: Expr, name: Name, args: &[CallArg], end: usize) -> Expr {
        let whole = begins(&receiver)..end;
        let of_loop = matches!(&receiver.kind, ExprKind::Ident(name) if name == LOOP);
        let at = name.span.start as usize..name.span.end as usize;
        let Some(values) = self.plain(args) else {
            let message = format!("arguments of `{}` have no names", name.node);
            let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, self.at(at));
            self.problem_with(found.fact(Fact::Foreign), None);
            return self.make(ExprKind::Error, whole);
        };
        if of_loop {
            let message = format!("`loop` has no method `{}`", name.node);
            let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, self.at(at));
            let help = "one of several in turn: `[a, b][loop.index0 % 2]`";
            let cycle = (name.node == "cycle").then(|| help.to_owned());
            self.problem_with(found, cycle);
            return self.make(ExprKind::Error, whole);
        }
        let kind = ExprKind::Call {
            target: Some(Box::new(receiver)),
            function: name,
            args: values.into(),
        };
        self.make(kind, whole)
    }

    fn function(
        &mut self,
        name: &str,
        at: Range<usize>,
        args: &[CallArg],
        whole: Range<usize>,
    ) -> Expr {
        match name {
            "dict" | "namespace" => {
                let map = self.named_values(args, whole.clone());
                match name {
                    "dict" => map,
                    _ => self.operator("namespace()", vec![map], whole),
                }
            }
            "range" => match self.plain(args) {
                Some(values) => self.operator("range()", values, whole),
                None => {
                    let message = "arguments of `range` have no names".to_owned();
                    self.problem(&codes::WRONG_ARGUMENTS, message, at);
                    self.make(ExprKind::Error, whole)
                }
            },
            _ => {
                self.no_function(name, whole.clone());
                // What is wrong with the arguments is said too.
                let args = self.plain(args).unwrap_or_default();
                self.operator("", args, whole)
            }
        }
    }

    fn no_function(&mut self, name: &str, place: Range<usize>) {
        let known =
            || function::find(name, false).is_some() || matches!(name, "stale" | "invalidated_by");
        let help = match jinja::filter_named(name) {
            Some(_) => Some(format!("it is a filter: `x | {name}`")),
            None => foreign::call::in_template(name)
                .or_else(|| did_you_mean(name, FUNCTIONS))
                .or_else(|| {
                    known().then(|| {
                        format!(
                            "`{name}` belongs to expressions: use it in a `let`, and its name here"
                        )
                    })
                }),
        };
        let message = format!("no function `{name}` in templates");
        let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, self.at(place));
        self.problem_with(found.fact(Fact::Foreign), help);
    }
}
