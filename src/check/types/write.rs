//! `set` and `emit`: what is written to the state and what is sent out.

use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::{Taker, assignable, default_value, reads};
use crate::ir::node::CHUNK;
use crate::ir::{Channel, FieldMode};
use crate::resolve::exprs;
use crate::resolve::program::{Emit, Field, ModelCall, Program, SetItem};

use super::args::Callee;
use super::constant::Decides;
use super::cx::Cx;
use super::flow_state::keeps_value;

impl Cx<'_> {
    /// Types a `set`: all values see the state before it; what follows sees what it wrote.
    pub fn set(&mut self, items: &[SetItem]) {
        let mut written = Vec::new();
        let mut meant = Vec::new();
        for item in items {
            let field = item
                .field
                .and_then(|id| Some((id, self.graph?.fields.get(id)?)));
            let Some((id, field)) = field else {
                if let Some(near) = item.near {
                    meant.push(near);
                }
                let found = self.infer_with_effects(&item.value, None);
                if self.graph.is_none() {
                    self.jump_sets.push(found);
                }
                continue;
            };
            if field.mode == FieldMode::In {
                self.read_only(item, field);
                // Which field was meant nobody knows, so nor what it takes.
                self.infer_with_effects(&item.value, None);
                continue;
            }
            let takes = self.takes(field, item.replace);
            let taker = Taker::named(&field.name);
            let found = self.written(&item.value, Some(&takes), Some(taker));
            self.keeps_to_bounds(field, item);
            let non_null =
                keeps_value(field, item.replace) && (found == Type::Error || !found.admits_null());
            written.push((id, field, non_null));
        }
        for (id, field, _) in &written {
            self.facts.disturb(*id, field);
        }
        for (id, field, non_null) in written {
            self.facts.write(id, field, non_null);
        }
        meant.iter().for_each(|id| self.facts.has_value(*id));
    }

    /// The type that a write to a field takes: an own reducer's second parameter, else the field's type.
    pub(super) fn takes(&self, field: &Field, replace: bool) -> Type {
        takes(self.program, field, replace)
    }

    /// A constant that breaks what the field's attributes ask.
    fn keeps_to_bounds(&mut self, field: &Field, item: &SetItem) {
        if field.constraints.is_empty() {
            return;
        }
        let Some(value) = default_value(&item.value, &field.ty.node, &self.program.types) else {
            return;
        };
        let message = match keeps_value(field, item.replace) {
            true => field.constraints.broken(&value).first().map(|first| {
                let name = &item.name.node;
                format!("the value of `{name}` is out of bounds: {first}")
            }),
            false => never_within(field, &value),
        };
        if let Some(message) = message {
            self.report(
                Diagnostic::new(&codes::BAD_VALUE, message, item.value.span)
                    .label(field.span, "its bounds are declared here"),
            );
        }
    }

    fn read_only(&mut self, item: &SetItem, field: &Field) {
        let message = format!(
            "`{}` is an `in` field and can only be read here",
            item.name.node
        );
        self.report(
            Diagnostic::new(&codes::READ_ONLY_FIELD, message, item.name.span)
                .label(field.name.span, "declared `in`")
                .help(format!("declare it `in out {}` to give it back to the caller, or write to a field of its own", field.name.node)),
        );
    }

    /// Types events: their payload, and `when`.
    pub fn emits<'e>(&mut self, emits: impl IntoIterator<Item = &'e Emit>) {
        for emit in emits {
            let before = self.facts.clone();
            if let Some(when) = &emit.when {
                self.deciding(when, Decides::Emit(&emit.name.node));
                self.assume(when, true);
            }
            match emit.event.and_then(|id| self.program.events.get(id)) {
                Some(event) => {
                    let callee = Callee {
                        what: format!("event `{}`", event.name.node),
                        params: &event.fields,
                        span: emit.name.span,
                        declared: event.name.span,
                    };
                    self.args(&callee, &emit.fields);
                }
                None => {
                    for arg in &emit.fields {
                        self.infer_with_effects(&arg.value, None);
                    }
                }
            }
            self.facts.known = before.known;
        }
    }

    /// Types the event of `stream as`. Its values are computed for each piece of a reply, and not again where the journal has the
    /// reply: nothing in them may be kept there.
    pub(super) fn stream_as(&mut self, call: &ModelCall) {
        let Some(emit) = &call.stream_as else { return };
        let names = self.scope.names.len();
        self.declare(CHUNK, Type::String);
        self.emits([&**emit]);
        for expr in exprs::of_emit(emit) {
            if reads(expr, &self.scope).effects {
                let message =
                    "what is another answer each time can't be computed for each piece of a reply";
                let found = Diagnostic::new(&codes::IMPURE_CALL, message, expr.span);
                self.report(found.help("call it in a `let` of the node and use the value here"));
            }
        }
        // The next name has its slot.
        self.used.remove(&(names as u32));
        self.scope.names.truncate(names);
    }
}

/// The type that a write to a field takes: an own reducer's second parameter, else the field's type.
pub fn takes(program: &Program, field: &Field, replace: bool) -> Type {
    match &field.channel {
        _ if field.via_wrong => Type::Error,
        Channel::Own { reducer } if !replace => program
            .reducers
            .get(*reducer)
            // One of another type is reported where the field names it.
            .filter(|reducer| assignable(&field.ty.node, &reducer.old.ty.node, &program.types))
            .map_or(Type::Error, |reducer| reducer.new.ty.node.clone()),
        _ => field.ty.node.clone(),
    }
}

/// What a constant that goes through a reducer breaks whatever the field holds before it: what it adds can't be taken
/// from the field again.
fn never_within(field: &Field, value: &serde_json::Value) -> Option<String> {
    let bounds = &field.constraints;
    let name = &field.name.node;
    let float = |bound: &Option<serde_json::Number>| bound.as_ref()?.as_f64();
    match (&field.channel, value) {
        (Channel::Add, value) => {
            let (min, max, added) = (float(&bounds.min)?, float(&bounds.max)?, value.as_f64()?);
            (added.abs() > max - min).then(|| {
                format!("adding {value} always takes `{name}` out of its bounds, {min} to {max}")
            })
        }
        (Channel::Append, serde_json::Value::Array(items)) => {
            let (_, most) = bounds.len?;
            (items.len() as u64 > most).then(|| {
                let count = items.len();
                format!("appending {count} elements always takes `{name}` over its {most}")
            })
        }
        (Channel::Merge, serde_json::Value::Object(entries)) => {
            let (_, most) = bounds.len?;
            (entries.len() as u64 > most).then(|| {
                let count = entries.len();
                format!("merging {count} entries always takes `{name}` over its {most}")
            })
        }
        _ => None,
    }
}
