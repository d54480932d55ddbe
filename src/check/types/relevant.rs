//! Of which places the conditions speak that decide whether a field is written, or read.
//!
//! Those are all that a run can be told by: a choice counts where its arms come to different blocks first of those that count,
//! the end among them, and what its conditions are made of is written by blocks that count too. What is left out can't make
//! a way one that no run takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ir::FieldId;

use super::super::cfg::{BlockId, Transition};
use super::paths::Paths;
use super::says::{Fact, Saying};

/// A block by its number, the end, or none that counts.
type First = Option<usize>;

/// Stands for the end.
const END: usize = usize::MAX;

impl<'a> Paths<'_, 'a> {
    /// Those places: what guards reads of the field, and what is asked at the choices that lead to its writers and readers.
    pub(super) fn relevant(&self, field: FieldId) -> BTreeSet<Arc<str>> {
        let mut places = BTreeSet::new();
        let guards = self.nodes.iter().flat_map(|said| &said.guarded);
        for (_, facts) in guards.filter(|((_, of), _)| *of == field) {
            add(&mut places, facts.iter().flatten());
        }
        add(&mut places, self.exits.iter().flatten());
        let (into, writers) = (self.into(), self.writers());
        let number = |block: &BlockId| self.cfg.number(*block);
        let of = |field: &FieldId| writers.get(field).into_iter().flatten().copied();
        let mut touching: BTreeSet<usize> = of(&field).collect();
        let readers = self.readers.get(&field);
        touching.extend(readers.into_iter().flatten().filter_map(number));
        loop {
            for block in self.counting(&touching, &into) {
                match block == into.len() {
                    true => self.asked(&self.start, &self.cfg.start, &mut places),
                    false => {
                        let transitions = self.cfg.transitions(self.cfg.block(block));
                        if let Some(said) = self.nodes.get(block) {
                            self.asked(said, transitions, &mut places);
                        }
                    }
                }
            }
            let made = places.iter().filter_map(|place| self.fields.get(place));
            let fields: BTreeSet<FieldId> = made.flatten().copied().collect();
            let known = touching.len();
            touching.extend(fields.iter().flat_map(of));
            if touching.len() == known {
                return places;
            }
        }
    }

    fn asked(&self, said: &Saying, transitions: &[Transition], places: &mut BTreeSet<Arc<str>>) {
        for transition in transitions {
            add(
                places,
                said.jumps.get(&transition.span).into_iter().flatten(),
            );
        }
        add(places, said.skipped.iter().flatten());
        add(places, &said.worked);
    }

    /// The blocks that count, by number; behind the last number is the entry. Those near the end are looked at first.
    fn counting(&self, touching: &BTreeSet<usize>, into: &[Vec<usize>]) -> BTreeSet<usize> {
        let entry = into.len();
        let mut first: Vec<First> = vec![None; entry + 1];
        let mut all = touching.clone();
        for block in touching {
            first
                .get_mut(*block)
                .into_iter()
                .for_each(|own| *own = Some(*block));
        }
        let place = |block: usize| match block == entry {
            true => (0, block),
            false => (
                self.order
                    .get(block)
                    .map_or(0, |place| place.saturating_add(1)),
                block,
            ),
        };
        let mut open: BTreeSet<(usize, usize)> = (0..=entry).map(place).collect();
        while let Some((_, block)) = open.pop_last() {
            if !all.contains(&block) {
                let transitions = match block == entry {
                    true => self.cfg.start.as_slice(),
                    false => self.cfg.transitions(self.cfg.block(block)),
                };
                let Some(found) = self.first_of(transitions, &first) else {
                    continue;
                };
                let found = found.unwrap_or_else(|| {
                    all.insert(block);
                    block
                });
                match first.get_mut(block) {
                    Some(own) if *own != Some(found) => *own = Some(found),
                    _ => continue,
                }
            }
            let before = into.get(block).into_iter().flatten();
            let before = before.filter(|before| !all.contains(before));
            open.extend(before.map(|before| place(*before)));
        }
        all
    }

    /// What these ways come to first: `Some(None)` where they come to different ones.
    fn first_of(&self, transitions: &[Transition], first: &[First]) -> Option<First> {
        let mut found = None;
        for successor in transitions
            .iter()
            .flat_map(|transition| &transition.successors)
        {
            let to = match self.cfg.number(successor.to) {
                Some(number) => first.get(number).copied().flatten(),
                None => Some(END),
            };
            match (found, to) {
                (_, None) => {}
                (None, Some(to)) => found = Some(to),
                (Some(before), Some(to)) if before == to => {}
                _ => return Some(None),
            }
        }
        found.map(Some)
    }

    /// By field the blocks that may write it, or reset it by what they write; by number.
    fn writers(&self) -> BTreeMap<FieldId, Vec<usize>> {
        let mut writers: BTreeMap<FieldId, Vec<usize>> = BTreeMap::new();
        for block in self.cfg.blocks() {
            let own = match block {
                BlockId::Node(id) => self.cfg.nodes.get(id).map(|node| &node.writes),
                _ => None,
            };
            let transitions = self
                .cfg
                .transitions(block)
                .iter()
                .flat_map(|transition| &transition.writes);
            for write in own.into_iter().flatten().chain(transitions) {
                let declared = self.graph.fields.get(write.field).into_iter();
                let resets = declared.flat_map(|field| &field.resets);
                let resets = resets.filter_map(|name| self.graph.field(name));
                for field in resets.chain([write.field]) {
                    let known = writers.entry(field).or_default();
                    known.extend(self.cfg.number(block));
                }
            }
        }
        writers
    }

    /// From where arrows lead to each block, all by number.
    fn into(&self) -> Vec<Vec<usize>> {
        let entry = self.cfg.nodes.len() + self.cfg.joins.len();
        let mut into = vec![Vec::new(); entry];
        let starts = self.cfg.start.iter().map(|transition| (entry, transition));
        let others = self.cfg.blocks().flat_map(|block| {
            let transitions = self.cfg.transitions(block).iter();
            let number = self.cfg.number(block);
            transitions.filter_map(move |transition| Some((number?, transition)))
        });
        for (from, transition) in starts.chain(others) {
            for successor in &transition.successors {
                let slot = self.cfg.number(successor.to).and_then(|n| into.get_mut(n));
                slot.into_iter()
                    .for_each(|slot: &mut Vec<usize>| slot.push(from));
            }
        }
        into
    }
}

fn add<'f>(places: &mut BTreeSet<Arc<str>>, facts: impl IntoIterator<Item = &'f Fact>) {
    places.extend(facts.into_iter().map(|fact| fact.place.clone()));
}
