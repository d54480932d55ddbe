//! The labels of expressions.
//!
//! An expression has the labels of its parts. The condition of `?:`, comparisons, sizes and whether something is null are no
//! parts of a value.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use crate::base::Span;
use crate::expr::infer::path;
use crate::ir::GraphId;
use crate::resolve::exprs::{Site, Written};

use super::function::binds;
use super::label::{Label, LabelSet};
use super::places::{Place, Places};
use super::value::{Step, Value};

/// Names in scope, each with its value.
pub type Names = Rc<HashMap<String, Value>>;

/// Reads expressions at one place of a program.
pub struct Reader<'e, 'a> {
    /// What places hold.
    pub places: &'e Places<'a>,
    /// The graph whose state is in scope.
    pub graph: Option<GraphId>,
    /// Names in scope.
    pub names: Names,
    /// Names that macros and texts bind, the innermost last.
    pub(super) locals: Vec<(String, Value)>,
    /// What was read.
    pub read: BTreeSet<Place>,
}

/// An operand of an expression that brings a label into it.
#[derive(Debug, Clone)]
pub struct Operand {
    /// Where it stands.
    pub span: Span,
    /// As it is written; `None` of what is more than a name and its parts.
    pub name: Option<String>,
    /// What it brings.
    pub value: Value,
    /// Whether the whole is it, or a choice or a concatenation of it and others: then it is of the same type.
    pub same_type: bool,
}

impl<'e, 'a> Reader<'e, 'a> {
    /// A reader at a place of a graph, or outside of graphs.
    pub fn new(places: &'e Places<'a>, graph: Option<GraphId>, names: Names) -> Self {
        Self {
            places,
            graph,
            names,
            locals: Vec::new(),
            read: BTreeSet::new(),
        }
    }

    /// Gives a name to a value.
    pub fn declare(&mut self, name: &str, value: Value) {
        Rc::make_mut(&mut self.names).insert(name.to_owned(), value);
    }

    /// Looks at something while names are bound.
    pub fn binding<T>(
        &mut self,
        names: impl IntoIterator<Item = (String, Value)>,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.locals.len();
        self.locals.extend(names);
        let result = then(self);
        self.locals.truncate(before);
        result
    }

    /// What a place holds.
    pub fn place(&mut self, place: Place) -> Value {
        self.read.insert(place);
        self.places.value(place)
    }

