//! Macros: calls that bind names in their arguments, such as `xs.map(x, x + 1)`.
//!
//! What each binds where is in the table of [functions](super::super::function); here is how it is typed.

mod binding;
mod comprehension;
mod fold;
mod optional;
mod table;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::AccessPath;
use crate::base::access_path::Step;
use crate::diag::{Diagnostic, codes};

use super::super::fold::inline::LetValue;
use super::super::function::{self, Carries, FunctionSpec, MacroShape};
use super::super::ty::Type;
use super::checker::Checker;
use super::narrow::Narrowing;

/// A use of a macro.
pub(super) struct Use<'e> {
    pub expr: &'e Expr,
    /// Left of the dot.
    pub target: &'e Expr,
    pub name: &'e Name,
    /// The names it binds.
    pub vars: Vec<String>,
    /// The arguments behind them.
    pub args: &'e [Expr],
    pub hint: Option<&'e Type>,
}

type Rule = fn(&mut Checker, &Use) -> Type;

/// How the macros of a name are typed.
fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "all" | "exists" | "exists_one" | "existsOne" => comprehension::holds,
        "map" => comprehension::map,
        "filter" => comprehension::filter,
        "find" => comprehension::find,
        "sort_by" => comprehension::sort_by,
        "transformList" => table::transform_list,
        "transformMap" => table::transform_map,
        "to_map" => table::to_map,
        "group_by" => table::group_by,
        "fold" => fold::fold,
        "bind" => binding::bind,
        "checked" => binding::checked,
        "optMap" => optional::opt_map,
        "optFlatMap" => optional::opt_flat_map,
        _ => return None,
    })
}

/// Whether macros of that name exist.
pub(super) fn is_macro(name: &str) -> bool {
    function::macros(name).next().is_some()
}

/// How a macro is written.
pub(super) fn usage(name: &str) -> String {
    let written = function::macros(name).map(FunctionSpec::written);
    written.collect::<Vec<_>>().join("` or `")
}

/// What a call binds: the names, and how many of the arguments behind them don't see them. `None`
/// where the call is no macro.
pub(crate) fn bound(name: &str, args: &[Expr]) -> Option<(Vec<String>, usize)> {
    let (found, vars) = form_of(name, args)?;
    Some((vars, found.outside))
}

/// The names that a call of a macro binds, the arguments that don't see them and those that do; `None` of any other call.
pub(crate) fn split<'e>(
    name: &str,
    args: &'e [Expr],
) -> Option<(Vec<String>, &'e [Expr], &'e [Expr])> {
    let (vars, outside) = bound(name, args)?;
    let behind = args.get(vars.len()..).unwrap_or_default();
    let (outer, inner) = behind.split_at_checked(outside).unwrap_or((behind, &[]));
    Some((vars, outer, inner))
}

/// What a call of a macro binds, with the names; `None` of any other call.
fn form_of(name: &str, args: &[Expr]) -> Option<(MacroShape, Vec<String>)> {
    let shapes = function::macros(name).filter_map(FunctionSpec::shape);
    let mut fitting = shapes.filter(|shape| shape.args == args.len());
    fitting.find_map(|shape| {
        let names: Option<_> = args.get(..shape.names)?.iter().map(variable).collect();
        names.map(|names| (shape, names))
    })
}

