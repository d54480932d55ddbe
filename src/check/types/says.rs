//! What conditions and writes say of the state, as facts that hold along one way of a run.
//!
//! Typing a node asks what holds on all ways to it. Where that leaves a finding which rests on a single way, the
//! node is read once more, and what each of its conditions says is kept here ([`Saying`]), so that
//! [`paths`](super::paths) can tell ways that no run takes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};
use crate::base::{SharedSet, Span, Spanned};
use crate::expr::fold::same::{fingerprint, same};
use crate::expr::infer::{constant, path, reads};
use crate::expr::{Type, TypeTable};
use crate::ir::FieldId;
use crate::resolve::program::{Field, Jump, SetItem, Skip};

use super::cases::{Atom, Atoms, Reader, domain};
use super::cx::Cx;
use super::range::{Range, compared};

/// Most conditions of a graph that are told apart only by how they are written.
const CONDITIONS: usize = 4_096;

/// Most facts of the arms before it that an arm is read with.
const CARRIED: usize = 256;

/// Values that a place may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// These.
    Atoms(Atoms),
    /// Any but null.
    NotNull,
    /// Numbers, and whether only whole ones count.
    Range(Range, bool),
    /// Numbers but these.
    Apart(Range),
    /// As many more as there were; of a write only.
    Plus(f64),
    /// Of no place: more holds than there was room for. What is found behind it is in doubt.
    Untold,
}

impl Values {
    /// What both leave; `None` where that is nothing.
    pub fn and(&self, other: &Values) -> Option<Values> {
        match (self, other) {
            (Values::Atoms(a), Values::Atoms(b)) => some(a.intersection(b)),
            (Values::Atoms(a), Values::NotNull) | (Values::NotNull, Values::Atoms(a)) => {
                let mut rest = a.clone();
                rest.remove(&Atom::Null);
                some(rest)
            }
            (Values::Range(a, whole), Values::Range(b, _)) => {
                let both = a.and(*b);
                (!both.is_empty(*whole)).then_some(Values::Range(both, *whole))
            }
            (Values::Range(all, _), Values::Apart(less)) => {
                (!all.within(*less)).then(|| self.clone())
            }
            (Values::Apart(less), Values::Range(all, _)) => {
                (!all.within(*less)).then(|| other.clone())
            }
            _ => Some(other.clone()),
        }
    }

    /// What either has, where that can be said.
    fn or(self, other: Values) -> Option<Values> {
        match (self, other) {
            (Values::Atoms(a), Values::Atoms(b)) => Some(Values::Atoms(a.union(&b))),
            (a, b) => (a == b).then_some(a),
        }
    }
}

fn some(atoms: Atoms) -> Option<Values> {
    (!atoms.is_empty()).then_some(Values::Atoms(atoms))
}

/// A place of the state has one of some values.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The place: a path, `#` and what is measured, or `?` and the number of a condition.
    pub place: Arc<str>,
    /// Fields that it is made of: a write of one of them ends it.
    pub fields: BTreeSet<FieldId>,
    /// The values.
    pub values: Values,
}

impl Fact {
    /// In place of what there was no room for.
    fn untold() -> Self {
        Self {
            place: "".into(),
            fields: BTreeSet::new(),
            values: Values::Untold,
        }
    }
}

/// Conditions of a graph that are told apart only by how they are written.
#[derive(Debug, Default)]
pub struct Conditions {
    all: Vec<Expr>,
    by_print: HashMap<u64, Vec<usize>>,
}

impl Conditions {
    /// The number of a condition; `None` where there is no room for another one.
    fn number(&mut self, expr: &Expr) -> Option<usize> {
        let alike = self.by_print.entry(fingerprint(expr)).or_default();
        let known = |at: &&usize| self.all.get(**at).is_some_and(|known| same(known, expr));
        if let Some(at) = alike.iter().find(known) {
            return Some(*at);
        }
        let at = self.all.len();
        (at < CONDITIONS).then(|| {
            alike.push(at);
            self.all.push(expr.clone());
            at
        })
    }
}

