//! Long-term memory in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::MemoryStore;
use crate::run::memory::{
    Item, ItemStore, KNOWN_FOR, NewItem, Search, Space, Write, WriteKey, vector,
};
use crate::run::store::StoreError;
use crate::store::items::{Name, Page, Scores};

/// All items, and which writes were made.
#[derive(Default)]
pub(super) struct Items {
    held: BTreeMap<Name, Held>,
    /// When the time of each is over that has one.
    ends: BTreeSet<(i64, Name)>,
    /// Each write with when it was made and its result.
    made: BTreeMap<WriteKey, (i64, bool)>,
    /// The same by time.
    made_at: BTreeSet<(i64, WriteKey)>,
}

struct Held {
    space: Space,
    value: serde_json::Value,
    created: i64,
    updated: i64,
    ttl: Option<i64>,
    until: Option<i64>,
    embedder: String,
    vectors: Vec<Vec<u8>>,
}

impl Held {
    fn is_there(&self, now: i64) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    fn item(&self, key: &str, score: Option<f32>) -> Item {
        Item {
            space: self.space.clone(),
            key: key.to_owned(),
            value: self.value.clone(),
            created: self.created,
            updated: self.updated,
            score,
        }
    }
}

impl Items {
    fn sweep(&mut self, now: i64) {
        while let Some((until, name)) = self.ends.first().filter(|(until, _)| *until <= now) {
            let end = (*until, name.clone());
            self.held.remove(&end.1);
            self.ends.remove(&end);
        }
        let forgotten = now.saturating_sub(KNOWN_FOR);
        while let Some(old) = self.made_at.first().filter(|(at, _)| *at < forgotten) {
            let old = *old;
            self.made.remove(&old.1);
            self.made_at.remove(&old);
        }
    }

    fn write(&mut self, write: &Write, now: i64) -> bool {
        match write {
            Write::Put(new) => self.put(new, now),
            Write::Delete { space, key } => {
                let name = (space.to_bytes(), key.clone());
                let held = self.held.remove(&name);
                if let Some(until) = held.as_ref().and_then(|held| held.until) {
                    self.ends.remove(&(until, name));
                }
                held.is_some_and(|held| held.is_there(now))
            }
        }
    }

    fn put(&mut self, new: &NewItem, now: i64) -> bool {
        let name = (new.space.to_bytes(), new.key.clone());
        let before = self.held.get(&name).filter(|held| held.is_there(now));
        let created = before.map(|held| held.created);
        let until = new.ttl.map(|ttl| now.saturating_add(ttl));
        let held = Held {
            space: new.space.clone(),
            value: new.value.clone(),
            created: created.unwrap_or(now),
            updated: now,
            ttl: new.ttl,
            until,
            embedder: new.embedder.clone(),
            vectors: new.vectors.iter().map(|v| vector::to_bytes(v)).collect(),
        };
        let old = self.held.insert(name.clone(), held);
        if let Some(until) = old.and_then(|old| old.until) {
            self.ends.remove(&(until, name.clone()));
        }
        if let Some(until) = until {
            self.ends.insert((until, name));
        }
        created.is_none()
    }

    fn refresh(&mut self, name: &Name, now: i64) {
        let Some(held) = self.held.get_mut(name) else {
            return;
        };
        if let (Some(ttl), Some(until)) = (held.ttl, held.until) {
            let again = now.saturating_add(ttl);
            held.until = Some(again);
            self.ends.remove(&(until, name.clone()));
            self.ends.insert((again, name.clone()));
        }
    }

    /// What is found, and of which of it the time begins anew.
    fn search(&self, search: &Search, now: i64) -> (Vec<Item>, Vec<Name>) {
        let below = search.prefix.below();
        let range = (below.start, String::new())..(below.end, String::new());
        let there = self.held.range(range);
        let mut ids: Vec<(&Name, &Held)> = there.filter(|(_, held)| held.is_there(now)).collect();
        // Stable, and they come by namespace and key.
        ids.sort_by_key(|(_, held)| std::cmp::Reverse(held.updated));
        let mut scores = Scores::new();
        if let Some(near) = &search.near {
            for (name, held) in &ids {
                let vectors = held
                    .vectors
                    .iter()
                    .filter(|_| held.embedder == near.embedder);
                vectors.for_each(|vector| scores.take(near, *name, vector));
            }
        }
        let (mut page, wanted) = Page::of(search, scores.order(ids, |(name, _)| *name));
        for ((name, held), score) in wanted {
            if page.is_full() {
                break;
            }
            page.offer(held.item(&name.1, score), held.until.is_some());
        }
        (page.items, page.again)
    }
}

#[async_trait]
impl ItemStore for MemoryStore {
    async fn write(&self, known: WriteKey, write: &Write, now: i64) -> Result<bool, StoreError> {
        let mut items = self.items();
        if let Some((_, result)) = items.made.get(&known) {
            return Ok(*result);
        }
        items.sweep(now);
        let result = items.write(write, now);
        items.made.insert(known, (now, result));
        items.made_at.insert((now, known));
        Ok(result)
    }

    async fn item(
        &self,
        space: &Space,
        key: &str,
        now: i64,
        refresh: bool,
    ) -> Result<Option<Item>, StoreError> {
        let mut items = self.items();
        let name = (space.to_bytes(), key.to_owned());
        let held = items.held.get(&name).filter(|held| held.is_there(now));
        let found = held.map(|held| held.item(key, None));
        if refresh && found.is_some() {
            items.refresh(&name, now);
        }
        Ok(found)
    }

    async fn search(&self, search: &Search, now: i64) -> Result<Vec<Item>, StoreError> {
        let mut items = self.items();
        let (found, again) = items.search(search, now);
        for name in &again {
            items.refresh(name, now);
        }
        Ok(found)
    }

    async fn spaces(&self, prefix: &Space, now: i64) -> Result<Vec<Space>, StoreError> {
        let items = self.items();
        let below = prefix.below();
        let range = (below.start, String::new())..(below.end, String::new());
        let there = items
            .held
            .range(range)
            .filter(|(_, held)| held.is_there(now));
        let mut spaces: Vec<Space> = there.map(|(_, held)| held.space.clone()).collect();
        spaces.dedup();
        Ok(spaces)
    }
}
