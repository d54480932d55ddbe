//! Which frames of a thread are still under way.
//!
//! A store gives all frames of the root's step. Those of calls that have ended since are among them, and frames by names
//! that `migrate` has changed: they hold what was, and nothing may be taken from them.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;

use crate::run::persisted::resolve;
use crate::run::store::{FrameImage, StoreError};

/// The frames under way, callers first, put together from what each has on top of those around it.
///
/// # Errors
/// [`StoreError::Corrupt`]
pub fn under_way(frames: &[FrameImage]) -> Result<Vec<FrameImage>, StoreError> {
    resolve(live(frames))
}

/// The frames under way as they are kept, callers first.
pub fn live(frames: &[FrameImage]) -> Vec<FrameImage> {
    let mut by_depth: Vec<&FrameImage> = frames.iter().collect();
    by_depth.sort_by_key(|frame| frame.frame.matches('/').count());
    let mut live: BTreeMap<&str, &FrameImage> = BTreeMap::new();
    // Made once for each caller: a fan-out has as many calls as tasks.
    let mut tasks: HashMap<&str, HashSet<String>> = HashMap::new();
    let mut found = Vec::new();
    for frame in by_depth {
        let key = frame.frame.as_str();
        let (caller, task) = match key.trim_end_matches('/').rsplit_once('/') {
            Some((caller, task)) => (key.get(..=caller.len()).unwrap_or_default(), task),
            None => ("", key.trim_end_matches('/')),
        };
        let mut waits = |image: &&FrameImage| {
            let next = tasks.entry(caller).or_insert_with(|| next(image));
            next.contains(task)
        };
        if key.is_empty() || live.get(caller).is_some_and(&mut waits) {
            live.insert(key, frame);
            found.push(frame.clone());
        }
    }
    found
}

/// The tasks that a frame runs next, each as a call's key has it, such as `3:worker[1]`.
fn next(frame: &FrameImage) -> HashSet<String> {
    let tasks = frame.schedule.get("tasks").and_then(Json::as_array);
    let tasks = tasks.into_iter().flatten().map(|task| {
        let node = task.get("node").and_then(Json::as_str).unwrap_or_default();
        match task.get("send").and_then(Json::as_u64) {
            Some(send) => format!("{}:{node}[{send}]", frame.step),
            None => format!("{}:{node}", frame.step),
        }
    });
    tasks.collect()
}