/// What a node says, gathered while it is typed.
#[derive(Debug, Default)]
pub struct Saying {
    /// What holds behind the condition of each jump, by the jump's span.
    pub jumps: HashMap<Span, Vec<Fact>>,
    /// What each jump's own update leaves.
    pub sets: HashMap<Span, Vec<Fact>>,
    /// Places that are known not to be null behind each way, whichever led to it.
    pub known: HashMap<Span, SharedSet<Arc<str>>>,
    /// What holds where a `skip` without a target was taken, for each of them.
    pub skipped: Vec<Vec<Fact>>,
    /// What holds where the node does its work.
    pub worked: Vec<Fact>,
    /// What its `set` leaves.
    pub assigned: Vec<Fact>,
    /// Results that its `set` keeps: the path, and the place of the state that has it now.
    pub(super) aliases: Vec<(String, String, FieldId)>,
    /// What holds where a field is read, for each of its places in an expression or template.
    pub guarded: HashMap<(Span, FieldId), Vec<Vec<Fact>>>,
    /// Conditions that are told apart only by how they are written.
    pub conditions: Conditions,
}

impl Saying {
    /// The place of the state that a result is kept in.
    fn kept(&self, place: &str) -> Option<(String, FieldId)> {
        let (sign, rest) = match place.strip_prefix("#size(") {
            Some(rest) => ("#size(", rest),
            None => match place.strip_prefix('#') {
                Some(rest) => ("#", rest),
                None => ("", place),
            },
        };
        self.aliases.iter().find_map(|(from, to, field)| {
            let end = rest.strip_prefix(from.as_str())?;
            let whole = end.is_empty() || end.starts_with(['.', '[', ')']);
            whole.then(|| (format!("{sign}{to}{end}"), *field))
        })
    }
}

impl Cx<'_> {
    /// What a condition says where it holds, or where it does not; nothing unless that is asked for.
    pub(super) fn says(&mut self, condition: &Expr, truth: bool) -> Vec<Fact> {
        let Some(mut saying) = self.saying.take() else {
            return Vec::new();
        };
        let found = read(self, &mut saying, condition, truth);
        self.saying = Some(saying);
        found
    }

    /// Notes what a write leaves in a field that keeps it; `non_null` where that is never null.
    pub(super) fn says_written(
        &mut self,
        item: &SetItem,
        (id, field): (FieldId, &Field),
        non_null: bool,
    ) {
        let types = &self.program.types;
        let Some(saying) = &mut self.saying else {
            return;
        };
        let left = first_values(&field.name.node, &field.ty.node, Some(&item.value), types);
        let before = saying.assigned.len();
        for (place, values) in left {
            saying.assigned.push(Fact {
                place: place.into(),
                fields: BTreeSet::from([id]),
                values,
            });
        }
        let place = format!("state.{}", field.name.node);
        if non_null && saying.assigned.len() == before && field.ty.node.admits_null() {
            let fields = BTreeSet::from([id]);
            saying.assigned.push(Fact {
                place: place.as_str().into(),
                fields,
                values: Values::NotNull,
            });
        }
        if let Some(from) = path(&item.value).filter(|from| !from.starts_with("state.")) {
            saying.aliases.push((from, place, id));
        }
    }

    /// Keeps what holds behind an arm's condition. `so_far` is what holds where no arm before it was taken.
    pub(super) fn says_arm(&mut self, jump: &Jump, so_far: &mut Vec<Fact>, when: &Expr) {
        let mut facts = self.says(when, true);
        facts.extend(so_far.iter().cloned());
        carry(so_far, self.says(when, false));
        if let Some(saying) = &mut self.saying {
            saying.jumps.insert(jump.span, facts);
        }
    }

    /// The same of an `else`.
    pub(super) fn says_else(&mut self, jump: &Jump, so_far: &[Fact]) {
        if let Some(saying) = &mut self.saying {
            saying.jumps.insert(jump.span, so_far.to_vec());
        }
    }

    /// Keeps what a `skip` says. `so_far` is what holds where none before it was taken.
    pub(super) fn says_skip(&mut self, skip: &Skip, so_far: &mut Vec<Fact>) {
        let mut facts = self.says(&skip.when, true);
        facts.extend(so_far.iter().cloned());
        carry(so_far, self.says(&skip.when, false));
        if let Some(saying) = &mut self.saying {
            match &skip.to {
                Some(jump) => {
                    saying.jumps.insert(jump.span, facts);
                }
                None => saying.skipped.push(facts),
            }
        }
    }

    /// Keeps what holds where the node does its work.
    pub(super) fn says_works(&mut self, facts: Vec<Fact>) {
        if let Some(saying) = &mut self.saying {
            saying.worked.extend(facts);
        }
    }

    /// Makes way for what a jump's own update leaves.
    pub(super) fn says_jump(&mut self) -> (Vec<Fact>, Vec<(String, String, FieldId)>) {
        let Some(saying) = &mut self.saying else {
            return Default::default();
        };
        (std::mem::take(&mut saying.assigned), saying.aliases.clone())
    }

    /// Keeps what the update of a jump has left.
    pub(super) fn said_jump(
        &mut self,
        span: Span,
        (assigned, aliases): (Vec<Fact>, Vec<(String, String, FieldId)>),
    ) {
        if let Some(saying) = &mut self.saying {
            let left = std::mem::replace(&mut saying.assigned, assigned);
            saying.aliases = aliases;
            if !left.is_empty() {
                saying.sets.insert(span, left);
            }
        }
    }
}

