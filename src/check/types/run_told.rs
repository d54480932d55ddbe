//! The run that [`lockstep`](super::lockstep) has found, as one way: the arrows that led to what was looked for.

use super::super::cfg::{BlockId, EdgeKind, Transition};
use super::lockstep::Lockstep;
use super::paths::Step;

impl<'a> Lockstep<'_, '_, 'a> {
    /// The arrows to the end that was come to.
    pub(super) fn to_end(&self, at: usize) -> Vec<Step<'a>> {
        let Some(moment) = self.met.get(at) else {
            return Vec::new();
        };
        let ends = moment.led.iter().filter(|step| step.2.to == BlockId::End);
        let last = ends.max_by_key(|step| self.would_write(step.0));
        let Some(last) = last.or(moment.led.last()) else {
            return Vec::new();
        };
        let mut steps = match last.0 {
            Some(block) => self.before(&moment.led, moment.from, (block, last.1)),
            None => Vec::new(),
        };
        steps.push(*last);
        steps
    }

    /// The arrows of a run to a block that some of the last ones lead to.
    pub(super) fn trail(
        &self,
        led: &[Step<'a>],
        from: Option<usize>,
        block: BlockId,
    ) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        let (mut led, mut from, mut block) = (led, from, block);
        for _ in 0..=2 * self.spent {
            let into = led.iter().filter(|step| step.2.to == block);
            let Some(step) = into.max_by_key(|step| self.would_write(step.0)) else {
                // It has waited since an earlier step.
                let Some(moment) = from.and_then(|from| self.met.get(from)) else {
                    break;
                };
                (led, from) = (&moment.led, moment.from);
                continue;
            };
            steps.push(*step);
            let Some(before) = step.0 else { break };
            block = before;
            if !self.at_once(before, step.1) {
                let Some(moment) = from.and_then(|from| self.met.get(from)) else {
                    break;
                };
                (led, from) = (&moment.led, moment.from);
            }
        }
        steps.reverse();
        steps
    }

    fn before(
        &self,
        led: &[Step<'a>],
        from: Option<usize>,
        (block, transition): (BlockId, &Transition),
    ) -> Vec<Step<'a>> {
        match (
            self.at_once(block, transition),
            from.and_then(|at| self.met.get(at)),
        ) {
            (true, _) => self.trail(led, from, block),
            (false, Some(moment)) => self.trail(&moment.led, moment.from, block),
            (false, None) => Vec::new(),
        }
    }

    /// Whether a way out of a block is taken in the step that leads to the block.
    fn at_once(&self, block: BlockId, transition: &Transition) -> bool {
        match block {
            BlockId::Node(id) => {
                let node = self.paths.cfg.nodes.get(id);
                transition.kind == EdgeKind::Visits || node.is_some_and(|node| node.branch)
            }
            _ => true,
        }
    }

    /// Whether a block is one that would write the field on another way: the one to be told of.
    fn would_write(&self, block: Option<BlockId>) -> bool {
        let Some(BlockId::Node(id)) = block else {
            return false;
        };
        let node = self.paths.cfg.nodes.get(id).into_iter();
        let mut writes = node.flat_map(|node| &node.writes);
        writes.any(|write| write.field == self.asked.0)
    }
}
