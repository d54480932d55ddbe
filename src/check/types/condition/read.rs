//! From conditions to formulas: what each part asks, and of what.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::AccessPath;
use crate::expr::fold::inline::LetValue;
use crate::expr::fold::same::{fingerprint, same};
use crate::expr::infer::{access_path, constant, path};
use crate::expr::{Type, TypeTable};

use super::super::cx::Cx;
use super::formula::Formula;
use super::range::{Range, turned};
use super::values::{Atom, Values};

/// How deep conditions within conditions are read: a `?:` and a comparison of two conditions ask what their parts ask for both
/// of its values. Deeper ones are true or false by themselves.
const DEEP: usize = 6;

/// What has one value, wherever conditions name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// A place.
    Path(AccessPath),
    /// Another expression, by its number.
    Other(usize),
}

/// What a question asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Which value it has.
    Value(Thing),
    /// Its size.
    Size(Thing),
    /// Which of several records it is.
    Record(Thing),
    /// Whether it is what its type has no value for.
    Is(Thing, Atom),
    /// Whether it comes before a text.
    Before(Thing, Atom),
    /// Whether it holds.
    Holds(Thing),
    /// Which of two values is more; see [`Order`].
    Order(Thing, Thing),
}

impl Subject {
    /// The place whose value or size is asked for.
    pub fn access_path(&self) -> Option<&AccessPath> {
        match self {
            Subject::Value(Thing::Path(place)) | Subject::Size(Thing::Path(place)) => Some(place),
            _ => None,
        }
    }
}

/// One thing that conditions ask for.
pub struct Question {
    /// What is asked.
    pub subject: Subject,
    /// The values that it may have.
    pub domain: Rc<Values>,
    /// What it is, for people; `None` where it has no words.
    pub shown: Option<String>,
}

/// Which of two values is more: -1 where the first is less, 0 where they are equal, 1 where it is more. Nothing else follows from the
/// values themselves: `a < b` and `b < c` say nothing of `a` and `c`.
pub struct Order {
    /// The question.
    pub question: usize,
    /// What the two are, for people, as conditions name them; `None` where one has no words.
    pub shown: Option<[String; 2]>,
    /// Whether conditions name them the other way round.
    pub turned: bool,
}

/// All that conditions ask.
#[derive(Default)]
pub struct Asked {
    /// The questions.
    pub questions: Vec<Question>,
    /// Which of them ask which of two values is more.
    pub orders: Vec<Order>,
    /// Whether a mistake that is reported elsewhere leaves no type of something that is asked: nobody knows what it may be.
    pub unknown: bool,
}

/// Reads conditions in one scope, without names of `let`s: what is the same in them is one question.
pub struct ConditionReader<'e, 'a> {
    cx: &'e Cx<'a>,
    /// Whether parameters of an instance have their values, and a place none that its type lacks here: of what is the same in
    /// every run neither counts, since it may be otherwise in another instance, or where a guard is taken out.
    exact: bool,
    /// What was asked.
    pub asked: Asked,
    /// The number of each question, by what it asks.
    numbers: HashMap<Subject, usize>,
    /// What is asked for its size somewhere; whether it is a text.
    measured: HashMap<Thing, bool>,
    /// Expressions that are no places, by fingerprint, each with its number.
    others: HashMap<u64, Vec<(&'e Expr, usize)>>,
    /// How many of these there are.
    made: usize,
}

impl<'e, 'a> ConditionReader<'e, 'a> {
    /// For these conditions; nothing has been asked.
    pub fn of(cx: &'e Cx<'a>, conditions: impl IntoIterator<Item = &'e Expr>, exact: bool) -> Self {
        let mut questions = Self {
            cx,
            exact,
            asked: Asked::default(),
            numbers: HashMap::new(),
            measured: HashMap::new(),
            others: HashMap::new(),
            made: 0,
        };
        let mut open: Vec<&'e Expr> = conditions.into_iter().collect();
        while let Some(expr) = open.pop() {
            if let Some(of) = measured(expr) {
                let thing = questions.thing(of);
                let text = cx.quiet(of).without_null() == Type::String;
                questions.measured.insert(thing, text);
            }
            expr.each_part(|part| open.push(part));
        }
        questions
    }

