//! What is written out in a node: conditions that have a name, constants of its `set`, and keys and indices that a list or map
//! of a `let` doesn't have.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::item::Let;
use crate::base::name::few;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::{NamedCondition, macros, path, reads};
use crate::ir::FieldId;
use crate::resolve::program::Node;

use super::cx::Cx;
use super::flow_state::keeps_value;

impl Cx<'_> {
    /// What the `set` of a node has changed for what follows in it: conditions of before say nothing of the new values, and
    /// a field that it writes a constant to has that one. Not where a `skip` may have left the `set` out.
    pub(super) fn written_here(&mut self, node: &Node) {
        let Some(graph) = self.graph else { return };
        let written: Vec<FieldId> = node.set.iter().filter_map(|item| item.field).collect();
        let scope = &self.scope;
        self.conditions.retain(|known| {
            let read = reads(&known.value, scope).fields;
            !written.iter().any(|id| read.contains(&id.0))
        });
        if node.skips.iter().any(|skip| skip.to.is_none()) {
            return;
        }
        for item in &node.set {
            let field = item.field.and_then(|id| graph.fields.get(id));
            let Some(field) = field.filter(|field| keeps_value(field, item.replace)) else {
                continue;
            };
            let value = self.atom(&item.value, true);
            let place = format!("state.{}", field.name.node);
            match value {
                Some(atom) => self.constants.insert(place, (atom, item.value.span)),
                None => self.constants.remove(&place),
            };
        }
    }

    /// Adds the name of a `let`. One of a place is of its declared type, and what is known of the place is known of the name.
    pub fn bind(&mut self, binding: &Let, ty: Type) {
        let name = &binding.name.node;
        let condition = ty == Type::Bool;
        match path(&binding.value).filter(|_| ty != Type::Error) {
            Some(place) => {
                let shown = self.facts.known.renamed(&place, name);
                let declared = self.declared(&binding.value, &place);
                self.declare(name, declared);
                self.facts.known = std::mem::take(&mut self.facts.known).and(shown);
            }
            None => self.declare(name, ty),
        }
        if condition {
            self.conditions.push(NamedCondition {
                name: name.clone(),
                value: binding.value.clone(),
            });
        }
        let plain = match &binding.value.kind {
            ExprKind::Map(entries) => entries.iter().all(|entry| !entry.optional),
            ExprKind::List(items) => items.iter().all(|item| !item.optional),
            _ => false,
        };
        if plain {
            self.written.insert(name.clone(), binding.value.clone());
        }
    }

    /// Reports keys and indices that such a map or list doesn't have.
    pub(super) fn keys_of_lets(&mut self, expr: &Expr) {
        if self.written.is_empty() {
            return;
        }
        // A name that a macro binds in it is another.
        let mut bound: BTreeSet<String> = BTreeSet::new();
        let mut asked: Vec<(&Expr, &Expr)> = Vec::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Call {
                    target: Some(_),
                    function,
                    args,
                } => {
                    let vars = macros::bound(function, args).map(|(vars, _)| vars);
                    bound.extend(vars.into_iter().flatten());
                }
                ExprKind::Index {
                    operand,
                    index,
                    optional: false,
                } => asked.push((operand, index)),
                _ => {}
            }
            expr.each_part(|part| open.push(part));
        }
        for (operand, index) in asked {
            let ExprKind::Ident(name) = &operand.kind else {
                continue;
            };
            let written = self.written.get(name).filter(|_| !bound.contains(name));
            if let Some(found) = written.and_then(|written| lacks(name, written, index)) {
                self.report(found);
            }
        }
    }
}

/// The report of a key that is none of those written out.
fn lacks(name: &str, written: &Expr, index: &Expr) -> Option<Diagnostic> {
    let found = |message: String| {
        Diagnostic::new(&codes::ALWAYS_FAILS, message, index.span)
            .label(written.span, "written out here")
    };
    match (&written.kind, &index.kind) {
        (ExprKind::Map(entries), ExprKind::Literal(Literal::String(key))) => {
            let keys = entries.iter().map(|entry| match &entry.key.kind {
                ExprKind::Literal(Literal::String(key)) => Some(&**key),
                _ => None,
            });
            let keys: Vec<&str> = keys.collect::<Option<_>>()?;
            if keys.contains(&&**key) {
                return None;
            }
            let message = format!("this always fails: `{name}` has no key {key:?}");
            Some(
                match crate::base::name::closest(key, keys.iter().copied()) {
                    Some(near) => found(message).help(format!("did you mean {near:?}?")),
                    None => found(message).help(format!("its keys are {}", few(keys))),
                },
            )
        }
        (ExprKind::List(items), ExprKind::Literal(Literal::Int(at))) => {
            let beyond = usize::try_from(*at).is_ok_and(|at| at >= items.len());
            let many = items.len();
            let message =
                format!("this always fails: `{name}` has no index `{at}`, it has {many} elements");
            beyond.then(|| found(message).help("the first one is `0`"))
        }
        _ => None,
    }
}
