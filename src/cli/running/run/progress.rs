//! A run as a person follows it on stderr: nodes as they begin, what models say as they say it.

use std::collections::HashMap;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::base::duration;
use crate::diag::render::Style;
use crate::diag::render::snippet::visible;
use crate::run::engine::RunResult;
use crate::run::event::{DuringCall, Event, EventKind};
use crate::run::stream::{BYTES, EVENTS, weight};

use super::super::Context;
use super::super::screen::Words;
use super::signs::{Signs, brief, clipped, fault, passed_over, path};
use super::watch::Shows;

/// Events that wait for the speaker, at most, and about how many bytes of them: then those who wait break in.
const MOST_WAITING: (usize, usize) = (EVENTS, BYTES);

/// Progress on stderr.
///
/// One node speaks at a time: while its words come, what happens elsewhere waits, so that the words
/// of two models never mix. Where much waits, all that does is shown task by task, and then the speaker goes on.
pub struct Progress {
    color: bool,
    signs: &'static Signs,
    started: Instant,
    /// The task whose words are being shown.
    speaker: Option<String>,
    waiting: Vec<Event>,
    /// About how many bytes wait.
    bytes: usize,
    /// Whether anybody was broken in on: then it is said from where whose words begin.
    broken: bool,
    to: Box<dyn Write + Send>,
}

impl Shows for Progress {
    fn event(&mut self, event: Event) {
        match &self.speaker {
            Some(speaker) if speaker != event.task() => {
                self.bytes += weight(&event);
                self.waiting.push(event);
                if self.waiting.len() >= MOST_WAITING.0 || self.bytes >= MOST_WAITING.1 {
                    self.break_in();
                }
            }
            _ => self.show(event),
        }
    }

    fn pause(&mut self) {
        self.fall_silent();
    }

    fn end(&mut self, result: &RunResult) {
        let word = result.state.word();
        let usage = result.usage;
        let tokens = match usage.total() {
            0 => String::new(),
            _ => format!(
                ", {} tokens in and {} out",
                usage.input_tokens, usage.output_tokens
            ),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let thread = visible(&result.thread_id);
        self.line(&format!(
            "{word} in {seconds:.1} s{tokens}, thread {thread}"
        ));
    }
}

impl Progress {
    /// Progress that begins now.
    pub fn new(context: &Context) -> Self {
        Self::to(Box::new(Words(stderr())), context.terminal.style)
    }

    /// The same, shown elsewhere.
    pub fn to(to: Box<dyn Write + Send>, style: Style) -> Self {
        Self {
            color: style.color,
            signs: Signs::of(style),
            started: Instant::now(),
            speaker: None,
            waiting: Vec::new(),
            bytes: 0,
            broken: false,
            to,
        }
    }

    /// Shows all that waits, each task's together.
    fn break_in(&mut self) {
        self.broken = true;
        self.bytes = 0;
        let mut tasks: Vec<(String, Vec<Event>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for event in std::mem::take(&mut self.waiting) {
            let task = event.task().to_owned();
            let place = *places.entry(task.clone()).or_insert(tasks.len());
            match tasks.get_mut(place) {
                Some((_, events)) => events.push(event),
                None => tasks.push((task, vec![event])),
            }
        }
        for (_, events) in tasks {
            self.end_words();
            self.speaker = None;
            events.into_iter().for_each(|event| self.show(event));
        }
        self.end_words();
        self.speaker = None;
    }

    fn show(&mut self, event: Event) {
        let signs = self.signs;
        let path = path(&event);
        match event.kind {
            EventKind::TaskStarted { send } => {
                let send = send.map_or(String::new(), |index| format!("[{index}]"));
                self.line(&self.bold(&format!("{} {}{send}", signs.node, visible(&path))));
            }
            EventKind::Token { text, by, .. } => {
                if self.speaker.is_none() {
                    if self.broken {
                        let send = by.send.map_or(String::new(), |index| format!("[{index}]"));
                        self.line(&self.dim(&format!("{} {}{send}:", signs.node, visible(&path))));
                    }
                    self.speaker = Some(by.task);
                    self.write("  ");
                }
                let text = visible(&text).replace('\n', "\n  ");
                self.write(&self.dim(&text));
            }
            EventKind::Message { message, .. } => {
                let spoken = self.speaker.is_some();
                self.end_words();
                self.message(&message, spoken);
                self.fall_silent();
            }
            // Its words are shown as they are.
            EventKind::Custom {
                during: Some(DuringCall { tool: None, .. }),
                ..
            } => {}
            EventKind::Custom { name, payload, .. } => {
                let text = format!("  {} {} {}", signs.event, visible(&name), brief(&payload));
                self.line(&text);
            }
            EventKind::Retrying {
                attempt,
                error,
                wait_ms,
                ..
            } => {
                self.end_words();
                let wait = duration::show(Duration::from_millis(wait_ms));
                let text = format!(
                    "  {} attempt {attempt}: {}; again in {wait}",
                    signs.wrong,
                    fault(&error)
                );
                self.line(&text);
                self.fall_silent();
            }
            EventKind::Fallback {
                model,
                fallback,
                error,
                ..
            } => {
                self.end_words();
                let text = passed_over(signs, (&model, &fallback), &error);
                self.line(&format!("  {text}"));
                self.fall_silent();
            }
            EventKind::Repaired { of, repairs, .. } => {
                self.end_words();
                for repair in &repairs {
                    let text = format!("  {} repaired {of}: {}", signs.event, visible(repair));
                    self.line(&text);
                }
                self.fall_silent();
            }
            EventKind::TaskInterrupted { .. } => {
                self.end_words();
                self.fall_silent();
            }
            EventKind::TaskFinished { error, .. } => {
                self.end_words();
                if let Some(error) = error {
                    self.line(&format!("  {} {}", signs.wrong, fault(&error)));
                }
                self.fall_silent();
            }
            _ => {}
        }
    }

    /// A message of a model or a tool. `spoken`: its words have been shown already.
    fn message(&mut self, message: &Json, spoken: bool) {
        let text = |key: &str| message.get(key).and_then(Json::as_str).unwrap_or_default();
        let content = match message.get("content") {
            Some(Json::String(text)) => clipped(text),
            Some(Json::Null) | None => String::new(),
            Some(other) => brief(other),
        };
        match text("role") {
            "tool" => {
                let name = visible(text("name"));
                let line = format!("  {} {name} {content}", self.signs.result);
                self.line(&self.dim(&line));
            }
            "assistant" if !spoken && !content.is_empty() => {
                self.line(&self.dim(&format!("  {content}")));
            }
            _ => {}
        }
        let calls = message.get("tool_calls").and_then(Json::as_array);
        for call in calls.into_iter().flatten() {
            let name = call.get("name").and_then(Json::as_str).unwrap_or_default();
            let args = call.get("args").map_or(String::new(), brief);
            self.line(&format!("  {} {} {args}", self.signs.call, visible(name)));
        }
    }

    /// Ends the line of words that were being shown.
    fn end_words(&mut self) {
        if self.speaker.is_some() {
            self.write("\n");
        }
    }

    /// Lets others speak: what has waited is shown, up to the next one's words.
    fn fall_silent(&mut self) {
        self.speaker = None;
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().for_each(|event| self.event(event));
    }

    fn line(&mut self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// A stderr that can't be written to leaves nobody to tell.
    fn write(&mut self, text: &str) {
        let _ = self.to.write_all(text.as_bytes());
        let _ = self.to.flush();
    }

    fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    fn styled(&self, code: &str, text: &str) -> String {
        match self.color {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}
