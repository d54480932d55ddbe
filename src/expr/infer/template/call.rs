//! Calls in templates: operators and functions of Jinja's, methods of Jinja's and of the language.

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::base::name::closest;
use crate::base::{Span, foreign};
use crate::diag::{Diagnostic, codes};

use super::super::super::function::{self, FunctionSpec, Rule, jinja};
use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::join::{join, widen};
use super::super::overload::called;
use super::super::usage::{named, takes};
use super::kind::{self, Kind, plain};
use super::place;

impl Checker<'_> {
    /// The type of a call in a template.
    pub(in super::super) fn call_in_template(
        &mut self,
        expr: &Expr,
        target: Option<&Expr>,
        name: &Name,
        args: &[Expr],
    ) -> Type {
        let ty = match (target, name.node.as_str()) {
            (None, "and" | "or") => self.either(name.node == "and", args),
            (None, "") => {
                self.each(args);
                Type::Error
            }
            (None, "~") => {
                for arg in args {
                    self.not_null(arg, "which `~` leaves out");
                }
                Type::String
            }
            (None, "namespace()") => {
                self.each(args);
                Type::Json
            }
            (None, "range()") => self.range(expr, args),
            (None, "[:]") => self.part_of(args),
            (None, sign) => self.reckoned(expr, sign, args),
            (Some(of), filter) if filter.starts_with('|') => self.filter(of, name, args),
            (Some(of), test) if test.starts_with("is ") => self.test(of, test, args),
            (Some(of), _) => self.method_in_template(of, name, args),
        };
        let ty = match ty {
            Type::Optional(of) => Type::nullable((*of).clone()),
            ty => ty,
        };
        match place(expr) {
            Some(place) => self.narrowed(ty, &place),
            None => ty,
        }
    }

    /// `a and b`, `a or b` where their value is asked for.
    fn either(&mut self, and: bool, args: &[Expr]) -> Type {
        let (known, mut all) = (self.known.clone(), Type::Never);
        for (at, arg) in args.iter().enumerate() {
            let ty = self.expr(arg, None);
            let last = at + 1 == args.len();
            let ty = if and || last { ty } else { ty.without_null() };
            all = join(&all, &ty, self.types);
            let facts = self.truth_facts(arg, and);
            self.known = std::mem::take(&mut self.known).and(facts);
        }
        self.known = known;
        all
    }

    /// `range` counts in whole numbers.
    fn range(&mut self, expr: &Expr, args: &[Expr]) -> Type {
        for arg in args {
            let ty = self.not_null(arg, "which `range` does not take");
            if Kind::of(&ty).is_some_and(|kind| kind != Kind::Whole) {
                let found = named(arg, &self.show(&ty));
                let message = format!("`range` takes whole numbers, found {found}");
                let wrong = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, arg.span);
                self.report(wrong.help("go through a list by itself: `{% for x in xs %}`"));
            }
        }
        if !(1..=3).contains(&args.len()) {
            let message = format!("`range` takes 1 to 3 arguments, found {}", args.len());
            self.error(&codes::WRONG_ARGUMENTS, message, expr.span);
        }
        Type::list(Type::Int)
    }

    /// `xs[1:]`
    fn part_of(&mut self, args: &[Expr]) -> Type {
        let Some((of, bounds)) = args.split_first() else {
            return Type::Error;
        };
        let ty = self.expr(of, None);
        self.each(bounds);
        match Kind::of(&ty) {
            None | Some(Kind::List | Kind::Text) => widen(ty),
            Some(_) => {
                let found = named(of, &self.show(&ty));
                let message = format!("parts are taken of a list or a text, found {found}");
                self.error(&codes::TYPE_MISMATCH, message, of.span)
            }
        }
    }

    fn reckoned(&mut self, expr: &Expr, sign: &str, args: &[Expr]) -> Type {
        let of = args.iter();
        let what = match args.len() {
            1 => "which `-` does not take",
            _ => "which can't be reckoned with",
        };
        let types: Vec<Type> = of.map(|arg| widen(self.not_null(arg, what))).collect();
        if types.contains(&Type::Error) {
            return Type::Error;
        }
        let found = jinja::find(sign).map(|found| called(found, &types, self.types));
        if let Some(Ok(ty)) = found {
            return ty;
        }
        let shown: Vec<String> = args
            .iter()
            .zip(&types)
            .map(|(arg, ty)| named(arg, &self.show(ty)))
            .collect();
        let message = match shown.as_slice() {
            [only] => format!("{only} has no negative"),
            shown => format!(
                "this operator does not go with {}; texts are joined by `~`",
                shown.join(" and ")
            ),
        };
        let span = match args {
            [only] => only.span,
            _ => expr.span,
        };
        self.error(&codes::TYPE_MISMATCH, message, span)
    }

    fn method_in_template(&mut self, of: &Expr, name: &Name, args: &[Expr]) -> Type {
        let ty = self.not_null(of, &format!("so `.{}(..)` may fail", name.node));
        if matches!(ty, Type::Json | Type::Error | Type::Never) {
            self.each(args);
            return ty;
        }
        if let Some(found) = jinja::method_for(&ty, name) {
            let mut all = vec![plain(ty)];
            all.extend(args.iter().map(|arg| self.expr(arg, None)));
            let what = format!("`{}`", name.node);
            return self.arguments_of(found, &what, args, &all, name.span);
        }
        let time = matches!(ty, Type::Timestamp | Type::Duration);
        let found =
            function::find(name, true).filter(|found| !time && self.is_method_of(found, &ty));
        match found {
            Some(found) => self.method_of_language(found, (of, ty), name, args),
            None => {
                // The names that a macro binds are none of the template's: that it is none is said once.
                let binds = function::macros(name).next().is_some();
                if !binds {
                    self.each(args);
                }
                self.no_method(&ty, name, binds)
            }
        }
    }

    /// Whether values of the type may have a method of the language.
    pub(super) fn is_method_of(&self, found: &FunctionSpec, of: &Type) -> bool {
        found.arities().any(|count| {
            let mut all = vec![of.clone()];
            all.resize(count, Type::Error);
            called(found, &all, self.types).is_ok()
        })
    }

    fn method_of_language(
        &mut self,
        found: &'static FunctionSpec,
        (of, ty): (&Expr, Type),
        name: &Name,
        args: &[Expr],
    ) -> Type {
        let imported =
            found.module.is_empty() || self.scope.functions.iter().any(|f| f == found.name);
        if !imported {
            let message = format!("`{}` is not imported", found.name);
            let import = format!("import {{ {} }} from \"{}\"", found.name, found.module);
            let unknown = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, name.span);
            return self.report(unknown.help(format!("add `{import}`")));
        }
        let told = self.diags.len();
        let mut all = vec![ty];
        all.extend(args.iter().map(|arg| self.expr(arg, None)));
        let wrong = match called(found, &all, self.types) {
            Ok(ty) => {
                if matches!(found.rule, Rule::Format) && self.diags.len() == told {
                    self.format(of, args);
                }
                return ty;
            }
            Err(wrong) => wrong,
        };
        let (message, span) = match wrong.filter(|at| *at > 0) {
            Some(at) => {
                let shown = all.get(at).map_or_else(String::new, |ty| self.show(ty));
                let message = format!("argument {at} of `{}` is {shown}", found.name);
                (message, args.get(at - 1).map_or(name.span, |arg| arg.span))
            }
            None => {
                let count = args.len();
                let message = format!("`{}` does not take {count} arguments", found.name);
                (message, name.span)
            }
        };
        self.report(Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span).help(takes(found)))
    }

    /// What a method or filter of Jinja's gives for a receiver and arguments; reported where it does not take an argument.
    pub(super) fn arguments_of(
        &mut self,
        found: &'static FunctionSpec,
        what: &str,
        args: &[Expr],
        all: &[Type],
        at: Span,
    ) -> Type {
        let wrong = match called(found, all, self.types) {
            Ok(ty) => return ty,
            Err(wrong) => wrong,
        };
        let before = all.len() - args.len();
        let Some((place, arg)) =
            wrong.and_then(|at| Some((at, args.get(at.checked_sub(before)?)?)))
        else {
            let counts: Vec<usize> = found.arities().map(|count| count - 1).collect();
            let least = counts.iter().min().copied().unwrap_or(0);
            let most = counts.iter().max().copied().unwrap_or(0);
            let count = match (least, most) {
                (0, 0) => "no arguments".to_owned(),
                (1, 1) => "1 argument".to_owned(),
                (least, most) if least == most => format!("{least} arguments"),
                (0, most) => format!(
                    "at most {most} argument{}",
                    if most == 1 { "" } else { "s" }
                ),
                (least, most) => format!("{least} to {most} arguments"),
            };
            let message = format!("{what} takes {count}, found {}", all.len() - 1);
            return self.error(&codes::WRONG_ARGUMENTS, message, at);
        };
        if all.contains(&Type::Error) {
            return Type::Error;
        }
        let params: Vec<_> = found
            .signatures
            .iter()
            .filter_map(|s| s.param(place))
            .collect();
        let takes = kind::shown(&params);
        let ty = all.get(place).cloned().unwrap_or(Type::Error);
        let shown = named(arg, &self.show(&ty));
        let message = format!("{what} takes {takes} here, found {shown}");
        self.error(&codes::WRONG_ARGUMENTS, message, arg.span)
    }

    fn no_method(&mut self, of: &Type, name: &Name, binds: bool) -> Type {
        let names: Vec<&str> = jinja::method_names(of);
        let filter = jinja::params(name).is_some();
        let help = match closest(name, names.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if filter => Some(format!("it is a filter: `x | {}`", name.node)),
            None if matches!(of, Type::Timestamp | Type::Duration) => Some(
                "a template has times as texts: take it apart in an expression, in a `let` for instance"
                    .to_owned(),
            ),
            None if binds => Some(format!(
                "`{}` with a condition or a value belongs to expressions: use it in a `let`",
                name.node
            )),
            None => foreign::call::in_template(name),
        };
        let message = format!("{} has no method `{}`", self.show(of), name.node);
        let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, name.span);
        self.report(found.maybe_help(help))
    }
}
