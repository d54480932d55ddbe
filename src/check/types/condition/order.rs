//! What the values of two places say of which one is more, and that of the values.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::range::Range;
use super::values::{Atom, Values};

/// Which of two values is more: -1 where the first is less, 0 where they are equal, 1 where it is more.
pub struct Order {
    /// The question.
    pub question: usize,
    /// The two values.
    pub sides: [Side; 2],
    /// Whether conditions name them the other way round.
    pub turned: bool,
}

/// One of two values.
#[derive(Clone)]
pub enum Side {
    /// That of a question.
    Of(usize),
    /// One that is written out.
    Is(Rc<Values>),
}

/// What is known of each question.
pub type Answers = Vec<Rc<Values>>;

impl Side {
    /// What it may be.
    fn values(&self, answers: &Answers) -> Option<Rc<Values>> {
        match self {
            Side::Of(question) => answers.get(*question).cloned(),
            Side::Is(value) => Some(value.clone()),
        }
    }

    /// Takes away what is not among some values. Whether there was such.
    fn keep(&self, answers: &mut Answers, these: &Values) -> Option<bool> {
        match self {
            Side::Of(question) => keep(answers, *question, these),
            Side::Is(value) => (!value.is_apart(these)).then_some(false),
        }
    }
}

/// Takes away from the answers to a question what is not among some values. Whether there was such; `None` where nothing is left.
pub fn keep(answers: &mut Answers, question: usize, these: &Values) -> Option<bool> {
    let known = answers.get_mut(question)?;
    if known.is_within(these) {
        return Some(false);
    }
    Rc::make_mut(known).keep(these);
    (!known.is_empty()).then_some(true)
}

/// Which of less, equal and more are among the answers to an order.
pub fn signs(known: &Values) -> [bool; 3] {
    [-1.0, 0.0, 1.0].map(|sign| known.meets(Range::point(sign)))
}

impl Order {
    /// Takes away what the two values and their order rule out of each other. Whether that was something; `None` where nothing
    /// is left of one.
    pub fn narrow(&self, answers: &mut Answers) -> Option<bool> {
        let [left, right] = &self.sides;
        let (a, b) = (left.values(answers)?, right.values(answers)?);
        let mut changed = keep(answers, self.question, &possible(&a, &b))?;
        let [less, equal, more] = signs(answers.get(self.question)?);
        if !less && !more {
            changed |= left.keep(answers, &b)?;
            changed |= right.keep(answers, &a)?;
        }
        if !equal && b.is_one() {
            changed |= left.keep(answers, &b.not())?;
        }
        if !equal && a.is_one() {
            changed |= right.keep(answers, &a.not())?;
        }
        if !(a.is_numeric() && b.is_numeric()) {
            return Some(changed);
        }
        let (a, b) = (a.hull()?, b.hull()?);
        let up_to = |end: (f64, bool)| Range::new(Range::ALL.low(), (end.0, end.1 && equal));
        let from = |end: (f64, bool)| Range::new((end.0, end.1 && equal), Range::ALL.high());
        // An infinite end is none.
        let finite = |end: (f64, bool)| end.0.is_finite();
        for (allowed, side, range, end) in [
            (more, left, up_to(b.high()), b.high()),
            (more, right, from(a.low()), a.low()),
            (less, left, from(b.low()), b.low()),
            (less, right, up_to(a.high()), a.high()),
        ] {
            if !allowed && finite(end) {
                changed |= side.keep(answers, &Values::range(range, false))?;
            }
        }
        Some(changed)
    }
}

/// The orders that two values may have.
fn possible(a: &Values, b: &Values) -> Values {
    let (one, equal) = (a.is_one() && b.is_one(), !a.is_apart(b));
    let (less, more) = match (a.hull(), b.hull()) {
        (Some(x), Some(y)) if a.is_numeric() && b.is_numeric() => {
            (x.low().0 < y.high().0, y.low().0 < x.high().0)
        }
        _ if one && equal => (false, false),
        _ => match (a.atoms.first(), b.atoms.first()) {
            (Some(x), Some(y)) if one => (x < y, y < x),
            // No text is less than the empty one.
            _ => (!is_empty_text(b), !is_empty_text(a)),
        },
    };
    let signs = [(less, -1.0), (equal, 0.0), (more, 1.0)];
    let mut may = Values::range(Range::point(0.0), true);
    may.numbers = signs
        .into_iter()
        .filter(|(may, _)| *may)
        .map(|(_, sign)| Range::point(sign))
        .collect();
    may
}

fn is_empty_text(of: &Values) -> bool {
    of.is_one() && of.has(&Atom::Text("".into()))
}

/// Whether no value comes to be less than itself, nor unlike itself.
pub fn agree(orders: &[Order], answers: &Answers) -> bool {
    let mut graph: DiGraph<(), bool> = DiGraph::new();
    let mut nodes: HashMap<usize, NodeIndex> = HashMap::new();
    let mut texts: BTreeMap<Option<&Atom>, NodeIndex> = BTreeMap::new();
    let mut unlike = Vec::new();
    for order in orders {
        let Some(known) = answers.get(order.question) else {
            continue;
        };
        let [a, b] = order.sides.each_ref().map(|side| match side {
            Side::Of(question) => *nodes.entry(*question).or_insert_with(|| graph.add_node(())),
            Side::Is(value) => *texts
                .entry(value.atoms.first())
                .or_insert_with(|| graph.add_node(())),
        });
        match signs(known) {
            [true, equal, false] => drop(graph.add_edge(a, b, !equal)),
            [false, equal, true] => drop(graph.add_edge(b, a, !equal)),
            [true, false, true] => unlike.push((a, b)),
            [false, true, false] => {
                graph.add_edge(a, b, false);
                graph.add_edge(b, a, false);
            }
            _ => {}
        }
    }
    // Of two texts that are written out the first in order is less.
    let written: Vec<NodeIndex> = texts.into_values().collect();
    for pair in written.windows(2) {
        if let [a, b] = pair {
            graph.add_edge(*a, *b, true);
        }
    }
    let mut group = vec![0; graph.node_count()];
    for (number, members) in kosaraju_scc(&graph).into_iter().enumerate() {
        for member in members {
            if let Some(slot) = group.get_mut(member.index()) {
                *slot = number;
            }
        }
    }
    let same = |a: NodeIndex, b: NodeIndex| group.get(a.index()) == group.get(b.index());
    let mut strict = graph
        .edge_indices()
        .filter(|edge| graph.edge_weight(*edge) == Some(&true));
    let turned = strict.any(|edge| graph.edge_endpoints(edge).is_some_and(|(a, b)| same(a, b)));
    !turned && !unlike.iter().any(|(a, b)| same(*a, *b))
}
