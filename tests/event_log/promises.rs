//! The order that docs/runtime/streams.md promises, held against the events of one process.

use std::collections::{BTreeMap, BTreeSet};

use graphc::run::event::{Event, EventKind};

/// The promises that these events break, in words.
pub fn broken(events: &[Event]) -> Vec<String> {
    let mut broken = Vec::new();
    numbers(events, &mut broken);
    checkpoints(events, &mut broken);
    steps(events, &mut broken);
    tasks(events, &mut broken);
    broken
}

/// `seq` counts from 1 without gaps, and nothing is left out.
fn numbers(events: &[Event], broken: &mut Vec<String>) {
    for (index, event) in events.iter().enumerate() {
        if event.seq != index as u64 + 1 {
            broken.push(format!("event {} has the seq {}", index + 1, event.seq));
        }
        let dropped = matches!(event.kind, EventKind::Dropped { .. });
        if dropped || event.skipped > 0 {
            broken.push(format!("something is left out at {}: {event:?}", event.seq));
        }
        let during = matches!(
            event.kind,
            EventKind::Custom {
                during: Some(_),
                ..
            }
        );
        let nameless = event.kind.token().is_some() || during || dropped;
        if event.id.is_empty() != nameless {
            broken.push(format!("an event with the wrong id: {event:?}"));
        }
    }
}

/// Numbers of checkpoints grow.
fn checkpoints(events: &[Event], broken: &mut Vec<String>) {
    let mut last = 0;
    for event in events {
        if let EventKind::Checkpoint { checkpoint_id, .. } = event.kind {
            if checkpoint_id <= last {
                broken.push(format!("checkpoint {checkpoint_id} comes behind {last}"));
            }
            last = checkpoint_id;
        }
    }
}

/// Where in a frame something stands: its step, and in that the entry, the checkpoint, the state, tasks.
type Stands = (u64, u8);

/// The frames that an event is in, outermost first, and where it stands in each.
fn stands(event: &Event) -> Vec<(&str, Stands)> {
    let task = event.task();
    let mut all = Vec::new();
    let mut begin = 0;
    for part in task.split('/') {
        let frame = &task[..begin];
        begin += part.len() + 1;
        let at = match part.split_once(':') {
            Some((step, "start!")) => (step, 0),
            Some((step, "join!")) => (step, 4),
            Some((step, _)) => (step, 3),
            None => match event.kind {
                EventKind::Checkpoint { .. } => (part, 1),
                _ => (part, 2),
            },
        };
        all.push((frame, (at.0.parse().unwrap(), at.1)));
    }
    all
}

/// Of a frame: all of a super-step's tasks with what they call, its checkpoint, its state, then the next super-step's.
fn steps(events: &[Event], broken: &mut Vec<String>) {
    let mut reached: BTreeMap<&str, Stands> = BTreeMap::new();
    for event in events {
        for (frame, stands) in stands(event) {
            let reached = reached.entry(frame).or_insert(stands);
            if stands < *reached {
                broken.push(format!("behind {reached:?} of frame `{frame}`: {event:?}"));
            }
            *reached = stands.max(*reached);
        }
    }
}

/// A task begins, does all else and ends, and all that it calls stands in between. Where something is cut off with it, by a
/// time that has passed, what it called need not have ended.
fn tasks(events: &[Event], broken: &mut Vec<String>) {
    let mut begun = BTreeSet::new();
    let mut ended = BTreeSet::new();
    for event in events {
        let task = event.task();
        let starts = matches!(event.kind, EventKind::TaskStarted { .. });
        for (end, _) in task.match_indices('/').chain([(task.len(), "")]) {
            let of = &task[..end];
            let own = end == task.len();
            let is_task = of
                .rsplit('/')
                .next()
                .is_some_and(|last| last.contains(':') && !last.ends_with('!'));
            if !is_task {
                continue;
            }
            if ended.contains(of) {
                broken.push(format!("behind the end of `{of}`: {event:?}"));
            }
            if own && starts {
                if !begun.insert(of) {
                    broken.push(format!("`{of}` begins twice"));
                }
            } else if !begun.contains(of) {
                broken.push(format!("ahead of the beginning of `{of}`: {event:?}"));
            }
        }
        let ends = matches!(
            event.kind,
            EventKind::TaskFinished { .. } | EventKind::TaskInterrupted { .. }
        );
        if ends {
            ended.insert(task);
        }
    }
    for task in begun {
        let above = task.match_indices('/').map(|(end, _)| &task[..end]);
        if !ended.contains(task) && !above.clone().any(|above| ended.contains(above)) {
            broken.push(format!("`{task}` does not end"));
        }
    }
}
