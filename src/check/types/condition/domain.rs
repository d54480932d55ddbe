//! The values that expressions may have, by their types and what fields are held to.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::expr::infer::{access_path, constant, reads};
use crate::expr::ty::EnumId;
use crate::expr::{Slot, Type};
use crate::ir::FieldId;
use crate::resolve::program::Field;

use super::super::cx::Cx;
use super::super::jump::texts;
use super::super::written::Constant;
use super::range::Range;
use super::values::{Atom, Values};

/// The values of enums that were asked for before: one may have thousands.
pub type Domains = Rc<RefCell<HashMap<EnumId, Rc<Values>>>>;

impl Cx<'_> {
    /// The text, bool or null that is written out; see [`Cx::json`].
    pub(super) fn atom(&self, expr: &Expr, params: bool) -> Option<Atom> {
        match self.json(expr, params)? {
            Json::Bool(value) => Some(Atom::Bool(value)),
            Json::String(text) => Some(Atom::Text(text.into())),
            Json::Null => Some(Atom::Null),
            _ => None,
        }
    }

    /// The value that is written out; with `params`, the value of a parameter of an instance too.
    pub(in super::super) fn json(&self, expr: &Expr, params: bool) -> Option<Json> {
        if let ExprKind::Literal(Literal::Null) = expr.kind {
            return Some(Json::Null);
        }
        let given = || {
            let param = self
                .graph?
                .param(access_path(expr)?.as_field_of("params")?)?;
            Some(param.value.clone()).filter(|_| params)
        };
        constant(expr, &self.program.types).or_else(given)
    }

    /// The values that a place may have here.
    pub(super) fn domain(&self, place: &Expr) -> Rc<Values> {
        if let Some(constant) = self.constant_at(place) {
            return constant.values.clone();
        }
        let ty = self.type_behind_has(place);
        let known = self.values_of(&ty);
        let Some(field) = self.field_of(place).filter(|_| !known.numbers.is_empty()) else {
            return known;
        };
        let bounds = Values::range(Range::asked(&field.constraints), known.whole);
        let mut left = (*known).clone();
        left.numbers = bounds.numbers;
        match left.is_empty() {
            // Bounds that leave nothing are reported where they stand.
            true => known,
            false => Rc::new(left),
        }
    }

    fn constant_at(&self, place: &Expr) -> Option<&Constant> {
        self.constants.get(&access_path(place)?)
    }

    /// The sizes that a place may have.
    pub(super) fn sizes(&self, place: &Expr) -> Values {
        if let Some(size) = self.constant_at(place).and_then(|constant| constant.size) {
            return Values::range(Range::point(size as f64), true);
        }
        let field = self.field_of(place);
        let sizes = field.map_or(Range::SIZES, |field| Range::sizes(&field.constraints));
        Values::range(sizes, true)
    }

    /// The field of the state that a place is: it is held to its bounds with each write.
    fn field_of(&self, place: &Expr) -> Option<&Field> {
        let graph = self.graph?;
        let id = graph.field(access_path(place)?.as_field_of("state")?)?;
        graph.fields.get(id)
    }

    pub(in super::super::super) fn values_of(&self, ty: &Type) -> Rc<Values> {
        let no_text = [Atom::Null, Atom::Bool(true), Atom::Bool(false)];
        Rc::new(match ty {
            Type::Bool => Values::atoms([Atom::Bool(true), Atom::Bool(false)]),
            Type::Null => Values::atoms([Atom::Null]),
            Type::Int | Type::Uint => Values::range(Range::ALL, true),
            Type::Float => Values::range(Range::ALL, false),
            Type::Nullable(of) => {
                let mut all = (*self.values_of(of)).clone();
                all.join(&Values::atoms([Atom::Null]));
                all
            }
            Type::Enum(id) => {
                let known = self.domains.borrow().get(id).cloned();
                return known.unwrap_or_else(|| {
                    let members = texts(ty, &self.program.types).into_iter().flatten();
                    let members = members.map(|name| Atom::Text(name.into()));
                    let all = Rc::new(Values::atoms(members));
                    self.domains.borrow_mut().insert(*id, all.clone());
                    all
                });
            }
            other => match (texts(other, &self.program.types), other) {
                (Some(all), _) => {
                    Values::atoms(all.into_iter().map(|text| Atom::Text(text.into())))
                }
                (None, Type::Json | Type::Error | Type::Never | Type::Union(_)) => Values::all(),
                (None, _) => Values::but(no_text),
            },
        })
    }

    /// The type of a place that a condition may read behind a `has`: of a field that only some members of a union of records
    /// have, its type in them.
    fn type_behind_has(&self, place: &Expr) -> Type {
        let found = self.quiet(place);
        let ExprKind::Select { operand, field, .. } = &place.kind else {
            return found;
        };
        if found != Type::Error {
            return found;
        }
        let of = self.type_behind_has(operand).without_null();
        let members: &[Type] = match &of {
            Type::Union(members) => members,
            one => std::slice::from_ref(one),
        };
        let mut types = members.iter().filter_map(|member| match member {
            Type::Record(id) => {
                let record = self.program.types.records.get(*id)?;
                record.field(&field.node).map(|field| &field.ty)
            }
            _ => None,
        });
        let first = types.next().cloned().unwrap_or(Type::Error);
        match types.all(|other| *other == first) {
            true => first,
            false => Type::Json,
        }
    }

    /// The same of the fields and names that an expression reads.
    pub(super) fn reads_unknown(&self, expr: &Expr) -> bool {
        let read = reads(expr, &self.scope);
        let named = |slot: &Slot| self.scope.names.get(slot.0 as usize);
        let fields = self.graph.map(|graph| &graph.fields);
        let field = |id: &u32| fields.and_then(|all| all.get(FieldId(*id)));
        read.slots
            .iter()
            .filter_map(named)
            .any(|(_, ty)| *ty == Type::Error)
            || read
                .fields
                .iter()
                .filter_map(field)
                .any(|field| field.ty.node == Type::Error)
    }

    /// Whether a mistake that is reported elsewhere leaves no type of a place.
    pub(super) fn is_unknown(&self, place: &Expr) -> bool {
        let of = match &place.kind {
            ExprKind::Select { operand, .. } | ExprKind::Index { operand, .. } => operand,
            _ => return self.quiet(place) == Type::Error,
        };
        self.quiet(place) == Type::Error
            && match self.quiet(of).without_null() {
                // That some records of a union have no such field is asked by `has`.
                Type::Union(_) => false,
                Type::Error => self.is_unknown(of),
                _ => true,
            }
    }
}
