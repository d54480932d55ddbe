//! What functions and macros hand on of what they are given.

use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind};
use crate::expr::function::{self, Carries, meant};
use crate::expr::infer::macros;

use super::label::{Label, LabelSet};
use super::reader::{Reader, number};
use super::value::{Step, Value};

/// Whether a call is a macro that binds names.
pub(super) fn binds(function: &str, args: &[Expr]) -> bool {
    macros::split(function, args).is_some()
}

/// Whether a call is `x.checked(name, condition)`.
pub fn is_check(function: &str, args: &[Expr]) -> bool {
    function == "checked" && binds(function, args)
}

/// The names that a macro binds, each with its value, and the arguments that don't see them and those that do.
type Bound<'x> = (Vec<(String, Value)>, &'x [Expr], &'x [Expr]);

impl Reader<'_, '_> {
    /// What a call gives.
    pub(super) fn call(&mut self, target: Option<&Expr>, function: &str, args: &[Expr]) -> Value {
        let space = target.and_then(|target| self.name_space(target));
        let carries = carries(space, target.is_some(), function);
        if carries == Carries::Nothing {
            return Value::default();
        }
        // `math.abs`, `optional.of`, `cel.bind`: what is left of the dot is no value.
        let of = target.filter(|_| space.is_none());
        let of = of.map(|target| self.value(target));
        if carries == Carries::Own
            && let Some(value) = self.macro_call(&of.clone().unwrap_or_default(), function, args)
        {
            return value;
        }
        let args = args.iter().map(|arg| self.value(arg));
        let all: Vec<Value> = of.into_iter().chain(args).collect();
        of_builtin(function, carries, &all)
    }

    fn name_space<'x>(&self, target: &'x Expr) -> Option<&'x str> {
        match &target.kind {
            ExprKind::Ident(name) if function::is_name_space(name) && !self.is_value(name) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// What a macro binds.
    fn bound<'x>(&mut self, of: &Value, function: &str, args: &'x [Expr]) -> Option<Bound<'x>> {
        let (names, outer, inner) = macros::split(function, args)?;
        let values = match (function, outer.first(), names.len()) {
            ("bind", Some(value), _) => vec![self.value(value)],
            ("fold", Some(begin), _) => vec![self.value(begin), of.looped()],
            ("checked" | "optMap" | "optFlatMap", ..) => vec![of.clone()],
            (_, _, 2) => vec![of.keys(), of.part(&Step::Element)],
            _ => vec![of.looped()],
        };
        Some((names.into_iter().zip(values).collect(), outer, inner))
    }

    /// What a macro gives, or `None`.
    fn macro_call(&mut self, of: &Value, function: &str, args: &[Expr]) -> Option<Value> {
        let (mut names, _, inner) = self.bound(of, function, args)?;
        let (first, last) = (inner.first()?, inner.last()?);
        let made = |reader: &mut Self, expr: &Expr, names: &[(String, Value)]| {
            reader.binding(names.to_vec(), |reader| reader.value(expr))
        };
        Some(match function {
            "checked" => of.without(&Label::TEXT),
            "filter" => Value::list(of.looped()),
            "find" => of.looped(),
            // Each round begins with what the one before has made.
            "fold" => loop {
                let next = made(self, last, &names);
                let (_, known) = names.first_mut()?;
                if !known.absorb(&next) {
                    break known.clone();
                }
            },
            "group_by" => {
                let element = Value::list(of.looped());
                Value::map(made(self, last, &names), element, Vec::new())
            }
            "to_map" => {
                let key = made(self, first, &names);
                Value::map(key, made(self, last, &names), Vec::new())
            }
            "transformMap" => Value::map(of.keys(), made(self, last, &names), Vec::new()),
            "map" | "transformList" => Value::list(made(self, last, &names)),
            _ => made(self, last, &names),
        })
    }

    /// Shows the parts directly inside an expression, each where the names that a macro binds are in scope of it.
    pub fn each_part(&mut self, expr: &Expr, visit: &mut dyn FnMut(&mut Self, &Expr)) {
        let ExprKind::Call {
            target,
            function,
            args,
        } = &expr.kind
        else {
            return expr.each_part(|part| visit(self, part));
        };
        let of = match (target, binds(&function.node, args)) {
            (Some(target), true) => self.value(target),
            _ => Value::default(),
        };
        let bound = self.bound(&of, &function.node, args);
        let (names, outer, inner) = bound.unwrap_or((Vec::new(), args, &[]));
        let target = target.as_deref();
        for part in target.into_iter().chain(outer) {
            visit(self, part);
        }
        self.binding(names, |reader| {
            inner.iter().for_each(|part| visit(reader, part));
        });
    }

    /// Adds what the error may say that evaluating an expression ends in: what functions are given that fail by its content.
    pub fn add_failures(&mut self, expr: &Expr, found: &mut LabelSet) {
        let fails = match &expr.kind {
            ExprKind::Call {
                target,
                function,
                args,
            } => {
                let space = target.as_deref().and_then(|of| self.name_space(of));
                let carries = carries(space, target.is_some(), &function.node);
                !binds(&function.node, args) && matches!(carries, Carries::Number | Carries::Mixed)
            }
            ExprKind::Index { .. } => true,
            _ => false,
        };
        self.each_part(expr, &mut |reader, part| {
            if fails {
                found.add(&reader.value(part).flat());
            }
            reader.add_failures(part, found);
        });
    }
}

/// What the table says of a function. A filter of a template that the language has no method for is one with its function.
fn carries(space: Option<&str>, method: bool, function: &str) -> Carries {
    let spec = match space {
        Some("cel") => meant(function, false),
        Some(space) => meant(&format!("{space}.{function}"), false),
        None => meant(function, method).or_else(|| meant(function, false)),
    };
    spec.map_or(Carries::Mixed, |spec| spec.carries)
}

/// A function that binds no name. The receiver of a method is the first of all.
fn of_builtin(function: &str, carries: Carries, all: &[Value]) -> Value {
    let flat = || Value::of(Value::any(all).flat());
    let Some(first) = all.first() else {
        return Value::default();
    };
    let element = || first.part(&Step::Element);
    match carries {
        Carries::Nothing => Value::default(),
        Carries::Number => number(Value::any(all).flat()),
        Carries::Same => first.clone(),
        Carries::Elements => Value::list(first.looped()),
        Carries::Element => first.looped(),
        Carries::Keys => Value::list(first.keys()),
        Carries::Values => Value::list(element()),
        Carries::Inner if all.len() == 1 => Value::list(element().part(&Step::Element)),
        Carries::Own if function == "enumerate" => {
            Value::list(Value::record([(Rc::from("value"), element())]))
        }
        Carries::Either => Value::any(all),
        Carries::Message => {
            let parts = ["content", "text", "name", "tool_call_id"];
            Value::record(parts.map(|name| (Rc::from(name), flat())))
        }
        Carries::Inner | Carries::Own | Carries::Mixed => flat(),
    }
}
