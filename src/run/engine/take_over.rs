//! A thread of another version of the flow becomes one of this version, or is refused.
//!
//! The frames under way take their new names where that is asked for ([`migrate`]), and whatever they hold
//! has to fit ([`fit`]). What has changed by that is kept as checkpoints and effects before the run goes on, so
//! that the thread is of this version from then on.

use crate::ir::GraphId;
use crate::run::schedule;
use crate::run::store::{
    Change, Checkpoint, EffectRecord, FieldWrite, FrameImage, Record, Source, ThreadImage,
};

use super::fit::Held;
use super::live::live;
use super::names::Names;
use super::{Engine, StartError, fit, migrate};

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
    fn as_it_is(image: &ThreadImage) -> Self {
        Self {
            image: ThreadImage {
                frames: live(&image.frames),
                ..image.clone()
            },
            checkpoints: Vec::new(),
            effects: Vec::new(),
        }
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
        let mut taken = TakenOver::as_it_is(image);
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
        let old = taken.image.frames.clone();
        if migrates {
            let names = names(true);
            for frame in &mut taken.image.frames {
                *frame = migrate::frame(&names, frame);
            }
            taken.effects = migrate::effects(&names, image);
            taken.image.effects.extend(taken.effects.iter().cloned());
            for open in &mut taken.image.status.interrupts {
                migrate::interrupt(&names, open);
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
        }
        let root_step = old.first().map_or(0, |root| root.step);
        let at = self.ambient.kept_at().to_string();
        for (old, new) in old.iter().zip(&taken.image.frames) {
            let writes = writes(old, new);
            if !writes.is_empty() || old.frame != new.frame || old.schedule != new.schedule {
                let mut schedule = new.schedule.clone();
                schedule::note_version(&mut schedule, &self.plan.version);
                taken.checkpoints.push(Checkpoint {
                    seq: 0,
                    frame: new.frame.clone(),
                    step: new.step,
                    root_step,
                    run_id: new.run_id.clone(),
                    source: Source::Step,
                    writes,
                    schedule,
                    at: at.clone(),
                });
            }
        }
        Ok(taken)
    }
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
