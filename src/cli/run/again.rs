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

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use crate::run::event::Speaker;

    use super::*;

    fn event(id: &str, kind: EventKind) -> Event {
        Event {
            seq: 0,
            id: id.to_owned(),
            ns: String::new(),
            step: 0,
            node: None,
            skipped: 0,
            thread_id: "t".into(),
            run_id: "r".into(),
            kind,
        }
    }

    fn started(id: &str) -> Event {
        event(id, EventKind::TaskStarted { send: None })
    }

    fn emitted(id: &str) -> Event {
        let (name, payload) = ("at".to_owned(), Json::Null);
        event(
            id,
            EventKind::Custom {
                name,
                payload,
                during: None,
            },
        )
    }

    fn ended(id: &str) -> Event {
        let (send, error) = (None, None);
        event(id, EventKind::TaskFinished { send, error })
    }

    fn told(after: &[&str], events: Vec<Event>) -> Vec<String> {
        let mut again = Again::after(after.iter().map(|id| id.to_string()).collect());
        let mut told: Vec<Event> = Vec::new();
        for event in events {
            told.extend(again.tell(event));
        }
        told.extend(again.rest());
        told.into_iter().map(|event| event.id).collect()
    }

    #[test]
    fn what_a_task_has_told_is_left_out() {
        let events = || {
            vec![
                started("1:a"),
                started("1:b"),
                emitted("1:a#emit:at@0"),
                emitted("1:b#emit:at@0"),
                emitted("1:a#emit:at@1"),
                ended("1:a#end"),
            ]
        };
        assert_eq!(
            told(&["1:a#emit:at@0"], events()),
            ["1:b", "1:b#emit:at@0", "1:a#emit:at@1", "1:a#end"]
        );
        assert_eq!(
            told(&["1:a#emit:at@0", "1:a#emit:at@1", "1:b"], events()),
            ["1:b#emit:at@0", "1:a#end"]
        );
        // What several events are called, and what a message is.
        let spoken = || {
            let (task, send) = ("1:a".to_owned(), None);
            let by = Speaker { task, send };
            let message = |id: &str| {
                let (message, by) = (Json::Null, by.clone());
                event(id, EventKind::Message { message, by })
            };
            vec![
                started("1:a"),
                message("1:a/0"),
                message("1:a/1"),
                event("1:a", EventKind::Updates(Json::Null)),
                ended("1:a#end"),
            ]
        };
        assert_eq!(told(&["1:a/0"], spoken()), ["1:a/1", "1:a", "1:a#end"]);
        assert_eq!(told(&["updates:1:a"], spoken()), ["1:a#end"]);
        assert_eq!(told(&["tasks:1:a"], spoken()).len(), 4);
        // What never comes again holds nothing back.
        let mut again = Again::after(vec!["1:a#wait-00ff".into(), "1:a#tool:f@0!1".into()]);
        assert_eq!(again.tell(started("1:a")).len(), 1);
        // What does not come again was of something else.
        assert_eq!(told(&["1:a#emit:other@0", "0:z"], events()).len(), 6);
        assert_eq!(told(&["1:b#end"], events()).len(), 6);
    }
}
