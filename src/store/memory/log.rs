//! One thread in memory.
//!
//! What is asked of its past is in [`past`].

mod past;

use std::collections::{BTreeMap, BTreeSet};

use crate::run::store::{
    Change, Checkpoint, CheckpointInfo, EffectKey, EffectRecord, Effects, FieldImage, FrameImage,
    ListedEffect, Record, StoreError, ThreadImage, ThreadInfo, ThreadStatus,
};
use crate::store::fold::Fold;
use crate::store::rules::{Broken, MAX_NUMBER, Shape};

/// All records of a thread, arranged by how they are read.
pub(super) struct Log {
    /// Number of the append that wrote its status last.
    pub(super) used: u64,
    status: ThreadStatus,
    created_at: String,
    /// By `seq`, each with the root's step that it belongs to; their writes are in `fields`.
    checkpoints: BTreeMap<u64, (u64, CheckpointInfo)>,
    /// Changes of each field of each frame, ascending by `seq`.
    fields: BTreeMap<String, BTreeMap<String, Vec<(u64, Change)>>>,
    /// Each `seq` of the root, ascending.
    roots: Vec<u64>,
    /// Each `seq` of each other frame, ascending, by step of the root.
    nested: BTreeMap<u64, BTreeMap<String, Vec<u64>>>,
    /// By step of the root, in the order appended.
    effects: BTreeMap<u64, Vec<ListedEffect>>,
    /// How many have ever been appended.
    appended: u64,
    /// Every effect.
    known: BTreeSet<EffectKey>,
    /// Effects by kind and subject.
    counts: BTreeMap<(String, String), u64>,
}

impl Log {
    /// A thread's first append.
    pub(super) fn begin(records: &[Record], used: u64) -> Result<Log, Broken> {
        let mut log = Self::empty(records, used)?;
        log.append(records, used)?;
        Ok(log)
    }

    /// A thread before its first append.
    pub(super) fn empty(records: &[Record], used: u64) -> Result<Log, Broken> {
        let status = records.iter().rev().find_map(|record| match record {
            Record::Status(status) => Some(status),
            _ => None,
        });
        let created_at = records.iter().find_map(|record| match record {
            Record::Checkpoint(checkpoint) => Some(&checkpoint.at),
            Record::Status(status) => Some(&status.at),
            Record::Effect(_) | Record::Forget(_) => None,
        });
        let (Some(status), Some(created_at)) = (status, created_at) else {
            return Err(Broken::NoStatus);
        };
        Ok(Log {
            used,
            status: status.clone(),
            created_at: created_at.clone(),
            checkpoints: BTreeMap::new(),
            fields: BTreeMap::new(),
            roots: Vec::new(),
            nested: BTreeMap::new(),
            effects: BTreeMap::new(),
            appended: 0,
            known: BTreeSet::new(),
            counts: BTreeMap::new(),
        })
    }

    /// Adds records; a broken rule leaves the thread as it was.
    pub(super) fn append(&mut self, records: &[Record], used: u64) -> Result<(), Broken> {
        self.check(records)?;
        for record in records {
            match record {
                Record::Checkpoint(checkpoint) => self.add_checkpoint(checkpoint),
                Record::Effect(effect) => self.add_effect(effect),
                Record::Status(status) => {
                    self.status = status.clone();
                    self.used = used;
                }
                Record::Forget(key) => self.forget(key),
            }
        }
        Ok(())
    }

    fn check(&self, records: &[Record]) -> Result<(), Broken> {
        let mut last = self.last_seq();
        let mut new_effects = BTreeSet::new();
        let mut forgotten = BTreeSet::new();
        let mut new_shapes: BTreeMap<(&str, &str), Shape> = BTreeMap::new();
        for record in records {
            match record {
                Record::Checkpoint(checkpoint) => {
                    let seq = checkpoint.seq;
                    if let Some(last) = last.filter(|last| seq <= *last) {
                        return Err(Broken::Seq { seq, last });
                    }
                    check_numbers(&[seq, checkpoint.step, checkpoint.root_step])?;
                    last = Some(seq);
                    for write in &checkpoint.writes {
                        let key = (checkpoint.frame.as_str(), write.field.as_str());
                        let shape = new_shapes.get(&key).copied();
                        let shape = shape.unwrap_or_else(|| self.shape(key.0, key.1));
                        let after = shape.after(&write.change).ok_or_else(|| Broken::Change {
                            field: write.field.clone(),
                        })?;
                        new_shapes.insert(key, after);
                    }
                }
                Record::Effect(effect) => {
                    check_numbers(&[effect.root_step])?;
                    let key = effect.key();
                    let known = self.known.contains(&key) && !forgotten.contains(&key);
                    if known || !new_effects.insert(key) {
                        return Err(Broken::Effect {
                            task: effect.task.clone(),
                            id: effect.id.clone(),
                        });
                    }
                }
                Record::Status(_) => {}
                Record::Forget(key) => {
                    new_effects.remove(key);
                    forgotten.insert(key);
                }
            }
        }
        Ok(())
    }

    /// What a field holds now.
    fn shape(&self, frame: &str, field: &str) -> Shape {
        let changes = self.fields.get(frame).and_then(|fields| fields.get(field));
        // An addition that was let in made a list or a map, whatever was before.
        let last = changes.and_then(|changes| changes.last());
        last.and_then(|(_, change)| Shape::Nothing.after(change))
            .unwrap_or(Shape::Nothing)
    }

