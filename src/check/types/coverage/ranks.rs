//! Whether what is said of pairs of values, this is less than that, can all be so at once.
//!
//! Values of one class may be in any order, as long as none comes to be less than itself: between two numbers that conditions
//! name lie as many as are asked for (see [`super::settle`]).

use std::collections::{BTreeMap, HashMap};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::super::cases::Atom;
use super::ties::{Answers, EQUAL, LESS, MORE, Order};

/// Values and what is said of them.
pub struct Ranks {
    /// From each value to those that it is not more than; with whether it is less.
    arrows: DiGraph<(), bool>,
    /// Values that differ.
    unlike: Vec<(NodeIndex, NodeIndex)>,
    /// The node of each value, by question.
    nodes: HashMap<usize, NodeIndex>,
}

impl Ranks {
    /// What orders say of values, and what their classes say.
    pub fn of(orders: &[&Order], answers: &Answers) -> Self {
        let mut ranks = Self {
            arrows: DiGraph::new(),
            unlike: Vec::new(),
            nodes: HashMap::new(),
        };
        // By the classes' address: values with other classes are not compared.
        let mut classes = BTreeMap::new();
        for order in orders {
            let (left, right) = order.sides;
            let (a, b) = (ranks.node(left), ranks.node(right));
            if let Some(known) = answers.get(order.question) {
                match (known.has(LESS), known.has(MORE), known.has(EQUAL)) {
                    (true, false, equal) => ranks.arrow(a, b, !equal),
                    (false, true, equal) => ranks.arrow(b, a, !equal),
                    (false, false, _) => ranks.same(a, b),
                    (true, true, false) => ranks.unlike.push((a, b)),
                    (true, true, true) => {}
                }
            }
            let key = std::rc::Rc::as_ptr(&order.classes) as usize;
            let (_, members) = classes
                .entry(key)
                .or_insert_with(|| (&order.classes, BTreeMap::<u32, Vec<usize>>::new()));
            for side in [left, right] {
                if let Some(class) = answers.get(side).and_then(|known| known.one()) {
                    members.entry(class).or_default().push(side);
                }
            }
        }
        for (classes, members) in classes.into_values() {
            let known = members.keys().copied();
            let texts = |at: &u32| matches!(classes.atoms.get(*at as usize), Some(Atom::Text(_)));
            let (numbers, atoms): (Vec<u32>, Vec<u32>) =
                known.partition(|at| classes.is_number(*at));
            for row in [numbers, atoms.into_iter().filter(texts).collect()] {
                ranks.row(&row, |class| members.get(&class).map_or(&[], Vec::as_slice));
            }
            for (class, members) in &members {
                if classes.is_point(*class) {
                    ranks.all_same(members);
                }
            }
            // No text is less than the empty one.
            let empty = classes.atom(&Atom::Text("".into()));
            let empty = empty.and_then(|class| members.get(&class)?.first());
            let others = classes
                .atom(&Atom::Other)
                .and_then(|class| members.get(&class));
            if let (Some(empty), Some(others)) = (empty, others) {
                let least = ranks.node(*empty);
                for other in others {
                    let other = ranks.node(*other);
                    ranks.arrow(least, other, true);
                }
            }
        }
        ranks
    }

    /// Whether all of it can be so.
    pub fn agree(&self) -> bool {
        let mut round = vec![0; self.arrows.node_count()];
        for (number, members) in kosaraju_scc(&self.arrows).into_iter().enumerate() {
            for member in members {
                if let Some(slot) = round.get_mut(member.index()) {
                    *slot = number;
                }
            }
        }
        let same = |a: NodeIndex, b: NodeIndex| round.get(a.index()) == round.get(b.index());
        let mut arrows = self.arrows.edge_indices();
        let turned = arrows.any(|arrow| {
            let less = self.arrows.edge_weight(arrow) == Some(&true);
            let ends = self.arrows.edge_endpoints(arrow);
            less && ends.is_some_and(|(a, b)| same(a, b))
        });
        !turned && !self.unlike.iter().any(|(a, b)| same(*a, *b))
    }

    fn node(&mut self, question: usize) -> NodeIndex {
        let arrows = &mut self.arrows;
        *self
            .nodes
            .entry(question)
            .or_insert_with(|| arrows.add_node(()))
    }

    fn arrow(&mut self, from: NodeIndex, to: NodeIndex, less: bool) {
        self.arrows.add_edge(from, to, less);
    }

    fn same(&mut self, a: NodeIndex, b: NodeIndex) {
        self.arrow(a, b, false);
        self.arrow(b, a, false);
    }

    fn all_same(&mut self, questions: &[usize]) {
        for pair in questions.windows(2) {
            if let [a, b] = pair {
                let (a, b) = (self.node(*a), self.node(*b));
                self.same(a, b);
            }
        }
    }

    /// Each value of a class is less than those of the next one.
    fn row<'m>(&mut self, classes: &[u32], members: impl Fn(u32) -> &'m [usize]) {
        for pair in classes.windows(2) {
            let [low, high] = pair else { continue };
            let between = self.arrows.add_node(());
            for below in members(*low) {
                let below = self.node(*below);
                self.arrow(below, between, true);
            }
            for above in members(*high) {
                let above = self.node(*above);
                self.arrow(between, above, true);
            }
        }
    }
}