    /// The labels of several expressions, of all their parts.
    pub fn flat<'x>(&mut self, exprs: impl IntoIterator<Item = &'x Expr>) -> LabelSet {
        let mut found = LabelSet::default();
        for expr in exprs {
            found.add(&self.value(expr).flat());
        }
        found
    }

    /// The labels of an expression.
    pub fn value(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(root) if self.is_state(root) => self.field(&field.node),
                _ => self.value(operand).field(&field.node),
            },
            ExprKind::Index { operand, index, .. } => {
                let of = self.value(operand);
                match &index.kind {
                    ExprKind::Literal(Literal::String(key)) => of.field(key),
                    _ => of.part(&Step::Element),
                }
            }
            ExprKind::Call {
                target,
                function,
                args,
            } => self.call(target.as_deref(), &function.node, args),
            ExprKind::Binary(op, left, right) if op.node == BinaryOp::Add => {
                self.value(left).or(&self.value(right))
            }
            ExprKind::Binary(op, left, right) if is_sum(op.node) => {
                number(self.flat([&**left, right]))
            }
            ExprKind::Unary(UnaryOp::Negate, of) => number(self.flat([&**of])),
            ExprKind::Conditional(_, yes, no) => self.value(yes).or(&self.value(no)),
            ExprKind::List(elements) => {
                let elements = elements.iter().map(|element| self.value(&element.value));
                Value::list(Value::any(&elements.collect::<Vec<_>>()))
            }
            ExprKind::Map(entries) => {
                let (mut key, mut element, mut named) = Default::default();
                for entry in entries {
                    let value = self.value(&entry.value);
                    match &entry.key.kind {
                        ExprKind::Literal(Literal::String(name)) => {
                            let named: &mut Vec<(Rc<str>, Value)> = &mut named;
                            named.push((Rc::from(&**name), value));
                        }
                        _ => {
                            let (key, element): (&mut Value, &mut Value) = (&mut key, &mut element);
                            key.absorb(&self.value(&entry.key));
                            element.absorb(&value);
                        }
                    }
                }
                Value::map(key, element, named)
            }
            ExprKind::Record { fields, .. } => {
                let fields = fields.iter();
                let fields =
                    fields.map(|field| (Rc::from(&*field.name.node), self.value(&field.value)));
                Value::record(fields.collect::<Vec<_>>())
            }
            // Truth values.
            ExprKind::Binary(..)
            | ExprKind::Unary(UnaryOp::Not, _)
            | ExprKind::Logical(..)
            | ExprKind::Literal(_)
            | ExprKind::Error => Value::default(),
        }
    }

    fn local(&self, name: &str) -> Option<&Value> {
        let mut locals = self.locals.iter().rev();
        let local = locals.find(|(local, _)| local == name);
        local
            .map(|(_, value)| value)
            .or_else(|| self.names.get(name))
    }

    /// Whether a name is a value in scope.
    pub(super) fn is_value(&self, name: &str) -> bool {
        self.local(name).is_some()
    }

    fn is_state(&self, name: &str) -> bool {
        name == "state" && self.graph.is_some() && !self.is_value(name)
    }

    pub(super) fn name(&mut self, name: &str) -> Value {
        if let Some(known) = self.local(name) {
            return known.clone();
        }
        let Some(graph) = self.graph else {
            return Value::default();
        };
        match name {
            "context" => self.place(Place::Context(graph)),
            "state" => {
                let fields = self.places.program.graphs.get(graph);
                let fields = fields.into_iter().flat_map(|graph| graph.fields.iter());
                let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
                let fields = names.into_iter();
                Value::record(
                    fields
                        .map(|name| (name.into(), self.field(name)))
                        .collect::<Vec<_>>(),
                )
            }
            _ => Value::default(),
        }
    }

    /// A field of the state.
    pub fn field(&mut self, name: &str) -> Value {
        let of = self.graph.and_then(|id| {
            let graph = self.places.program.graphs.get(id)?;
            Some(Place::Field(id, graph.field(name)?))
        });
        of.map_or_else(Value::default, |place| self.place(place))
    }

    /// Looks at what stands at a site, where the name of its loop is bound.
    pub fn within<T>(&mut self, site: &Site, look: impl FnOnce(&mut Self) -> T) -> T {
        let each = site.each.map(|(name, items)| {
            let element = self.value(items).part(&Step::Element);
            (name.node.clone(), element)
        });
        self.binding(each, look)
    }

    /// The labels of what a site gives.
    pub fn given(&mut self, site: &Site) -> LabelSet {
        self.within(site, |reader| match site.written {
            Written::Expr(expr) => reader.value(expr).flat(),
            Written::Text(words) => reader.text(words),
        })
    }

    /// The operands of what stands at a site that bring in what `is_found` finds.
    pub fn operands(
        &mut self,
        site: &Site,
        is_found: &mut dyn FnMut(&Value) -> bool,
    ) -> Vec<Operand> {
        self.within(site, |reader| match site.written {
            Written::Expr(expr) => reader.operands_of(expr, is_found),
            Written::Text(words) => reader.text_operands(words, is_found),
        })
    }

    /// The operands of an expression that bring in what `is_found` finds, the whole expression where none does alone.
    pub fn operands_of(
        &mut self,
        expr: &Expr,
        is_found: &mut dyn FnMut(&Value) -> bool,
    ) -> Vec<Operand> {
        let mut found = Vec::new();
        self.add_operands(expr, true, is_found, &mut found);
        found
    }

    fn add_operands(
        &mut self,
        expr: &Expr,
        same_type: bool,
        is_found: &mut dyn FnMut(&Value) -> bool,
        found: &mut Vec<Operand>,
    ) {
        let value = self.value(expr);
        if !is_found(&value) {
            return;
        }
        let before = found.len();
        let (parts, same) = match &expr.kind {
            ExprKind::Conditional(_, yes, no) => (vec![&**yes, no], same_type),
            ExprKind::Binary(op, ..) if op.node == BinaryOp::Add => (expr.parts(), same_type),
            ExprKind::Select { .. } | ExprKind::Index { .. } => (Vec::new(), false),
            // The condition of a macro gives nothing.
            ExprKind::Call {
                target,
                function,
                args,
            } if binds(&function.node, args) => {
                (target.iter().map(|target| &**target).collect(), false)
            }
            _ => (expr.parts(), false),
        };
        for part in parts {
            self.add_operands(part, same, is_found, found);
        }
        if found.len() == before {
            found.push(Operand {
                span: expr.span,
                name: path(expr),
                value,
                same_type,
            });
        }
    }
}

/// A number or a time that is made of such values: no free text.
pub(super) fn number(of: LabelSet) -> Value {
    Value::of(of.without(&Label::TEXT))
}

/// Whether an operator gives a number or a time.
fn is_sum(op: BinaryOp) -> bool {
    use BinaryOp::{Divide, Modulo, Multiply, Subtract};
    matches!(op, Subtract | Multiply | Divide | Modulo)
}