fn variable(arg: &Expr) -> Option<String> {
    match &arg.kind {
        ExprKind::Ident(name) => Some(name.clone()),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// The type of a macro; `None` where the call is none, a function of the same name for instance.
    pub(super) fn macro_call(
        &mut self,
        expr: &Expr,
        target: &Expr,
        name: &Name,
        args: &[Expr],
        hint: Option<&Type>,
    ) -> Option<Type> {
        let rule = rule(name)?;
        let Some((found, vars)) = form_of(name, args) else {
            if function::find(name, true).is_some() {
                return None;
            }
            if !binding::is_space(self, target) {
                self.expr(target, None);
            }
            let message = format!("`{}` is not used as it must be", name.node);
            return Some(
                self.report(
                    Diagnostic::new(&codes::WRONG_ARGUMENTS, message, expr.span)
                        .help(format!("write `{}`", usage(name))),
                ),
            );
        };
        let used = Use {
            expr,
            target,
            name,
            vars,
            args: args.get(found.names..).unwrap_or_default(),
            hint,
        };
        Some(rule(self, &used))
    }

    /// What a loop over the target of a macro goes over.
    fn elements(&mut self, used: &Use) -> Looped {
        let what = format!("`.{}(..)`", used.name.node);
        let of = self.non_null(used.target, &what);
        self.looped(used, of)
    }

    fn looped(&mut self, used: &Use, of: Type) -> Looped {
        match of {
            Type::List(of) => Looped {
                key: Type::Int,
                ..Looped::of((*of).clone())
            },
            Type::Map(of) => Looped::keys((*of).clone()),
            Type::Record(id) => {
                let fields = self
                    .types
                    .records
                    .get(id)
                    .into_iter()
                    .flat_map(|r| &r.fields);
                let all = fields.fold(Type::Never, |all, f| super::join(&all, &f.ty, self.types));
                Looped::keys(all)
            }
            Type::Json => Looped {
                key: Type::Json,
                ..Looped::of(Type::Json)
            },
            Type::Error => Looped::of(Type::Error),
            Type::Never => Looped::of(Type::Never),
            other => {
                let message = format!(
                    "`{}` goes over a list or a map, found {}",
                    used.name.node,
                    self.show(&super::widen(other.clone()))
                );
                let span = used.target.span;
                let help = match other {
                    Type::Optional(_) => Some("give the optional a default first: `.orValue([])`"),
                    _ => None,
                };
                self.report(
                    Diagnostic::new(&codes::TYPE_MISMATCH, message, span)
                        .maybe_help(help.map(str::to_owned)),
                );
                Looped::of(Type::Error)
            }
        }
    }

    /// Types an argument in which the names of the macro are bound.
    fn inside(&mut self, used: &Use, of: &[Type], arg: usize, expected: Option<&Type>) -> Type {
        let Some(arg) = used.args.get(arg) else {
            return Type::Error;
        };
        self.bound(used, of, |checker| checker.infer(arg, expected))
    }

    /// Does something where the names of the macro are bound, and what filters before it have shown is known of them.
    fn bound<T>(&mut self, used: &Use, of: &[Type], then: impl FnOnce(&mut Self) -> T) -> T {
        let names: Vec<(String, Type)> =
            used.vars.iter().cloned().zip(of.iter().cloned()).collect();
        let element = used.vars.last().zip(of.last());
        let shown = element.map(|(var, of)| self.filtered(used.target, &AccessPath::name(var), of));
        self.binding(names, |checker| {
            checker.under(shown.unwrap_or_default(), then)
        })
    }

    /// The type of a part of one element of `xs.filter(x, condition)`, with what the filter has shown of each.
    pub(super) fn of_filtered(&mut self, expr: &Expr, ty: Type) -> Type {
        let open = matches!(&ty, Type::Nullable(_) | Type::Union(_));
        let Some((list, place)) = part_of_element(expr).filter(|_| open) else {
            return ty;
        };
        let shown = match self.silent(list) {
            Type::List(of) | Type::Optional(of) => {
                self.filtered(list, &AccessPath::name(ELEMENT), &of)
            }
            _ => return ty,
        };
        self.under(shown, |checker| checker.narrowed(ty, &place))
    }

    /// What a name of a `let` stands for; anything else is itself.
    fn stands_for<'e>(&self, expr: &'e Expr) -> &'e Expr
    where
        'a: 'e,
    {
        let ExprKind::Ident(name) = &expr.kind else {
            return expr;
        };
        let lets: &'a [LetValue] = if self.locals.is_empty() {
            self.lets
        } else {
            &[]
        };
        let known = lets.iter().rfind(|known| known.name == *name);
        known.map_or(expr, |known| &known.value)
    }

    /// What is known of the elements of `xs.filter(x, condition)`, and of the same in another order.
    fn filtered(&mut self, list: &Expr, element: &AccessPath, of: &Type) -> Narrowing {
        let list = self.stands_for(list);
        let ExprKind::Call {
            target: Some(target),
            function,
            args,
        } = &list.kind
        else {
            return Narrowing::new();
        };
        let spec = function::meant(function, true);
        let same = spec.is_some_and(|spec| spec.carries == Carries::Elements);
        match (function.as_str(), &**args) {
            ("filter" | "find", [var, condition]) => {
                let before = self.filtered(target, element, of);
                let Some(var) = variable(var) else {
                    return before;
                };
                let own = self.binding([(var.clone(), of.clone())], |checker| {
                    checker.facts(condition, true)
                });
                before.and(own.renamed(&AccessPath::name(&var), element))
            }
            _ if same => self.filtered(target, element, of),
            _ => Narrowing::new(),
        }
    }
}

/// The name of one element of a list in a place.
const ELEMENT: &str = "#";

/// The list that an expression takes a part of one element of, and the part: `xs[0].id`, `xs.first().value().id`.
fn part_of_element(expr: &Expr) -> Option<(&Expr, AccessPath)> {
    match &expr.kind {
        ExprKind::Select {
            operand,
            field,
            optional: false,
        } => {
            let (list, place) = part_of_element(operand)?;
            Some((list, place.part(&[Step::Field(field.as_str().into())])))
        }
        ExprKind::Index {
            operand,
            optional: false,
            ..
        } => Some((operand, AccessPath::name(ELEMENT))),
        ExprKind::Call {
            target: Some(found),
            function,
            ..
        } if function.node == "value" => {
            let ExprKind::Call {
                target: Some(list),
                function,
                ..
            } = &found.kind
            else {
                return None;
            };
            let list = match function.node.as_str() {
                "find" => Some(found),
                name => {
                    let spec = function::meant(name, true);
                    let element = spec.is_some_and(|spec| spec.carries == Carries::Element);
                    element.then_some(list)
                }
            };
            list.map(|list| (&**list, AccessPath::name(ELEMENT)))
        }
        _ => None,
    }
}

/// What a macro goes over.
struct Looped {
    /// The one name of a form with one: elements of a list, keys of a map.
    one: Type,
    /// The first of two names: an index or a key.
    key: Type,
    /// The second of two names.
    value: Type,
}

impl Looped {
    fn of(ty: Type) -> Self {
        Self {
            one: ty.clone(),
            key: ty.clone(),
            value: ty,
        }
    }

    fn keys(value: Type) -> Self {
        Self {
            one: Type::String,
            key: Type::String,
            value,
        }
    }

    /// The types of the names that a use binds.
    fn names(&self, used: &Use) -> Vec<Type> {
        match used.vars.len() {
            1 => vec![self.one.clone()],
            _ => vec![self.key.clone(), self.value.clone()],
        }
    }
}