/// Adds what holds where a condition does not to what holds where those before it did not. Of one place there is one fact
/// where that says as much.
fn carry(so_far: &mut Vec<Fact>, more: Vec<Fact>) {
    for fact in more {
        let known = so_far.iter_mut().find_map(|known| {
            if known.place != fact.place {
                return None;
            }
            let both = match (&known.values, &fact.values) {
                (Values::Atoms(_), Values::Atoms(_)) | (Values::Range(..), Values::Range(..)) => {
                    known.values.and(&fact.values)?
                }
                _ => return None,
            };
            Some((known, both))
        });
        if let Some((known, both)) = known {
            known.values = both;
        } else if so_far.len() < CARRIED {
            so_far.push(fact);
        } else if so_far.len() == CARRIED {
            so_far.push(Fact::untold());
        }
    }
}

/// What a constant leaves in a field, or null in one without a first value.
pub fn first_values(
    field: &str,
    ty: &Type,
    value: Option<&Expr>,
    types: &TypeTable,
) -> Vec<(String, Values)> {
    if let Some(ExprKind::Conditional(_, yes, no)) = value.map(|value| &value.kind) {
        let of = |value| first_values(field, ty, Some(value), types).pop();
        let both = match (of(yes), of(no)) {
            (Some((place, a)), Some((same, b))) if place == same => Some(place).zip(a.or(b)),
            _ => None,
        };
        return both.into_iter().collect();
    }
    let place = format!("state.{field}");
    let known = value.and_then(|value| constant(value, types));
    let atom = match (&known, value) {
        (None, Some(_)) => return Vec::new(),
        (None, None) | (Some(serde_json::Value::Null), _) => Atom::Null,
        (Some(serde_json::Value::Bool(value)), _) => Atom::Bool(*value),
        (Some(serde_json::Value::String(text)), _) => Atom::Text(text.as_str().into()),
        (Some(serde_json::Value::Number(number)), _) => {
            let point = number.as_f64().map(Range::point);
            let whole = ty.without_null() == Type::Int;
            let point = point.map(|at| (format!("#{place}"), Values::Range(at, whole)));
            return point.into_iter().collect();
        }
        (Some(serde_json::Value::Array(items)), _) => {
            let size = Range::point(items.len() as f64);
            return vec![(format!("#size({place})"), Values::Range(size, true))];
        }
        (Some(serde_json::Value::Object(_)), _) => Atom::Other,
    };
    let all = domain(ty, types);
    let atom = match all.contains(&atom) {
        true => atom,
        false if all.contains(&Atom::Other) => Atom::Other,
        false => return Vec::new(),
    };
    vec![(place, Values::Atoms(Atoms::from([atom])))]
}

