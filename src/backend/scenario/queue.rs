//! Which reply of a list answers which call.

use std::collections::BTreeMap;

use crate::run::model::CallContext;

/// How calls find their replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The n-th call takes the n-th reply; those of sends the one at their index.
    ByPosition,
    /// Each call takes the first reply that is left: callers share the list.
    Pool,
}

/// The state of one list of replies.
#[derive(Debug)]
pub struct Queue {
    order: Order,
    used: Vec<bool>,
    callers: BTreeMap<String, Caller>,
    given: BTreeMap<(String, u32), usize>,
}

#[derive(Debug)]
struct Caller {
    /// Calls that it had made on the thread before this scenario.
    before: u64,
    /// Calls within this scenario.
    calls: u64,
}

impl Queue {
    /// A list of `len` replies.
    pub fn new(len: usize, order: Order) -> Self {
        Self {
            order,
            used: vec![false; len],
            callers: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }

    /// The reply for a call; `None` where none is left that fits. `before` is how many calls the
    /// caller had made on the thread when the scenario began, for its first call here.
    ///
    /// A call that is made again after a crash gets the reply that it got. Where the caller made
    /// calls in an earlier process, as many replies count as used up.
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
        let caller = self
            .callers
            .entry(caller.to_owned())
            .or_insert_with(|| Caller {
                before: before(),
                calls: 0,
            });
        let ordinal = cx.ordinal.saturating_sub(caller.before);
        for _ in caller.calls..ordinal.min(self.used.len() as u64) {
            match self.used.iter_mut().find(|used| !**used) {
                Some(used) => *used = true,
                None => break,
            }
        }
        caller.calls = caller.calls.max(ordinal) + 1;
        let index = self.choose(position(ordinal, cx), fits)?;
        if let Some(used) = self.used.get_mut(index) {
            *used = true;
        }
        self.given.insert(key, index);
        Some(index)
    }

    fn choose(&self, position: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let free = |index: &usize| self.used.get(*index) == Some(&false) && fits(*index);
        let own = Some(position).filter(|_| self.order == Order::ByPosition);
        own.filter(free)
            .or_else(|| (0..self.used.len()).find(free))
    }

    /// The replies that no call has taken.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        let replies = self.used.iter().enumerate();
        replies.filter(|(_, used)| !**used).map(|(index, _)| index)
    }
}

/// The tasks of a fan-out share a node path; each takes the reply at its index in the fan-out.
/// Attempts of one of them must not move the others.
fn position(ordinal: u64, cx: &CallContext) -> usize {
    let position = match cx.send {
        None => ordinal,
        Some(send) => ordinal.saturating_sub(u64::from(cx.attempt.saturating_sub(1))) + u64::from(send),
    };
    usize::try_from(position).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_util::sync::CancellationToken;

    fn call(ordinal: u64, send: Option<u32>) -> CallContext {
        CallContext {
            thread_id: "t".into(),
            run_id: "r".into(),
            node: "n".into(),
            send,
            ordinal,
            attempt: 1,
            idempotency_key: format!("{ordinal}/{send:?}"),
            timeout: None,
            cancel: CancellationToken::new(),
        }
    }

    fn take(queue: &mut Queue, cx: &CallContext) -> Option<usize> {
        queue.take("n", cx, || 0, |_| true)
    }

    #[test]
    fn calls_take_replies_in_order_and_again_the_same() {
        let mut queue = Queue::new(2, Order::ByPosition);
        assert_eq!(take(&mut queue, &call(0, None)), Some(0));
        assert_eq!(take(&mut queue, &call(0, None)), Some(0));
        assert_eq!(queue.left().collect::<Vec<_>>(), [1]);
        assert_eq!(take(&mut queue, &call(1, None)), Some(1));
        assert_eq!(take(&mut queue, &call(2, None)), None);
    }

    #[test]
    fn a_later_process_goes_on_where_the_thread_stands() {
        let mut queue = Queue::new(3, Order::ByPosition);
        assert_eq!(take(&mut queue, &call(2, None)), Some(2));
        assert_eq!(queue.left().count(), 0);
        let mut queue = Queue::new(3, Order::Pool);
        assert_eq!(take(&mut queue, &call(1, None)), Some(1));
        assert_eq!(queue.left().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn sends_take_the_reply_at_their_index_in_any_order() {
        let mut queue = Queue::new(3, Order::ByPosition);
        for send in [2, 0, 1] {
            let index = take(&mut queue, &call(0, Some(send)));
            assert_eq!(index, Some(send as usize));
        }
    }

    #[test]
    fn a_reply_that_does_not_fit_waits() {
        let mut queue = Queue::new(2, Order::ByPosition);
        let second = queue.take("n", &call(0, None), || 0, |index| index == 1);
        assert_eq!(second, Some(1));
        assert_eq!(take(&mut queue, &call(1, None)), Some(0));
    }

    #[test]
    fn calls_before_the_scenario_do_not_count() {
        let mut queue = Queue::new(1, Order::ByPosition);
        assert_eq!(queue.take("n", &call(5, None), || 5, |_| true), Some(0));
    }
}
