//! The arrows of a flow, by the spot that they lead to.

use super::model::{Flow, Goal, Spot, Way};

/// One arrow: a goal of a way.
#[derive(Clone, Copy)]
pub struct Arrow<'a> {
    /// Where it comes from; `None` is `start`.
    pub from: Option<Spot>,
    /// The way that it is a part of.
    pub way: &'a Way,
    /// Which of the way's goals it is.
    pub index: usize,
}

impl<'a> Arrow<'a> {
    /// The goal that it is.
    pub fn goal(&self) -> Option<&'a Goal> {
        self.way.goals.get(self.index)
    }

    /// The other goals of its way, which are followed at the same time.
    pub fn beside(&self) -> impl Iterator<Item = &'a Goal> + use<'a> {
        let (goals, own) = (self.way.goals.iter().enumerate(), self.index);
        goals.filter(move |(i, _)| *i != own).map(|(_, goal)| goal)
    }
}

/// All arrows of a flow.
pub struct Arrows<'a> {
    into: Vec<Vec<Arrow<'a>>>,
}

impl<'a> Arrows<'a> {
    /// Gathers them: those of `start`, then of nodes and joins in the order declared.
    pub fn new(flow: &'a Flow) -> Self {
        let mut into: Vec<Vec<Arrow<'a>>> = vec![Vec::new(); flow.stops.len() + flow.joins.len()];
        let begins = flow.start.iter().map(|way| (None, way));
        let others = flow
            .spots()
            .flat_map(|spot| flow.ways(spot).iter().map(move |way| (Some(spot), way)));
        for (from, way) in begins.chain(others) {
            for (index, goal) in way.goals.iter().enumerate() {
                if let Some(list) = flow.number(goal.to).and_then(|n| into.get_mut(n)) {
                    list.push(Arrow { from, way, index });
                }
            }
        }
        Self { into }
    }

    /// The arrows that lead to a spot; none for an exit.
    pub fn into(&self, flow: &Flow, spot: Spot) -> &[Arrow<'a>] {
        let list = flow.number(spot).and_then(|n| self.into.get(n));
        list.map_or(&[], Vec::as_slice)
    }
}
