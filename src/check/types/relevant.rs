//! Of which places the conditions speak that decide whether a field is written, or read.
//!
//! Those are all that a run can be told by: a choice counts where its arms come to different spots first of those that count,
//! the end among them, and what its conditions are made of is written by spots that count too. What is left out can't make
//! a way one that no run takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ir::FieldId;

use super::super::flow::{Spot, Way};
use super::paths::Paths;
use super::says::{Fact, Saying};

/// A spot by its number, the end, or none that counts.
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
        let number = |spot: &Spot| self.flow.number(*spot);
        let of = |field: &FieldId| writers.get(field).into_iter().flatten().copied();
        let mut touching: BTreeSet<usize> = of(&field).collect();
        let readers = self.readers.get(&field);
        touching.extend(readers.into_iter().flatten().filter_map(number));
        loop {
            for spot in self.counting(&touching, &into) {
                match spot == into.len() {
                    true => self.asked(&self.start, &self.flow.start, &mut places),
                    false => {
                        let ways = self.flow.ways(self.flow.spot(spot));
                        if let Some(said) = self.nodes.get(spot) {
                            self.asked(said, ways, &mut places);
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

    fn asked(&self, said: &Saying, ways: &[Way], places: &mut BTreeSet<Arc<str>>) {
        for way in ways {
            add(places, said.jumps.get(&way.span).into_iter().flatten());
        }
        add(places, said.skipped.iter().flatten());
        add(places, &said.worked);
    }

    /// The spots that count, by number; behind the last number is the entry. Those near the end are looked at first.
    fn counting(&self, touching: &BTreeSet<usize>, into: &[Vec<usize>]) -> BTreeSet<usize> {
        let entry = into.len();
        let mut first: Vec<First> = vec![None; entry + 1];
        let mut all = touching.clone();
        for spot in touching {
            first
                .get_mut(*spot)
                .into_iter()
                .for_each(|own| *own = Some(*spot));
        }
        let place = |spot: usize| match spot == entry {
            true => (0, spot),
            false => (
                self.order
                    .get(spot)
                    .map_or(0, |place| place.saturating_add(1)),
                spot,
            ),
        };
        let mut open: BTreeSet<(usize, usize)> = (0..=entry).map(place).collect();
        while let Some((_, spot)) = open.pop_last() {
            if !all.contains(&spot) {
                let ways = match spot == entry {
                    true => self.flow.start.as_slice(),
                    false => self.flow.ways(self.flow.spot(spot)),
                };
                let Some(found) = self.first_of(ways, &first) else {
                    continue;
                };
                let found = found.unwrap_or_else(|| {
                    all.insert(spot);
                    spot
                });
                match first.get_mut(spot) {
                    Some(own) if *own != Some(found) => *own = Some(found),
                    _ => continue,
                }
            }
            let before = into.get(spot).into_iter().flatten();
            let before = before.filter(|before| !all.contains(before));
            open.extend(before.map(|before| place(*before)));
        }
        all
    }

    /// What these ways come to first: `Some(None)` where they come to different ones.
    fn first_of(&self, ways: &[Way], first: &[First]) -> Option<First> {
        let mut found = None;
        for goal in ways.iter().flat_map(|way| &way.goals) {
            let to = match self.flow.number(goal.to) {
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

    /// By field the spots that may write it, or reset it by what they write; by number.
    fn writers(&self) -> BTreeMap<FieldId, Vec<usize>> {
        let mut writers: BTreeMap<FieldId, Vec<usize>> = BTreeMap::new();
        for spot in self.flow.spots() {
            let own = match spot {
                Spot::Node(id) => self.flow.stops.get(id).map(|stop| &stop.writes),
                _ => None,
            };
            let ways = self.flow.ways(spot).iter().flat_map(|way| &way.writes);
            for write in own.into_iter().flatten().chain(ways) {
                let declared = self.graph.fields.get(write.field).into_iter();
                let resets = declared.flat_map(|field| &field.resets);
                let resets = resets.filter_map(|name| self.graph.field(name));
                for field in resets.chain([write.field]) {
                    let known = writers.entry(field).or_default();
                    known.extend(self.flow.number(spot));
                }
            }
        }
        writers
    }

    /// From where arrows lead to each spot, all by number.
    fn into(&self) -> Vec<Vec<usize>> {
        let entry = self.flow.stops.len() + self.flow.joins.len();
        let mut into = vec![Vec::new(); entry];
        let starts = self.flow.start.iter().map(|way| (entry, way));
        let others = self.flow.spots().flat_map(|spot| {
            let ways = self.flow.ways(spot).iter();
            let number = self.flow.number(spot);
            ways.filter_map(move |way| Some((number?, way)))
        });
        for (from, way) in starts.chain(others) {
            for goal in &way.goals {
                let slot = self.flow.number(goal.to).and_then(|n| into.get_mut(n));
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
