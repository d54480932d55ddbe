//! Reducers of state fields, and which types they can put together.

use crate::ast::graph::ReducerRef;
use crate::base::name::either;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Home, codes};
use crate::expr::infer::assignable;
use crate::expr::ty::{MESSAGE, Record, RecordId, Type, TypeTable};
use crate::ir::{Channel, ReducerId};

use super::Resolver;
use super::names::{Definition, Seen, Wanted, has_no};

/// Names of the built-in reducers.
pub(super) const BUILT_IN: &[&str] = &[
    "last",
    "any_last",
    "append",
    "add",
    "min",
    "max",
    "and",
    "or",
    "union",
    "merge",
    "deep_merge",
    "upsert",
    "add_messages",
    "barrier",
];

impl Resolver<'_> {
    /// The channel of `via R` on a field of that type; the default one where it is reported.
    pub fn channel(&mut self, file: FileId, via: &ReducerRef, ty: &Type) -> Channel {
        let name = via.name.node.as_str();
        if !BUILT_IN.contains(&name) {
            return self.own_channel(file, via, ty);
        }
        let takes_arguments = matches!(name, "upsert" | "barrier");
        if !takes_arguments && !via.args.is_empty() {
            self.bad_value(
                format!("reducer `{name}` takes nothing in parentheses"),
                via.span,
            );
        }
        let (channel, expected) = match name {
            "any_last" => (Channel::AnyLast, None),
            "append" => (Channel::Append, (!is_list(ty)).then_some("a list")),
            "union" => (Channel::Union, (!is_list(ty)).then_some("a list")),
            "add" => (Channel::Add, (!is_number(ty)).then_some("`int` or `float`")),
            "min" => (Channel::Min, (!is_ordered(ty)).then_some(ORDERED)),
            "max" => (Channel::Max, (!is_ordered(ty)).then_some(ORDERED)),
            "and" => (Channel::And, (*ty != Type::Bool).then_some("`bool`")),
            "or" => (Channel::Or, (*ty != Type::Bool).then_some("`bool`")),
            "merge" => (Channel::Merge, (!is_map(ty)).then_some("a map")),
            "deep_merge" => (Channel::DeepMerge, (!is_map(ty)).then_some("a map")),
            "add_messages" => {
                let messages = Type::list(Type::Record(MESSAGE));
                (
                    Channel::AddMessages,
                    (*ty != messages).then_some("`list<message>`"),
                )
            }
            "upsert" => return self.upsert(via, ty),
            "barrier" => return self.barrier(via, ty),
            _ => (Channel::Last, None),
        };
        match expected {
            Some(expected) => self.does_not_fit(name, ty, expected, via.span),
            None => channel,
        }
    }

    fn does_not_fit(&mut self, name: &str, ty: &Type, expected: &str, span: Span) -> Channel {
        if !has_error(ty) {
            let shown = self.program.types.show(ty).to_string();
            let message = format!("reducer `{name}` needs {expected}, but the field is `{shown}`");
            let fitting = either(fitting(ty).iter().copied());
            self.report(
                &codes::REDUCER_TYPE,
                message,
                span,
                format!("take one for `{shown}`: {fitting}"),
            );
        }
        Channel::Last
    }

    /// `upsert(key)`: the key is a field of the list's records.
    fn upsert(&mut self, via: &ReducerRef, ty: &Type) -> Channel {
        let [key] = via.args.as_slice() else {
            self.bad_value(
                "reducer `upsert` needs one field, as in `upsert(id)`".into(),
                via.span,
            );
            return Channel::Last;
        };
        let elements: &[Type] = match ty {
            Type::List(of) => match &**of {
                Type::Union(members) => members,
                one => std::slice::from_ref(one),
            },
            _ => &[],
        };
        let record = |of: &Type| match of {
            Type::Record(id) => Some((*id, self.program.types.records.get(*id)?)),
            _ => None,
        };
        let records: Option<Vec<_>> = elements.iter().map(record).collect();
        let Some(records) = records.filter(|records| !records.is_empty()) else {
            return self.does_not_fit("upsert", ty, "a list of records", via.span);
        };
        let lacks = |record: &&(RecordId, &Record)| record.1.field(&key.node).is_none();
        if let Some((id, record)) = records.iter().find(lacks) {
            let known = record.fields.iter().map(|field| field.name.as_str());
            let found = has_no(&record.name, "", key, Home::Record(id.0), known);
            self.diags.push(found);
            return Channel::Last;
        }
        Channel::Upsert {
            key: key.node.clone(),
        }
    }

    /// `barrier(a, b)`: the names that are waited for.
    fn barrier(&mut self, via: &ReducerRef, ty: &Type) -> Channel {
        if via.args.is_empty() {
            let message = "reducer `barrier` needs the names it waits for, as in `barrier(a, b)`";
            self.bad_value(message.into(), via.span);
            return Channel::Last;
        }
        if *ty != Type::list(Type::String) {
            return self.does_not_fit("barrier", ty, "`list<string>`", via.span);
        }
        let mut seen = Seen::default();
        let names = via.args.iter();
        let names = names.filter(|name| self.once(&mut seen, "name", name));
        Channel::Barrier {
            names: names.map(|name| name.node.clone()).collect(),
        }
    }

    fn own_channel(&mut self, file: FileId, via: &ReducerRef, ty: &Type) -> Channel {
        let Some(Definition::Reducer(id)) = self.find(file, &via.name, Wanted::Reducer) else {
            return Channel::Last;
        };
        if !via.args.is_empty() {
            let name = &via.name.node;
            self.bad_value(
                format!("reducer `{name}` takes nothing in parentheses"),
                via.span,
            );
        }
        self.own_fits(id, via, ty);
        Channel::Own { reducer: id }
    }

    fn own_fits(&mut self, id: ReducerId, via: &ReducerRef, ty: &Type) {
        let Some(reducer) = self.program.reducers.get(id) else {
            return;
        };
        let old = &reducer.old.ty;
        let types = &self.program.types;
        if has_error(&old.node) || has_error(ty) || same(&old.node, ty, types) {
            return;
        }
        let message = format!(
            "reducer `{}` keeps `{}`, but the field is `{}`",
            via.name.node,
            types.show(&old.node),
            types.show(ty),
        );
        let diagnostic = Diagnostic::new(&codes::REDUCER_TYPE, message, via.span)
            .label(old.span, "this is what it keeps")
            .help(format!(
                "declare the field as `{}`, or take another reducer",
                types.show(&old.node)
            ));
        self.diags.push(diagnostic);
    }
}

