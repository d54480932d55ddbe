//! What a value carries on of the answers that it is made from: what a function makes of one is taken for the answer.

use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};

use super::super::reads::mentions;
use super::answer::{Says, constant, joined, said_by, word};
use super::held::Held;
use super::others::{self, Others};
use super::reader::{Locals, Reader, Value, local};
use super::sense::Sense;

/// Functions that ask a text for another.
const ASKING: [&str; 4] = ["contains", "startsWith", "endsWith", "matches"];

impl<'a> Reader<'a, '_> {
    /// What a value adds to what it is written to; `arm` is what was said where it is written, `truth` says that it is
    /// yes or no. Gives what it may be that nobody has said, or `None` where no answer comes into it.
    ///
    /// A constant in a branch of a `?:` adds only to the side that it says.
    pub fn tell(
        &self,
        (value, truth): (&'a Expr, bool),
        arm: Option<Says>,
        own: &mut Held,
    ) -> Option<Others> {
        self.choose((value, truth), arm, &[], own)
    }

    fn choose(
        &self,
        (value, truth): (&'a Expr, bool),
        arm: Option<Says>,
        locals: &Locals<'a>,
        own: &mut Held,
    ) -> Option<Others> {
        let and = |said: Option<Says>, says| match said {
            Some(said) => joined(LogicalOp::And, &[said, says]),
            None => says,
        };
        let mut found: Option<Others> = None;
        // Each with what was said where it is chosen: by the arm too, and by the conditions alone.
        let mut open = vec![(value, arm, None)];
        while let Some((value, said, chosen)) = open.pop() {
            if let ExprKind::Conditional(when, yes, no) = &value.kind {
                let when = self.read(when, locals);
                if when.depends() {
                    found = found.or(Some(Others::None));
                }
                for (branch, says) in [(yes, when.yes), (no, when.no)] {
                    open.push((branch, Some(and(said, says)), Some(and(chosen, says))));
                }
                continue;
            }
            let said = said.unwrap_or(Says::Never);
            match constant(value) {
                Some(Says::Yes) => own.add(Sense::of(said, Says::Never)),
                Some(Says::No) => own.add(Sense::of(Says::Never, said)),
                Some(_) => own.word(word(value).unwrap_or_default(), said),
                None => {
                    let held = match truth {
                        true => Value::of(self.read(value, locals)),
                        false => self.carried(value, locals),
                    };
                    if !held.sense.depends() && !self.depends(value) {
                        own.add(Sense::of(said, said));
                        continue;
                    }
                    let Sense { yes, no } = held.sense;
                    own.add(Sense::of(and(chosen, yes), and(chosen, no)));
                    for (word, says) in held.words.iter().flat_map(|words| words.iter()) {
                        own.word(word.clone(), and(chosen, *says));
                    }
                    found = Some(found.unwrap_or_default().or(held.others));
                }
            }
        }
        found
    }

    pub(super) fn carried(&self, value: &'a Expr, locals: &Locals<'a>) -> Value {
        let mut held = Value::of(Sense::OTHER);
        let mut open = vec![value];
        while let Some(expr) = open.pop() {
            let part = match &expr.kind {
                ExprKind::Ident(_) | ExprKind::Select { .. } => self.path(expr, locals),
                ExprKind::Conditional(..) => self.chosen(expr, locals),
                ExprKind::Call {
                    function,
                    target,
                    args,
                } => match self.called(expr, locals) {
                    Some(value) => value,
                    // It has been asked itself, and is none.
                    None if ASKING.contains(&function.node.as_str()) && target.is_some() => {
                        open.extend(args);
                        continue;
                    }
                    None => {
                        open.extend(expr.parts());
                        continue;
                    }
                },
                ExprKind::Binary(op, left, right) if is_sum(op.node) => {
                    open.extend([&**left, right]);
                    continue;
                }
                ExprKind::Unary(UnaryOp::Negate, of) => {
                    open.push(of);
                    continue;
                }
                ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Index { .. } => {
                    open.extend(expr.parts());
                    continue;
                }
                ExprKind::Record { .. } => self.record(expr, locals),
                ExprKind::Literal(_) => continue,
                _ => Value::of(self.read(expr, locals)),
            };
            if std::ptr::eq(expr, value) {
                return part;
            }
            held.sense = match (held.sense.depends(), part.sense.depends()) {
                (_, false) => held.sense,
                (false, true) => part.sense,
                (true, true) => held.sense.or(part.sense),
            };
            held.others = held.others.or(part.others.used());
        }
        held
    }

    /// A name, or a path.
    fn path(&self, expr: &'a Expr, locals: &Locals<'a>) -> Value {
        if let ExprKind::Ident(name) = &expr.kind
            && local(locals, name).is_none()
            && let Some(bound) = self.known.get(name.as_str())
        {
            return bound.value.clone();
        }
        let mut value = Value::of(self.read(expr, locals));
        let all = mentions(expr, &self.lets);
        for mention in &all {
            let known = match self.bound(*mention) {
                Some(bound) => Some((bound.value.words.clone(), bound.value.others.clone())),
                None => (self.heard)(*mention).map(|heard| {
                    let words = heard.words.map(|words| Rc::new(words.clone()));
                    (words, heard.others)
                }),
            };
            let Some((words, others)) = known else {
                continue;
            };
            value.words = words.filter(|_| all.len() == 1);
            value.others = value.others.or(others);
        }
        value
    }

    /// One of two values.
    fn chosen(&self, expr: &'a Expr, locals: &Locals<'a>) -> Value {
        let mut own = Held::default();
        match self.choose((expr, false), None, locals, &mut own) {
            None => Value::of(Sense::OTHER),
            Some(others) => Value {
                sense: own.of_value(),
                words: own.words().map(|words| Rc::new(words.clone())),
                others,
            },
        }
    }

    fn record(&self, expr: &'a Expr, locals: &Locals<'a>) -> Value {
        let ExprKind::Record { fields, .. } = &expr.kind else {
            return Value::of(Sense::OTHER);
        };
        let mut held = Value::of(Sense::OTHER);
        let decides = |name: &str| said_by(name).is_some();
        let any = fields.iter().any(|field| decides(&field.name.node));
        for field in fields.iter().filter(|f| !any || decides(&f.name.node)) {
            let refuses = said_by(&field.name.node) == Some(Says::No);
            let value = self.carried(&field.value, locals);
            // What is read by a name that refuses is turned there.
            let sense = match value.sense {
                Sense::TURNED if refuses => Sense::STRAIGHT,
                sense => sense,
            };
            held.sense = match (held.sense.depends(), sense.depends()) {
                (_, false) => held.sense,
                (false, true) => sense,
                (true, true) => held.sense.or(sense),
            };
            held.others = held.others.or(value.others.used());
        }
        held
    }

    /// Functions that ask an answer for a word, macros that ask the answers of a list, and what gives back the answer.
    pub(super) fn called(&self, expr: &'a Expr, locals: &Locals<'a>) -> Option<Value> {
        let ExprKind::Call {
            target,
            function,
            args,
        } = &expr.kind
        else {
            return None;
        };
        let name = function.node.as_str();
        match (name, target.as_deref(), &**args) {
            (_, Some(of), [with]) if ASKING.contains(&name) => {
                let value = self.carried(of, locals);
                if !value.sense.depends() {
                    return None;
                }
                let said = constant(with).unwrap_or(Says::Something);
                let key = word(with);
                let passes = |word: &str| others::asked(name, word, key.as_deref()?);
                let sense = value.others.held_to(value.sense.equal(said), passes);
                Some(Value::of(sense))
            }
            ("all" | "exists", Some(of), [name, condition]) => {
                let ExprKind::Ident(name) = &name.kind else {
                    return None;
                };
                let value = self.carried(of, locals);
                let mut inner = locals.to_vec();
                inner.push((name, value.sense));
                let sense = self.read(condition, &inner);
                let others = value.others.used();
                Some(Value::of(others.held_to(sense, |_| None)))
            }
            ("lower" | "upper" | "trim" | "orValue" | "value" | "first" | "last", Some(of), _)
            | ("required" | "string" | "bool", None, [of]) => Some(self.carried(of, locals)),
            _ => None,
        }
    }
}

fn is_sum(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, Modulo, Multiply, Subtract};
    matches!(op, Add | Subtract | Multiply | Divide | Modulo)
}
