//! What is known of places of the state at one point of one way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::{SharedMap, SharedSet};
use crate::ir::FieldId;

use super::says::Values;

/// What is known of places on one way. A place is in one of the two lists.
#[derive(Clone, Default, PartialEq)]
pub struct Known {
    values: SharedMap<Arc<str>, Values>,
    /// Places of which nothing but that is known: they are not null.
    not_null: SharedSet<Arc<str>>,
    vague: bool,
}

impl Known {
    /// Whether more holds than there was room for: that a run comes here is in doubt.
    pub(super) fn is_vague(&self) -> bool {
        self.vague
    }

    /// Notes that more holds than there was room for.
    pub(super) fn blur(&mut self) {
        self.vague = true;
    }

    pub(super) fn get(&self, place: &str) -> Option<&Values> {
        let not_null = || self.not_null.contains(place).then_some(&Values::NotNull);
        self.values.get(place).or_else(not_null)
    }

    pub(super) fn put(&mut self, place: &Arc<str>, values: Values) {
        match values {
            Values::NotNull => {
                self.values.remove(&**place);
                self.not_null.insert(place.clone());
            }
            values => {
                self.not_null.remove(&**place);
                self.values.insert(place.clone(), values);
            }
        }
    }

    pub(super) fn forget(&mut self, place: &str) {
        self.values.remove(place);
        self.not_null.remove(place);
    }

    /// None of these is null.
    pub(super) fn assume(&mut self, places: &SharedSet<Arc<str>>) {
        let mut new = places.clone();
        new.without(&self.not_null);
        self.not_null.join(places);
        for place in &new {
            if let Some(values) = self.values.get(&**place) {
                self.not_null.remove(&**place);
                let both = values.and(&Values::NotNull);
                self.put(place, both.unwrap_or(Values::NotNull));
            }
        }
    }

    pub(super) fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        let values = self.values.iter().map(|(place, _)| place);
        let gone = values.chain(&self.not_null).filter(|place| !wanted(place));
        for place in gone.cloned().collect::<Vec<_>>() {
            self.forget(&place);
        }
    }

    /// All places that something is known of, with that.
    fn places(&self) -> impl Iterator<Item = (Arc<str>, Values)> + '_ {
        let values = self.values.iter();
        let values = values.map(|(place, values)| (place.clone(), values.clone()));
        let not_null = self.not_null.iter();
        values.chain(not_null.map(|place| (place.clone(), Values::NotNull)))
    }
}

/// What is known behind a super-step of several tasks, of each of which it is said what is known behind it alone, and
/// which fields it may have written; `None` where they contradict each other, so that no run takes that step. `fields`
/// are those that each place is made of. How many places were looked at is added to `looked`.
pub(super) fn behind_all(
    tasks: &[(Known, BTreeSet<FieldId>)],
    fields: &BTreeMap<Arc<str>, BTreeSet<FieldId>>,
    looked: &mut usize,
) -> Option<Known> {
    let touches = |place: &str, written: &BTreeSet<FieldId>| {
        let made = fields.get(place);
        made.is_some_and(|made| made.iter().any(|field| written.contains(field)))
    };
    let mut all = Known {
        vague: tasks.iter().any(|(known, _)| known.vague),
        ..Known::default()
    };
    for (known, written) in tasks {
        for (place, values) in known.places() {
            *looked += 1;
            if touches(&place, written) {
                continue;
            }
            let both = match all.get(&place) {
                Some(before) => before.and(&values)?,
                None => values,
            };
            all.put(&place, both);
        }
    }
    let places = tasks.iter().flat_map(|(known, _)| known.places());
    let places: BTreeSet<Arc<str>> = places.map(|(place, _)| place).collect();
    for place in places {
        *looked += tasks.len();
        let mut writers = tasks.iter().filter(|(_, written)| touches(&place, written));
        let Some((known, _)) = writers.next() else {
            continue;
        };
        // Of two that write it, nobody knows which value stays.
        match known.get(&place).filter(|_| writers.next().is_none()) {
            Some(values) => all.put(&place, values.clone()),
            None => all.forget(&place),
        }
    }
    Some(all)
}
