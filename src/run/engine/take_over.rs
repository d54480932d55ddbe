//! A thread of another version of the flow becomes one of this version, or is refused.
//!
//! The frames under way take their new names where that is asked for ([`migrate`]), and whatever they hold
//! has to fit ([`fit`]). What has changed by that is kept as checkpoints and effects before the run goes on, so
//! that the thread is of this version from then on.

use std::collections::BTreeMap;

use crate::ir::GraphId;
use crate::run::former::FormerNames;
use crate::run::persisted::{apart, lies_on_others, path, plain};
use crate::run::schedule;
use crate::run::store::{
    Change, Checkpoint, EffectRecord, FieldWrite, FrameImage, Record, Source, StoreError,
    ThreadImage,
};

use super::fit::Held;
use super::live::{live, under_way};
use super::names::Names;
use super::{Engine, StartError, fit, migrate, one_name};

/// A thread as this version of the flow has it.
pub(super) struct TakenOver {
    /// The image, changed.
    pub image: ThreadImage,
    /// What has changed in its frames; `seq` is left to whoever keeps them.
    pub checkpoints: Vec<Checkpoint>,
    /// Effects that belong to tasks of another name now.
    pub effects: Vec<EffectRecord>,
}

impl TakenOver {
    /// A thread of this very version.
    fn as_it_is(image: &ThreadImage) -> Result<Self, StoreError> {
        Ok(Self {
            image: ThreadImage {
                frames: under_way(&image.frames)?,
                ..image.clone()
            },
            checkpoints: Vec::new(),
            effects: Vec::new(),
        })
    }

    /// The names that nodes had when its run began.
    pub fn former(&self) -> FormerNames {
        let root = self.image.frames.first();
        root.map_or_else(FormerNames::default, |root| {
            FormerNames::of_checkpoint(&root.schedule)
        })
    }

    /// The records to keep, the checkpoints numbered.
    pub fn records(&self, mut seq: impl FnMut() -> u64) -> Vec<Record> {
        let checkpoints = self.checkpoints.iter().cloned().map(|mut checkpoint| {
            checkpoint.seq = seq();
            Record::Checkpoint(checkpoint)
        });
        let effects = self.effects.iter().cloned().map(Record::Effect);
        checkpoints.chain(effects).collect()
    }
}

impl Engine {
    /// The thread as this version of the flow has it, its names changed where `migrates` says so. Of a run that begins
    /// anew, which has `held` as [`Held::State`], only what the run's own graph has counts.
    ///
    /// # Errors
    /// [`StartError::Version`], where something of it does not fit.
    pub(super) fn take_over(
        &self,
        graph: GraphId,
        image: &ThreadImage,
        migrates: bool,
        held: Held,
    ) -> Result<TakenOver, StartError> {
        let mut taken = TakenOver::as_it_is(image)?;
        if held == Held::State {
            taken.image.frames.retain(|frame| frame.frame.is_empty());
        }
        if image.status.version == self.plan.version {
            return Ok(taken);
        }
        let names = |renames| Names {
            engine: self,
            root: graph,
            renames,
        };
        let together = taken.image.frames.clone();
        taken.image.frames = together.iter().map(plain).collect();
        let stands = one_name::stands(&names(migrates), &taken.image.frames);
        if migrates {
            let names = names(true);
            one_name::check(&names, &taken.image, held)?;
            for frame in &mut taken.image.frames {
                *frame = migrate::frame(&names, frame);
            }
            taken.effects = migrate::effects(&names, image);
            taken.image.effects.extend(taken.effects.iter().cloned());
            for open in &mut taken.image.status.interrupts {
                migrate::interrupt(&names, open);
            }
            if let Some(fork) = &mut taken.image.status.forked_from {
                let stood = std::mem::take(&mut fork.stood).into_iter();
                fork.stood = stood.map(|(key, step)| (names.key(&key), step)).collect();
            }
            for stop in &mut taken.image.status.interrupt_before {
                *stop = self.renamed_stop(&names, stop);
            }
        }
        let names = names(false);
        for frame in &mut taken.image.frames {
            fit::frame(&names, frame, held, migrates)?;
        }
        if held == Held::Frame {
            fit::effects(&names, &taken.image.effects)?;
            let former = taken.former().under(&self.plan.flow, &stands);
            if let Some(root) = taken.image.frames.first_mut() {
                former.note(&mut root.schedule);
            }
        }
        self.note(&mut taken, &live(&image.frames), &together);
        Ok(taken)
    }

    /// Notes what a changed thread has to keep of its frames. What has changed lies on nothing any more, and neither does what
    /// lay on it.
    fn note(&self, taken: &mut TakenOver, kept: &[FrameImage], together: &[FrameImage]) {
        let frames = taken.image.frames.iter();
        let changed: Vec<bool> = frames
            .zip(together)
            .map(|(new, old)| changes(&plain(old), new))
            .collect();
        let any = changed.contains(&true);
        let by_key = kept.iter().map(|frame| (frame.frame.as_str(), frame));
        let by_key: BTreeMap<&str, &FrameImage> = by_key.collect();
        let root_step = kept.first().map_or(0, |root| root.step);
        let at = self.ambient.kept_at().to_string();
        let frames = taken.image.frames.iter_mut();
        for ((new, old), changed) in frames.zip(together).zip(changed) {
            let apart_too = any && lies_on_others(old);
            if !changed && !apart_too {
                *new = old.clone();
                continue;
            }
            let stored = apart(new);
            let before = by_key.get(old.frame.as_str()).copied();
            let writes = writes(before.unwrap_or(old), &stored);
            let mut schedule = stored.schedule.clone();
            schedule::note_version(&mut schedule, &self.plan.version);
            taken.checkpoints.push(Checkpoint {
                seq: 0,
                frame: stored.frame.clone(),
                step: stored.step,
                root_step,
                run_id: stored.run_id.clone(),
                source: Source::Step,
                writes,
                schedule,
                at: at.clone(),
            });
            let states = new.fields.iter();
            let states = states.filter(|(name, _)| path(name).is_some());
            let states: Vec<_> = states.map(|(n, f)| (n.clone(), f.clone())).collect();
            *new = stored;
            new.fields.extend(states);
        }
    }
}

/// Whether a frame has become another.
fn changes(old: &FrameImage, new: &FrameImage) -> bool {
    old.frame != new.frame || old.schedule != new.schedule || !writes(old, new).is_empty()
}

/// What makes the fields of one frame those of the other.
fn writes(old: &FrameImage, new: &FrameImage) -> Vec<FieldWrite> {
    let same_frame = old.frame == new.frame;
    let gone = old
        .fields
        .keys()
        .filter(|name| !new.fields.contains_key(*name));
    let cleared = gone.filter(|_| same_frame).map(|name| FieldWrite {
        field: name.clone(),
        change: Change::Clear,
    });
    // `1` and `1.0` are equal, and not the same.
    let changed = new.fields.iter().filter(|(name, field)| {
        let before = old.fields.get(*name).filter(|_| same_frame);
        before.is_none_or(|before| {
            before.value != field.value || before.value.to_stored() != field.value.to_stored()
        })
    });
    let put = changed.map(|(name, field)| FieldWrite {
        field: name.clone(),
        change: Change::Put(field.value.clone()),
    });
    cleared.chain(put).collect()
}
