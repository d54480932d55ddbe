//! From conditions to questions: what each part of a condition asks, and of what.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::expr::Type;
use crate::expr::fold::same::{fingerprint, same};
use crate::expr::infer::path;

use super::super::cases::{Atom, Reader};
use super::super::constant::changes;
use super::super::range::{Range, comparison, measured, number, turned};
use super::formula::Formula;
use super::search::Among;
use super::set::Set;
use super::space::{Place, Space, Which};

/// The answers to which of two values is more, by number.
const LESS: u32 = 0;
const EQUAL: u32 = 1;
const MORE: u32 = 2;

/// Some answers to a question, or all but those.
pub struct Ask {
    of: usize,
    which: Which,
    truth: bool,
}

/// The questions that conditions ask.
pub struct Questions<'r, 'cx, 'e> {
    reader: Reader<'r, 'cx>,
    /// By what is asked: a path, or what [`Questions::name`] calls it.
    numbers: HashMap<String, usize>,
    spaces: Vec<Space>,
    /// Expressions that are no paths, by fingerprint, each with its number.
    others: HashMap<u64, Vec<(&'e Expr, usize)>>,
    /// How many names were made.
    made: usize,
}

impl<'r, 'cx, 'e> Questions<'r, 'cx, 'e> {
    /// Nothing has been asked.
    pub fn new(reader: Reader<'r, 'cx>) -> Self {
        Self {
            reader,
            numbers: HashMap::new(),
            spaces: Vec::new(),
            others: HashMap::new(),
            made: 0,
        }
    }

