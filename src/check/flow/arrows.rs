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

/// All arrows of a flow, in one list.
pub struct Arrows<'a> {
    /// Those into each spot one behind the other.
    all: Vec<Arrow<'a>>,
    /// Where those of each spot end, by its number.
    ends: Vec<usize>,
}

impl<'a> Arrows<'a> {
    /// Gathers them: for each spot those of `start`, then of nodes and joins in the order declared.
    pub fn new(flow: &'a Flow) -> Self {
        let begins = flow.start.iter().map(|way| (None, way));
        let others = flow
            .spots()
            .flat_map(|spot| flow.ways(spot).iter().map(move |way| (Some(spot), way)));
        let mut found: Vec<(usize, Arrow)> = Vec::new();
        for (from, way) in begins.chain(others) {
            for (index, goal) in way.goals.iter().enumerate() {
                let to = flow.number(goal.to);
                found.extend(to.map(|to| (to, Arrow { from, way, index })));
            }
        }
        found.sort_by_key(|(to, _)| *to);
        let mut ends = vec![0; flow.stops.len() + flow.joins.len()];
        let mut behind = 0;
        for (number, end) in ends.iter_mut().enumerate() {
            let rest = found.get(behind..).unwrap_or_default();
            behind += rest.iter().take_while(|(to, _)| *to == number).count();
            *end = behind;
        }
        let all = found.into_iter().map(|(_, arrow)| arrow).collect();
        Self { all, ends }
    }

    /// The arrows that lead to a spot; none for an exit.
    pub fn into(&self, flow: &Flow, spot: Spot) -> &[Arrow<'a>] {
        let range = flow.number(spot).and_then(|number| {
            let first = match number {
                0 => 0,
                later => *self.ends.get(later - 1)?,
            };
            self.all.get(first..*self.ends.get(number)?)
        });
        range.unwrap_or_default()
    }
}
