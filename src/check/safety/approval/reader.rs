//! Reads an expression once, and gives the direction of its value: for what it says where it holds, and where it doesn't.

use std::collections::{BTreeMap, HashMap};

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::ast::item::Let;
use crate::expr::fold::same::{fingerprint, same};

use super::super::reads::{self, Lets, Mention, mentions};
use super::answer::{Says, constant, joined, said_by, word};
use super::sense::{Heard, Sense, by_name};

/// A `let`, as a condition and as a value.
type Bound = (Sense, Sense);

/// Reads expressions of one place.
pub struct Reader<'a, 'r> {
    lets: Lets<'a>,
    /// `let` names that are made from answers.
    known: BTreeMap<&'a str, Bound>,
    heard: &'r dyn Fn(Mention<'_>) -> Option<Heard<'r>>,
}

/// What names of macros stand for.
type Locals<'a> = [(&'a str, Sense)];

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
                let both = (reader.condition(value), reader.value(value));
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

    fn bound(&self, mention: Mention<'_>) -> Option<Bound> {
        match mention {
            Mention::Name(name) | Mention::Part(name, _) => self.known.get(name).copied(),
            Mention::Field(_) | Mention::FieldPart(..) => None,
        }
    }

    /// What was said where the condition holds, and where it doesn't.
    pub fn condition(&self, expr: &'a Expr) -> Sense {
        self.read(expr, &[])
    }

    /// The direction of a value: what a function makes of an answer is taken for the answer.
    pub fn value(&self, expr: &'a Expr) -> Sense {
        self.carried(expr, &[])
    }

    fn read(&self, expr: &'a Expr, locals: &Locals<'a>) -> Sense {
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
                    Some((condition, _)) => *condition,
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
                Some(sense) => sense,
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
            (true, Some((_, value))) => by_name(*value, name),
            (true, None) => by_name(held, name),
            (false, _) => held,
        }
    }

    /// All that an expression mentions, one of it or the other.
    fn gathered(&self, expr: &'a Expr) -> Sense {
        let all = mentions(expr, &self.lets).into_iter();
        let known = all.filter_map(|mention| {
            let bound = self.bound(mention).map(|(_, value)| value);
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
        let (of, sense, with) = match (l.depends(), r.depends()) {
            (false, false) => return Sense::OTHER,
            (true, true) => return Sense::SOMETHING,
            (true, false) => (left, l, right),
            (false, true) => (right, r, left),
        };
        match op {
            BinaryOp::Equal => self.equals(of, sense, with),
            BinaryOp::NotEqual => self.equals(of, sense, with).flipped(),
            BinaryOp::In => match &with.kind {
                ExprKind::List(words) => {
                    let all = words.iter().map(|one| self.equals(of, sense, &one.value));
                    let (yes, no): (Vec<Says>, Vec<Says>) = all.map(|s| (s.yes, s.no)).unzip();
                    let no = joined(LogicalOp::And, &no);
                    Sense::of(joined(LogicalOp::Or, &yes), no)
                }
                _ => Sense::SOMETHING,
            },
            _ if sense == Sense::NEVER => sense,
            _ => Sense::SOMETHING,
        }
    }

    /// What was said where an answer equals something else.
    fn equals(&self, of: &'a Expr, sense: Sense, with: &'a Expr) -> Sense {
        let says = constant(with).unwrap_or(Says::Something);
        let words = match mentions(of, &self.lets).as_slice() {
            [one] => (self.heard)(*one).and_then(|heard| heard.words),
            _ => None,
        };
        let (Says::Something, Some(words), Some(key)) = (says, words, word(with)) else {
            return sense.equal(says);
        };
        match words.get(&key) {
            None => sense.equal(says),
            Some(said) => {
                let others = words.iter().filter(|(word, _)| **word != key);
                let others: Vec<Says> = others.map(|(_, said)| *said).collect();
                let not = match others.is_empty() {
                    true => said.flipped(),
                    false => joined(LogicalOp::Or, &others),
                };
                Sense::of(*said, not)
            }
        }
    }

    /// Functions that ask an answer for a word, macros that ask the answers of a list, and what gives back the answer.
    fn called(&self, expr: &'a Expr, locals: &Locals<'a>) -> Option<Sense> {
        let ExprKind::Call {
            target,
            function,
            args,
        } = &expr.kind
        else {
            return None;
        };
        match (function.node.as_str(), target.as_deref(), &**args) {
            ("contains" | "startsWith" | "endsWith" | "matches", Some(of), [with]) => {
                let sense = self.carried(of, locals);
                let asked = || Some(sense.equal(constant(with).unwrap_or(Says::Something)));
                sense.depends().then(asked).flatten()
            }
            ("all" | "exists", Some(of), [name, condition]) => {
                let ExprKind::Ident(name) = &name.kind else {
                    return None;
                };
                let sense = self.carried(of, locals);
                let mut inner = locals.to_vec();
                inner.push((name, sense));
                Some(self.read(condition, &inner))
            }
            ("lower" | "upper" | "trim" | "orValue" | "value" | "first" | "last", Some(of), _)
            | ("required" | "string" | "bool", None, [of]) => Some(self.carried(of, locals)),
            _ => None,
        }
    }

    fn carried(&self, expr: &'a Expr, locals: &Locals<'a>) -> Sense {
        let mut held = Sense::OTHER;
        let mut add = |sense: Sense| {
            held = match (held.depends(), sense.depends()) {
                (_, false) => held,
                (false, true) => sense,
                (true, true) => held.or(sense),
            }
        };
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Ident(name) if local(locals, name).is_none() => {
                    match self.known.get(name.as_str()) {
                        Some((_, value)) => add(*value),
                        None => add(self.read(expr, locals)),
                    }
                }
                ExprKind::Binary(op, left, right) if is_sum(op.node) => {
                    open.extend([&**left, right])
                }
                ExprKind::Unary(UnaryOp::Negate, of) => open.push(of),
                ExprKind::Record { fields, .. } => {
                    let decides = |name: &str| said_by(name).is_some();
                    let any = fields.iter().any(|field| decides(&field.name.node));
                    for field in fields.iter().filter(|f| !any || decides(&f.name.node)) {
                        let refuses = said_by(&field.name.node) == Some(Says::No);
                        // What is read by a name that refuses is turned there.
                        match self.carried(&field.value, locals) {
                            Sense::TURNED if refuses => add(Sense::STRAIGHT),
                            sense => add(sense),
                        }
                    }
                }
                ExprKind::Call { .. } => match self.called(expr, locals) {
                    Some(sense) => add(sense),
                    None => open.extend(expr.parts()),
                },
                ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Index { .. } => {
                    open.extend(expr.parts());
                }
                ExprKind::Literal(_) => {}
                _ => add(self.read(expr, locals)),
            }
        }
        held
    }
}

fn is_sum(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, Modulo, Multiply, Subtract};
    matches!(op, Add | Subtract | Multiply | Divide | Modulo)
}

fn local(locals: &Locals<'_>, name: &str) -> Option<Sense> {
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
