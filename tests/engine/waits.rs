//! Time that a call waits.

use std::time::Duration;

use graphc::run::waits::Waits;

/// A call that waits stops the clock of its task and its own, and not that of the call beside it.
#[tokio::test]
async fn a_call_that_waits_stops_its_own_clock() {
    let task = Waits::default();
    let (waits, beside) = (task.of_call(), task.of_call());
    let limit = Duration::from_millis(5);
    let longer = || Box::pin(tokio::time::sleep(limit * 10));
    let never = || Box::pin(std::future::pending::<()>());
    let waiting = waits.begin();
    assert!(beside.limited(limit, never()).await.is_none());
    let both = tokio::join!(
        task.limited(limit, longer()),
        waits.limited(limit, longer())
    );
    assert_eq!(both, (Some(()), Some(())));
    drop(waiting);
    assert!(task.limited(limit, never()).await.is_none());
    assert!(waits.limited(limit, never()).await.is_none());
}
