//! What a search of long-term memory comes to, whichever store the items are in.
//!
//! A store gives all items under the prefix without their values, in the order without a score, and how near each is that has a
//! vector; then it reads values in the order told here, for as long as [`Page`] wants more.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value as Json;

use crate::run::memory::{Item, Near, Search, Space, vector};

/// An item without its value.
pub(super) struct Head {
    /// Under which its value and its vectors lie.
    pub(super) id: i64,
    /// As it is kept.
    pub(super) space: Vec<u8>,
    pub(super) key: String,
    pub(super) created: i64,
    pub(super) updated: i64,
    /// Whether its time ends: only then can that begin anew.
    pub(super) ends: bool,
}

/// The name of an item: its namespace as it is kept, and its key.
pub(super) type Name = (Vec<u8>, String);

impl Head {
    /// The item with its value as it is kept; in words, what can't be read.
    pub(super) fn item(&self, value: &str, score: Option<f32>) -> Result<Item, String> {
        let damaged = || format!("the item `{}` of memory", self.key);
        Ok(Item {
            space: Space::from_bytes(&self.space).ok_or_else(damaged)?,
            key: self.key.clone(),
            value: serde_json::from_str::<Json>(value).map_err(|_| damaged())?,
            created: self.created,
            updated: self.updated,
            score,
        })
    }
}

/// How near the items are that have vectors, by id: the nearest of each counts.
pub(super) struct Scores<I> {
    best: HashMap<I, f32>,
}

impl<I: Copy + Eq + Hash> Scores<I> {
    pub(super) fn new() -> Self {
        Self {
            best: HashMap::new(),
        }
    }

    /// A vector of an item, as it is kept.
    pub(super) fn take(&mut self, near: &Near, id: I, bytes: &[u8]) {
        let Some(score) = vector::nearness(&near.vector, vector::numbers(bytes)) else {
            return;
        };
        let best = self.best.entry(id).or_insert(score);
        *best = best.max(score);
    }

    /// Items with their scores: those with one first, the highest first; the others as they came.
    pub(super) fn order<T>(&self, items: Vec<T>, id: impl Fn(&T) -> I) -> Vec<(T, Option<f32>)> {
        let scored = items.into_iter().map(|item| {
            let score = self.best.get(&id(&item)).copied();
            (item, score)
        });
        let mut scored: Vec<_> = scored.collect();
        if !self.best.is_empty() {
            let rank = |score: Option<f32>| score.unwrap_or(f32::NEG_INFINITY);
            // Stable: equals stay in their order.
            scored.sort_by(|a, b| rank(b.1).total_cmp(&rank(a.1)));
        }
        scored
    }
}

/// How many heads are wanted of those in the order without a score; `None` for all.
pub(super) fn wanted(search: &Search) -> Option<i64> {
    let knows = search.near.is_none() && search.filter.is_empty();
    let end = search.offset.saturating_add(search.limit);
    i64::try_from(end).ok().filter(|_| knows)
}

/// The items of a search, as they are read.
pub(super) struct Page<'s> {
    search: &'s Search,
    skip: usize,
    bytes: usize,
    pub(super) items: Vec<Item>,
    /// Those whose time begins anew with the search.
    pub(super) again: Vec<Name>,
}

impl<'s> Page<'s> {
    /// The page, and which items are to be read for it, in order. Without a filter it is known which.
    pub(super) fn of<I>(
        search: &'s Search,
        mut ordered: Vec<(I, Option<f32>)>,
    ) -> (Self, Vec<(I, Option<f32>)>) {
        let mut skip = search.offset;
        if search.filter.is_empty() {
            ordered.drain(..skip.min(ordered.len()));
            ordered.truncate(search.limit);
            skip = 0;
        }
        let page = Self {
            search,
            skip,
            bytes: 0,
            items: Vec::new(),
            again: Vec::new(),
        };
        (page, ordered)
    }

    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= self.search.limit || self.bytes > self.search.most_bytes
    }

    /// The next item, whose time may end.
    pub(super) fn offer(&mut self, item: Item, ends: bool) {
        if self.is_full() || !self.search.filter.passes(&item.value) {
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.search.most_bytes < usize::MAX {
            self.bytes += item.value.to_string().len();
        }
        if ends && self.search.refresh {
            self.again.push((item.space.to_bytes(), item.key.clone()));
        }
        self.items.push(item);
    }
}
