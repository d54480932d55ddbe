//! What a person sees of a run that is talked to: the reply's words as they come, tools that are called, events of the flow.
//!
//! One node speaks at a time; what another one says meanwhile comes whole, behind it.

use std::collections::BTreeSet;
use std::io::{Write, stderr, stdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value as Json;

use crate::base::duration;
use crate::diag::render::snippet::visible;
use crate::run::engine::RunResult;
use crate::run::event::{DuringCall, Event, EventKind, Mode, Speaker};

use super::super::Context;
use super::super::run::signs::{Signs, brief, fault, passed_over, path};
use super::super::run::watch::Shows;
use super::super::screen::Words;
use super::field::text;
use super::part::Parts;

/// Texts that the person has seen, in their order.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn add(&self, text: String) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(text);
    }

    /// The texts that weren't seen. What was seen counts once.
    pub fn unseen(&self, texts: Vec<String>) -> Vec<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |text: &String| match seen.iter().position(|one| one == text) {
            Some(at) => {
                seen.remove(at);
                false
            }
            None => true,
        };
        texts.into_iter().filter(is_new).collect()
    }
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The reply alone.
    Little,
    /// Tools and events in a line.
    Usual,
    /// These in full, and what happens else.
    All,
}

/// Shows a run.
pub struct ChatDisplay {
    parts: Parts,
    seen: Seen,
    detail: Detail,
    signs: &'static Signs,
    color: bool,
    /// Whether words are shown as they come: where a person looks at stdout.
    live: bool,
    /// Whose words are being shown: the task, the reply and the attempt at it.
    speaker: Option<(Speaker, String, u32)>,
    /// Whether the last line of them has no end yet.
    open_line: bool,
    /// What others have said meanwhile.
    behind: Vec<String>,
    /// The run, and what of it has been shown: behind an answer a task tells again what it did.
    run: Arc<str>,
    shown: BTreeSet<(Option<Mode>, String)>,
    words: Box<dyn Write + Send>,
    notes: Box<dyn Write + Send>,
}

impl ChatDisplay {
    /// A conversation in which nothing was said yet.
    pub fn new(parts: Parts, seen: Seen, context: &Context) -> Self {
        let style = context.terminal.style;
        Self {
            parts,
            seen,
            detail: match (context.quiet, context.verbose) {
                (true, _) => Detail::Little,
                (_, true) => Detail::All,
                _ => Detail::Usual,
            },
            signs: Signs::of(style),
            color: style.color,
            live: context.terminal.stdout,
            speaker: None,
            open_line: false,
            behind: Vec::new(),
            run: Arc::from(""),
            shown: BTreeSet::new(),
            words: Box::new(Words(stdout())),
            notes: Box::new(stderr()),
        }
    }

    /// Whether an event was not shown yet.
    fn is_new(&mut self, event: &Event) -> bool {
        if self.run != event.run_id {
            self.run = Arc::clone(&event.run_id);
            self.shown.clear();
        }
        event.id.is_empty() || self.shown.insert((event.kind.mode(), event.id.clone()))
    }

    /// Words of a reply that come one by one.
    fn word(&mut self, text: &str, of: (Speaker, String, u32)) {
        match &self.speaker {
            Some(speaking) if *speaking == of => {}
            // Its whole message comes.
            Some((by, ..)) if *by != of.0 => return,
            // What went wrong before stays there, and is said anew.
            _ => {
                self.end_line();
                self.speaker = Some(of);
            }
        }
        self.say(&visible(text));
        self.open_line = true;
    }

    /// A whole message of a node. `speaks`: it is for the person.
    fn message(&mut self, message: &Json, by: &Speaker, speaks: bool) {
        let said = text(message);
        let role = message.get("role").and_then(Json::as_str);
        if speaks && role == Some("assistant") {
            match &self.speaker {
                Some((speaker, ..)) if speaker == by => {
                    self.end_words();
                    self.seen.add(said);
                }
                _ if !self.live || said.trim().is_empty() => {}
                Some(_) => self.behind.push(said),
                None => self.whole(said),
            }
        }
        let calls = message.get("tool_calls").and_then(Json::as_array);
        for call in calls.into_iter().flatten() {
            let name = call.get("name").and_then(Json::as_str).unwrap_or_default();
            let args = call
                .get("args")
                .map_or(String::new(), |args| self.value(args));
            self.called(&format!("{} {args}", visible(name)));
        }
        if role == Some("tool") && self.detail == Detail::All {
            let name = message
                .get("name")
                .and_then(Json::as_str)
                .unwrap_or_default();
            let content = message
                .get("content")
                .map_or(String::new(), |content| self.value(content));
            self.note(&format!(
                "{} {} {content}",
                self.signs.result,
                visible(name)
            ));
        }
    }

