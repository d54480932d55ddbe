//! Which of several calls at the same time takes its reply first.
//!
//! How far each task of a super-step has come when another asks depends on the machine: on how long the store takes for
//! a record, say. Replies that are dealt as calls come in would differ from run to run. So calls wait until no task can
//! go on without a reply, and then take their turns by the tasks that make them.

use std::cmp::Ordering;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering as Access};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::oneshot;

use crate::run::model::CallContext;

use super::Script;

/// Calls that wait for their turns.
#[derive(Debug, Default)]
pub struct Turns {
    /// Whether calls wait at all: they do where somebody gives turns.
    held: bool,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    /// `model` or `tool`, and the path of the node or the name of the tool.
    subject: (&'static str, String),
    /// Names the task and the effect: the same however fast it came here.
    key: String,
    /// How many calls of the subject came before it.
    ordinal: u64,
    /// Takes the ordinal that it goes by.
    turn: oneshot::Sender<u64>,
}

impl Turns {
    /// Gives a turn to all that wait, in the order of their tasks. `false` where none does.
    fn give(&mut self) -> bool {
        let mut waiting = std::mem::take(&mut self.waiting);
        // Whoever was cancelled waits no more.
        waiting.retain(|call| !call.turn.is_closed());
        let given = !waiting.is_empty();
        waiting.sort_by(|a, b| a.subject.cmp(&b.subject).then(by_number(&a.key, &b.key)));
        // Of one subject the ordinals go in the order of the tasks.
        let mut ordinals: Vec<u64> = Vec::with_capacity(waiting.len());
        for same in waiting.chunk_by(|a, b| a.subject == b.subject) {
            let from = ordinals.len();
            ordinals.extend(same.iter().map(|call| call.ordinal));
            ordinals.get_mut(from..).unwrap_or_default().sort_unstable();
        }
        for (call, ordinal) in waiting.into_iter().zip(ordinals) {
            // One that was cancelled just now takes no reply.
            let _ = call.turn.send(ordinal);
        }
        given
    }
}

/// Waits for the turn of a call. Gives its context as it goes by from then on: of calls that came at the same time the
/// ordinals are in the order of their tasks.
pub(super) async fn wait(
    script: &Arc<Script>,
    kind: &'static str,
    subject: &str,
    cx: &CallContext,
) -> CallContext {
    let mut cx = cx.clone();
    let turn = {
        let mut turns = script.turns();
        if !turns.held {
            return cx;
        }
        let (turn, given) = oneshot::channel();
        turns.waiting.push(Waiting {
            subject: (kind, subject.to_owned()),
            key: format!("{}#{}", cx.idempotency_key, cx.attempt),
            ordinal: cx.ordinal,
            turn,
        });
        given
    };
    if let Ok(ordinal) = turn.await {
        cx.ordinal = ordinal;
    }
    cx
}

/// Runs what asks the models and tools of a scenario, so that the same replies go to the same tasks in every run.
///
/// `at_the_store` is how many of its tasks wait for the store at the moment: those go on by themselves. No turns are given
/// any more once `ended` says so.
pub async fn in_turns<T>(
    script: &Arc<Script>,
    at_the_store: &AtomicUsize,
    ended: impl Fn() -> bool,
    run: impl Future<Output = T>,
) -> T {
    script.turns().held = true;
    // Its tasks share one poll: none may be put off because others have done much in it.
    let mut run = pin!(tokio::task::unconstrained(run));
    let result = poll_fn(|cx| {
        loop {
            let noting = Arc::new(Noting {
                woken: AtomicBool::new(false),
                outer: cx.waker().clone(),
            });
            let waker = Waker::from(Arc::clone(&noting));
            if let Poll::Ready(result) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Poll::Ready(result);
            }
            let goes_on = noting.woken.load(Access::Acquire)
                || at_the_store.load(Access::Acquire) > 0
                || ended();
            if goes_on || !script.turns().give() {
                return Poll::Pending;
            }
        }
    })
    .await;
    script.turns().held = false;
    result
}

/// A waker that notes that it was used.
struct Noting {
    woken: AtomicBool,
    outer: Waker,
}

impl Wake for Noting {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Access::Release);
        self.outer.wake_by_ref();
    }
}

/// Compares texts, with the numbers in them as numbers: `dig[2]` comes before `dig[10]`.
fn by_number(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (digits_a, digits_b) = (digits(a), digits(b));
        let order = match (digits_a, digits_b) {
            (0, _) | (_, 0) => match (a.split_first(), b.split_first()) {
                (Some((x, rest_a)), Some((y, rest_b))) => {
                    (a, b) = (rest_a, rest_b);
                    x.cmp(y)
                }
                (x, y) => return x.is_some().cmp(&y.is_some()),
            },
            _ => {
                let (number_a, rest_a) = a.split_at(digits_a);
                let (number_b, rest_b) = b.split_at(digits_b);
                (a, b) = (rest_a, rest_b);
                digits_a.cmp(&digits_b).then(number_a.cmp(number_b))
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_by_their_size() {
        let mut keys = [
            "t/0:dig[10]#0",
            "t/0:dig[2]#0",
            "t/0:dig[2]#0.1",
            "t/0:a[1]",
        ];
        keys.sort_by(|a, b| by_number(a, b));
        assert_eq!(
            keys,
            [
                "t/0:a[1]",
                "t/0:dig[2]#0",
                "t/0:dig[2]#0.1",
                "t/0:dig[10]#0"
            ]
        );
    }
}
