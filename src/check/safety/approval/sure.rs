//! Fields that can only say yes where a person did, whether somebody was asked on the way or not.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::Expr;
use crate::ir::GraphId;
use crate::resolve::jumps::Maker;
use crate::resolve::program::Program;

use super::super::super::flow::build::called_bodies;
use super::answer::{Says, constant};
use super::decided::{Decided, Place};
use super::sense::Sense;
use super::writes::Sign;

/// A field by which side of it is a yes: `true` where it is turned.
type Side = (Place, bool);

/// The sides of a field that a value makes say yes.
fn agreeing(value: Option<&Expr>) -> &'static [bool] {
    match value.map(constant) {
        Some(Some(Says::No)) => &[true],
        Some(Some(Says::Yes)) => &[false],
        _ => &[false, true],
    }
}

impl Decided<'_> {
    /// Fields that can only say yes where a person did, with their directions: whatever else is written there says no, or
    /// is written where `open` shows that no run comes without an approval. A field that no answer is written to may be
    /// either way round.
    pub fn only_by_a_person(
        &self,
        program: &Program,
        open: &dyn Fn(GraphId, Maker) -> bool,
    ) -> BTreeMap<Place, Sense> {
        let spoiled = self.spoiled(program, open);
        let sure = |place: Place| {
            let is = |turned| !spoiled.contains(&(place, turned));
            match self.sense(place) {
                Some(Sense::TURNED) => is(true).then_some(Sense::TURNED),
                // What says no may be its first value.
                Some(sense) => is(false).then_some(match sense.yes {
                    Says::No => sense,
                    _ => Sense::STRAIGHT,
                }),
                None if is(false) => Some(Sense::STRAIGHT),
                None => is(true).then_some(Sense::TURNED),
            }
        };
        let mut written: BTreeSet<Place> = self.writes.iter().map(|write| write.to).collect();
        written.extend(&self.fields);
        let mut fed: Vec<Place> = written.iter().copied().collect();
        while let Some(place) = fed.pop() {
            let to = self.feeds.get(&place).into_iter().flatten();
            let to = to.map(|feed| feed.to);
            fed.extend(to.filter(|to| written.insert(*to)));
        }
        let all = written.into_iter();
        all.filter_map(|place| Some((place, sure(place)?)))
            .collect()
    }

    /// The sides of fields that something else than a person makes say yes.
    fn spoiled(&self, program: &Program, open: &dyn Fn(GraphId, Maker) -> bool) -> BTreeSet<Side> {
        let mut sides: Vec<Side> = Vec::new();
        let mut spoil = |place: Place, all: &[bool]| {
            sides.extend(all.iter().map(|turned| (place, *turned)));
        };
        for write in &self.writes {
            let decided = write.from_answer || write.arm.is_some();
            if !decided && open(write.to.0, write.by) {
                spoil(write.to, agreeing(write.value));
            }
        }
        for (id, graph) in program.graphs.entries() {
            for (field, declared) in graph.fields.entries() {
                if declared.mode.is_in() && program.entry == Some(id) {
                    spoil((id, field), &[false, true]);
                }
                if let Some(default) = &declared.default {
                    spoil((id, field), agreeing(Some(default)));
                }
            }
            for node in &graph.nodes {
                let by_tools = called_bodies(program, node);
                let names = by_tools.iter().flat_map(|(_, body)| body.written());
                for field in names.filter_map(|name| graph.field(&name.node)) {
                    spoil((id, field), &[false, true]);
                }
            }
        }
        for given in self.given.iter().filter(|given| given.foreign) {
            spoil(given.to, agreeing(Some(given.value)));
        }
        let mut spoiled: BTreeSet<Side> = BTreeSet::new();
        while let Some((place, turned)) = sides.pop() {
            if !spoiled.insert((place, turned)) {
                continue;
            }
            let by_it = turned == (self.sense(place) == Some(Sense::TURNED));
            for feed in self.feeds.get(&place).into_iter().flatten() {
                match feed.sign {
                    Sign::Same => sides.push((feed.to, turned)),
                    Sign::Turned => sides.push((feed.to, !turned)),
                    Sign::Any if by_it => sides.extend([(feed.to, false), (feed.to, true)]),
                    Sign::Any => {}
                }
            }
        }
        spoiled
    }
}
