//! Whether the arms of a route cover all cases, and whether each can be taken.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::{constant, path};
use crate::expr::{Type, TypeTable};
use crate::resolve::program::Arm;

use super::cx::Cx;
use super::jump::texts;

/// A value that conditions tell apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Null,
    Bool(bool),
    Text(String),
    /// Every value that the others are not.
    Other,
}

type Atoms = BTreeSet<Atom>;

/// What the conditions of a route say about the places they speak of.
pub struct Cases {
    /// For each arm the place that its condition speaks of and the values for which it holds; `None`
    /// where it can't be said so.
    arms: Vec<Option<(String, Atoms)>>,
    /// All values of each place.
    domains: BTreeMap<String, Atoms>,
}

/// Values without an arm that are named one by one.
const MOST_NAMED: usize = 8;

impl Cases {
    /// Reads the conditions in the scope of a place.
    pub fn of(cx: &Cx, arms: &[Arm]) -> Self {
        let mut domains = BTreeMap::new();
        let mut reader = Reader {
            cx,
            domains: &mut domains,
        };
        let arms = arms
            .iter()
            .map(|arm| arm.when.as_ref().and_then(|when| reader.holds(when)))
            .collect();
        Self { arms, domains }
    }

    /// Reports arms that can't be taken and, where all conditions are `sound`, cases that no arm takes.
    pub fn report(&self, arms: &[Arm], span: Span, sound: bool, cx: &mut Cx) {
        let mut taken: BTreeMap<&str, (Atoms, Span)> = BTreeMap::new();
        let mut complete: Option<Span> = None;
        for (arm, case) in arms.iter().zip(&self.arms) {
            let place = arm.when.as_ref().map_or(arm.span, |when| when.span);
            if let Some(before) = complete {
                cx.report(never_taken(
                    place,
                    before,
                    "the arms up to here take every case",
                ));
                continue;
            }
            if arm.when.is_none() {
                complete = Some(arm.span);
            }
            let Some((subject, atoms)) = case else {
                continue;
            };
            let (known, last) = taken.entry(subject).or_insert((Atoms::new(), place));
            if !atoms.is_empty() && atoms.is_subset(known) {
                cx.report(never_taken(place, *last, "taken here already"));
            }
            known.extend(atoms.iter().cloned());
            *last = place;
            if self.domains.get(subject) == Some(known) {
                complete = Some(place);
            }
        }
        if complete.is_none() && sound {
            cx.report(self.incomplete(&taken, span));
        }
    }

    fn incomplete(&self, taken: &BTreeMap<&str, (Atoms, Span)>, span: Span) -> Diagnostic {
        let only = match taken.iter().next() {
            Some(one) if taken.len() == 1 && self.arms.iter().all(Option::is_some) => Some(one),
            _ => None,
        };
        let missing = only.and_then(|(subject, (known, _))| {
            let all = self.domains.get(*subject)?;
            let left: Vec<String> = all.difference(known).map(Atom::show).collect();
            let left = match left.len() {
                // A list of all would bury what it says.
                more if more > MOST_NAMED => {
                    let first = left.iter().take(3).map(String::as_str);
                    let first: Vec<&str> = first.collect();
                    format!("`{}` or one of {} others", first.join("`, `"), more - 3)
                }
                _ => list(left.iter().map(String::as_str)),
            };
            (!all.contains(&Atom::Other))
                .then(|| format!("no arm is taken where `{subject}` is {left}"))
        });
        let message = missing.unwrap_or_else(|| {
            "the conditions may all be false, and there is no `else`".to_owned()
        });
        Diagnostic::new(&codes::ROUTE_NOT_EXHAUSTIVE, message, span)
            .help("add an arm for what is left: `else -> TARGET`")
    }
}

fn never_taken(place: Span, before: Span, why: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::UNREACHABLE_ARM,
        "this arm can never be taken",
        place,
    )
    .label(before, why)
    .help("take the arm out, or put it before the one that takes its cases")
}

impl Atom {
    fn show(&self) -> String {
        match self {
            Atom::Null => "null".to_owned(),
            Atom::Bool(value) => value.to_string(),
            Atom::Text(text) => text.clone(),
            Atom::Other => "something else".to_owned(),
        }
    }
}

struct Reader<'a, 'b> {
    cx: &'a Cx<'b>,
    domains: &'a mut BTreeMap<String, Atoms>,
}

impl Reader<'_, '_> {
    /// The place that a condition speaks of and exactly the values for which it holds.
    fn holds(&mut self, expr: &Expr) -> Option<(String, Atoms)> {
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
                        LogicalOp::And => atoms.intersection(&more).cloned().collect(),
                        LogicalOp::Or => atoms.union(&more).cloned().collect(),
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
                let boolean = self.domains.get(&subject)?.contains(&yes);
                boolean.then(|| (subject, Atoms::from([yes])))
            }
            _ => None,
        }
    }

    fn others(&self, subject: &str, atoms: &Atoms) -> Atoms {
        let all = self.domains.get(subject).cloned().unwrap_or_default();
        all.difference(atoms).cloned().collect()
    }

    fn equal(&mut self, left: &Expr, right: &Expr) -> Option<(String, Atoms)> {
        let types = &self.cx.program.types;
        let (subject, value) = match (atom(left, types), atom(right, types)) {
            (None, Some(value)) => (left, value),
            (Some(value), None) => (right, value),
            _ => return None,
        };
        let subject = self.subject(subject)?;
        let known = self.domains.get(&subject)?.contains(&value);
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
            .map(|e| atom(&e.value, &self.cx.program.types).filter(|a| domain.contains(a)))
            .collect();
        Some((subject, values?))
    }

    /// The place that an expression names; its values are noted.
    fn subject(&mut self, expr: &Expr) -> Option<String> {
        let place = path(expr)?;
        if !self.domains.contains_key(&place) {
            let domain = domain(&self.cx.quiet(expr), &self.cx.program.types);
            self.domains.insert(place.clone(), domain);
        }
        Some(place)
    }
}

/// All values of a type, as far as conditions tell them apart.
fn domain(ty: &Type, types: &TypeTable) -> Atoms {
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
            Some(all) => all.into_iter().map(Atom::Text).collect(),
            None => Atoms::from([Atom::Other]),
        },
    }
}

fn atom(expr: &Expr, types: &TypeTable) -> Option<Atom> {
    if let ExprKind::Literal(Literal::Null) = expr.kind {
        return Some(Atom::Null);
    }
    match constant(expr, types)? {
        serde_json::Value::Bool(value) => Some(Atom::Bool(value)),
        serde_json::Value::String(text) => Some(Atom::Text(text)),
        _ => None,
    }
}
