//! Reads an expression once, and gives the direction of its value: for what it says where it holds, and where it doesn't.
//! What a value carries on is read in [`carried`](super::carried).

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::ast::item::Let;
use crate::expr::fold::same::{fingerprint, same};

use super::super::reads::{self, Lets, Mention, mentions};
use super::answer::{Says, constant, joined, word};
use super::others::{self, Others};
use super::sense::{Heard, Sense, Words, by_name};

/// What is known of a value that is made from answers.
#[derive(Debug, Clone)]
pub struct Value {
    /// Its direction.
    pub sense: Sense,
    /// What its own words say.
    pub words: Option<Rc<Words>>,
    /// What it may be that nobody has said.
    pub others: Others,
}

impl Value {
    /// One of which only the direction is known.
    pub fn of(sense: Sense) -> Self {
        Self {
            sense,
            words: None,
            others: Others::None,
        }
    }
}

/// A `let`, as a condition and as a value.
#[derive(Clone)]
pub(super) struct Bound {
    condition: Sense,
    pub(super) value: Value,
}

/// Reads expressions of one place.
pub struct Reader<'a, 'r> {
    pub(super) lets: Lets<'a>,
    /// `let` names that are made from answers.
    pub(super) known: BTreeMap<&'a str, Bound>,
    pub(super) heard: &'r dyn Fn(Mention<'_>) -> Option<Heard<'r>>,
}

/// What names of macros stand for.
pub(super) type Locals<'a> = [(&'a str, Sense)];

impl<'a, 'r> Reader<'a, 'r> {
    /// A reader with the `let` names of a node; `heard` says of a name or field what answer it holds.
    pub fn new(lets: &'a [Let], heard: &'r dyn Fn(Mention<'_>) -> Option<Heard<'r>>) -> Self {
        let mut reader = Self {
            lets: Lets::new(),
            known: BTreeMap::new(),
            heard,
        };
        for bound in lets {
            let value = &bound.value;
            if reader.depends(value) {
                let both = Bound {
                    condition: reader.condition(value),
                    value: reader.carried(value, &[]),
                };
                reader.known.insert(&bound.name.node, both);
            } else {
                reader.known.remove(bound.name.node.as_str());
            }
        }
        reader.lets = reads::lets(lets);
        reader
    }

    /// Whether the expression is made from an answer.
    pub fn depends(&self, expr: &'a Expr) -> bool {
        let mut all = mentions(expr, &self.lets).into_iter();
        all.any(|mention| (self.heard)(mention).is_some() || self.bound(mention).is_some())
    }

    pub(super) fn bound(&self, mention: Mention<'_>) -> Option<&Bound> {
        match mention {
            Mention::Name(name) | Mention::Part(name, _) => self.known.get(name),
            Mention::Field(_) | Mention::FieldPart(..) => None,
        }
    }

    /// What was said where the condition holds, and where it doesn't.
    pub fn condition(&self, expr: &'a Expr) -> Sense {
        self.read(expr, &[])
    }

    pub(super) fn read(&self, expr: &'a Expr, locals: &Locals<'a>) -> Sense {
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(true)) => Sense::of(Says::Nothing, Says::Never),
            ExprKind::Literal(Literal::Bool(false)) => Sense::of(Says::Never, Says::Nothing),
            ExprKind::Unary(UnaryOp::Not, of) => self.read(of, locals).flipped(),
            ExprKind::Logical(op, operands) => self.logical(*op, operands, locals),
            ExprKind::Conditional(when, a, b) => {
                let when = self.read(when, locals);
                let (a, b) = (self.read(a, locals), self.read(b, locals));
                let and = |a, b| joined(LogicalOp::And, &[a, b]);
                let a = Sense::of(and(when.yes, a.yes), and(when.yes, a.no));
                a.or(Sense::of(and(when.no, b.yes), and(when.no, b.no)))
            }
            ExprKind::Binary(op, left, right) => self.compared(op.node, left, right, locals),
            ExprKind::Ident(name) => match local(locals, name) {
                Some(sense) => sense,
                None => match self.known.get(name.as_str()) {
                    Some(bound) => bound.condition,
                    None => self.named(expr, name),
                },
            },
            ExprKind::Select { field, .. } => match root(expr).and_then(|name| local(locals, name))
            {
                Some(sense) if sense.depends() => by_name(sense, &field.node),
                Some(sense) => sense,
                None => self.named(expr, &field.node),
            },
            ExprKind::Call { .. } => match self.called(expr, locals) {
                Some(value) => value.sense,
                None => self.unknown(expr, locals),
            },
            _ => self.unknown(expr, locals),
        }
    }

    /// A name or path: what it holds, and what it is called.
    fn named(&self, expr: &'a Expr, name: &str) -> Sense {
        let held = self.gathered(expr);
        // What a part of a `let` holds goes by its own value; which parts decide, by what it mentions.
        let own = root(expr).and_then(|name| self.known.get(name));
        match (held.depends(), own) {
            (true, Some(bound)) => by_name(bound.value.sense, name),
            (true, None) => by_name(held, name),
            (false, _) => held,
        }
    }

    /// All that an expression mentions, one of it or the other.
    fn gathered(&self, expr: &'a Expr) -> Sense {
        let all = mentions(expr, &self.lets).into_iter();
        let known = all.filter_map(|mention| {
            let bound = self.bound(mention).map(|bound| bound.value.sense);
            bound.or_else(|| (self.heard)(mention).map(|heard| heard.sense))
        });
        known.reduce(Sense::or).unwrap_or(Sense::OTHER)
    }

    fn unknown(&self, expr: &'a Expr, locals: &Locals<'a>) -> Sense {
        let mut open = vec![expr];
        let mut found = None;
        while let Some(expr) = open.pop() {
            if let ExprKind::Ident(name) = &expr.kind {
                found = found.or(local(locals, name).filter(|sense| sense.depends()));
            }
            open.extend(expr.parts());
        }
        match found.is_some() || self.depends(expr) {
            true => Sense::SOMETHING,
            false => Sense::OTHER,
        }
    }

    fn logical(&self, op: LogicalOp, operands: &'a [Expr], locals: &Locals<'a>) -> Sense {
        let all: Vec<Sense> = operands.iter().map(|of| self.read(of, locals)).collect();
        let yes: Vec<Says> = all.iter().map(|sense| sense.yes).collect();
        let no: Vec<Says> = all.iter().map(|sense| sense.no).collect();
        // Where `a || b` is false, both are. What never holds leads nowhere.
        let never = excludes_itself(operands);
        match op {
            LogicalOp::And if never => Sense::of(Says::Never, joined(LogicalOp::Or, &no)),
            LogicalOp::And => Sense::of(joined(op, &yes), joined(LogicalOp::Or, &no)),
            LogicalOp::Or if never => Sense::of(joined(op, &yes), Says::Never),
            LogicalOp::Or => Sense::of(joined(op, &yes), joined(LogicalOp::And, &no)),
        }
    }

    fn compared(
        &self,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        locals: &Locals<'a>,
    ) -> Sense {
        let (l, r) = (self.carried(left, locals), self.carried(right, locals));
        let (of, with) = match (l.sense.depends(), r.sense.depends()) {
            (false, false) => return Sense::OTHER,
            (true, true) => return Sense::SOMETHING,
            (true, false) => (l, right),
            (false, true) => (r, left),
        };
        match op {
            BinaryOp::Equal => equals(&of, with),
            BinaryOp::NotEqual => equals(&of, with).flipped(),
            BinaryOp::In => match &with.kind {
                ExprKind::List(words) => {
                    let all = words.iter().map(|one| equals(&of, &one.value));
                    let (yes, no): (Vec<Says>, Vec<Says>) = all.map(|s| (s.yes, s.no)).unzip();
                    let no = joined(LogicalOp::And, &no);
                    Sense::of(joined(LogicalOp::Or, &yes), no)
                }
                _ => Sense::SOMETHING,
            },
            _ if of.sense == Sense::NEVER => of.sense,
            _ => Sense::SOMETHING,
        }
    }
}