    fn add_checkpoint(&mut self, checkpoint: &Checkpoint) {
        let Checkpoint {
            seq,
            frame,
            root_step,
            writes,
            ..
        } = checkpoint;
        match frame.as_str() {
            "" => self.roots.push(*seq),
            _ => {
                let frames = self.nested.entry(*root_step).or_default();
                frames.entry(frame.clone()).or_default().push(*seq);
            }
        }
        if !writes.is_empty() {
            let fields = self.fields.entry(frame.clone()).or_default();
            for write in writes {
                let changes = fields.entry(write.field.clone()).or_default();
                changes.push((*seq, write.change.clone()));
            }
        }
        let info = CheckpointInfo {
            seq: *seq,
            frame: frame.clone(),
            step: checkpoint.step,
            run_id: checkpoint.run_id.clone(),
            source: checkpoint.source,
            fields: writes.iter().map(|write| write.field.clone()).collect(),
            schedule: checkpoint.schedule.clone(),
            at: checkpoint.at.clone(),
        };
        self.checkpoints.insert(*seq, (*root_step, info));
    }

    fn add_effect(&mut self, effect: &EffectRecord) {
        self.known.insert(effect.key());
        let key = (effect.kind.clone(), effect.subject.clone());
        *self.counts.entry(key).or_default() += 1;
        self.appended += 1;
        let listed = ListedEffect {
            position: self.appended,
            behind: Some(self.last_seq().unwrap_or_default()),
            effect: effect.clone(),
        };
        let effects = self.effects.entry(effect.root_step).or_default();
        effects.push(listed);
    }

    fn forget(&mut self, key: &EffectKey) {
        if self.known.remove(key)
            && let Some(effects) = self.effects.get_mut(&key.root_step)
        {
            effects.retain(|listed| listed.effect.key() != *key);
        }
    }

    fn last_seq(&self) -> Option<u64> {
        self.checkpoints.keys().next_back().copied()
    }

    pub(super) fn info(&self, thread_id: &str) -> ThreadInfo {
        ThreadInfo {
            thread_id: thread_id.to_string(),
            status: self.status.clone(),
            checkpoint: self.last_seq().unwrap_or_default(),
            created_at: self.created_at.clone(),
        }
    }

    pub(super) fn history(&self, before: Option<u64>, limit: usize) -> Vec<CheckpointInfo> {
        let older = self.checkpoints.range(..before.unwrap_or(u64::MAX));
        let newest_first = older.rev().map(|(_, (_, info))| info.clone());
        newest_first.take(limit).collect()
    }

    /// Fields of a frame after checkpoint `seq`.
    pub(super) fn fields(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, FieldImage>, StoreError> {
        let mut images = BTreeMap::new();
        for (field, changes) in self.fields.get(frame).into_iter().flatten() {
            let mut fold = Fold::default();
            let until = changes.partition_point(|(at, _)| *at <= seq);
            for (_, change) in changes.iter().take(until).rev() {
                if fold.older(change.clone()) {
                    break;
                }
            }
            let image = fold.finish().map_err(|reason| StoreError::Corrupt {
                message: format!("thread `{thread_id}`, field `{field}`: {reason}"),
            })?;
            images.extend(image.map(|image| (field.clone(), image)));
        }
        Ok(images)
    }

    /// What a resume needs.
    pub(super) fn image(&self, thread_id: &str) -> Result<ThreadImage, StoreError> {
        self.image_up_to(thread_id, self.last_seq().unwrap_or_default(), Effects::All)
    }

    fn image_up_to(
        &self,
        thread_id: &str,
        until: u64,
        wanted: Effects,
    ) -> Result<ThreadImage, StoreError> {
        let latest = |seqs: &[u64]| {
            let count = seqs.partition_point(|seq| *seq <= until);
            seqs.get(..count)?.last().copied()
        };
        let root = latest(&self.roots).and_then(|seq| self.checkpoints.get(&seq));
        let root_step = root.map_or(0, |(_, root)| root.step);
        let nested = self.nested.get(&root_step).into_iter().flatten();
        let mut seqs: Vec<u64> = nested.filter_map(|(_, seqs)| latest(seqs)).collect();
        seqs.sort_unstable();
        let nested = seqs.iter().filter_map(|seq| self.checkpoints.get(seq));
        let frames = root.into_iter().chain(nested).map(|(_, checkpoint)| {
            Ok(FrameImage {
                frame: checkpoint.frame.clone(),
                seq: checkpoint.seq,
                step: checkpoint.step,
                run_id: checkpoint.run_id.clone(),
                schedule: checkpoint.schedule.clone(),
                fields: self.fields(thread_id, &checkpoint.frame, checkpoint.seq)?,
            })
        });
        let frames = frames.collect::<Result<_, StoreError>>()?;
        let (effects, counts) = self.effects_at(root_step, until, wanted);
        Ok(ThreadImage {
            status: self.status.clone(),
            last_seq: until,
            frames,
            effects,
            counts,
        })
    }
}

fn check_numbers(numbers: &[u64]) -> Result<(), Broken> {
    match numbers.iter().find(|number| **number > MAX_NUMBER) {
        Some(number) => Err(Broken::Number(*number)),
        None => Ok(()),
    }
}
