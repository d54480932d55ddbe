//! The states that a run may come to, and the shortest way from `start` to `end` through them.

use super::super::flow::{Goal, Spot, Way};
use super::known::Known;
use super::paths::Step;

/// One state of a spot.
pub struct State<'a> {
    pub spot: Spot,
    /// The spot was come to from its own circle.
    pub(super) again: bool,
    /// No other task runs: no way to here has led to several places.
    pub(super) alone: bool,
    /// More was known than was kept apart, here or on the way to here: that a run comes here is in doubt.
    pub(super) vague: bool,
    pub(super) known: Known,
    /// From where it was come to first: the state, and the arrow.
    pub(super) from: Option<usize>,
    pub(super) arrow: &'a Goal,
    /// Ways on, with the states that each leads to.
    pub(super) ways: Vec<(&'a Way, Vec<Option<usize>>)>,
}

/// What following the ways of a question has found.
pub struct Explored<'a> {
    pub(super) states: Vec<State<'a>>,
    /// The states of each spot, by its number.
    pub(super) by_spot: Vec<Vec<usize>>,
    pub(super) start: Vec<(&'a Way, Vec<Option<usize>>)>,
}

/// The way that a state is left by, and how many steps it takes to the end.
type Chosen = Vec<Option<(usize, usize)>>;

impl<'a> Explored<'a> {
    /// The shortest way from `start` to `end`; `None` where there is none. `loses` says of what comes to a join whether
    /// it may be lost there.
    pub(super) fn shortest(
        &self,
        loses: impl Fn(&Goal, Option<Spot>) -> bool,
    ) -> Option<Vec<Step<'a>>> {
        let chosen = self.settle(&loses);
        let steps =
            |(way, to): &&(&'a Way, Vec<Option<usize>>)| steps(way, to, &chosen, None, &loses);
        let begins = self.start.iter().filter(|begin| steps(begin).is_some());
        let mut next = begins.min_by_key(steps);
        next?;
        let mut path: Vec<Step<'a>> = Vec::new();
        let mut from = None;
        while let Some((way, to)) = next {
            let mut on = way.goals.iter().zip(to);
            let on = on.find(|(goal, _)| goal.to != Spot::End && !loses(goal, from));
            let Some((goal, state)) = on else {
                path.extend(way.goals.first().map(|goal| (from, *way, goal)));
                break;
            };
            path.push((from, *way, goal));
            from = Some(goal.to);
            let known = state.and_then(|at| chosen.get(at).copied().flatten());
            let state = state.and_then(|at| self.states.get(at));
            next = state.and_then(|state| state.ways.get(known?.0));
            if path.len() > self.states.len() {
                break;
            }
        }
        Some(path)
    }

    /// For each state the way by which it soonest comes to `end`, where there is one.
    fn settle(&self, loses: &impl Fn(&Goal, Option<Spot>) -> bool) -> Chosen {
        let mut chosen: Chosen = vec![None; self.states.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for (at, state) in self.states.iter().enumerate() {
            for to in state.ways.iter().flat_map(|(_, to)| to).flatten() {
                if let Some(list) = before.get_mut(*to) {
                    list.push(at);
                }
            }
        }
        let mut open: Vec<usize> = (0..self.states.len()).collect();
        while !open.is_empty() {
            // Those that are one step further from the end than the last ones.
            let mut found = Vec::new();
            for at in open {
                let Some(state) = self.states.get(at) else {
                    continue;
                };
                let ways = state.ways.iter().enumerate();
                let ways = ways.filter_map(|(number, (way, to))| {
                    let steps = steps(way, to, &chosen, Some(state.spot), loses)?;
                    Some((number, steps))
                });
                if let Some(best) = ways.min_by_key(|(_, steps)| *steps) {
                    found.push((at, best));
                }
            }
            open = Vec::new();
            for (at, best) in found {
                if let Some(slot) = chosen.get_mut(at).filter(|slot| slot.is_none()) {
                    *slot = Some(best);
                    open.extend(before.get(at).into_iter().flatten());
                }
            }
            open.retain(|at| chosen.get(*at).is_some_and(Option::is_none));
        }
        chosen
    }
}

/// How many steps it takes until all that a way starts has come to `end`, where that is known.
fn steps(
    way: &Way,
    to: &[Option<usize>],
    chosen: &Chosen,
    from: Option<Spot>,
    loses: &impl Fn(&Goal, Option<Spot>) -> bool,
) -> Option<usize> {
    let mut most = 1;
    for (goal, to) in way.goals.iter().zip(to) {
        let known = to.and_then(|at| chosen.get(at).copied().flatten());
        match known {
            _ if goal.to == Spot::End || loses(goal, from) => {}
            Some((_, steps)) => most = most.max(steps + 1),
            None => return None,
        }
    }
    Some(most)
}
