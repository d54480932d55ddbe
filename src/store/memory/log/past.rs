//! A thread's past: states of old, what a fork takes, what a compaction lets go.

use std::collections::BTreeMap;

use super::Log;
use crate::run::store::{
    Change, Checkpoint, Compacted, EffectRecord, Effects, FieldWrite, Keep, ListedEffect,
    StoreError, ThreadImage,
};
use crate::store::fold::Fold;
use crate::store::rules;

/// How many effects there were by kind and subject.
type Counts = BTreeMap<(String, String), u64>;

/// Whether an effect goes with checkpoint `seq`, of a step of the root.
fn goes_along(listed: &ListedEffect, root_step: u64, seq: u64, wanted: Effects) -> bool {
    let of = listed.effect.root_step;
    let (all, until) = wanted.later();
    let was = |seq| listed.behind.is_some_and(|behind| behind < seq);
    all || of < root_step || was(until) || (of == root_step && was(seq))
}

impl Log {
    /// Effects that an image of a step of the root has as of a checkpoint, and how many there were.
    pub(super) fn effects_at(
        &self,
        root_step: u64,
        seq: u64,
        wanted: Effects,
    ) -> (Vec<EffectRecord>, Counts) {
        let mut found: Vec<&ListedEffect> = Vec::new();
        let mut counts = self.counts.clone();
        for listed in self.effects.range(root_step..).flat_map(|(_, all)| all) {
            if goes_along(listed, root_step, seq, wanted) {
                found.push(listed);
            } else {
                let key = (listed.effect.kind.clone(), listed.effect.subject.clone());
                *counts.entry(key).or_default() -= 1;
            }
        }
        counts.retain(|_, count| *count > 0);
        found.sort_by_key(|listed| listed.position);
        let found = found.into_iter().map(|listed| listed.effect.clone());
        (found.collect(), counts)
    }

