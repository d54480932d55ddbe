//! What a reader has seen in an earlier process is left out where a resume tells it again (`--after`).
//!
//! A task tells its events in one order whenever it runs. So those of a task up to the one that was seen last are known;
//! they are held back until that one comes, and told after all where it does not. Of an event that never comes again nothing is
//! held back.

use std::collections::BTreeMap;

use crate::run::event::{Event, EventKind, Mode};

/// Events of a task that are held back, at most: a task that says so much more before what was seen is another one.
const HELD: usize = 10_000;

/// The last event that was seen of each task.
#[derive(Debug, Default)]
pub struct Again {
    tasks: BTreeMap<String, Task>,
}

#[derive(Debug, Default)]
struct Task {
    /// Events that were seen last.
    seen: Vec<Seen>,
    held: Vec<Event>,
}

/// An event that was seen: `1:work#emit:at@0`, or `updates:1:work` where events of several types have the id.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    mode: Option<Mode>,
    id: String,
}

impl Seen {
    fn parse(text: &str) -> Self {
        let typed = text.split_once(':');
        let typed = typed.and_then(|(word, id)| Some((Mode::from_word(word)?, id)));
        let (mode, id) = typed.map_or((None, text), |(mode, id)| (Some(mode), id));
        Self {
            mode,
            id: id.to_owned(),
        }
    }

    fn is(&self, event: &Event) -> bool {
        self.id == event.id && (self.mode.is_none() || self.mode == event.kind.mode())
    }
}

impl Again {
    /// With the events that were seen last.
    pub fn after(seen: Vec<String>) -> Self {
        let mut tasks: BTreeMap<String, Task> = BTreeMap::new();
        for seen in seen.iter().map(|text| Seen::parse(text)) {
            if Event::comes_again(&seen.id) {
                let task = Event::task_of(&seen.id).to_owned();
                tasks.entry(task).or_default().seen.push(seen);
            }
        }
        Self { tasks }
    }

    /// What is to be told now that an event has come.
    pub fn tell(&mut self, event: Event) -> Vec<Event> {
        let Some(task) = self.tasks.get_mut(event.task()) else {
            return vec![event];
        };
        let name = event.task().to_owned();
        let ends = matches!(
            event.kind,
            EventKind::TaskFinished { .. } | EventKind::TaskInterrupted { .. }
        );
        task.seen.retain(|seen| !seen.is(&event));
        let known = task.seen.is_empty();
        task.held.push(event);
        if !known && !ends && task.held.len() < HELD {
            return Vec::new();
        }
        let held = self.tasks.remove(&name).map(|task| task.held);
        held.filter(|_| !known).unwrap_or_default()
    }

    /// What is left once nothing more comes.
    pub fn rest(&mut self) -> Vec<Event> {
        let tasks = std::mem::take(&mut self.tasks);
        tasks.into_values().flat_map(|task| task.held).collect()
    }
}
