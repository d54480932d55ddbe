//! What conditions say of the places that they speak of: for which of their values they hold.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::SharedSet;
use crate::expr::fold::Folder;
use crate::expr::infer::{constant, path};
use crate::expr::ty::EnumId;
use crate::expr::{Type, TypeTable};
use crate::resolve::program::Field;

use super::cx::Cx;
use super::jump::texts;
use super::range::Range;

/// A value that conditions tell apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A text or a member of an enum.
    Text(Arc<str>),
    /// Every value that the others are not.
    Other,
}

/// Values of a place.
pub type Atoms = SharedSet<Atom>;

/// The values of enums that were asked for before: one may have thousands.
pub type Domains = Rc<RefCell<HashMap<EnumId, Atoms>>>;

impl Atom {
    /// As it is shown in messages.
    pub fn show(&self) -> String {
        match self {
            Atom::Null => "null".to_owned(),
            Atom::Bool(value) => value.to_string(),
            Atom::Text(text) => text.to_string(),
            Atom::Other => "something else".to_owned(),
        }
    }
}

/// Reads conditions in the scope of a place.
pub struct Reader<'a, 'b> {
    pub(super) cx: &'a Cx<'b>,
    /// Folds what depends on nothing.
    pub(super) folder: Folder<'b>,
    /// All values of each place that a condition has spoken of.
    pub domains: BTreeMap<String, Atoms>,
    /// Places of whole numbers among them.
    whole: BTreeSet<String>,
}

impl<'a, 'b> Reader<'a, 'b> {
    /// A reader that has read nothing.
    pub fn new(cx: &'a Cx<'b>) -> Self {
        Self {
            cx,
            folder: Folder::new(&cx.program.types, cx.scope.functions.clone(), Vec::new()),
            domains: BTreeMap::new(),
            whole: BTreeSet::new(),
        }
    }

