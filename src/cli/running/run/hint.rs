//! The command that goes on with a thread, ready to be pasted.

use serde_json::json;

use crate::base::name;
use crate::expr::TypeTable;
use crate::ir::Flow;
use crate::run::engine::RunResult;
use crate::run::interrupt::OpenInterrupt;
use crate::run::work::in_doubt;

use super::super::Context;
use super::super::pasted::{Pasted, quoted};
use super::example;

/// `graphc resume FILE --thread ID`, with the options that this process was given, and other commands about the thread.
#[derive(Debug, Clone)]
pub struct Hint {
    pasted: Pasted,
    thread: String,
    /// Behind `resume` or `run`.
    words: Vec<String>,
    /// What a new run is of, where the flow alone doesn't say so.
    graph: Option<String>,
}

impl Hint {
    /// The command for a thread. `options` are pairs such as `--scenario`, `happy`.
    pub fn new(
        file: &str,
        thread: &str,
        options: &[(&str, Option<&str>)],
        store: Option<&str>,
        context: &Context,
    ) -> Self {
        let mut words = [file, "--thread", thread].map(str::to_owned).to_vec();
        for (name, value) in options {
            words.extend(
                value
                    .iter()
                    .flat_map(|value| [*name, *value].map(str::to_owned)),
            );
        }
        Self {
            pasted: Pasted::new(store, context),
            thread: thread.to_owned(),
            words,
            graph: None,
        }
    }

    /// Names the graph that a new run is of.
    pub fn of_graph(&mut self, graph: &str) {
        self.graph = Some(graph.to_owned());
    }

    fn command(&self, first: &str, more: &[&str]) -> String {
        let words = self.words.iter().map(String::as_str);
        let words: Vec<&str> = [first].into_iter().chain(words).collect();
        self.pasted.command(&[&words, more].concat())
    }

    /// The command that begins anew on the thread.
    pub fn run_again(&self) -> String {
        let graph = self.graph.iter().flat_map(|graph| ["--graph", graph]);
        self.command("run", &graph.collect::<Vec<_>>())
    }

    /// The command that goes on with a conversation.
    pub fn chat(&self) -> String {
        let graph = self.graph.iter().flat_map(|graph| ["--graph", graph]);
        self.command("chat", &graph.collect::<Vec<_>>())
    }

    /// The command that begins on a new thread, with whatever graph the flow begins with.
    pub fn run_apart(&self) -> String {
        let words = self.words.iter().map(String::as_str);
        // Behind the file stand `--thread` and its id.
        let words = words.enumerate().filter(|(at, _)| !(1..3).contains(at));
        let words: Vec<&str> = words.map(|(_, word)| word).collect();
        self.pasted.command(&[&["run"], words.as_slice()].concat())
    }

    /// The command without an answer.
    pub fn resume(&self) -> String {
        self.command("resume", &[])
    }

    /// A command of `graphc threads` about the thread, by the words before and behind its id.
    pub fn threads(&self, action: &str, more: &[&str]) -> String {
        let words = ["threads", action, &self.thread];
        self.pasted.command(&[&words, more].concat())
    }

    /// The command that answers an interrupt, with an example of the right type.
    ///
    /// It names the interrupt, so that running it twice can't answer the next question.
    /// `flow` is left out where it is not known.
    pub fn answer(&self, open: &OpenInterrupt, flow: Option<&Flow>) -> String {
        let mut command = self.resume();
        if open.is_stop() {
            return command;
        }
        command.push_str(&format!(" --interrupt {}", quoted(&open.id)));
        let none = TypeTable::default();
        let types = flow.map_or(&none, |flow| &flow.types);
        let example = match (&open.expect, flow) {
            (_, Some(flow)) if in_doubt::is_question(open) => happened(flow, open),
            (Some(ty), _) if example::is_known(ty, types) => {
                example::text(ty, types).unwrap_or_else(|| "JSON".to_owned())
            }
            (Some(_), _) => "JSON".to_owned(),
            (None, _) => "{}".to_owned(),
        };
        command.push_str(&format!(" --answer {}", quoted(&example)));
        command
    }

    /// A line for each open interrupt: where it is and how to go on. Stops before nodes are passed together.
    pub fn interrupted(&self, result: &RunResult, flow: &Flow) -> String {
        let (stops, asked): (Vec<&OpenInterrupt>, Vec<&OpenInterrupt>) =
            result.interrupts.iter().partition(|open| open.is_stop());
        let mut lines = Vec::new();
        if !stops.is_empty() {
            let places: Vec<String> = stops.iter().map(|open| open.place()).collect();
            let places = name::list(places.iter().map(String::as_str));
            // An answer passes them too.
            let how = match asked.is_empty() {
                true => format!("go on with:\n  {}", self.resume()),
                false => "an answer goes on from there too".to_owned(),
            };
            lines.push(format!("stopped before {places}; {how}"));
        }
        lines.extend(asked.into_iter().map(|open| {
            let or = match in_doubt::is_question(open) {
                true => "\n  where it has not happened: --answer '{\"happened\":false}'",
                false => "",
            };
            let place = open.place();
            let command = self.answer(open, Some(flow));
            let changed = match open.changed {
                true => " has changed since it was answered: that answer was not taken. It",
                false => "",
            };
            format!("`{place}`{changed} waits for an answer; give it with:\n  {command}{or}")
        }));
        lines.join("\n")
    }
}

/// That a call has happened, with an example of its result.
fn happened(flow: &Flow, open: &OpenInterrupt) -> String {
    let (_, ty) = in_doubt::asked_of(flow, open);
    let mut answer = json!({ "happened": true });
    if let (false, Some(entries)) = (ty.admits_null(), answer.as_object_mut()) {
        entries.insert("result".to_owned(), example::of(ty, &flow.types));
    }
    answer.to_string()
}
