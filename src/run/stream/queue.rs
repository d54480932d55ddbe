//! What waits for the reader, bounded.
//!
//! While there is room, everything waits as it came. Where there is none, tokens of one reply are put together, then left
//! out; an older state gives way to a newer one; for all else the run waits ([`patience`](super::patience)), and where it
//! has waited long enough, what comes is left out and counted, until the reader reads again. What is left out is told:
//! by [`Event::skipped`], and by [`EventKind::Dropped`] in the place of what was there.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use crate::run::event::{Event, EventKind};

use super::patience::Patience;
use super::weight::weight;

/// Events that may wait before tokens and states are put together and the run waits.
pub const EVENTS: usize = 1024;
/// The same in bytes, about.
pub const BYTES: usize = 8 << 20;
/// Events that may wait whatever happens: between two points at which the run can wait, it may send more.
pub const HARD: usize = 16 * EVENTS;
/// The same in bytes, about, for states.
pub const HARD_BYTES: usize = 4 * BYTES;

/// The events that wait, by position.
pub struct Queue {
    events: BTreeMap<u64, Queued>,
    next: u64,
    bytes: usize,
    /// Those of them that are no tokens and no states.
    firm: usize,
    firm_bytes: usize,
    /// The last event of each task that has any.
    last_of: HashMap<Of, u64>,
    /// The last state of each graph under way that has any ([`whose`]).
    state_of: HashMap<Of, u64>,
    patience: Patience,
    /// Whether the run has given up waiting for the reader.
    gave_up: bool,
    /// Whether commits wait until what was told ahead of them is dealt with.
    paced: bool,
    /// Position of the event that the reader is at.
    reads: Option<u64>,
    /// Number of the event that was read last.
    seq: u64,
    /// What was read last, where it is kept, and how much of it is.
    past: VecDeque<Event>,
    keeps: usize,
    /// What is read again.
    again: VecDeque<Event>,
    ended: bool,
    closed: bool,
}

/// What events are of: the thread, and what of it.
type Of = (Arc<str>, String);

struct Queued {
    event: Event,
    weight: usize,
}

/// What may be put together or left out without the run waiting for it.
fn is_loose(event: &Event) -> bool {
    matches!(event.kind, EventKind::Token { .. } | EventKind::Values(_))
}

impl Queue {
    /// A queue with nothing in it.
    pub fn new(patience: Patience) -> Self {
        Self {
            events: BTreeMap::new(),
            next: 0,
            bytes: 0,
            firm: 0,
            firm_bytes: 0,
            last_of: HashMap::new(),
            state_of: HashMap::new(),
            patience,
            gave_up: false,
            paced: false,
            reads: None,
            seq: 0,
            past: VecDeque::new(),
            keeps: 0,
            again: VecDeque::new(),
            ended: false,
            closed: false,
        }
    }

    /// Takes an event.
    pub fn push(&mut self, event: Event) {
        if self.closed {
            return;
        }
        let is_full = self.events.len() >= EVENTS || self.bytes >= BYTES;
        if is_full && matches!(event.kind, EventKind::Token { .. }) && self.join(&event) {
            return;
        }
        if is_full && matches!(event.kind, EventKind::Values(_)) {
            return self.replace(event);
        }
        let loose = is_loose(&event);
        let too_many = self.events.len() >= HARD || (is_full && !loose && self.gave_up);
        match too_many {
            true => self.leave_out(&event),
            false => self.append(event),
        }
    }

    fn append(&mut self, event: Event) {
        let position = self.next;
        self.next += 1;
        match &event.kind {
            EventKind::Values(_) => {
                self.state_of.insert(whose(&event), position);
            }
            EventKind::Dropped { .. } => {}
            _ => {
                self.last_of.insert(task_of(&event), position);
            }
        }
        let weight = weight(&event);
        self.bytes += weight;
        if !is_loose(&event) {
            self.firm += 1;
            self.firm_bytes += weight;
        }
        self.events.insert(position, Queued { event, weight });
    }

    /// Puts a token to those before it, where its task has said nothing else since.
    fn join(&mut self, event: &Event) -> bool {
        let last = self.last_of.get(&task_of(event));
        let Some(waiting) = last.and_then(|position| self.events.get_mut(position)) else {
            return false;
        };
        let Some((before, said)) = waiting.event.kind.token_mut() else {
            return false;
        };
        let Some((now, text)) = event.kind.token() else {
            return false;
        };
        if before != now {
            return false;
        }
        // Behind a gap nothing is added: what is there would seem to follow.
        if waiting.event.skipped > 0 || self.bytes >= BYTES {
            waiting.event.skipped += 1;
            return true;
        }
        said.push_str(text);
        waiting.weight += text.len();
        self.bytes += text.len();
        true
    }

    /// Puts a state in the place of an older one of its frame.
    fn replace(&mut self, mut event: Event) {
        let older = self.state_of.remove(&whose(&event));
        if let Some(older) = older.and_then(|position| self.events.remove(&position)) {
            self.bytes -= older.weight;
            event.skipped += older.event.skipped + 1;
        } else if self.events.len() >= HARD || self.bytes >= HARD_BYTES {
            // As many graphs at the same time as there are sends: each has one that waits.
            return self.leave_out(&event);
        }
        self.append(event);
    }

