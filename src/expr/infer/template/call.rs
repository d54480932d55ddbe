//! Calls in templates: operators and functions of Jinja's, methods of Jinja's and of the language.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::name::closest;
use crate::base::{Span, foreign};
use crate::diag::{Diagnostic, Fact, codes};

use super::super::super::function::{self, FunctionSpec, Rule, jinja};
use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::join::{join, widen};
use super::super::overload::called;
use super::super::usage::{counted, named};
use super::access_path;
use super::kind::{Kind, plain};

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
        match access_path(expr) {
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
        if let Some(module) = of
            .dotted()
            .filter(|of| foreign::call::is_module(of) && self.named(of).is_none())
        {
            self.each(args);
            let message = format!("no function `{module}.{}`", name.node);
            let found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, of.span.to(name.span));
            let found = found.maybe_help(foreign::call::in_template(name));
            return self.report(found.fact(Fact::Foreign));
        }
        let ty = self.not_null(of, &format!("so `.{}(..)` may fail", name.node));
        if matches!(ty, Type::Json | Type::Error | Type::Never) {
            self.each(args);
            return ty;
        }
        // `.get("f")` of a record, as Python has it of a map.
        if let ("get", [key, default @ ..], Type::Record(_)) = (name.node.as_str(), args, &ty)
            && matches!(key.kind, ExprKind::Literal(Literal::String(_)))
        {
            self.each(default);
            return self.field_by_name(of, &ty, key);
        }
        let of_jinja = plain(ty.clone());
        let found = jinja::find(&format!(".{}", name.node));
        if let Some(found) = found.filter(|found| self.is_method_of(found, &of_jinja)) {
            let mut all = vec![of_jinja];
            all.extend(args.iter().map(|arg| self.expr(arg, None)));
            let what = format!("`{}`", name.node);
            return self.arguments_of(found, &what, args, &all, name.span);
        }
        let time = matches!(ty, Type::Timestamp | Type::Duration);
        let found = function::find(name, true);
        let Some(found) = found.filter(|found| !time && self.is_method_of(found, &ty)) else {
            // The names that a macro binds are none of the template's: that it is none is said once.
            let binds = function::macros(name).next().is_some();
            if !binds {
                self.each(args);
            }
            return self.no_method(&ty, name, binds);
        };
        let imported =
            found.module.is_empty() || self.scope.functions.iter().any(|f| f == found.name);
        if !imported {
            let message = format!("`{}` is not imported", found.name);
            let import = format!("import {{ {} }} from \"{}\"", found.name, found.module);
            let unknown = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, name.span);
            return self.report(unknown.help(format!("add `{import}`")));
        }
        let before = self.diags.len();
        let mut all = vec![ty];
        all.extend(args.iter().map(|arg| self.expr(arg, None)));
        let what = format!("`{}`", name.node);
        let result = self.arguments_of(found, &what, args, &all, name.span);
        if matches!(found.rule, Rule::Format) && self.diags.len() == before {
            self.format(of, args);
        }
        result
    }

    /// Whether values of the type may have a method; of several types, those of each.
    pub(in super::super) fn is_method_of(&self, found: &FunctionSpec, of: &Type) -> bool {
        if let Type::Union(members) = of {
            return members.iter().all(|of| self.is_method_of(found, of));
        }
        found.arities().any(|count| {
            let mut all = vec![of.clone()];
            all.resize(count, Type::Error);
            called(found, &all, self.types).is_ok()
        })
    }

    /// What a method or filter gives for a receiver and arguments; reported where it does not take an argument.
    pub(super) fn arguments_of(
        &mut self,
        found: &'static FunctionSpec,
        what: &str,
        args: &[Expr],
        all: &[Type],
        at: Span,
    ) -> Type {
        let wrong = match self.called_on_each(found, all) {
            Ok(ty) => return ty,
            Err(wrong) => wrong,
        };
        let before = all.len() - args.len();
        let Some((place, arg)) =
            wrong.and_then(|at| Some((at, args.get(at.checked_sub(before)?)?)))
        else {
            let message = format!("{what} takes {}, found {}", counts(found), all.len() - 1);
            return self.error(&codes::WRONG_ARGUMENTS, message, at);
        };
        if all.contains(&Type::Error) {
            return Type::Error;
        }
        let nearest = found.signatures.first();
        let takes = nearest.map(|nearest| self.expected_at(found, nearest, place, all));
        let takes = takes.unwrap_or_default();
        let ty = all.get(place).cloned().unwrap_or(Type::Error);
        let shown = named(arg, &self.show(&ty));
        let message = format!("{what} takes {takes} here, found {shown}");
        self.error(&codes::WRONG_ARGUMENTS, message, arg.span)
    }

    /// What a call gives whose receiver may be of several types: what it gives for each.
    fn called_on_each(&self, found: &FunctionSpec, all: &[Type]) -> Result<Type, Option<usize>> {
        let Some((Type::Union(members), rest)) = all.split_first() else {
            return called(found, all, self.types);
        };
        members.iter().try_fold(Type::Never, |gives, of| {
            let all: Vec<Type> = std::iter::once(of).chain(rest).cloned().collect();
            Ok(join(&gives, &called(found, &all, self.types)?, self.types))
        })
    }

    fn no_method(&mut self, of: &Type, name: &Name, binds: bool) -> Type {
        let filter = jinja::filter_named(name).is_some();
        let ours = function::functions().iter();
        let ours = ours.filter(|found| found.is_method() && self.is_method_of(found, of));
        let plain = plain(of.clone());
        let jinja = jinja::methods().filter(|found| self.is_method_of(found, &plain));
        let names = ours.chain(jinja).map(FunctionSpec::bare_name);
        let help = match closest(name, names).filter(|_| !binds) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if binds && *name.node == *"map" => {
                Some("write `xs | map(attribute=\"name\")`".to_owned())
            }
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
        self.report(found.maybe_help(help).fact(Fact::Foreign))
    }
}

/// How many arguments there may be behind the receiver, in words.
fn counts(found: &FunctionSpec) -> String {
    let all = || found.arities().map(|count| count.saturating_sub(1));
    counted((all().min().unwrap_or(0), all().max().unwrap_or(0)))
}
