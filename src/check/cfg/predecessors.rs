//! The arrows of a flow, by the block that they lead to.

use super::model::{BlockId, ControlFlowGraph, Successor, Transition};

/// One arrow: a goal of a way.
#[derive(Clone, Copy)]
pub struct InEdge<'a> {
    /// Where it comes from; `None` is `start`.
    pub from: Option<BlockId>,
    /// The way that it is a part of.
    pub transition: &'a Transition,
    /// Which of the way's goals it is.
    pub index: usize,
}

impl<'a> InEdge<'a> {
    /// The goal that it is.
    pub fn successor(&self) -> Option<&'a Successor> {
        self.transition.successors.get(self.index)
    }

    /// The other goals of its way, which are followed at the same time.
    pub fn beside(&self) -> impl Iterator<Item = &'a Successor> + use<'a> {
        let (successors, own) = (self.transition.successors.iter().enumerate(), self.index);
        successors
            .filter(move |(i, _)| *i != own)
            .map(|(_, successor)| successor)
    }
}

/// All arrows of a flow, in one list.
pub struct Predecessors<'a> {
    /// Those into each block one behind the other.
    all: Vec<InEdge<'a>>,
    /// Where those of each block end, by its number.
    ends: Vec<usize>,
}

impl<'a> Predecessors<'a> {
    /// Gathers them: for each block those of `start`, then of nodes and joins in the order declared.
    pub fn new(cfg: &'a ControlFlowGraph) -> Self {
        let begins = cfg.start.iter().map(|transition| (None, transition));
        let others = cfg.blocks().flat_map(|block| {
            cfg.transitions(block)
                .iter()
                .map(move |transition| (Some(block), transition))
        });
        let mut found: Vec<(usize, InEdge)> = Vec::new();
        for (from, transition) in begins.chain(others) {
            for (index, successor) in transition.successors.iter().enumerate() {
                let to = cfg.number(successor.to);
                found.extend(to.map(|to| {
                    (
                        to,
                        InEdge {
                            from,
                            transition,
                            index,
                        },
                    )
                }));
            }
        }
        found.sort_by_key(|(to, _)| *to);
        let mut ends = vec![0; cfg.nodes.len() + cfg.joins.len()];
        let mut behind = 0;
        for (number, end) in ends.iter_mut().enumerate() {
            let rest = found.get(behind..).unwrap_or_default();
            behind += rest.iter().take_while(|(to, _)| *to == number).count();
            *end = behind;
        }
        let all = found.into_iter().map(|(_, arrow)| arrow).collect();
        Self { all, ends }
    }

    /// The arrows that lead to a block; none for an exit.
    pub fn into(&self, cfg: &ControlFlowGraph, block: BlockId) -> &[InEdge<'a>] {
        let range = cfg.number(block).and_then(|number| {
            let first = match number {
                0 => 0,
                later => *self.ends.get(later - 1)?,
            };
            self.all.get(first..*self.ends.get(number)?)
        });
        range.unwrap_or_default()
    }
}