/// What was said where an answer equals something else.
fn equals(of: &Value, with: &Expr) -> Sense {
    let says = constant(with).unwrap_or(Says::Something);
    let key = word(with);
    let said = match (&of.words, &key) {
        (Some(words), Some(key)) => among(words, of.sense, (says, key)),
        _ => of.sense.equal(says),
    };
    of.others
        .held_to(said, |word| others::equals(word, key.as_deref()?))
}

/// The same of one that has words of its own, each known by what was said.
fn among(words: &Words, sense: Sense, (says, key): (Says, &str)) -> Sense {
    let all = words.iter().filter(|(word, _)| *word != key);
    let others: Vec<Says> = all.map(|(_, said)| *said).collect();
    let refused = others.contains(&Says::No);
    match words.get(key) {
        Some(said) if says == Says::Something => Sense::of(
            *said,
            match others.is_empty() {
                true => said.flipped(),
                false => joined(LogicalOp::Or, &others),
            },
        ),
        // Where it is another word, it may be that of a refusal too.
        _ => match sense.equal(says) {
            said if refused && said.no != Says::No => Sense::of(said.yes, Says::Nothing),
            said => said,
        },
    }
}

pub(super) fn local(locals: &Locals<'_>, name: &str) -> Option<Sense> {
    let mut named = locals.iter().rev();
    named.find(|(own, _)| *own == name).map(|(_, sense)| *sense)
}

/// The name that a path begins with.
fn root(expr: &Expr) -> Option<&str> {
    let mut at = expr;
    loop {
        match &at.kind {
            ExprKind::Select { operand, .. } | ExprKind::Index { operand, .. } => at = operand,
            ExprKind::Ident(name) => return Some(name),
            _ => return None,
        }
    }
}

/// Whether a name or path stands among them both as it is and with a `!`.
fn excludes_itself(operands: &[Expr]) -> bool {
    let mut seen: HashMap<u64, Vec<(&Expr, bool)>> = HashMap::new();
    operands.iter().any(|operand| {
        let (of, plain) = match &operand.kind {
            ExprKind::Unary(UnaryOp::Not, of) => (&**of, false),
            _ => (operand, true),
        };
        if !matches!(of.kind, ExprKind::Ident(_) | ExprKind::Select { .. }) {
            return false;
        }
        let alike = seen.entry(fingerprint(of)).or_default();
        // Of those that are the same one of each sign is enough.
        let known: Vec<bool> = (alike.iter())
            .filter(|(other, _)| same(other, of))
            .map(|(_, sign)| *sign)
            .collect();
        if !known.contains(&plain) {
            alike.push((of, plain));
        }
        known.contains(&!plain)
    })
}
