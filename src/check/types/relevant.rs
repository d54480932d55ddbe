//! Of which places the conditions speak that decide whether a field is written, or read.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ir::FieldId;

use super::super::flow::{Cause, Spot, Way};
use super::paths::Paths;
use super::says::{Fact, Saying};

impl<'a> Paths<'_, 'a> {
    /// Those places: what guards reads of the field, and what is asked at the choices that lead to its writers and readers.
    pub(super) fn relevant(&self, field: FieldId) -> BTreeSet<Arc<str>> {
        let mut places = BTreeSet::new();
        let guards = self.nodes.iter().flat_map(|said| &said.guarded);
        for (_, facts) in guards.filter(|((_, of), _)| *of == field) {
            add(&mut places, facts.iter().flatten());
        }
        for choice in self.choices(field) {
            match choice {
                None => self.asked(&self.start, &self.flow.start, &mut places),
                Some(spot) => {
                    let said = match spot {
                        Spot::Node(id) => self.nodes.get(id.0 as usize),
                        _ => None,
                    };
                    if let Some(said) = said {
                        self.asked(said, self.flow.ways(spot), &mut places);
                    }
                }
            }
        }
        places
    }

    fn asked(&self, said: &Saying, ways: &[Way], places: &mut BTreeSet<Arc<str>>) {
        for way in ways {
            add(places, said.jumps.get(&way.span).into_iter().flatten());
        }
        add(places, said.skipped.iter().flatten());
        add(places, &said.worked);
    }

    /// The nearest spots with several ways before each writer and each reader of the field, and those themselves; `None`
    /// is the entry.
    fn choices(&self, field: FieldId) -> BTreeSet<Option<Spot>> {
        let into = self.into();
        let mut choices = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<Spot> = self.touching(field);
        while let Some(spot) = open.pop() {
            choices.insert(Some(spot));
            if !seen.insert(spot) {
                continue;
            }
            let before = self.flow.number(spot).and_then(|number| into.get(number));
            for from in before.into_iter().flatten() {
                let ways = from.map_or(self.flow.start.as_slice(), |from| self.flow.ways(from));
                let usual = ways.iter().filter(|way| way.cause != Cause::Error);
                match (usual.count() > 1, from) {
                    (false, Some(from)) => open.push(*from),
                    (_, from) => {
                        choices.insert(*from);
                    }
                }
            }
        }
        choices
    }

    /// Spots that may write the field, or read it.
    fn touching(&self, field: FieldId) -> Vec<Spot> {
        let writes = |way: &Way| way.writes.iter().any(|write| write.field == field);
        let touches = |spot: &Spot| {
            let own = match spot {
                Spot::Node(id) => {
                    let stop = self.flow.stops.get(*id).into_iter();
                    let mut writes = stop.flat_map(|stop| &stop.writes);
                    let said = self.nodes.get(id.0 as usize).into_iter();
                    let mut reads = said.flat_map(|said| said.guarded.keys());
                    writes.any(|write| write.field == field) || reads.any(|(_, of)| *of == field)
                }
                _ => false,
            };
            own || self.flow.ways(*spot).iter().any(writes)
        };
        self.flow.spots().filter(touches).collect()
    }

    /// From where arrows lead to each spot, by its number.
    fn into(&self) -> Vec<Vec<Option<Spot>>> {
        let mut into = vec![Vec::new(); self.flow.stops.len() + self.flow.joins.len()];
        let starts = self.flow.start.iter().map(|way| (None, way));
        let others = self.flow.spots().flat_map(|spot| {
            let ways = self.flow.ways(spot).iter();
            ways.map(move |way| (Some(spot), way))
        });
        for (from, way) in starts.chain(others) {
            for goal in &way.goals {
                let slot = self.flow.number(goal.to).and_then(|n| into.get_mut(n));
                slot.into_iter().for_each(|slot| slot.push(from));
            }
        }
        into
    }
}

fn add<'f>(places: &mut BTreeSet<Arc<str>>, facts: impl IntoIterator<Item = &'f Fact>) {
    places.extend(facts.into_iter().map(|fact| fact.place.clone()));
}
