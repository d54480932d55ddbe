//! The states that a run may come to, and the shortest way from `start` to `end` through them.

use super::super::cfg::{BlockId, Successor, Transition};
use super::known::Known;
use super::paths::Step;

/// One state of a block.
pub struct State<'a> {
    pub block: BlockId,
    /// The block was come to from its own circle.
    pub(super) again: bool,
    /// No other task runs: no way to here has led to several places.
    pub(super) alone: bool,
    /// More was known than was kept apart, here or on the way to here: that a run comes here is in doubt.
    pub(super) vague: bool,
    pub(super) known: Known,
    /// From where it was come to first: the state, and the arrow.
    pub(super) from: Option<usize>,
    pub(super) arrow: &'a Successor,
    /// Ways on, with the states that each leads to.
    pub(super) transitions: Vec<(&'a Transition, Vec<Option<usize>>)>,
}

/// What following the ways of a question has found.
pub struct Explored<'a> {
    pub(super) states: Vec<State<'a>>,
    /// The states of each block, by its number.
    pub(super) by_block: Vec<Vec<usize>>,
    pub(super) start: Vec<(&'a Transition, Vec<Option<usize>>)>,
}

/// The way that a state is left by, and how many steps it takes to the end.
type Chosen = Vec<Option<(usize, usize)>>;

impl<'a> Explored<'a> {
    /// The shortest way from `start` to `end`; `None` where there is none. `loses` says of what comes to a join whether
    /// it may be lost there.
    pub(super) fn shortest(
        &self,
        loses: impl Fn(&Successor, Option<BlockId>) -> bool,
    ) -> Option<Vec<Step<'a>>> {
        let chosen = self.settle(&loses);
        let steps = |(transition, to): &&(&'a Transition, Vec<Option<usize>>)| {
            steps(transition, to, &chosen, None, &loses)
        };
        let begins = self.start.iter().filter(|begin| steps(begin).is_some());
        let mut next = begins.min_by_key(steps);
        next?;
        let mut path: Vec<Step<'a>> = Vec::new();
        let mut from = None;
        while let Some((transition, to)) = next {
            let mut on = transition.successors.iter().zip(to);
            let on =
                on.find(|(successor, _)| successor.to != BlockId::End && !loses(successor, from));
            let Some((successor, state)) = on else {
                path.extend(
                    transition
                        .successors
                        .first()
                        .map(|successor| (from, *transition, successor)),
                );
                break;
            };
            path.push((from, *transition, successor));
            from = Some(successor.to);
            let known = state.and_then(|at| chosen.get(at).copied().flatten());
            let state = state.and_then(|at| self.states.get(at));
            next = state.and_then(|state| state.transitions.get(known?.0));
            if path.len() > self.states.len() {
                break;
            }
        }
        Some(path)
    }

    /// For each state the way by which it soonest comes to `end`, where there is one.
    fn settle(&self, loses: &impl Fn(&Successor, Option<BlockId>) -> bool) -> Chosen {
        let mut chosen: Chosen = vec![None; self.states.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for (at, state) in self.states.iter().enumerate() {
            for to in state.transitions.iter().flat_map(|(_, to)| to).flatten() {
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
                let transitions = state.transitions.iter().enumerate();
                let transitions = transitions.filter_map(|(number, (transition, to))| {
                    let steps = steps(transition, to, &chosen, Some(state.block), loses)?;
                    Some((number, steps))
                });
                if let Some(best) = transitions.min_by_key(|(_, steps)| *steps) {
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
    transition: &Transition,
    to: &[Option<usize>],
    chosen: &Chosen,
    from: Option<BlockId>,
    loses: &impl Fn(&Successor, Option<BlockId>) -> bool,
) -> Option<usize> {
    let mut most = 1;
    for (successor, to) in transition.successors.iter().zip(to) {
        let known = to.and_then(|at| chosen.get(at).copied().flatten());
        match known {
            _ if successor.to == BlockId::End || loses(successor, from) => {}
            Some((_, steps)) => most = most.max(steps + 1),
            None => return None,
        }
    }
    Some(most)
}
