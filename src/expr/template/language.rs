//! Methods of the language's own table in templates: `{{ s.truncate(20) }}`.
//!
//! Where Jinja has a method of that name, that one counts. What is an optional in an expression is null here where there is
//! none. Macros, and methods of times, which a template has as texts, belong to expressions.

use std::sync::Arc;

use minijinja::machinery::{Span as Range, ast};
use minijinja::value::{Value as Shown, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::diag::{Diagnostic, codes};
use crate::value::{Key, Map, Value};

use super::super::function::{self, FunctionSpec, Rule};
use super::super::infer::{called, takes};
use super::super::ty::Type;
use super::check::Check;
use super::object::{Entries, Items, shown};

impl Check<'_> {
    /// The method of that name in the language's table, where values of the type can have one.
    pub(super) fn of_language(&self, of: &Type, name: &str) -> Option<&'static FunctionSpec> {
        let time = matches!(of, Type::Timestamp | Type::Duration);
        let found = function::find(name, true).filter(|_| !time)?;
        let fits = |count: usize| {
            let mut all = vec![of.clone()];
            all.resize(count, Type::Error);
            called(found, &all, self.types).is_ok()
        };
        found.arities().any(fits).then_some(found)
    }

    /// What a call of it gives.
    pub(super) fn language_method(
        &mut self,
        found: &FunctionSpec,
        (receiver, of): (&ast::Expr, Type),
        call: &ast::Call,
        range: Range,
    ) -> Type {
        let span = self.name_span(range, found.name);
        let imported =
            found.module.is_empty() || self.scope.functions.iter().any(|f| f == found.name);
        if !imported {
            let message = format!("`{}` is not imported", found.name);
            let import = format!("import {{ {} }} from \"{}\"", found.name, found.module);
            let unknown = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, span);
            return self.report(unknown.help(format!("add `{import}`")));
        }
        let mut all = vec![of];
        for arg in &call.args {
            let ast::CallArg::Pos(value) = arg else {
                let message = format!("arguments of `{}` have no names", found.name);
                let wrong = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span);
                return self.report(wrong.help(takes(found)));
            };
            all.push(self.silent(value));
        }
        let wrong = match called(found, &all, self.types) {
            Ok(Type::Optional(of)) => return Type::nullable((*of).clone()),
            Ok(ty) => {
                if let Rule::Format = found.rule {
                    self.formats_list(receiver, &call.args);
                }
                return ty;
            }
            Err(wrong) => wrong,
        };
        let (message, span) = match wrong.filter(|at| *at > 0) {
            Some(at) => {
                let ty = all.get(at).map_or_else(String::new, |ty| self.show(ty));
                let place = call.args.get(at - 1).map(|arg| match arg {
                    ast::CallArg::Pos(value) => self.span(value.span()),
                    _ => span,
                });
                let message = format!("argument {at} of `{}` is {ty}", found.name);
                (message, place.unwrap_or(span))
            }
            None => {
                let source = self.source(receiver);
                let count = call.args.len();
                let message = format!("`{source}.{}` does not take {count} arguments", found.name);
                (message, span)
            }
        };
        self.report(Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span).help(takes(found)))
    }
}

/// Calls one when a template is rendered.
pub(super) fn call(of: &Shown, name: &str, args: &[Shown]) -> Result<Shown, Error> {
    let method = function::find(name, true);
    let Some((found, compute)) = method.and_then(|found| Some((found, found.compute()?))) else {
        return Err(Error::from(ErrorKind::UnknownMethod));
    };
    if !found.arities().any(|count| count == args.len() + 1) {
        let message = format!("`{name}` does not take {} arguments", args.len());
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let all: Vec<Value> = std::iter::once(of).chain(args).map(value).collect();
    compute(&all)
        .map(|value| shown(&value))
        .map_err(|message| Error::new(ErrorKind::InvalidOperation, format!("`{name}`: {message}")))
}

/// A value of the template engine as one of the language.
fn value(of: &Shown) -> Value {
    if let Some(items) = of.downcast_object_ref::<Items>() {
        return Value::List(items.0.clone());
    }
    if let Some(entries) = of.downcast_object_ref::<Entries>() {
        return Value::Map(entries.0.clone());
    }
    match of.kind() {
        ValueKind::Bool => Value::Bool(of.is_true()),
        ValueKind::Number => match i64::try_from(of.clone()) {
            Ok(int) if of.is_integer() => Value::Int(int),
            _ => Value::Float(f64::try_from(of.clone()).unwrap_or(f64::NAN)),
        },
        ValueKind::String => Value::text(of.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => match of.try_iter() {
            Ok(items) => Value::List(items.map(|item| value(&item)).collect()),
            Err(_) => Value::Null,
        },
        ValueKind::Map => match of.try_iter() {
            Ok(keys) => {
                let entry = |key: Shown| {
                    let found = of.get_item(&key).unwrap_or_default();
                    (Key::from(key.to_string().as_str()), value(&found))
                };
                Value::Map(keys.map(entry).collect::<Map>())
            }
            Err(_) => Value::Null,
        },
        _ => Value::Null,
    }
}

/// Names of functions that a template may call only where its file imports them.
pub(super) fn imported(name: &str, functions: &Arc<Vec<String>>) -> bool {
    let module = function::find(name, true).map_or("", |found| found.module);
    module.is_empty() || functions.iter().any(|known| known == name)
}