    fn called(&mut self, call: &str) {
        if self.detail != Detail::Little {
            self.note(&format!("{} {}", self.signs.call, call.trim_end()));
        }
    }

    /// A text that comes at once.
    fn whole(&mut self, text: String) {
        self.say(&format!("{}\n", visible(&text)));
        self.seen.add(text);
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            self.say("\n");
        }
    }

    /// Ends the words that are being shown; then come those that have waited.
    fn end_words(&mut self) {
        self.end_line();
        self.speaker = None;
        for text in std::mem::take(&mut self.behind) {
            self.whole(text);
        }
    }

    fn value(&self, value: &Json) -> String {
        match self.detail {
            Detail::All => visible(&value.to_string()),
            _ => brief(value),
        }
    }

    /// A stdout that can't be written to has nobody to read the reply.
    fn say(&mut self, text: &str) {
        let _ = self.words.write_all(text.as_bytes());
        let _ = self.words.flush();
    }

    /// A line beside the reply.
    fn note(&mut self, text: &str) {
        self.end_line();
        let line = match self.color {
            true => format!("\u{1b}[2m{text}\u{1b}[0m\n"),
            false => format!("{text}\n"),
        };
        let _ = self.notes.write_all(line.as_bytes());
        let _ = self.notes.flush();
    }

    /// What is shown only to who wants to see all.
    fn aside(&mut self, text: impl FnOnce(&Signs) -> String) {
        if self.detail == Detail::All {
            let text = text(self.signs);
            self.note(&text);
        }
    }
}

impl Shows for ChatDisplay {
    fn event(&mut self, event: Event) {
        if !self.is_new(&event) {
            return;
        }
        let at = visible(&path(&event));
        let node = event.node.as_deref().unwrap_or_default();
        let part = self.parts.part(&event.ns, node).clone();
        let speaks = self.speaker.as_ref();
        let speaks = speaks.is_some_and(|(by, ..)| by.task == event.task());
        match event.kind {
            EventKind::TaskStarted { .. } => {
                self.aside(|signs| format!("{} {at}", signs.node));
                if let Some(tool) = part.calls {
                    self.called(&visible(&tool));
                }
            }
            EventKind::Token {
                text,
                call,
                attempt,
                by,
                ..
            } if part.speaks && self.live => self.word(&text, (by, call, attempt)),
            EventKind::Message { message, by } => self.message(&message, &by, part.speaks),
            // The words are shown as they are.
            EventKind::Custom {
                during: Some(DuringCall { tool: None, .. }),
                ..
            } => {}
            EventKind::Custom { name, payload, .. } if self.detail != Detail::Little => {
                let payload = self.value(&payload);
                self.note(&format!(
                    "{} {} {payload}",
                    self.signs.event,
                    visible(&name)
                ));
            }
            EventKind::Retrying {
                attempt,
                error,
                wait_ms,
                ..
            } if self.detail != Detail::Little => {
                let wait = duration::show(Duration::from_millis(wait_ms));
                let wrong = self.signs.wrong;
                self.note(&format!(
                    "{wrong} attempt {attempt}: {}; again in {wait}",
                    fault(&error)
                ));
            }
            EventKind::Fallback {
                model,
                fallback,
                error,
                ..
            } if self.detail != Detail::Little => {
                let text = passed_over(self.signs, (&model, &fallback), &error);
                self.note(&text);
            }
            EventKind::TaskFinished { error, .. } => {
                if speaks {
                    self.end_words();
                }
                if let Some(error) = error {
                    self.aside(|signs| format!("{} {}", signs.wrong, fault(&error)));
                }
            }
            EventKind::TaskInterrupted { .. } => self.end_words(),
            _ => {}
        }
    }

    fn pause(&mut self) {
        self.end_words();
    }

    fn end(&mut self, _: &RunResult) {}
}