    /// The thread as it was right after a checkpoint.
    pub(in crate::store::memory) fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        wanted: Effects,
    ) -> Result<ThreadImage, StoreError> {
        self.has_checkpoint(thread_id, seq)?;
        self.image_up_to(thread_id, seq, wanted)
    }

    fn has_checkpoint(&self, thread_id: &str, seq: u64) -> Result<(), StoreError> {
        if self.checkpoints.contains_key(&seq) {
            return Ok(());
        }
        let nearest = |found: Option<(&u64, _)>| found.map(|(seq, _)| *seq);
        Err(StoreError::NoCheckpoint {
            thread_id: thread_id.to_string(),
            seq,
            before: nearest(self.checkpoints.range(..seq).next_back()),
            after: nearest(self.checkpoints.range(seq..).next()),
        })
    }

    /// Gives a new thread what this one had right after a checkpoint.
    pub(in crate::store::memory) fn fork(
        &self,
        thread_id: &str,
        at: u64,
        wanted: Effects,
        mut fork: Log,
    ) -> Result<Log, StoreError> {
        let image = self.image_at(thread_id, at, wanted)?;
        let root_step = image.frames.first().map_or(0, |root| root.step);
        let stays = |listed: &ListedEffect| goes_along(listed, root_step, at, wanted);
        fork.appended = self.appended;
        fork.counts = image.counts;
        for checkpoint in self.listed(self.checkpoints.range(..=at)) {
            fork.add_checkpoint(&checkpoint);
        }
        for listed in self.effects.values().flatten().filter(|l| stays(l)) {
            fork.known.insert(listed.effect.key());
            let of_step = fork.effects.entry(listed.effect.root_step).or_default();
            of_step.push(listed.clone());
        }
        Ok(fork)
    }

    /// Effects behind a position.
    pub(in crate::store::memory) fn listed_effects(
        &self,
        after: Option<u64>,
        limit: usize,
    ) -> Vec<ListedEffect> {
        let all = self.effects.values().flatten();
        let behind = all.filter(|listed| after.is_none_or(|after| listed.position > after));
        let mut found: Vec<&ListedEffect> = behind.collect();
        found.sort_by_key(|listed| listed.position);
        found.into_iter().take(limit).cloned().collect()
    }

    /// Checkpoints behind a `seq`, with their writes.
    pub(in crate::store::memory) fn listed_checkpoints(
        &self,
        after: Option<u64>,
        limit: usize,
    ) -> Vec<Checkpoint> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        let behind = self.checkpoints.range(from..).take(limit);
        self.listed(behind).collect()
    }

    fn listed<'l>(
        &'l self,
        entries: impl Iterator<Item = (&'l u64, &'l (u64, crate::run::store::CheckpointInfo))>,
    ) -> impl Iterator<Item = Checkpoint> {
        entries.map(|(seq, (root_step, info))| Checkpoint {
            seq: *seq,
            frame: info.frame.clone(),
            step: info.step,
            root_step: *root_step,
            run_id: info.run_id.clone(),
            source: info.source,
            writes: self.writes(*seq, &info.frame, &info.fields),
            schedule: info.schedule.clone(),
            at: info.at.clone(),
        })
    }

    /// Writes of a checkpoint: in the order of its own, then those that were put together there.
    fn writes(&self, seq: u64, frame: &str, own: &[String]) -> Vec<FieldWrite> {
        let Some(fields) = self.fields.get(frame) else {
            return Vec::new();
        };
        let mut left: BTreeMap<&str, std::slice::Iter<'_, (u64, Change)>> = BTreeMap::new();
        for (field, changes) in fields {
            let from = changes.partition_point(|(at, _)| *at < seq);
            let until = changes.partition_point(|(at, _)| *at <= seq);
            let here = changes.get(from..until).unwrap_or_default();
            if !here.is_empty() {
                left.insert(field, here.iter());
            }
        }
        let names: Vec<&str> = own.iter().map(String::as_str).collect();
        let others: Vec<&str> = left
            .keys()
            .copied()
            .filter(|n| !names.contains(n))
            .collect();
        let writes = names.into_iter().chain(others).filter_map(|name| {
            let (_, change) = left.get_mut(name)?.next()?;
            Some(FieldWrite {
                field: name.to_string(),
                change: change.clone(),
            })
        });
        writes.collect()
    }

    /// Lets go of what is older than what is kept.
    pub(in crate::store::memory) fn compact(
        &mut self,
        keep: Keep,
    ) -> Result<Compacted, &'static str> {
        let mut done = Compacted::default();
        let of = |seq: &u64| self.checkpoints.get(seq).map_or(0, |(_, info)| info.step);
        let roots: Vec<(u64, u64)> = self.roots.iter().map(|seq| (*seq, of(seq))).collect();
        let all = self.checkpoints.iter();
        let nested = all.filter(|(_, (_, info))| !info.frame.is_empty());
        let nested: Vec<(u64, u64)> = nested.map(|(seq, (step, _))| (*seq, *step)).collect();
        let Some(oldest) = rules::oldest_kept(&roots, &nested, keep) else {
            return Ok(done);
        };
        let kept = self.checkpoints.split_off(&oldest);
        let mut first: BTreeMap<&str, u64> = BTreeMap::new();
        for (seq, (_, info)) in &kept {
            first.entry(&info.frame).or_insert(*seq);
        }
        let fields = fields_from(&self.fields, &first, &mut done)?;
        done.checkpoints = self.checkpoints.len() as u64;
        self.fields = fields;
        self.checkpoints = kept;
        self.roots.retain(|seq| *seq >= oldest);
        for frames in self.nested.values_mut() {
            frames
                .values_mut()
                .for_each(|seqs| seqs.retain(|seq| *seq >= oldest));
            frames.retain(|_, seqs| !seqs.is_empty());
        }
        let steps = roots.iter().filter(|(seq, _)| *seq >= oldest);
        if let Some(step) = steps.map(|(_, step)| *step).min() {
            let effects = self.effects.split_off(&step);
            let gone = std::mem::replace(&mut self.effects, effects);
            done.effects = gone.values().map(|of_step| of_step.len() as u64).sum();
            self.known.retain(|key| key.root_step >= step);
        }
        Ok(done)
    }
}

type Fields = BTreeMap<String, BTreeMap<String, Vec<(u64, Change)>>>;

/// The changes since the first checkpoint of each frame that is kept; those up to there as one.
fn fields_from(
    all: &Fields,
    first: &BTreeMap<&str, u64>,
    done: &mut Compacted,
) -> Result<Fields, &'static str> {
    let mut fields = Fields::new();
    for (frame, of_frame) in all {
        let mut kept = BTreeMap::new();
        for (field, changes) in of_frame {
            let Some(base) = first.get(frame.as_str()) else {
                done.changes += changes.len() as u64;
                continue;
            };
            let count = changes.partition_point(|(at, _)| at <= base);
            let (old, new) = changes.split_at_checked(count).unwrap_or_default();
            let mut fold = Fold::default();
            for (_, change) in old.iter().rev() {
                if fold.older(change.clone()) {
                    break;
                }
            }
            let image = fold.finish()?;
            let put = image.map(|image| (*base, Change::Put(image.value)));
            done.changes += (old.len() - usize::from(put.is_some())) as u64;
            let changes: Vec<(u64, Change)> = put.into_iter().chain(new.iter().cloned()).collect();
            if !changes.is_empty() {
                kept.insert(field.clone(), changes);
            }
        }
        if !kept.is_empty() {
            fields.insert(frame.clone(), kept);
        }
    }
    Ok(fields)
}