    /// The place that a condition speaks of and exactly the values for which it holds; `None` where it
    /// can't be said so.
    pub fn holds(&mut self, expr: &Expr) -> Option<(String, Atoms)> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let (subject, atoms) = self.holds(inner)?;
                Some((subject.clone(), self.others(&subject, &atoms)))
            }
            ExprKind::Logical(op, operands) => {
                let mut all = operands.iter().map(|operand| self.holds(operand));
                let (subject, first) = all.next()??;
                all.try_fold((subject, first), |(subject, atoms), next| {
                    let (other, more) = next?;
                    let both = match op {
                        LogicalOp::And => atoms.intersection(&more),
                        LogicalOp::Or => atoms.union(&more),
                    };
                    (subject == other).then_some((subject, both))
                })
            }
            ExprKind::Binary(op, left, right) => match op.node {
                BinaryOp::Equal => self.equal(left, right),
                BinaryOp::NotEqual => {
                    let (subject, atoms) = self.equal(left, right)?;
                    Some((subject.clone(), self.others(&subject, &atoms)))
                }
                BinaryOp::In => self.one_of(left, right),
                _ => None,
            },
            ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } => {
                let subject = self.subject(expr)?;
                let yes = Atom::Bool(true);
                let domain = self.domains.get(&subject)?;
                if let Some((Atom::Bool(false), _)) = self.cx.constants.get(&subject) {
                    return Some((subject, Atoms::default()));
                }
                let boolean = domain.contains(&yes);
                boolean.then(|| (subject, Atoms::from([yes])))
            }
            _ => None,
        }
    }

    /// Whether the values are all that the place can have.
    pub fn covers(&self, subject: &str, atoms: &Atoms) -> bool {
        self.domains.get(subject) == Some(atoms)
    }

    pub(super) fn others(&self, subject: &str, atoms: &Atoms) -> Atoms {
        let all = self.domains.get(subject).cloned().unwrap_or_default();
        all.difference(atoms)
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> Option<(String, Atoms)> {
        let (subject, value) = match (self.atom(left), self.atom(right)) {
            (None, Some(value)) => (left, value),
            (Some(value), None) => (right, value),
            _ => return None,
        };
        let subject = self.subject(subject)?;
        let known = self.domains.get(&subject)?.contains(&value);
        if !known && self.cx.constants.contains_key(&subject) {
            return Some((subject, Atoms::default()));
        }
        known.then(|| (subject, Atoms::from([value])))
    }

    fn one_of(&mut self, item: &Expr, items: &Expr) -> Option<(String, Atoms)> {
        let ExprKind::List(elements) = &items.kind else {
            return None;
        };
        let subject = self.subject(item)?;
        let domain = self.domains.get(&subject)?;
        let values: Option<Atoms> = elements
            .iter()
            .map(|e| self.atom(&e.value).filter(|a| domain.contains(a)))
            .collect();
        Some((subject, values?))
    }

    /// Whether a place that has been spoken of holds whole numbers.
    pub(super) fn is_whole(&self, subject: &str) -> bool {
        self.whole.contains(subject)
    }

    /// The place that an expression names; its values are noted.
    pub(super) fn subject(&mut self, expr: &Expr) -> Option<String> {
        let place = path(expr)?;
        if !self.domains.contains_key(&place) {
            let ty = self.cx.quiet(expr);
            if matches!(ty, Type::Int) || ty.without_null() == Type::Int {
                self.whole.insert(place.clone());
            }
            let domain = match self.cx.constants.get(&place) {
                Some((atom, _)) => Atoms::from([atom.clone()]),
                None => known(&ty, &self.cx.program.types, &self.cx.domains),
            };
            self.domains.insert(place.clone(), domain);
        }
        Some(place)
    }

    /// All values of a type, as far as conditions tell them apart.
    pub(super) fn values(&self, ty: &Type) -> Atoms {
        known(ty, &self.cx.program.types, &self.cx.domains)
    }

    /// The numbers that a place may be: a field of the state is held to its bounds with each write.
    pub(super) fn bounds(&self, expr: &Expr) -> Range {
        let field = self.field(expr);
        field.map_or(Range::ALL, |field| Range::asked(&field.constraints))
    }

    /// The sizes that a place may have: the same.
    pub(super) fn sizes(&self, expr: &Expr) -> Range {
        let field = self.field(expr);
        field.map_or(Range::SIZES, |field| Range::sizes(&field.constraints))
    }

    /// The field of the state that a place is.
    fn field(&self, expr: &Expr) -> Option<&Field> {
        let graph = self.cx.graph?;
        let place = path(expr)?;
        let id = graph.field(place.strip_prefix("state.")?)?;
        graph.fields.get(id)
    }

    /// The value that an expression is, a parameter of an instance included.
    pub(super) fn atom(&self, expr: &Expr) -> Option<Atom> {
        if let ExprKind::Literal(Literal::Null) = expr.kind {
            return Some(Atom::Null);
        }
        let given = || {
            Some(
                self.cx
                    .graph?
                    .param(path(expr)?.strip_prefix("params.")?)?
                    .value
                    .clone(),
            )
        };
        match constant(expr, &self.cx.program.types).or_else(given)? {
            serde_json::Value::Bool(value) => Some(Atom::Bool(value)),
            serde_json::Value::String(text) => Some(Atom::Text(text.into())),
            serde_json::Value::Null => Some(Atom::Null),
            _ => None,
        }
    }
}

/// The same of a type whose values may have been asked for before.
fn known(ty: &Type, types: &TypeTable, domains: &Domains) -> Atoms {
    match ty {
        Type::Nullable(of) => {
            let mut atoms = known(of, types, domains);
            atoms.insert(Atom::Null);
            atoms
        }
        Type::Enum(id) => {
            let mut domains = domains.borrow_mut();
            let atoms = domains.entry(*id).or_insert_with(|| domain(ty, types));
            atoms.clone()
        }
        other => domain(other, types),
    }
}

/// All values of a type, as far as conditions tell them apart.
pub(super) fn domain(ty: &Type, types: &TypeTable) -> Atoms {
    match ty {
        Type::Bool => Atoms::from([Atom::Bool(true), Atom::Bool(false)]),
        Type::Null => Atoms::from([Atom::Null]),
        Type::Json => Atoms::from([Atom::Null, Atom::Other]),
        Type::Nullable(of) => {
            let mut atoms = domain(of, types);
            atoms.insert(Atom::Null);
            atoms
        }
        other => match texts(other, types) {
            Some(all) => all
                .into_iter()
                .map(|text| Atom::Text(text.into()))
                .collect(),
            None => Atoms::from([Atom::Other]),
        },
    }
}
