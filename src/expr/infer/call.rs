//! Calls: which function, method or macro a name means, and its arguments against the signatures.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal, UnaryOp};
use crate::base::foreign;
use crate::base::name::did_you_mean;
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::function::{self, FunctionSpec, Rule};
use super::super::ty::Type;
use super::checker::Checker;
use super::compare::ordered;
use super::macros;
use super::numbered::numbered;
use super::overload::Call;

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        target: Option<&Expr>,
        name: &Name,
        args: &[Expr],
        hint: Option<&Type>,
    ) -> Type {
        if let Some(target) = target
            && let Some(qualified) = self.qualified(target, name)
        {
            let name = Name::new(qualified, target.span.to(name.span));
            return self.function(expr, &name, args);
        }
        match target {
            Some(target) if self.is_unknown_in_space(target, name) => {
                let space = target.dotted().unwrap_or_default();
                // What was meant for `cel.bind` has names that nothing has bound.
                if space != "cel" {
                    self.each(args);
                }
                let qualified = format!("{space}.{}", name.node);
                let name = Name::new(qualified, target.span.to(name.span));
                self.unknown_function(&name, None, args)
            }
            Some(target) => self.method(expr, target, name, args, hint),
            None => self.function(expr, name, args),
        }
    }

    /// `optional.of`, `math.abs`: a dotted name whose first part is no value.
    fn qualified(&self, target: &Expr, name: &Name) -> Option<String> {
        let prefix = target.dotted()?;
        let root = prefix.split('.').next().unwrap_or_default();
        if self.named(root).is_some() || root == "state" {
            return None;
        }
        let qualified = format!("{prefix}.{}", name.node);
        function::find(&qualified, false).map(|_| qualified)
    }

    /// `math.rond`: what stands before the dot is no value but a name space of functions, and this is none of them.
    fn is_unknown_in_space(&self, target: &Expr, name: &Name) -> bool {
        let Some(space) = target.dotted() else {
            return false;
        };
        let root = space.split('.').next().unwrap_or_default();
        let is_value = self.named(root).is_some() || root == "state";
        let binds = space == "cel" && name.node == "bind";
        !is_value && !binds && (function::is_name_space(&space) || foreign::call::is_module(&space))
    }

    fn function(&mut self, expr: &Expr, name: &Name, args: &[Expr]) -> Type {
        if let Some(special) = function::special(name) {
            return self.special(special, expr, name, args);
        }
        let Some(found) = function::find(name, false) else {
            if !self.was_to_bind(args, 2) {
                self.each(args);
            }
            return self.unknown_function(name, None, args);
        };
        self.constant_pattern(found, args.get(1));
        if name.node == "string" {
            self.content_as_text(expr, args);
        }
        self.apply(
            found,
            Call {
                expr,
                name,
                receiver: None,
                args,
            },
        )
    }

    fn method(
        &mut self,
        expr: &Expr,
        target: &Expr,
        name: &Name,
        args: &[Expr],
        hint: Option<&Type>,
    ) -> Type {
        if let Some(ty) = self.macro_call(expr, target, name, args, hint) {
            return ty;
        }
        let Some(found) = function::find(name, true) else {
            let receiver = self.expr(target, None);
            if !self.was_to_bind(args, 1) {
                self.each(args);
            }
            return match receiver {
                Type::Error => Type::Error,
                receiver => self.unknown_function(name, Some(&receiver), args),
            };
        };
        if let (Rule::Update, [changes]) = (found.rule, args) {
            return self.with(target, changes);
        }
        self.constant_pattern(found, args.first());
        let before = self.diags.len();
        let result = self.apply(
            found,
            Call {
                expr,
                name,
                receiver: Some(target),
                args,
            },
        );
        let sound = self.diags.len() == before;
        match found.rule {
            Rule::Ordered => self.order_of_elements(target, name, &result),
            Rule::Format if sound => self.format(target, args),
            Rule::Part if sound => self.bounds_of_part(expr, name, args),
            Rule::Numbered if matches!(result, Type::List(_)) => {
                if let Type::List(of) = self.silent(target) {
                    return Type::list(numbered((*of).clone()));
                }
            }
            _ => {}
        }
        result
    }

    /// Whether a name in first place, that nothing has, was meant for a macro to bind: of a call with so many arguments.
    fn was_to_bind(&self, args: &[Expr], least: usize) -> bool {
        let first = args.first().map(|arg| &arg.kind);
        args.len() >= least
            && matches!(first, Some(ExprKind::Ident(name)) if self.named(name).is_none())
    }

    /// A part that begins behind its end, or before the beginning.
    fn bounds_of_part(&mut self, expr: &Expr, name: &Name, args: &[Expr]) {
        let bounds: Vec<Option<i64>> = args.iter().map(whole).collect();
        let message = match bounds.as_slice() {
            [Some(from), Some(to)] if from > to => {
                format!("`{}({from}, {to})` begins behind its end", name.node)
            }
            [Some(at), ..] | [_, Some(at)] if *at < 0 => {
                format!("`{}` takes no negative position, found `{at}`", name.node)
            }
            _ => return,
        };
        self.report(
            Diagnostic::new(&codes::ALWAYS_FAILS, message, expr.span).help(format!(
                "the first position comes first, and the last one is not included: `x.{}(0, 3)`",
                name.node
            )),
        );
    }

    /// Elements need an order, which signatures can't say: of a list, or of the one that is picked from it.
    fn order_of_elements(&mut self, target: &Expr, name: &Name, result: &Type) {
        let element = match result {
            Type::List(of) => of,
            of => of,
        };
        if !ordered(element) {
            let message = format!(
                "`{}` needs elements with an order, found {}",
                name.node,
                self.show(element)
            );
            self.report(
                Diagnostic::new(&codes::TYPE_MISMATCH, message, target.span)
                    .help("name what to order by: `xs.sort_by(x, key)`"),
            );
        }
    }

    /// Arguments of a call that is wrong for another reason.
    pub(super) fn each(&mut self, args: &[Expr]) {
        for arg in args {
            self.expr(arg, None);
        }
    }

    fn apply(&mut self, function: &'static FunctionSpec, call: Call) -> Type {
        let imported =
            function.module.is_empty() || self.scope.functions.iter().any(|f| f == function.name);
        if !imported {
            let message = format!("`{}` is not imported", function.name);
            let help = format!(
                "import {{ {} }} from \"{}\"",
                function.name, function.module
            );
            self.report(
                Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, call.name.span)
                    .unknown(function.name, Home::Items)
                    .help(format!("add `{help}`")),
            );
        }
        self.overload(function, call)
    }

    pub(super) fn unknown_function(
        &mut self,
        name: &Name,
        receiver: Option<&Type>,
        args: &[Expr],
    ) -> Type {
        let message = match receiver {
            Some(ty) => format!(
                "{} has no method `{}`",
                self.show(&super::widen(ty.clone())),
                name.node
            ),
            None => format!("no function `{}`", name.node),
        };
        let other = function::find(name, receiver.is_none());
        let foreign = foreign::call::in_expression(name).filter(|_| other.is_none());
        let is_foreign = foreign.is_some();
        let help = match (receiver, other) {
            _ if is_foreign => foreign,
            (None, None) if macros::is_macro(name) => {
                Some(format!("it is written `{}`", macros::usage(name)))
            }
            (None, Some(_)) => Some(format!("it is a method: `x.{}(..)`", name.node)),
            (Some(_), Some(_)) => Some(format!(
                "it is a function: `{}(x{})`",
                name.node,
                if args.is_empty() { "" } else { ", .." }
            )),
            (receiver, None) if macros::is_macro(name) && receiver.is_some() => {
                Some(format!("it is written `{}`", macros::usage(name)))
            }
            (receiver, None) => {
                let all = function::functions().iter().chain(function::forms());
                let fits = all.filter(|spec| match receiver {
                    Some(of) => spec.is_method() && self.is_taken(spec, of),
                    None => !spec.is_method(),
                });
                let names = fits.map(|spec| match spec.name {
                    "bind" => "cel.bind",
                    name => name,
                });
                did_you_mean(name, names)
            }
        };
        let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, name.span).maybe_help(help);
        let found = match self.template {
            true => found,
            false => found.fact(Fact::Foreign),
        };
        self.report(match receiver {
            None if !is_foreign => found.unknown(&name.node, Home::Items),
            _ => found,
        })
    }

    /// A pattern that is written out must be a regular expression.
    fn constant_pattern(&mut self, function: &FunctionSpec, pattern: Option<&Expr>) {
        let (Rule::Pattern(_), Some(pattern)) = (function.rule, pattern) else {
            return;
        };
        let ExprKind::Literal(Literal::String(text)) = &pattern.kind else {
            return;
        };
        if let Err(message) = function::pattern::regex(text) {
            let found = Diagnostic::new(&codes::BAD_REGEX, message, pattern.span);
            self.report(found.help(LITERALLY));
        }
    }
}

/// A whole number that is written out.
fn whole(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(*number),
        ExprKind::Unary(UnaryOp::Negate, of) => whole(of)?.checked_neg(),
        _ => None,
    }
}

/// What to do where a character of a pattern was meant as itself.
const LITERALLY: &str =
    "a character that has a meaning there stands for itself behind a backslash: `\\\\(`";