fn read(cx: &Cx, saying: &mut Saying, condition: &Expr, truth: bool) -> Vec<Fact> {
    let mut reader = Reader::new(cx);
    let mut found = Vec::new();
    let mut open = vec![(condition, truth)];
    while let Some((expr, truth)) = open.pop() {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                open.push((inner, !truth));
                continue;
            }
            ExprKind::Logical(op, operands) if (*op == LogicalOp::And) == truth => {
                open.extend(operands.iter().map(|operand| (operand, truth)));
            }
            _ => {}
        }
        let read = reads(expr, &cx.scope);
        let names = read
            .slots
            .iter()
            .filter_map(|slot| cx.scope.names.get(slot.0 as usize));
        let own = names
            .clone()
            .any(|(name, _)| &**name != "context" && &**name != "params");
        let mut fields: BTreeSet<FieldId> = read.fields.into_iter().map(FieldId).collect();
        let (mut place, values) = match said(&mut reader, saying, expr, (truth, own)) {
            Some(said) => said,
            None if own => continue,
            None => {
                found.push(Fact::untold());
                continue;
            }
        };
        if own {
            let Some((kept, field)) = saying.kept(&place) else {
                continue;
            };
            place = kept;
            fields.insert(field);
        }
        found.push(Fact {
            place: place.into(),
            fields,
            values,
        });
    }
    found
}

/// What one condition says of one place; `None` where nothing could be kept of it. `own` says that it reads names of its node.
fn said(
    reader: &mut Reader,
    saying: &mut Saying,
    expr: &Expr,
    (truth, own): (bool, bool),
) -> Option<(String, Values)> {
    if let Some((place, empty)) = emptiness(expr) {
        let range = match empty == truth {
            true => Range::point(0.0),
            false => Range::MORE,
        };
        return Some((format!("#size({place})"), Values::Range(range, true)));
    }
    if let Some((place, atoms)) = reader.holds(expr) {
        let atoms = match truth {
            true => atoms,
            false => reader.others(&place, &atoms),
        };
        return Some((place, Values::Atoms(atoms)));
    }
    if let Some(found) = compared(reader, expr) {
        let values = match (truth, found.range.beyond()) {
            (true, _) => Values::Range(found.range, found.whole),
            (false, Some(range)) => Values::Range(range.and(found.domain), found.whole),
            (false, None) => Values::Apart(found.range),
        };
        return Some((format!("#{}", found.subject), values));
    }
    if own {
        return None;
    }
    let (number, truth) = match opposite(expr) {
        Some(opposite) => (saying.conditions.number(&opposite)?, !truth),
        None => (saying.conditions.number(expr)?, truth),
    };
    let atoms = Atoms::from([Atom::Bool(truth)]);
    Some((format!("?{number}"), Values::Atoms(atoms)))
}

/// What holds where `a != b` and `a >= b` don't, so that a condition and its opposite are one.
fn opposite(expr: &Expr) -> Option<Expr> {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return None;
    };
    let node = match op.node {
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::LessEqual => BinaryOp::Greater,
        _ => return None,
    };
    let op = Spanned { node, ..*op };
    Some(Expr {
        kind: ExprKind::Binary(op, left.clone(), right.clone()),
        span: expr.span,
    })
}

/// `xs == []` and `xs != []`: the place, and whether it is empty where the condition holds.
fn emptiness(expr: &Expr) -> Option<(String, bool)> {
    let ExprKind::Binary(op, left, right) = &expr.kind else {
        return None;
    };
    let empty = match op.node {
        BinaryOp::Equal => true,
        BinaryOp::NotEqual => false,
        _ => return None,
    };
    let none = |expr: &Expr| matches!(&expr.kind, ExprKind::List(items) if items.is_empty());
    match (none(left), none(right)) {
        (false, true) => Some((path(left)?, empty)),
        (true, false) => Some((path(right)?, empty)),
        _ => None,
    }
}