    /// What a condition asks where it holds, or where it doesn't.
    pub fn read(&mut self, expr: &'e Expr, truth: bool) -> Formula<Ask> {
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(value)) => Formula::Is(*value == truth),
            ExprKind::Unary(UnaryOp::Not, inner) => self.read(inner, !truth),
            ExprKind::Logical(op, operands) => {
                let parts = operands.iter().map(|part| self.read(part, truth)).collect();
                all(parts, (*op == LogicalOp::And) == truth)
            }
            ExprKind::Conditional(condition, yes, no) if !chooses(condition) => {
                let yes = [self.read(condition, true), self.read(yes, truth)];
                let no = [self.read(condition, false), self.read(no, truth)];
                Formula::Any([yes, no].map(|way| Formula::All(way.into())).into())
            }
            ExprKind::Binary(op, left, right) => match op.node {
                BinaryOp::Equal => self.equal(left, right, truth),
                BinaryOp::NotEqual => self.equal(left, right, !truth),
                BinaryOp::In => self.one_of(expr, (left, right), truth),
                op => match comparison(op, 0.0) {
                    Some(_) => self.ordered(op, (left, right), truth),
                    None => self.whole(expr, truth),
                },
            },
            ExprKind::Call {
                target: None,
                function,
                args,
            } if function.node == "has" => match args.as_slice() {
                [field] => self.has(expr, field, truth),
                _ => self.whole(expr, truth),
            },
            _ => self.whole(expr, truth),
        }
    }

    /// The formulas with numbered answers, and all answers to each question with how many there are numbers for.
    pub fn answers(
        mut self,
        formulas: Vec<Formula<Ask>>,
    ) -> (Vec<Formula<Among>>, Vec<(Set, u32)>) {
        self.spaces.iter_mut().for_each(Space::settle);
        let spaces = &self.spaces;
        let mut numbered = |ask: Ask| {
            let space = spaces.get(ask.of);
            let these = space.map_or(Set::of([]), |space| {
                let these = space.among(&ask.which);
                match ask.truth {
                    true => these,
                    false => these.others(space.size()),
                }
            });
            let (of, these) = (ask.of, Rc::new(these));
            Among { of, these }
        };
        let formulas = formulas.into_iter();
        let formulas = formulas.map(|formula| formula.map(&mut numbered)).collect();
        let all = spaces.iter().map(|space| (space.all(), space.size()));
        (formulas, all.collect())
    }

    /// `a == b`
    fn equal(&mut self, left: &'e Expr, right: &'e Expr, truth: bool) -> Formula<Ask> {
        for (subject, value) in [(left, right), (right, left)] {
            if let Some(at) = number(value, &self.reader.cx.program.types) {
                return self.number(subject, Range::point(at), truth);
            }
            if is_empty(value) && sized(&self.reader.cx.quiet(subject)) {
                let size = self.size(subject);
                return self.within(size, Range::point(0.0), truth);
            }
            if let Some(atom) = self.reader.atom(value) {
                return self.atom(subject, atom, truth);
            }
        }
        let (question, _) = self.order(left, right);
        ask(question, Which::Some(vec![EQUAL]), truth)
    }

    /// `x in [a, b]` asks the same as `x == a || x == b`.
    fn one_of(
        &mut self,
        expr: &'e Expr,
        (item, list): (&'e Expr, &'e Expr),
        truth: bool,
    ) -> Formula<Ask> {
        match &list.kind {
            ExprKind::List(items) if items.iter().all(|item| !item.optional) => {
                let parts = items.iter();
                let parts = parts.map(|other| self.equal(item, &other.value, truth));
                all(parts.collect(), !truth)
            }
            _ => self.whole(expr, truth),
        }
    }

    /// `a < b` and its like.
    fn ordered(
        &mut self,
        op: BinaryOp,
        (left, right): (&'e Expr, &'e Expr),
        truth: bool,
    ) -> Formula<Ask> {
        let types = &self.reader.cx.program.types;
        let sides = match (number(left, types), number(right, types)) {
            (_, Some(at)) => Some((left, Some(op), at)),
            (Some(at), None) => Some((right, turned(op), at)),
            _ => None,
        };
        let range = sides.and_then(|(subject, op, at)| Some((subject, comparison(op?, at)?)));
        if let Some((subject, range)) = range {
            return self.number(subject, range, truth);
        }
        let (question, turns) = self.order(left, right);
        let op = if turns { turned(op) } else { Some(op) };
        let which = match op {
            Some(BinaryOp::Less) => vec![LESS],
            Some(BinaryOp::LessEqual) => vec![LESS, EQUAL],
            Some(BinaryOp::Greater) => vec![MORE],
            _ => vec![EQUAL, MORE],
        };
        ask(question, Which::Some(which), truth)
    }

    /// Which of two values is more, and whether they are asked for the other way round.
    fn order(&mut self, left: &'e Expr, right: &'e Expr) -> (usize, bool) {
        let (a, b) = (self.name(left), self.name(right));
        let turns = a > b;
        let key = match turns {
            true => format!("{b} ? {a}"),
            false => format!("{a} ? {b}"),
        };
        (self.question(key, || Space::Of(3)), turns)
    }

    /// A number of a place, or a size.
    fn number(&mut self, subject: &'e Expr, range: Range, truth: bool) -> Formula<Ask> {
        let question = match measured(subject) {
            Some(of) => self.size(of),
            None => self.place(subject),
        };
        self.within(question, range, truth)
    }

    fn within(&mut self, question: usize, range: Range, truth: bool) -> Formula<Ask> {
        if let Some(Space::Place(place)) = self.spaces.get_mut(question) {
            let (low, high) = range.bounds();
            let cuts = [low.0, high.0].into_iter().filter(|at| at.is_finite());
            place.cuts.extend(cuts);
        }
        ask(question, Which::Numbers(range), truth)
    }

    /// A text, a bool or null of a place.
    fn atom(&mut self, subject: &'e Expr, atom: Atom, truth: bool) -> Formula<Ask> {
        let question = self.place(subject);
        if let Some(Space::Place(place)) = self.spaces.get_mut(question)
            && place.open
        {
            place.atoms.insert(atom.clone());
        }
        ask(question, Which::Atom(atom), truth)
    }

    /// `has(x.f)`: which of several records `x` is, or that a field is not null.
    fn has(&mut self, expr: &'e Expr, field: &'e Expr, truth: bool) -> Formula<Ask> {
        let ExprKind::Select {
            operand,
            field: name,
            optional: false,
        } = &field.kind
        else {
            return self.whole(expr, truth);
        };
        let types = &self.reader.cx.program.types;
        let Type::Union(members) = self.reader.cx.quiet(operand).without_null() else {
            return match self.reader.cx.quiet(field) {
                Type::Nullable(_) | Type::Json => self.atom(field, Atom::Null, !truth),
                _ => self.whole(expr, truth),
            };
        };
        let (mut surely, mut perhaps) = (Vec::new(), Vec::new());
        for (at, member) in (0..).zip(members.iter()) {
            let Type::Record(id) = member else {
                return self.whole(expr, truth);
            };
            let fields = types.records.get(*id).into_iter().flat_map(|r| &r.fields);
            match fields.into_iter().find(|known| known.name == name.node) {
                Some(known) if known.ty.admits_null() => perhaps.push(at),
                Some(_) => surely.push(at),
                None => {}
            }
        }
        let key = format!("{} is", self.name(operand));
        let question = self.question(key, || Space::Of(members.len() as u32));
        let surely = ask(question, Which::Some(surely), truth);
        if perhaps.is_empty() {
            return surely;
        }
        let parts = [
            ask(question, Which::Some(perhaps), truth),
            self.whole(expr, truth),
        ];
        all(vec![surely, all(parts.into(), truth)], !truth)
    }

    /// A condition as it stands.
    fn whole(&mut self, expr: &'e Expr, truth: bool) -> Formula<Ask> {
        if path(expr).is_some() {
            let question = self.place(expr);
            let bool = Atom::Bool(true);
            if let Some(Space::Place(place)) = self.spaces.get(question)
                && place.atoms.contains(&bool)
            {
                return ask(question, Which::Atom(bool), truth);
            }
        }
        let key = format!("{} holds", self.name(expr));
        let question = self.question(key, || Space::Of(2));
        ask(question, Which::Some(vec![1]), truth)
    }

    fn size(&mut self, of: &'e Expr) -> usize {
        let key = format!("size of {}", self.name(of));
        self.question(key, || {
            Space::Place(Place {
                atoms: BTreeSet::new(),
                open: false,
                numbers: Some(true),
                range: Range::SIZES,
                whole: true,
                cuts: Vec::new(),
            })
        })
    }

    fn place(&mut self, expr: &'e Expr) -> usize {
        let key = self.name(expr);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let ty = self.reader.cx.quiet(expr);
        let mut atoms: BTreeSet<Atom> = self.reader.values(&ty).iter().cloned().collect();
        let own = ty.without_null();
        let number = matches!(own, Type::Int | Type::Uint | Type::Float);
        let open = atoms.contains(&Atom::Other);
        if number || own == Type::Error {
            atoms.remove(&Atom::Other);
        }
        let place = Place {
            open: open && !number,
            numbers: match own {
                Type::Json | Type::Union(_) | Type::Error => None,
                _ => Some(number),
            },
            range: self.reader.bounds(expr),
            whole: own == Type::Int,
            cuts: Vec::new(),
            atoms,
        };
        self.question(key, || Space::Place(place))
    }

    fn question(&mut self, key: String, space: impl FnOnce() -> Space) -> usize {
        let next = self.spaces.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.spaces.push(space());
        }
        number
    }

    /// A name that is the same for expressions that have the same value.
    fn name(&mut self, expr: &'e Expr) -> String {
        if let Some(path) = path(expr) {
            return path;
        }
        let alike = self.others.entry(fingerprint(expr)).or_default();
        let known = alike.iter().find(|(known, _)| same(known, expr));
        let number = match known {
            Some((known, number)) if !changes(known) => *number,
            _ => {
                self.made += 1;
                alike.push((expr, self.made));
                self.made
            }
        };
        format!("#{number}")
    }
}

fn ask(of: usize, which: Which, truth: bool) -> Formula<Ask> {
    Formula::Ask(Ask { of, which, truth })
}

fn all(parts: Vec<Formula<Ask>>, all: bool) -> Formula<Ask> {
    match all {
        true => Formula::All(parts),
        false => Formula::Any(parts),
    }
}

/// Whether there is a `?:` in an expression: read for both of its values, one in another would double it.
fn chooses(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if matches!(expr.kind, ExprKind::Conditional(..)) {
            return true;
        }
        expr.each_part(|part| open.push(part));
    }
    false
}

/// `""`, `[]`, `{}`
fn is_empty(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.is_empty(),
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Whether being empty is the same as having the size 0.
fn sized(ty: &Type) -> bool {
    matches!(
        ty.without_null(),
        Type::String | Type::List(_) | Type::Map(_)
    )
}