    /// What a condition asks where it holds, or where it doesn't.
    pub fn read(&mut self, expr: &'e Expr, truth: bool) -> Formula {
        self.deep(expr, truth, DEEP)
    }

    fn deep(&mut self, expr: &'e Expr, truth: bool, deep: usize) -> Formula {
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(value)) => Formula::Is(*value == truth),
            ExprKind::Unary(UnaryOp::Not, inner) => self.deep(inner, !truth, deep),
            ExprKind::Logical(op, operands) => {
                let parts = operands.iter().map(|part| self.deep(part, truth, deep));
                let parts: Vec<Formula> = parts.collect();
                Formula::of(parts, (*op == LogicalOp::And) == truth)
            }
            ExprKind::Conditional(condition, yes, no) if deep > 0 => {
                let mut way = |value, then| {
                    let parts = [
                        self.deep(condition, value, deep - 1),
                        self.deep(then, truth, deep - 1),
                    ];
                    Formula::of(parts, true)
                };
                let ways = [way(true, yes), way(false, no)];
                Formula::of(ways, false)
            }
            ExprKind::Binary(op, left, right) => match op.node {
                BinaryOp::Equal => self.equal((left, right), truth, deep),
                BinaryOp::NotEqual => self.equal((left, right), !truth, deep),
                BinaryOp::In => self.one_of(expr, (left, right), truth, deep),
                op if Range::compared(op, 0.0).is_some() => {
                    match self.may_be_nan(left) || self.may_be_nan(right) {
                        true => self.whole(expr, truth),
                        false => self.ordered(op, (left, right), truth),
                    }
                }
                _ => self.whole(expr, truth),
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

    /// `a == b`
    fn equal(&mut self, (left, right): (&'e Expr, &'e Expr), truth: bool, deep: usize) -> Formula {
        let atom = |expr| self.cx.atom(expr, self.exact);
        if let (Some(a), Some(b)) = (atom(left), atom(right)) {
            return Formula::Is((a == b) == truth);
        }
        for (subject, value) in [(left, right), (right, left)] {
            if let Some(at) = number(value, &self.cx.program.types) {
                return self.number(subject, Range::point(at), truth);
            }
            if let Some(atom) = self.cx.atom(value, self.exact) {
                let condition =
                    access_path(subject).is_none() && self.cx.quiet(subject) == Type::Bool;
                return match atom {
                    Atom::Bool(value) if condition => self.deep(subject, value == truth, deep),
                    _ => self.is(subject, atom, truth),
                };
            }
            let of = self.cx.quiet(subject).without_null();
            if is_empty(value) && matches!(of, Type::List(_) | Type::Map(_)) {
                return self.size_within(subject, Range::point(0.0), truth);
            }
        }
        let conditions = |expr| self.cx.quiet(expr) == Type::Bool;
        if deep > 0 && conditions(left) && conditions(right) {
            let ways = [true, false].map(|value| {
                let both = [
                    self.deep(left, value, deep - 1),
                    self.deep(right, value == truth, deep - 1),
                ];
                Formula::of(both, true)
            });
            return Formula::of(ways, false);
        }
        self.compared(BinaryOp::Equal, (left, right), truth)
    }

    /// `x in [a, b]` asks the same as `x == a || x == b`.
    fn one_of(
        &mut self,
        expr: &'e Expr,
        (item, list): (&'e Expr, &'e Expr),
        truth: bool,
        deep: usize,
    ) -> Formula {
        match &list.kind {
            ExprKind::List(items) if items.iter().all(|item| !item.optional) => {
                let parts = items.iter();
                let parts = parts.map(|other| self.equal((item, &other.value), truth, deep));
                let parts: Vec<Formula> = parts.collect();
                Formula::of(parts, !truth)
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
    ) -> Formula {
        let types = &self.cx.program.types;
        let sides = match (number(left, types), number(right, types)) {
            (_, Some(at)) => Some((left, op, at)),
            (Some(at), None) => Some((right, turned(op), at)),
            _ => None,
        };
        let range = sides.and_then(|(subject, op, at)| Some((subject, Range::compared(op, at)?)));
        let Some((subject, range)) = range else {
            return match (self.text(left), self.text(right)) {
                (None, Some(text)) => self.ordered_text(op, (left, text), truth),
                (Some(text), None) => self.ordered_text(turned(op), (right, text), truth),
                _ => self.compared(op, (left, right), truth),
            };
        };
        if measured(subject).is_none() {
            // What has an order with a number is one.
            let number = self.value(subject);
            if let Some(question) = self.asked.questions.get_mut(number)
                && *question.domain == Values::all()
            {
                question.domain = Rc::new(Values::range(Range::ALL, false));
            }
        }
        self.number(subject, range, truth)
    }

    /// A text that is written out.
    fn text(&self, expr: &Expr) -> Option<Atom> {
        let atom = self.cx.atom(expr, self.exact);
        atom.filter(|atom| matches!(atom, Atom::Text(_)))
    }

    /// `x < "b"` and its like: whether it is that text, and else whether it comes before it.
    fn ordered_text(
        &mut self,
        op: BinaryOp,
        (subject, text): (&'e Expr, Atom),
        truth: bool,
    ) -> Formula {
        let before = matches!(op, BinaryOp::Less | BinaryOp::LessEqual);
        let is_any = matches!(op, BinaryOp::LessEqual | BinaryOp::GreaterEqual) == truth;
        let comes_before = Subject::Before(self.thing(subject), text.clone());
        let parts = [
            self.is(subject, text, is_any),
            self.opaque(comes_before, before == truth),
        ];
        Formula::of(parts, !is_any)
    }

    /// A number of a place, or a size.
    fn number(&mut self, subject: &'e Expr, range: Range, truth: bool) -> Formula {
        match measured(subject) {
            Some(of) => self.size_within(of, range, truth),
            None => {
                let value = self.value(subject);
                self.within(value, range, truth)
            }
        }
    }

    fn within(&self, question: usize, range: Range, truth: bool) -> Formula {
        let whole = |known: &Question| known.domain.whole;
        let whole = self.asked.questions.get(question).is_some_and(whole);
        ask(question, Values::range(range, whole), truth)
    }

    /// A size. A text of the size 0 is the empty one.
    fn size_within(&mut self, of: &'e Expr, range: Range, truth: bool) -> Formula {
        let size = self.size(of);
        let asked = self.within(size, range, truth);
        let (Formula::Ask(these), true) = (&asked, self.is_measured(of)) else {
            return asked;
        };
        let [empty, more] = [Range::point(0.0), Range::MORE].map(|of| these.these.meets(of));
        match (empty, more) {
            (true, true) | (false, false) => asked,
            (empty, _) => {
                let text = self.value(of);
                let text = ask(text, Values::atoms([Atom::Text("".into())]), empty);
                Formula::of([asked, text], true)
            }
        }
    }

    /// A text, a bool or null of a place. The text that it is has its size.
    fn is(&mut self, subject: &'e Expr, atom: Atom, truth: bool) -> Formula {
        let value = self.value(subject);
        let question = self.asked.questions.get(value);
        let fits = question.is_some_and(|known| known.domain.has(&atom));
        let thing = self.thing(subject);
        let written = matches!(&thing, Thing::Path(at) if self.cx.constants.contains_key(at));
        if !(fits || written || self.exact) {
            return self.opaque(Subject::Is(thing, atom), truth);
        }
        let asked = ask(value, Values::atoms([atom.clone()]), truth);
        let size = match &atom {
            Atom::Text(text) if truth => Range::point(text.chars().count() as f64),
            Atom::Text(text) if text.is_empty() => Range::MORE,
            _ => return asked,
        };
        if !self.is_measured(subject) {
            return asked;
        }
        let measured = self.size(subject);
        let size = self.within(measured, size, true);
        Formula::of([asked, size], true)
    }

    /// Which of two values is more.
    fn compared(
        &mut self,
        op: BinaryOp,
        (left, right): (&'e Expr, &'e Expr),
        truth: bool,
    ) -> Formula {
        let (a, b) = (self.thing(left), self.thing(right));
        let Some(range) = Range::compared(op, 0.0) else {
            return Formula::Is(truth);
        };
        if a == b {
            // What is compared with itself is equal, whatever it is.
            let holds = !range.and(Range::point(0.0)).is_empty(true);
            let value = self.value(left);
            return ask(value, Values::all(), holds == truth);
        }
        let swapped = a > b;
        let (order, op) = match swapped {
            true => (Subject::Order(b, a), turned(op)),
            false => (Subject::Order(a, b), op),
        };
        let new = self.asked.questions.len();
        let domain = Values::range(Range::new((-1.0, true), (1.0, true)), true);
        let question = self.question(order, None, || Rc::new(domain));
        if question == new {
            let shown = self.shown(left).zip(self.shown(right));
            self.asked.orders.push(Order {
                question,
                shown: shown.map(|(left, right)| [left, right]),
                turned: swapped,
            });
        }
        self.within(question, Range::compared(op, 0.0).unwrap_or(range), truth)
    }

    /// What a side of a comparison is, for people.
    fn shown(&self, expr: &Expr) -> Option<String> {
        let named = |of: &Expr| path(of).or_else(|| self.cx.let_of(of).map(str::to_owned));
        match measured(expr) {
            Some(of) => named(of).map(|of| format!("size({of})")),
            None => match self.cx.atom(expr, self.exact) {
                Some(Atom::Text(text)) => Some(format!("{text:?}")),
                Some(atom) => Some(atom.show()),
                None => named(expr),
            },
        }
    }

    /// `has(x.f)`: which of several records `x` is, or that a field is not null.
    fn has(&mut self, expr: &'e Expr, field: &'e Expr, truth: bool) -> Formula {
        let ExprKind::Select {
            operand,
            field: name,
            optional: false,
        } = &field.kind
        else {
            return self.whole(expr, truth);
        };
        let Type::Union(members) = self.cx.quiet(operand).without_null() else {
            return match self.cx.quiet(field) {
                Type::Nullable(_) | Type::Json => self.is(field, Atom::Null, !truth),
                _ => self.whole(expr, truth),
            };
        };
        let of_kinds = |kinds: &[f64]| {
            let mut these = Values::range(Range::ALL, true);
            these.numbers = kinds.iter().map(|kind| Range::point(*kind)).collect();
            these
        };
        let (mut all, mut surely, mut perhaps) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, member) in members.iter().enumerate() {
            let Type::Record(id) = member else {
                return self.whole(expr, truth);
            };
            let record = self.cx.program.types.records.get(*id);
            all.push(kind as f64);
            match record.and_then(|record| record.field(&name.node)) {
                Some(known) if known.ty.admits_null() => perhaps.push(kind as f64),
                Some(_) => surely.push(kind as f64),
                None => {}
            }
        }
        let record = Subject::Record(self.thing(operand));
        let kind = self.question(record, None, || Rc::new(of_kinds(&all)));
        let surely = ask(kind, of_kinds(&surely), truth);
        if perhaps.is_empty() {
            return surely;
        }
        let perhaps = [
            ask(kind, of_kinds(&perhaps), truth),
            self.whole(expr, truth),
        ];
        Formula::of([surely, Formula::of(perhaps, truth)], !truth)
    }

    /// Whether a value may be a float that is no number, of which neither `x < 1.0` nor `x >= 1.0` holds: one that is computed here. None
    /// is in a state, an output or an argument.
    fn may_be_nan(&self, expr: &Expr) -> bool {
        let types = &self.cx.program.types;
        let computed = access_path(expr).is_none() && number(expr, types).is_none();
        computed && matches!(self.cx.quiet(expr).without_null(), Type::Float)
    }

    /// A condition as it stands.
    fn whole(&mut self, expr: &'e Expr, truth: bool) -> Formula {
        let [yes, no] = [true, false].map(Atom::Bool);
        let is_true = Values::atoms([yes.clone()]);
        if access_path(expr).is_some() {
            let value = self.value(expr);
            let question = self.asked.questions.get(value);
            if question.is_some_and(|known| known.domain.has(&yes) || known.domain.has(&no)) {
                return ask(value, is_true, truth);
            }
        }
        self.asked.unknown |= self.cx.reads_unknown(expr);
        let holds = Subject::Holds(self.thing(expr));
        self.opaque(holds, truth)
    }

    /// A condition that is true or false by itself.
    fn opaque(&mut self, subject: Subject, truth: bool) -> Formula {
        let both = || Rc::new(Values::atoms([true, false].map(Atom::Bool)));
        let question = self.question(subject, None, both);
        ask(question, Values::atoms([Atom::Bool(true)]), truth)
    }

    /// Whether it is a text that is asked for its size.
    fn is_measured(&mut self, expr: &'e Expr) -> bool {
        let thing = self.thing(expr);
        self.measured.get(&thing) == Some(&true)
    }

    fn size(&mut self, of: &'e Expr) -> usize {
        let size = Subject::Size(self.thing(of));
        let cx = self.cx;
        let named = || {
            let is_size =
                |known: &&LetValue| measured(&known.value).is_some_and(|of_it| same(of_it, of));
            cx.lets.iter().find(is_size).map(|known| known.name.clone())
        };
        let shown = size.access_path().map(|of| format!("size({of})"));
        let shown = shown.or_else(named);
        self.question(size, shown, || Rc::new(cx.sizes(of)))
    }

    fn value(&mut self, expr: &'e Expr) -> usize {
        let (thing, cx) = (self.thing(expr), self.cx);
        let (unknown, shown) = match &thing {
            Thing::Path(place) => (cx.is_unknown(expr), Some(place.to_string())),
            Thing::Other(_) => (cx.reads_unknown(expr), cx.let_of(expr).map(str::to_owned)),
        };
        self.asked.unknown |= unknown;
        self.question(Subject::Value(thing), shown, || cx.domain(expr))
    }

    /// The number of a question, by what it asks.
    fn question(
        &mut self,
        subject: Subject,
        shown: Option<String>,
        domain: impl FnOnce() -> Rc<Values>,
    ) -> usize {
        let next = self.asked.questions.len();
        let number = *self.numbers.entry(subject.clone()).or_insert(next);
        if number == next {
            self.asked.questions.push(Question {
                subject,
                domain: domain(),
                shown,
            });
        }
        number
    }

    /// What is the same for expressions that have the same value.
    fn thing(&mut self, expr: &'e Expr) -> Thing {
        if let Some(place) = access_path(expr) {
            return Thing::Path(place);
        }
        let alike = self.others.entry(fingerprint(expr)).or_default();
        let known = alike.iter().find(|(known, _)| same(known, expr));
        let number = match known {
            Some((known, number)) if !changes(known) || std::ptr::eq(*known, expr) => *number,
            _ => {
                self.made += 1;
                alike.push((expr, self.made));
                self.made
            }
        };
        Thing::Other(number)
    }
}

/// That one thing has one of these values, or that it has none of them.
fn ask(of: usize, these: Values, truth: bool) -> Formula {
    Formula::ask(of, if truth { these } else { these.not() })
}

/// What `size(x)` or `x.size()` measures.
fn measured(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call {
            target,
            function,
            args,
        } if function.node == "size" => match (target.as_deref(), args.as_slice()) {
            (None, [of]) | (Some(of), []) => Some(of),
            _ => None,
        },
        _ => None,
    }
}

/// The number of a constant; beyond 2^53 floats are too coarse to compare with.
fn number(expr: &Expr, types: &TypeTable) -> Option<f64> {
    let number = constant(expr, types)?.as_f64()?;
    (number.abs() < 9_007_199_254_740_992.0).then_some(number)
}

/// `[]`, `{}`
fn is_empty(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Whether an expression may have another value when it is evaluated again.
fn changes(expr: &Expr) -> bool {
    crate::expr::infer::reads(expr, &crate::expr::Scope::default()).effects
}
