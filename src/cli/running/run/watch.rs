//! What is shown while a run goes on: lines for programs, progress for people, or nothing.

use serde_json::{Value as Json, json};

use crate::run::engine::RunResult;
use crate::run::event::{Event, Mode};
use crate::run::stream::{self, EventSink, EventStream};

use super::super::{Context, Exit, Failure, output};
use super::StreamMode;
use super::again::Again;
use super::progress::Progress;

/// Shows a run to a person, one event after the other.
pub trait Shows: Send {
    /// Shows an event, now or when something else has been shown.
    fn event(&mut self, event: Event);
    /// Shows all that waits: nothing more will come for a while.
    fn pause(&mut self);
    /// Says what the run came to.
    fn end(&mut self, result: &RunResult);
}

/// Who watches a run.
pub enum Watch {
    /// A program reads events on stdout, one JSON object per line.
    Lines(Lines),
    /// A person looks on.
    Person(Box<dyn Shows>),
    /// Nobody.
    Nobody,
}

/// Events as lines. A run that goes on after an interrupt numbers its events anew; a reader sees
/// them numbered through.
#[derive(Debug, Default)]
pub struct Lines {
    modes: Vec<Mode>,
    /// Number of the last line, over all legs.
    last: u64,
    /// What the reader knows already.
    again: Again,
    /// Why nothing more is written: the run goes on all the same.
    unwritten: Option<Failure>,
}

impl Lines {
    fn print(&mut self, mut event: Event) {
        if self.unwritten.is_none() {
            self.last += 1;
            event.seq = self.last;
            self.unwritten = output::print(&format!("{}\n", event.to_json())).err();
        }
    }
}

impl Watch {
    /// Lines where a stream was asked for, else progress where a person looks.
    /// `after`: events that the reader of lines has seen last.
    pub fn new(stream: &[StreamMode], after: Vec<String>, context: &Context) -> Self {
        if !stream.is_empty() {
            let modes = stream.iter().flat_map(|mode| mode.modes()).collect();
            return Watch::Lines(Lines {
                modes,
                again: Again::after(after),
                ..Lines::default()
            });
        }
        match context.terminal.stderr && !context.quiet {
            true => Watch::Person(Box::new(Progress::new(context))),
            false => Watch::Nobody,
        }
    }

    /// The stream of the events that it wants. Lines are written before the super-step commits that they tell of.
    pub fn stream(&self) -> (EventSink, EventStream) {
        let (sink, mut events) = stream::channel(self.modes());
        if let Watch::Lines(_) = self {
            events.pace();
        }
        (sink, events)
    }

    /// The events that it wants.
    fn modes(&self) -> Vec<Mode> {
        match self {
            Watch::Lines(lines) => lines.modes.clone(),
            Watch::Person(_) => vec![Mode::Tasks, Mode::Messages, Mode::Custom],
            Watch::Nobody => Vec::new(),
        }
    }

    /// Shows all events of one leg, to its end. What can't be written is kept for [`Watch::result`]: nobody who reads
    /// a run decides over it.
    pub async fn follow(mut self, mut events: EventStream) -> Self {
        while let Some(event) = events.next().await {
            self.event(event);
        }
        if let Watch::Lines(lines) = &mut self {
            let rest = lines.again.rest();
            rest.into_iter().for_each(|event| lines.print(event));
        }
        if let Watch::Person(shows) = &mut self {
            shows.pause();
        }
        self
    }

    fn event(&mut self, event: Event) {
        match self {
            Watch::Lines(lines) => {
                let told = lines.again.tell(event);
                told.into_iter().for_each(|event| lines.print(event));
            }
            Watch::Person(shows) => shows.event(event),
            Watch::Nobody => {}
        }
    }

    /// Prints what the run came to.
    ///
    /// # Errors
    /// Where it can't be written: status 5, since the run is at its end, and one that is made again would do all once more.
    pub fn result(&mut self, result: &RunResult, context: &Context) -> Result<(), Failure> {
        self.print(result, context).map_err(|failure| {
            let thread = &result.thread_id;
            let help =
                format!("the run is at its end; `graphc threads show {thread}` has its result");
            failure.exit(Exit::Unwritten).help(help)
        })
    }

    fn print(&mut self, result: &RunResult, context: &Context) -> Result<(), Failure> {
        let mut json = result.to_json();
        match self {
            Watch::Lines(lines) => {
                if let Some(failure) = lines.unwritten.take() {
                    return Err(failure);
                }
                if let Json::Object(entries) = &mut json {
                    entries.insert("type".to_owned(), json!("result"));
                }
                output::print(&format!("{json}\n"))
            }
            _ => {
                if let Watch::Person(shows) = self {
                    shows.end(result);
                }
                match context.terminal.stdout {
                    true => output::print(&format!("{json:#}\n")),
                    false => output::print(&format!("{json}\n")),
                }
            }
        }
    }
}
