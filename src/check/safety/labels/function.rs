//! What functions and macros hand on of what they are given.

use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::expr::Scope;
use crate::expr::function::{self, Carries, meant};
use crate::expr::infer::{macros, reads};

use super::fact::Label;
use super::reader::{Check, Reader, number};
use super::value::{Step, Value};

/// Whether a call is a macro that binds names.
pub(super) fn binds(function: &str, args: &[Expr]) -> bool {
    macros::split(function, args).is_some()
}

/// Whether a call is `x.checked(name, condition)`.
pub fn is_check(function: &str, args: &[Expr]) -> bool {
    function == "checked" && binds(function, args)
}

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
            && let Some(value) = self.macro_call(of.as_ref(), function, args)
        {
            return value;
        }
        let args = args.iter().map(|arg| self.value(arg));
        let all: Vec<Value> = of.into_iter().chain(args).collect();
        plainly(function, carries, &all)
    }

    fn name_space<'x>(&self, target: &'x Expr) -> Option<&'x str> {
        match &target.kind {
            ExprKind::Ident(name) if function::is_name_space(name) && !self.is_value(name) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// A macro whose result has parts of its own, or `None`.
    fn macro_call(&mut self, of: Option<&Value>, function: &str, args: &[Expr]) -> Option<Value> {
        let (vars, _, _) = macros::split(function, args)?;
        let behind = args.get(vars.len()..)?;
        let mut vars = vars.into_iter();
        let first = vars.next()?;
        let Some(of) = of else {
            // `cel.bind(x, value, expr)`
            let [value, body] = behind else { return None };
            let value = self.value(value);
            return Some(self.binding([(first, value)], |reader| reader.value(body)));
        };
        let last = behind.last()?;
        Some(match function {
            "checked" => {
                self.note_check(first, last);
                of.without(&Label::TEXT)
            }
            "filter" => Value::list(of.looped()),
            "find" => of.looped(),
            "map" => {
                let value = self.binding([(first, of.looped())], |reader| reader.value(last));
                Value::list(value)
            }
            "to_map" | "group_by" => self.binding([(first, of.looped())], |reader| {
                let key = behind.first().map(|key| reader.value(key));
                let value = match function {
                    "to_map" => reader.value(last),
                    _ => Value::list(of.looped()),
                };
                Value::map(key.unwrap_or_default(), value, Vec::new())
            }),
            "fold" => {
                let begin = self.value(behind.first()?);
                let names = [(first.clone(), begin.clone()), (vars.next()?, of.looped())];
                let all = begin.or(&self.binding(names, |reader| reader.value(last)));
                // A part of what it has come to may become another part in the next round.
                match is_whole(last, &first) {
                    true => all,
                    false => Value::of(all.flat()),
                }
            }
            // All that its arguments are made of is in what it goes over.
            _ => return None,
        })
    }

    /// Notes a `checked`, with what its condition speaks of beside the value itself.
    fn note_check(&mut self, name: String, condition: &Expr) {
        let mut compared = Vec::new();
        self.binding([(name.clone(), Value::default())], |reader| {
            reader.compared_in(condition, &mut compared);
        });
        self.checks.push(Check {
            name,
            condition: condition.clone(),
            compared,
        });
    }

    fn compared_in(&mut self, expr: &Expr, found: &mut Vec<(Span, Value)>) {
        match &expr.kind {
            ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } => {
                let value = self.value(expr);
                found.push((expr.span, value));
            }
            ExprKind::Call {
                target,
                function,
                args,
            } => {
                let (vars, outside, inside) =
                    macros::split(&function.node, args).unwrap_or((Vec::new(), args, &[]));
                let target = target.as_deref();
                let outside = target.into_iter().chain(outside);
                outside.for_each(|part| self.compared_in(part, found));
                // What a loop goes over was looked at.
                let names = vars.into_iter().map(|name| (name, Value::default()));
                self.binding(names, |reader| {
                    inside
                        .iter()
                        .for_each(|part| reader.compared_in(part, found));
                });
            }
            _ => expr.each_part(|part| self.compared_in(part, found)),
        }
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
fn plainly(function: &str, carries: Carries, all: &[Value]) -> Value {
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
        Carries::Keys => Value::list(first.part(&Step::Key)),
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

/// Whether an expression hands a name on as it is, and does nothing else with it.
fn is_whole(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Ident(_) => true,
        ExprKind::Conditional(_, one, other) | ExprKind::Binary(_, one, other) => {
            is_whole(one, name) && is_whole(other, name)
        }
        _ => reads(expr, &Scope::of_names([name])).slots.is_empty(),
    }
}
