//! Whether the arms of a route cover all cases, and whether each can be taken.

use std::collections::{BTreeMap, HashMap};

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::base::Span;
use crate::base::name::{either, list};
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::fold::same::{fingerprint, same};
use crate::expr::infer::{constant, path};
use crate::resolve::program::{Arm, Node, Route};

use super::cases::{Atom, Atoms, Reader};
use super::constant::Verdict;
use super::coverage::{Coverage, coverage};
use super::cx::Cx;
use super::range::{Compared, Range, compared};

/// What the conditions of a route say about the places they speak of.
pub struct Cases {
    /// For each arm what its condition says.
    arms: Vec<Case>,
    /// All values of each place.
    domains: BTreeMap<String, Atoms>,
}

/// What the condition of an arm says.
#[derive(Default)]
struct Case {
    /// The place that the whole of it speaks of and the values for which it holds, where it can be said so.
    whole: Option<(String, Atoms)>,
    /// The same of each of the parts of which one is enough: `x == a || ..` is true where `x` is `a`.
    either: Vec<(String, Atoms)>,
    /// The same of each of the parts that must all hold.
    parts: Vec<(String, Atoms)>,
    /// Comparisons with numbers among those parts.
    ranges: Vec<Compared>,
    /// The comparison that the whole of it is.
    compares: Option<Compared>,
    /// The value that it has in every run.
    constant: Option<Verdict>,
}

/// Most pieces of what numbers are left that are told apart.
const PIECES: usize = 64;

/// Most parts of a case without an arm that are named.
const MOST_PARTS: usize = 4;

/// Values without an arm that are named one by one.
const MOST_NAMED: usize = 8;

impl Case {
    /// The value that the condition has in every run.
    fn always(&self) -> Option<bool> {
        self.constant.as_ref().map(|found| found.value)
    }
}

impl Cases {
    /// What is found out about the condition of an arm, by position.
    pub fn verdict(&self, arm: usize) -> Option<&Verdict> {
        self.arms.get(arm)?.constant.as_ref()
    }

    /// Reads the conditions in the scope of a place.
    pub fn of(cx: &Cx, arms: &[Arm]) -> Self {
        let mut reader = Reader::new(cx);
        let arms = arms.iter().map(|arm| {
            let Some(when) = &arm.when else {
                return Case::default();
            };
            Case {
                whole: reader.holds(when),
                either: alternatives(when)
                    .filter_map(|part| reader.holds(part))
                    .collect(),
                parts: parts(when).filter_map(|part| reader.holds(part)).collect(),
                ranges: parts(when)
                    .filter_map(|part| compared(&mut reader, part))
                    .collect(),
                compares: compared(&mut reader, when),
                constant: reader.verdict(when),
            }
        });
        Self {
            arms: arms.collect(),
            domains: reader.domains,
        }
    }

