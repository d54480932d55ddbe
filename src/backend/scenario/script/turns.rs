//! Which of several calls at the same time takes its reply first.
//!
//! How far each task of a super-step has come when another asks depends on the machine: on how long the store takes for
//! a record, say. Replies that are dealt as calls come in would differ from run to run. So calls wait until no task can
//! go on without a reply, and then take their turns by the tasks that make them. A real call takes its turn as well, and
//! none is given while one is under way: how long it takes decides nothing.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// `model` or `tool`, and the path of the node or the name of the tool.
type Subject = (&'static str, String);

#[derive(Debug)]
struct Waiting {
    subject: Subject,
    /// Where the task and the call in it stand: the same however fast it came here.
    rank: Vec<u64>,
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
        // Of one subject the ordinals go in the order of the tasks.
        waiting.sort_by_key(|call| call.ordinal);
        let mut ordinals: BTreeMap<Subject, VecDeque<u64>> = BTreeMap::new();
        for call in &waiting {
            let of_subject = ordinals.entry(call.subject.clone()).or_default();
            of_subject.push_back(call.ordinal);
        }
        waiting.sort_by(|a, b| a.rank.cmp(&b.rank));
        for call in waiting {
            let next = ordinals
                .get_mut(&call.subject)
                .and_then(VecDeque::pop_front);
            // One that was cancelled just now takes no reply.
            let _ = call.turn.send(next.unwrap_or(call.ordinal));
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
            rank: cx.rank.clone(),
            ordinal: cx.ordinal,
            turn,
        });
        given
    };
    // A real call of another task may take long, which is none of this one's time.
    let waits = cx.waits.clone();
    let _waits = waits.begin();
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
            let goes_on = noting.woken.load(Ordering::Acquire)
                || at_the_store.load(Ordering::Acquire) > 0
                || script.under_way.load(Ordering::Acquire) > 0
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
        self.woken.store(true, Ordering::Release);
        self.outer.wake_by_ref();
    }
}
