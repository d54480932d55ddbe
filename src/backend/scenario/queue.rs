//! Which reply of a list answers which call.

use std::collections::BTreeMap;

use crate::run::model::CallContext;

/// How calls find their replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The n-th call takes the n-th reply; the tasks of a fan-out, which share a node path, those at
    /// their index in it.
    Visits,
    /// The n-th call takes the n-th reply, whichever task makes it.
    Calls,
    /// Each call takes the first reply that is left: callers share the list.
    Pool,
}

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Free,
    /// An earlier process made as many calls; which reply each got is not known.
    Passed,
    Taken,
}

/// The state of one list of replies.
#[derive(Debug)]
pub struct Queue {
    order: Order,
    replies: Vec<Reply>,
    callers: BTreeMap<String, Caller>,
    /// By idempotency key and attempt: a call that is made again gets the reply that it got.
    given: BTreeMap<(String, u32), usize>,
}

#[derive(Debug, Default)]
struct Caller {
    /// Calls that it had made on the thread before this scenario.
    before: u64,
    /// Calls within this scenario.
    calls: u64,
    /// First calls of attempts by index in the fan-out.
    sends: BTreeMap<u32, usize>,
    /// Where the replies of each fan-out begin.
    rounds: Vec<usize>,
}

impl Queue {
    /// A list of `len` replies.
    pub fn new(len: usize, order: Order) -> Self {
        Self {
            order,
            replies: vec![Reply::Free; len],
            callers: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }

    /// The reply for a call; `None` where none is left that fits. `before` is how many calls the
    /// caller had made on the thread when the scenario began, asked at its first call here.
    pub fn take(
        &mut self,
        caller: &str,
        cx: &CallContext,
        before: impl FnOnce() -> u64,
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let key = (cx.idempotency_key.clone(), cx.attempt);
        let known = Some(&key).filter(|(key, _)| !key.is_empty());
        if let Some(index) = known.and_then(|key| self.given.get(key)) {
            return Some(*index);
        }
        let caller = match self.callers.get_mut(caller) {
            Some(caller) => caller,
            None => self.callers.entry(caller.to_owned()).or_insert(Caller {
                before: before(),
                ..Caller::default()
            }),
        };
        let ordinal = cx.ordinal.saturating_sub(caller.before);
        for _ in caller.calls..ordinal.min(self.replies.len() as u64) {
            if let Some(free) = self.replies.iter_mut().find(|r| **r == Reply::Free) {
                *free = Reply::Passed;
            }
        }
        caller.calls = caller.calls.max(ordinal) + 1;
        let index = match (self.order, cx.send) {
            (Order::Visits, Some(send)) => {
                let free = self.replies.iter().position(|r| *r == Reply::Free);
                let own = caller.in_fan_out(send, cx.attempt, free.unwrap_or(self.replies.len()));
                let open = |at: &usize| self.replies.get(*at).is_some_and(|r| *r != Reply::Taken);
                own.filter(|at| open(at) && fits(*at))
            }
            (Order::Visits | Order::Calls, _) => {
                let own = usize::try_from(ordinal).ok();
                own.filter(|at| self.is_free(*at) && fits(*at))
            }
            (Order::Pool, _) => None,
        };
        let first = || (0..self.replies.len()).find(|at| self.is_free(*at) && fits(*at));
        let index = index.or_else(first)?;
        if let Some(reply) = self.replies.get_mut(index) {
            let passed = *reply == Reply::Passed;
            *reply = Reply::Taken;
            // It was not this one that the earlier process used up, so it was another.
            if let Some(free) = self.free().filter(|_| passed) {
                *free = Reply::Passed;
            }
        }
        self.given.insert(key, index);
        Some(index)
    }

    fn free(&mut self) -> Option<&mut Reply> {
        self.replies.iter_mut().find(|r| **r == Reply::Free)
    }

    fn is_free(&self, index: usize) -> bool {
        self.replies.get(index) == Some(&Reply::Free)
    }

    /// The replies that no call has taken.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        let replies = self.replies.iter().enumerate();
        replies.filter(|(_, r)| **r == Reply::Free).map(|(i, _)| i)
    }
}

impl Caller {
    /// Where the reply of a task of a fan-out stands. Its first call belongs to the first fan-out, its
    /// second to the second, which begins at the first reply that is free when it begins; an attempt
    /// after the first has no place of its own.
    fn in_fan_out(&mut self, send: u32, attempt: u32, free: usize) -> Option<usize> {
        if attempt > 1 {
            return None;
        }
        let visit = self.sends.entry(send).or_default();
        let round = *visit;
        *visit += 1;
        if self.rounds.is_empty() {
            // After a crash within a fan-out, its index still counts from where it began.
            self.rounds.push(if self.before == 0 && self.calls > 1 {
                0
            } else {
                free
            });
        }
        if self.rounds.len() <= round {
            self.rounds.push(free);
        }
        Some(self.rounds.get(round)? + send as usize)
    }
}
