//! The run that [`lockstep`](super::lockstep) has found, as one way: the arrows that led to what was looked for.

use super::super::flow::{Cause, Spot, Way};
use super::lockstep::Lockstep;
use super::paths::Step;

impl<'a> Lockstep<'_, '_, 'a> {
    /// The arrows to the end that was come to.
    pub(super) fn to_end(&self, at: usize) -> Vec<Step<'a>> {
        let Some(moment) = self.met.get(at) else {
            return Vec::new();
        };
        let ends = moment.led.iter().filter(|step| step.2.to == Spot::End);
        let last = ends.max_by_key(|step| self.would_write(step.0));
        let Some(last) = last.or(moment.led.last()) else {
            return Vec::new();
        };
        let mut steps = match last.0 {
            Some(spot) => self.before(&moment.led, moment.from, (spot, last.1)),
            None => Vec::new(),
        };
        steps.push(*last);
        steps
    }

    /// The arrows of a run to a spot that some of the last ones lead to.
    pub(super) fn trail(&self, led: &[Step<'a>], from: Option<usize>, spot: Spot) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        let (mut led, mut from, mut spot) = (led, from, spot);
        for _ in 0..=2 * self.spent {
            let into = led.iter().filter(|step| step.2.to == spot);
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
            spot = before;
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
        (spot, way): (Spot, &Way),
    ) -> Vec<Step<'a>> {
        match (
            self.at_once(spot, way),
            from.and_then(|at| self.met.get(at)),
        ) {
            (true, _) => self.trail(led, from, spot),
            (false, Some(moment)) => self.trail(&moment.led, moment.from, spot),
            (false, None) => Vec::new(),
        }
    }

    /// Whether a way out of a spot is taken in the step that leads to the spot.
    fn at_once(&self, spot: Spot, way: &Way) -> bool {
        match spot {
            Spot::Node(id) => {
                let stop = self.paths.flow.stops.get(id);
                way.cause == Cause::Visits || stop.is_some_and(|stop| stop.branch)
            }
            _ => true,
        }
    }

    /// Whether a spot is one that would write the field on another way: the one to be told of.
    fn would_write(&self, spot: Option<Spot>) -> bool {
        let Some(Spot::Node(id)) = spot else {
            return false;
        };
        let stop = self.paths.flow.stops.get(id).into_iter();
        let mut writes = stop.flat_map(|stop| &stop.writes);
        writes.any(|write| write.field == self.asked.0)
    }
}