    /// Reports arms that can't be taken and, where all conditions are `sound`, cases that no arm takes.
    pub fn report(&self, arms: &[Arm], span: Span, sound: bool, cx: &mut Cx) {
        let mut taken = Taken::default();
        let mut complete: Option<Span> = None;
        let mut twice: Vec<Diagnostic> = Vec::new();
        for (arm, case) in arms.iter().zip(&self.arms) {
            let place = arm.when.as_ref().map_or(arm.span, |when| when.span);
            // One that never holds is reported as such.
            if case.always() == Some(false) {
                continue;
            }
            if let Some(before) = complete {
                let why = "the arms up to here take every case";
                cx.report(never_taken(&cx.leads_to(&arm.jump), place, before, why));
                // It is one mistake, however many arms stand behind.
                break;
            }
            if case.always() == Some(true) {
                // That no arm behind it is taken is said of the condition.
                complete = Some(place);
                break;
            }
            if arm.when.is_none() {
                complete = Some(place);
                continue;
            }
            if let Some(before) = taken.before(case, arm) {
                let to = cx.leads_to(&arm.jump);
                twice.push(never_taken(&to, place, before, "taken here already"));
            }
            taken.add(case, arm, place);
            complete = self.covered(&taken, case).then_some(place);
        }
        let open = match complete.is_none() && sound {
            true => coverage(cx, arms),
            false => Coverage::Full,
        };
        if !matches!(open, Coverage::Full) {
            let left = self.left(&taken);
            let mut found = {
                let (route, asks) = (cx.route_of(span), asked(cx, arms));
                incomplete(&left, &open, (&route, &asks), span)
            };
            // A case that stands there twice stands there in place of another.
            if let ([again], true) = (
                twice.as_slice(),
                matches!(left, Left::Only(..) | Left::Part(..)),
            ) {
                let to = again.message.split('`').nth(1).unwrap_or("?");
                let message = format!(
                    "{}: this one to `{to}` takes what another takes",
                    found.message
                );
                let labels = again.labels.iter().skip(1);
                found = Diagnostic::new(found.code, message, again.span())
                    .here("this arm is never taken");
                found = labels.fold(found, |found, label| {
                    found.label(label.span, "taken here already")
                });
                cx.report(found.help("name what is left in one of the two arms"));
                return;
            }
            twice.into_iter().for_each(|found| cx.report(found));
            cx.report(found);
            return;
        }
        twice.into_iter().for_each(|found| cx.report(found));
    }

    /// Whether all values of the place that an arm speaks of are taken with it.
    fn covered(&self, taken: &Taken<'_>, case: &Case) -> bool {
        let mut subjects = case
            .whole
            .iter()
            .chain(&case.either)
            .map(|(subject, _)| subject);
        let values = subjects.any(|subject| {
            let known = taken.values.get(subject).map(|(known, _)| known);
            known.is_some() && self.domains.get(subject) == known
        });
        let numbers = || {
            case.compares
                .as_ref()
                .is_some_and(|of| taken.numbers_left(of).is_empty())
        };
        values || numbers()
    }

    /// What no arm takes.
    fn left(&self, taken: &Taken<'_>) -> Left {
        let first = self.arms.first();
        let compared = first.and_then(|case| case.compares.as_ref());
        let same = |of: &Compared| {
            let mut arms = self.arms.iter();
            arms.all(|case| {
                case.compares
                    .as_ref()
                    .is_some_and(|c| c.subject == of.subject)
            })
        };
        if let Some(of) = compared.filter(|of| same(of)) {
            let left = taken.numbers_left(of);
            if left.len() >= PIECES {
                return Left::Unknown;
            }
            let shown: Vec<String> = left
                .iter()
                .take(3)
                .map(|part| part.show(of.whole))
                .collect();
            return Left::Only(of.subject.clone(), shown.join(" or "));
        }
        // The place that every arm speaks of.
        let parts = first
            .into_iter()
            .flat_map(|case| case.parts.iter().chain(&case.whole));
        let speaks = |case: &Case, subject: &str| {
            let mut parts = case.parts.iter().chain(&case.whole);
            parts.any(|(found, _)| found == subject)
        };
        let subject = parts
            .map(|(subject, _)| subject)
            .find(|subject| self.arms.iter().all(|case| speaks(case, subject)));
        let all = subject.and_then(|subject| Some((subject, self.domains.get(subject)?)));
        let Some((subject, all)) = all.filter(|(_, all)| !all.contains(&Atom::Other)) else {
            return Left::Unknown;
        };
        let none = Atoms::new();
        let known = taken.values.get(subject).map_or(&none, |(known, _)| known);
        if known.is_empty() {
            return Left::Unknown;
        }
        let left: Vec<String> = all.difference(known).iter().map(Atom::show).collect();
        let left = match left.len() {
            // A list of all would bury what it says.
            more if more > MOST_NAMED => {
                let first = left.iter().take(3).map(String::as_str);
                let first: Vec<&str> = first.collect();
                format!("`{}` or one of {} others", first.join("`, `"), more - 3)
            }
            _ => either(left.iter().map(String::as_str)),
        };
        match self.arms.iter().all(|case| case.whole.is_some()) {
            true => Left::Only(subject.clone(), left),
            false => Left::Part(subject.clone(), left),
        }
    }
}

