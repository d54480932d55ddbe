//! Places for tasks that work at the same time.

use std::future::pending;
use std::time::Duration;

use graphc::run::slots::Slots;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A task that is dropped while another has its place gives nothing back twice.
#[tokio::test]
async fn a_place_that_is_lent_is_never_two() {
    let slots = Slots::new(1);
    let stop = CancellationToken::new();
    let first = slots.occupy("a", &stop).await.unwrap();
    let mut lent = Box::pin(slots.lend("a", pending::<()>()));
    assert!(timeout(Duration::ZERO, &mut lent).await.is_err());
    let second = slots.occupy("b", &stop).await.unwrap();
    drop(lent);
    drop(first);
    let third = timeout(Duration::ZERO, slots.occupy("c", &stop));
    assert!(third.await.is_err());
    drop(second);
    let _third = slots.occupy("c", &stop).await.unwrap();
    let fourth = timeout(Duration::ZERO, slots.occupy("d", &stop));
    assert!(fourth.await.is_err());
}