/// Built-in reducers that put values of the type together.
fn fitting(ty: &Type) -> &'static [&'static str] {
    match ty {
        Type::Bool => &["and", "or", "any_last"],
        Type::Int | Type::Float => &["add", "min", "max", "any_last"],
        Type::String | Type::Timestamp | Type::Duration => &["min", "max", "any_last"],
        Type::List(_) => &["append", "union", "any_last"],
        Type::Map(_) => &["merge", "deep_merge", "any_last"],
        _ => &["last", "any_last"],
    }
}

/// Whether a part of a type is one that is reported already.
fn has_error(ty: &Type) -> bool {
    match ty {
        Type::Error => true,
        Type::List(of) | Type::Map(of) | Type::Nullable(of) => has_error(of),
        _ => false,
    }
}

const ORDERED: &str = "a number, `string`, `timestamp` or `duration`";

/// Whether two types hold the same values; records are known by their shape.
pub(super) fn same(a: &Type, b: &Type, types: &TypeTable) -> bool {
    a == b || (assignable(a, b, types) && assignable(b, a, types))
}

fn is_list(ty: &Type) -> bool {
    matches!(ty, Type::List(_))
}

fn is_map(ty: &Type) -> bool {
    matches!(ty, Type::Map(_))
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Float)
}

fn is_ordered(ty: &Type) -> bool {
    is_number(ty) || matches!(ty, Type::String | Type::Timestamp | Type::Duration)
}
