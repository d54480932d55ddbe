//! What is written out in a node: what its `let`s stand for, constants of its `set`, and keys and indices that a list or map
//! of a `let` doesn't have.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::item::Let;
use crate::base::name::few;
use crate::base::{AccessPath, Span};
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::fold::inline;
use crate::expr::fold::same::same;
use crate::expr::infer::{access_path, macros, reads};
use crate::ir::FieldId;
use crate::resolve::node::names;
use crate::resolve::program::{Field, Node};

use super::condition::range::Range;
use super::condition::values::{Atom, Values};
use super::cx::Cx;
use super::flow_state::keeps_value;

/// A constant that a node has written.
#[derive(Debug, Clone)]
pub struct Constant {
    /// The value.
    pub values: Rc<Values>,
    /// The size of a text, a list or a map.
    pub size: Option<usize>,
    /// As it is shown in messages.
    pub shown: String,
    /// Where it is written.
    pub span: Span,
}

impl Constant {
    fn of(value: &Json, span: Span) -> Self {
        let no_text = [Atom::Null, Atom::Bool(true), Atom::Bool(false)];
        let atom = |atom: Atom| (atom.show(), Values::atoms([atom]), None);
        let (shown, values, size) = match value {
            Json::Null => atom(Atom::Null),
            Json::Bool(value) => atom(Atom::Bool(*value)),
            Json::String(text) => {
                let (shown, values, _) = atom(Atom::Text(text.as_str().into()));
                (shown, values, Some(text.chars().count()))
            }
            Json::Number(number) => {
                // Beyond 2^53 floats are too coarse to compare with.
                let at = number
                    .as_f64()
                    .filter(|at| at.abs() < 9_007_199_254_740_992.0);
                let range = at.map_or(Range::ALL, Range::point);
                (
                    number.to_string(),
                    Values::range(range, !number.is_f64()),
                    None,
                )
            }
            Json::Array(items) => (value.to_string(), Values::but(no_text), Some(items.len())),
            Json::Object(entries) => (value.to_string(), Values::but(no_text), Some(entries.len())),
        };
        Self {
            values: Rc::new(values),
            size,
            shown,
            span,
        }
    }
}

impl Cx<'_> {
    /// What the `set` of a node has changed for what follows in it: a `let` of before doesn't stand for the new values, and
    /// a field that it writes a constant to has that one. Not where a `skip` may have left the `set` out.
    pub(super) fn written_here(&mut self, node: &Node) {
        let Some(graph) = self.graph else { return };
        for id in node.set.iter().filter_map(|item| item.field) {
            self.lets_are_stale(id);
        }
        if node.skips.iter().any(|skip| skip.to.is_none()) {
            return;
        }
        for item in &node.set {
            let field = item.field.and_then(|id| graph.fields.get(id));
            let Some(field) = field.filter(|field| keeps_value(field, item.replace)) else {
                continue;
            };
            let place = AccessPath::of_state(&field.name.node);
            match self.json(&item.value, true) {
                Some(value) => {
                    let constant = Constant::of(&value, item.value.span);
                    self.constants.insert(place, constant);
                }
                None => _ = self.constants.remove(&place),
            }
        }
    }

    /// Notes that a field may be written by the node's work, and what is based on it reset.
    pub(super) fn disturb(&mut self, id: FieldId, field: &Field) {
        self.facts.disturb(id, field);
        self.lets_are_stale(id);
        let resets = field
            .resets
            .iter()
            .filter_map(|name| self.graph?.field(name));
        resets
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|id| self.lets_are_stale(id));
    }

    /// What a `let` stands for that reads a field which is written is what it was before.
    fn lets_are_stale(&mut self, written: FieldId) {
        for known in self.lets.iter_mut().filter(|known| !known.stale) {
            known.stale = reads(&known.value, &self.scope).fields.contains(&written.0);
        }
    }

    /// Adds the name of a `let`. One of a place is of its declared type, and what is known of the place is known of the name.
    pub fn bind(&mut self, binding: &Let, ty: Type) {
        let name = &binding.name.node;
        inline::bind(&mut self.lets, binding);
        let own = self.lets.pop();
        match access_path(&binding.value).filter(|_| ty != Type::Error) {
            Some(place) => {
                let shown = self.facts.known.renamed(&place, &AccessPath::name(name));
                let declared = self.declared(&binding.value, &place);
                self.declare(name, declared);
                self.facts.known = std::mem::take(&mut self.facts.known).and(shown);
            }
            None => self.declare(name, ty),
        }
        self.lets.extend(own.filter(|own| !names(&own.value, name)));
    }

    /// The name of the `let` that an expression is the value of.
    pub(super) fn let_of(&self, value: &Expr) -> Option<&str> {
        let mut known = self.lets.iter().filter(|known| !known.stale);
        let found = known.find(|known| same(&known.value, value))?;
        Some(&found.name)
    }

    /// Reports keys and indices that such a map or list doesn't have.
    pub(super) fn keys_of_lets(&mut self, expr: &Expr) {
        if self.lets.is_empty() {
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
            let written = self.lets.iter().rfind(|known| known.name == *name);
            let written = written.filter(|_| !bound.contains(name));
            if let Some(found) = written.and_then(|written| lacks(name, &written.value, index)) {
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
        (ExprKind::Map(entries), ExprKind::Literal(Literal::String(key)))
            if entries.iter().all(|entry| !entry.optional) =>
        {
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
        (ExprKind::List(items), ExprKind::Literal(Literal::Int(at)))
            if items.iter().all(|item| !item.optional) =>
        {
            let beyond = usize::try_from(*at).is_ok_and(|at| at >= items.len());
            let many = items.len();
            let message =
                format!("this always fails: `{name}` has no index `{at}`, it has {many} elements");
            beyond.then(|| found(message).help("the first one is `0`"))
        }
        _ => None,
    }
}