/// What the arms of a route leave.
enum Left {
    /// These values of a place.
    Only(String, String),
    /// Something among these values of a place.
    Part(String, String),
    /// That can't be said.
    Unknown,
}

fn incomplete(left: &Left, open: &Coverage, (route, asks): (&str, &str), span: Span) -> Diagnostic {
    let few = |parts: &[String]| (1..=MOST_PARTS).contains(&parts.len());
    let case = match open {
        Coverage::Open(case) if few(&case.parts) => Some((case.parts.join(" and "), case.sure)),
        _ => None,
    };
    let message = match (left, open, &case) {
        (_, Coverage::Unknown, _) => format!(
            "whether the conditions of {route} cover all can't be told: there are too many cases, and no `else`"
        ),
        (Left::Only(subject, left), ..) => {
            format!("no arm of {route} is taken where `{subject}` is {left}")
        }
        (Left::Part(subject, left), ..) => {
            format!("no arm of {route} is sure to be taken where `{subject}` is {left}")
        }
        (Left::Unknown, _, Some((case, true))) => {
            format!("no arm of {route} is taken where {case}")
        }
        (Left::Unknown, _, Some((case, false))) => {
            format!("no arm of {route} is sure to be taken where {case}")
        }
        (Left::Unknown, _, None) => {
            format!("the conditions of {route}{asks} may all be false, and there is no `else`")
        }
    };
    let found = Diagnostic::new(&codes::ROUTE_NOT_EXHAUSTIVE, message, span)
        .help("add an arm for what is left: `else -> TARGET`");
    match (left, case) {
        (Left::Part(..), Some((case, true))) => found.here(format!("none is where {case}")),
        _ => found,
    }
}

/// The places that conditions ask for, for messages.
fn asked(cx: &Cx, arms: &[Arm]) -> String {
    let mut places: Vec<String> = Vec::new();
    let mut open: Vec<&Expr> = arms.iter().filter_map(|arm| arm.when.as_ref()).collect();
    open.reverse();
    while let Some(expr) = open.pop() {
        if constant(expr, &cx.program.types).is_some() {
            continue;
        }
        match path(expr) {
            // What macros bind has no type out here.
            Some(place) if !places.contains(&place) && cx.quiet(expr) != Type::Error => {
                places.push(place);
            }
            Some(_) => {}
            None => {
                let before = open.len();
                expr.each_part(|part| open.push(part));
                if let Some(parts) = open.get_mut(before..) {
                    parts.reverse();
                }
            }
        }
        if places.len() > MOST_PARTS {
            return String::new();
        }
    }
    match places.is_empty() {
        true => String::new(),
        false => format!(" on {}", list(places.iter().map(String::as_str))),
    }
}

impl Cx<'_> {
    /// What a route belongs to, for messages.
    fn route_of(&self, span: Span) -> String {
        let Some(graph) = self.graph else {
            return match &self.tool {
                Some(tool) => format!("the `goto` of tool `{tool}`"),
                None => "the `goto`".to_owned(),
            };
        };
        let holds = |route: &Route| matches!(route, Route::Arms(_, own) if *own == span);
        let goto = |node: &&Node| node.goto.as_ref().is_some_and(|goto| holds(&goto.node));
        let handles = |node: &&Node| node.on_error.as_deref().is_some_and(holds);
        if let Some(node) = graph.nodes.iter().find(goto) {
            return format!("the `goto` of `{}`", node.name.node);
        }
        match graph.nodes.iter().find(handles) {
            Some(node) => format!("`on_error` of `{}`", node.name.node),
            None if graph.start.as_ref().is_some_and(holds) => {
                format!("`start` of `{}`", graph.name.node)
            }
            None => format!("`on_error` of graph `{}`", graph.name.node),
        }
    }
}