    /// Counts an event that nobody gets.
    fn leave_out(&mut self, event: &Event) {
        if let Some(mut last) = self.events.last_entry() {
            let gap = &mut last.get_mut().event;
            if let EventKind::Dropped { events } = &mut gap.kind {
                *events += 1;
                // Of several runs nobody's.
                if gap.run_id != event.run_id {
                    (gap.thread_id, gap.run_id) = (Arc::from(""), Arc::from(""));
                }
                return;
            }
        }
        self.append(Event {
            ns: event.ns.clone(),
            step: event.step,
            thread_id: event.thread_id.clone(),
            run_id: event.run_id.clone(),
            ..dropped(1)
        });
    }

    /// The next event to read. Who asks for it has dealt with the one before.
    pub fn pop(&mut self, now: Instant) -> Option<Event> {
        self.reads = None;
        if let Some(event) = self.again.pop_front() {
            self.remember(&event);
            return Some(event);
        }
        let Some((position, queued)) = self.events.pop_first() else {
            self.patience.go_on(now);
            return None;
        };
        let mut event = queued.event;
        self.reads = Some(position);
        self.bytes -= queued.weight;
        match &event.kind {
            EventKind::Values(_) => forget(&mut self.state_of, &whose(&event), position),
            _ => forget(&mut self.last_of, &task_of(&event), position),
        }
        if !is_loose(&event) {
            self.firm -= 1;
            self.firm_bytes -= queued.weight;
            self.patience.taken(now);
        }
        if self.has_room() {
            self.patience.go_on(now);
        }
        if self.firm <= EVENTS / 2 && self.firm_bytes <= BYTES / 2 {
            self.gave_up = false;
        }
        self.seq += 1;
        event.seq = self.seq;
        self.remember(&event);
        Some(event)
    }

    fn remember(&mut self, event: &Event) {
        if self.keeps == 0 {
            return;
        }
        self.past.push_back(event.clone());
        while self.past.len() > self.keeps {
            self.past.pop_front();
        }
    }

    /// Keeps the last events that were read.
    pub fn keep(&mut self, events: usize) {
        self.keeps = events;
    }

    /// Goes back to behind that number.
    pub fn rewind(&mut self, after: u64) {
        let mut all = std::mem::take(&mut self.past);
        all.append(&mut self.again);
        let first = all.front().map_or(self.seq + 1, |event| event.seq);
        let missing = first.saturating_sub(after.saturating_add(1));
        if missing > 0 {
            let mut gap = dropped(missing);
            gap.seq = first - 1;
            self.again.push_back(gap);
        }
        for event in all {
            match event.seq > after {
                true => self.again.push_back(event),
                false => self.past.push_back(event),
            }
        }
    }

    fn has_room(&self) -> bool {
        self.firm < EVENTS && self.firm_bytes < BYTES
    }

    /// Whether the run need not wait.
    pub fn goes_on(&self) -> bool {
        self.closed || self.gave_up || self.has_room()
    }

    /// How long the run waits for the reader from now on; `None` where it goes on.
    pub fn waits_until(&mut self, now: Instant) -> Option<Instant> {
        match self.goes_on() {
            true => None,
            false => self.be_patient(now),
        }
    }

    fn be_patient(&mut self, now: Instant) -> Option<Instant> {
        let until = self.patience.wait(now);
        self.gave_up = until.is_none();
        until
    }

    /// Has commits wait from now on.
    pub fn pace(&mut self) {
        self.paced = true;
    }

    /// Where what comes next will stand.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// How long a commit waits for the reader to deal with what stands ahead of that position; `None` where it goes on.
    pub fn commits_at(&mut self, position: u64, now: Instant) -> Option<Instant> {
        let waiting = self.events.keys().next().copied();
        let behind = waiting.into_iter().chain(self.reads).min();
        if !self.paced || self.closed || self.gave_up || behind.is_none_or(|at| at >= position) {
            if self.has_room() {
                self.patience.go_on(now);
            }
            return None;
        }
        self.be_patient(now)
    }

    /// Nothing more comes.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Whether nothing more comes.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Nobody reads any more.
    pub fn close(&mut self) {
        self.closed = true;
        self.events.clear();
        self.last_of.clear();
        self.state_of.clear();
        self.past.clear();
        self.again.clear();
    }

    /// How many events wait, and about how many bytes they hold.
    pub fn size(&self) -> (usize, usize) {
        (self.events.len(), self.bytes)
    }
}

/// Which graph a state is of: the way there through nodes and sends, whichever super-steps made the calls. Of calls that
/// are made one after the other the newer takes the older's place, of calls side by side each has its own.
fn whose(state: &Event) -> Of {
    let calls = state.task().rsplit_once('/').map_or("", |(calls, _)| calls);
    let calls = calls.split('/');
    let calls = calls.map(|call| call.split_once(':').map_or(call, |(_, node)| node));
    let calls = calls.collect::<Vec<_>>().join("/");
    (state.thread_id.clone(), calls)
}

/// The task that an event is of.
fn task_of(event: &Event) -> Of {
    (event.thread_id.clone(), event.task().to_owned())
}

fn forget(last: &mut HashMap<Of, u64>, name: &Of, position: u64) {
    if last.get(name) == Some(&position) {
        last.remove(name);
    }
}

fn dropped(events: u64) -> Event {
    Event {
        seq: 0,
        id: String::new(),
        ns: String::new(),
        step: 0,
        node: None,
        skipped: 0,
        thread_id: Arc::from(""),
        run_id: Arc::from(""),
        kind: EventKind::Dropped { events },
    }
}
