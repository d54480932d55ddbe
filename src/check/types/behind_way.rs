//! What is known behind a way, from what is known where it begins: conditions add to it, writes take from it.

use std::collections::BTreeSet;

use crate::base::SharedSet;
use crate::ir::{FieldId, FieldMode, NodeId};

use super::super::cfg::{BlockId, EdgeKind, Transition};
use super::known::Known;
use super::paths::{Counts, Paths};
use super::says::{Fact, Saying, Values};

impl<'a> Paths<'_, 'a> {
    /// What is known behind a way out of a block, once for each manner in which it may be taken, whatever tasks beside it
    /// do.
    pub(super) fn leave(
        &self,
        (block, alone): (BlockId, bool),
        (number, transition): (usize, &Transition),
        known: &Known,
        field: FieldId,
        counts: Counts,
    ) -> Vec<Known> {
        let id = match block {
            BlockId::Node(id) => id,
            _ => return self.taken(block, (number, transition), known, (field, counts)),
        };
        let others = |sets: &[SharedSet<FieldId>]| sets.get(id.0 as usize).cloned();
        let disturbed = others(self.beside).filter(|_| !alone).unwrap_or_default();
        let taken = transition.kind != EdgeKind::Visits;
        let at_once = match counts {
            Counts::May => disturbed.clone(),
            Counts::Sure => others(&self.at_once).unwrap_or_default(),
        };
        if taken && at_once.contains(&field) {
            return Vec::new();
        }
        let on = self.taken(block, (number, transition), known, (field, counts));
        on.into_iter()
            .map(|known| self.disturb(known, &disturbed))
            .collect()
    }

    /// The same, where no task runs beside it.
    pub(super) fn taken(
        &self,
        block: BlockId,
        (number, transition): (usize, &Transition),
        known: &Known,
        (field, counts): (FieldId, Counts),
    ) -> Vec<Known> {
        let id = match block {
            BlockId::Node(id) => id,
            BlockId::Join(id) => {
                let said = self.joins.get(id);
                let on = said.and_then(|said| self.along(transition, known.clone(), said, field));
                return on.into_iter().collect();
            }
            _ => return Vec::new(),
        };
        let (Some(node), Some(said)) = (self.cfg.nodes.get(id), self.nodes.get(id.0 as usize))
        else {
            return Vec::new();
        };
        let tracked = &self.effects.tracked;
        let writes = match (counts, transition.kind) {
            (Counts::May, EdgeKind::Edge | EdgeKind::Goto) => {
                node.writes.iter().any(|write| write.field == field)
            }
            (Counts::May, _) => tracked.has(&self.effects.may(self.cfg, block, number), field),
            (Counts::Sure, EdgeKind::Edge | EdgeKind::Goto) => {
                tracked.has(&self.effects.done(id), field)
            }
            (Counts::Sure, _) => tracked.has(&self.effects.sure(self.cfg, block, number), field),
        };
        let worked = || {
            let known = self.and(known, &said.worked).filter(|_| !writes)?;
            Some(match transition.kind {
                EdgeKind::Edge | EdgeKind::Goto => self.written(id, known),
                // Nobody has answered: nothing is written.
                EdgeKind::Timeout => known,
                _ => self.forget(known, node.writes.iter().map(|write| write.field)),
            })
        };
        let variants: Vec<Known> = match transition.kind {
            EdgeKind::Skip | EdgeKind::Error | EdgeKind::Visits | EdgeKind::Exit => {
                vec![known.clone()]
            }
            EdgeKind::Tool | EdgeKind::Child | EdgeKind::Timeout => worked().into_iter().collect(),
            EdgeKind::Edge | EdgeKind::Goto => {
                let skipped = said.skipped.iter();
                let skipped = skipped.filter_map(|facts| self.and(known, facts));
                worked().into_iter().chain(skipped).collect()
            }
        };
        let on = variants.into_iter();
        on.filter_map(|known| self.along(transition, known, said, field))
            .collect()
    }

    /// The end that a graph may come to in place of a way out of a block, given what is known behind it, and whether that is in
    /// doubt.
    pub(super) fn exit(
        &self,
        block: BlockId,
        transition: &Transition,
        known: &Known,
    ) -> Option<(&'a Transition, bool)> {
        let ends = self.ends.as_ref()?;
        if !ends.behind(self.cfg, block, transition) {
            return None;
        }
        let holds = |facts: &Vec<Fact>| Some(self.and(known, facts)?.is_vague());
        let vague = self.exits.iter().filter_map(holds).min()?;
        Some((ends.transition, vague))
    }

    /// What is known when a way is taken: its condition held, and its update was made. `None` where the
    /// condition can't hold, and where the update writes the field.
    pub(super) fn along(
        &self,
        transition: &Transition,
        known: Known,
        said: &Saying,
        field: FieldId,
    ) -> Option<Known> {
        if transition.writes.iter().any(|write| write.field == field) {
            return None;
        }
        let known = match said.jumps.get(&transition.span) {
            Some(facts) => self.and(&known, facts)?,
            None => known,
        };
        let before = known.clone();
        let mut known = self.forget(known, transition.writes.iter().map(|write| write.field));
        if let Some(places) = said.known.get(&transition.span) {
            known.assume(places);
        }
        if let Some(left) = said.sets.get(&transition.span) {
            self.assign(&mut known, left, &before);
        }
        Some(known)
    }

    /// What is known when a node's work and `set` are done.
    pub(super) fn written(&self, id: NodeId, known: Known) -> Known {
        let writes = self.cfg.nodes.get(id).map_or(&[][..], |node| &node.writes);
        let before = known.clone();
        let mut known = self.forget(known, writes.iter().map(|write| write.field));
        if let Some(said) = self.nodes.get(id.0 as usize) {
            self.assign(&mut known, &said.assigned, &before);
        }
        known
    }

    pub(super) fn and(&self, known: &Known, facts: &[Fact]) -> Option<Known> {
        let mut known = known.clone();
        for fact in facts {
            if fact.fields.iter().any(|field| self.passing.contains(field)) {
                continue;
            }
            if fact.values == Values::Untold {
                known.blur();
                continue;
            }
            let values = match known.get(&fact.place) {
                Some(before) => before.and(&fact.values)?,
                None => fact.values.and(&fact.values)?,
            };
            known.put(&fact.place, values);
        }
        Some(known)
    }

    /// Takes in what a write leaves. `before` is what was known when it was made.
    fn assign(&self, known: &mut Known, left: &[Fact], before: &Known) {
        for fact in left {
            if fact.fields.iter().any(|field| self.passing.contains(field)) {
                continue;
            }
            if let Values::Plus(by) = fact.values {
                if let Some(Values::Range(range, whole)) = before.get(&fact.place) {
                    let more = Values::Range(range.shifted(by), *whole);
                    known.put(&fact.place, more);
                }
                continue;
            }
            // That it is not null adds to what is known; a value takes its place.
            let both = match fact.values {
                Values::NotNull => known.get(&fact.place).and_then(|v| v.and(&fact.values)),
                _ => None,
            };
            known.put(&fact.place, both.unwrap_or_else(|| fact.values.clone()));
        }
    }

    fn forget(&self, mut known: Known, written: impl IntoIterator<Item = FieldId>) -> Known {
        let mut gone: BTreeSet<FieldId> = BTreeSet::new();
        for id in written {
            gone.insert(id);
            let resets = self
                .graph
                .fields
                .get(id)
                .map_or(&[][..], |field| &field.resets);
            gone.extend(resets.iter().filter_map(|name| self.graph.field(name)));
        }
        for place in gone.iter().filter_map(|id| self.places.get(id)).flatten() {
            known.forget(place);
        }
        known
    }

    /// Forgets what tasks beside one may write: far more fields, most often, than anything is known of.
    fn disturb(&self, mut known: Known, written: &SharedSet<FieldId>) -> Known {
        if written.is_empty() {
            return known;
        }
        let writes = |field: &FieldId| {
            let resets = self.resets.get(field).into_iter().flatten();
            resets.chain([field]).any(|field| written.contains(field))
        };
        known.keep(|place| !self.fields.get(place).into_iter().flatten().any(writes));
        known
    }

    /// Whether what a place is made of is there as it was when the graph is called again.
    pub(super) fn is_kept(&self, place: &str) -> bool {
        let made = self.fields.get(place);
        made.is_some_and(|fields| {
            fields.iter().all(|id| {
                let field = self.graph.fields.get(*id);
                let given = |mode| matches!(mode, FieldMode::In | FieldMode::InOut);
                field.is_some_and(|field| !given(field.mode)) && !self.passing.contains(id)
            })
        })
    }

    /// Whether nothing in the graph writes what a place is made of.
    pub(super) fn is_steady(&self, place: &str) -> bool {
        let made = self.fields.get(place);
        made.is_some_and(|fields| {
            fields.iter().all(|id| {
                let field = self.graph.fields.get(*id);
                field.is_some_and(|field| field.mode == FieldMode::In)
            })
        })
    }
}