/// The parts of a condition of which one is enough, where it has several.
fn alternatives(when: &Expr) -> impl Iterator<Item = &Expr> {
    let several = match &when.kind {
        ExprKind::Logical(LogicalOp::Or, operands) => operands.as_slice(),
        _ => &[],
    };
    several.iter()
}

/// The parts of a condition that must all hold.
fn parts(when: &Expr) -> impl Iterator<Item = &Expr> {
    let several = match &when.kind {
        ExprKind::Logical(LogicalOp::And, operands) => operands.as_slice(),
        _ => std::slice::from_ref(when),
    };
    several.iter()
}

/// What the arms so far have taken.
#[derive(Default)]
struct Taken<'a> {
    /// Values of each place, and the last arm that took some.
    values: BTreeMap<String, (Atoms, Span)>,
    /// Ranges of numbers that single comparisons took.
    ranges: Vec<(Compared, Span)>,
    /// Numbers of each place that none of them took.
    left: BTreeMap<String, Vec<Range>>,
    /// Conditions by fingerprint: there may be ten thousand.
    conditions: HashMap<u64, Vec<&'a Expr>>,
}

impl<'a> Taken<'a> {
    /// The arm that takes all that this one could take.
    fn before(&self, case: &Case, arm: &Arm) -> Option<Span> {
        let values = case
            .parts
            .iter()
            .chain(&case.whole)
            .find_map(|(subject, atoms)| {
                let (known, last) = self.values.get(subject)?;
                (!atoms.is_empty() && atoms.is_subset(known)).then_some(*last)
            });
        let ranges = || {
            case.ranges.iter().find_map(|found| {
                let within = |known: &Compared| {
                    let (all, taken) = (found.counted(), known.counted());
                    known.subject == found.subject && all.within(taken)
                };
                let mut known = self.ranges.iter().filter(|(known, _)| within(known));
                known.next().map(|(_, place)| *place)
            })
        };
        let alike = || {
            let when = arm.when.as_ref()?;
            let found = std::iter::once(when).chain(parts(when)).filter_map(|part| {
                let known = self.conditions.get(&fingerprint(part))?;
                known.iter().find(|known| same(known, part))
            });
            found.map(|known| known.span).min_by_key(|span| span.start)
        };
        values.or_else(ranges).or_else(alike)
    }

    /// The numbers of a place that no single comparison so far has taken.
    fn numbers_left(&self, of: &Compared) -> &[Range] {
        self.left.get(&of.subject).map_or(&[], Vec::as_slice)
    }

    /// Takes a comparison's numbers away from what is left. Of more than [`PIECES`] no more is followed.
    fn take(&mut self, found: &Compared) {
        let slot = self.left.entry(found.subject.clone());
        let left = slot.or_insert_with(|| vec![found.domain]);
        if left.len() < PIECES {
            let parts = left.iter();
            let parts = parts.flat_map(|part| part.without([found.range], found.whole));
            *left = parts.collect();
        }
    }

    fn add(&mut self, case: &Case, arm: &'a Arm, place: Span) {
        if let Some(when) = &arm.when {
            let alike = self.conditions.entry(fingerprint(when)).or_default();
            alike.push(when);
        }
        for (subject, atoms) in case.whole.iter().chain(&case.either) {
            let slot = self.values.entry(subject.clone());
            let (known, last) = slot.or_insert((Atoms::new(), place));
            known.join(atoms);
            *last = place;
        }
        if let Some(found) = &case.compares {
            self.take(found);
            self.ranges.push((found.clone(), place));
        }
    }
}

fn never_taken(to: &str, place: Span, before: Span, why: &str) -> Diagnostic {
    let message = format!("this arm to {to} can never be taken");
    Diagnostic::new(&codes::UNREACHABLE_ARM, message, place)
        .label(before, why)
        .help("take the arm out, or put it before the one that takes its cases")
}
