//! What an edit takes out of force: results in the journal, open interrupts.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::run::interrupt::OpenInterrupt;
use crate::run::permission::PERMISSION;
use crate::run::store::{FrameImage, ListedEffect, Record, Store, StoreError, ThreadImage};
use crate::run::work::in_doubt;

use super::super::open_interrupts;
use super::Target;

/// Effects that are read at a time.
const PAGE: usize = 1000;

/// The step of a frame that a task in it, or under it, belongs to.
fn step_in(frame: &str, task: &str) -> Option<u64> {
    let (step, _) = task.strip_prefix(frame)?.split_once(':')?;
    step.parse().ok()
}

/// The latest step of a called graph that the thread has anything of.
pub(super) fn latest_step(frame: &str, step: u64, image: &ThreadImage) -> u64 {
    let tasks = image.effects.iter();
    let steps = tasks.filter_map(|effect| step_in(frame, &effect.task));
    steps.max().unwrap_or_default().max(step)
}

/// Effects that no edit of a called graph leaves in force: of a fork that has kept what came later, those that came
/// behind the edited call. What ran beside it stays.
///
/// The graph's own, like those of the run's, have other steps than what runs now.
pub(super) async fn forgotten(
    store: &Arc<dyn Store>,
    target: &Target<'_>,
    image: &ThreadImage,
    edited: &FrameImage,
) -> Result<Vec<Record>, StoreError> {
    if edited.frame.is_empty() || image.status.forked_from.is_none() {
        return Ok(Vec::new());
    }
    let root_step = image.frames.first().map_or(0, |root| root.step);
    let around: Vec<&FrameImage> = image
        .frames
        .iter()
        .filter(|frame| {
            !frame.frame.is_empty()
                && frame.frame != edited.frame
                && edited.frame.starts_with(&frame.frame)
        })
        .collect();
    let calls: Vec<&str> = edited
        .frame
        .match_indices('/')
        .filter_map(|(at, _)| edited.frame.get(..at))
        .collect();
    let later = |listed: &ListedEffect| {
        let effect = &listed.effect;
        if effect.kind == PERMISSION {
            return false;
        }
        let behind = || listed.behind.is_none_or(|behind| behind >= edited.seq);
        effect.root_step > root_step
            || (effect.root_step == root_step
                && (around.iter().any(|frame| {
                    step_in(&frame.frame, &effect.task).is_some_and(|step| step > frame.step)
                }) || (calls.contains(&effect.task.as_str()) && behind())))
    };
    let mut forgotten = Vec::new();
    let mut after = None;
    loop {
        let page = store.effects(target.history, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(forgotten);
        };
        after = Some(last.position);
        forgotten.extend(
            page.into_iter()
                .filter(|listed| later(listed))
                .map(|listed| Record::Forget(listed.effect.key())),
        );
    }
}

/// Tools of which a call had begun in what an edit of that frame takes the place of, and nobody knows whether it happened.
pub(super) fn in_doubt(image: &ThreadImage, edited: &FrameImage) -> Vec<String> {
    let root_step = image.frames.first().map_or(0, |root| root.step);
    let gone = image.effects.iter().filter(|effect| {
        effect.root_step == root_step
            && step_in(&edited.frame, &effect.task).is_some_and(|step| step == edited.step)
    });
    in_doubt::open_calls(gone)
}

/// The open interrupts: those that an edit of that frame drops, and the others as the thread keeps them.
///
/// # Errors
/// Where they can't be read.
pub(super) fn interrupts(
    image: &ThreadImage,
    frame: &str,
) -> Result<(Vec<OpenInterrupt>, Vec<Json>), StoreError> {
    let open = open_interrupts(&image.status)?.into_iter();
    let (dropped, stay): (Vec<_>, Vec<_>) = open.partition(|open| open.task.starts_with(frame));
    let stay = stay
        .iter()
        .filter_map(|open| serde_json::to_value(open).ok());
    Ok((dropped, stay.collect()))
}
