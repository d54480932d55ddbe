//! How long a run waits for its reader.

use std::time::Duration;

use graphc::run::stream::PATIENCE;
use graphc::run::stream::patience::Patience;
use tokio::time::Instant;

#[test]
fn is_used_up_and_comes_back_slowly() {
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut patience = Patience::new(start, PATIENCE);
    assert_eq!(patience.wait(start), Some(after(10)));
    // A second one that waits meanwhile uses up nothing more.
    assert_eq!(patience.wait(after(4)), Some(after(10)));
    assert_eq!(patience.wait(after(10)), None);
    assert_eq!(patience.wait(after(30)), Some(after(32)));
    patience.go_on(after(31));
    assert_eq!(patience.wait(after(31)), Some(after(32)));
}

#[test]
fn comes_back_with_what_is_read() {
    let start = Instant::now();
    let mut patience = Patience::new(start, PATIENCE);
    let mut now = start;
    for _ in 0..100 {
        patience.wait(now);
        now += Duration::from_secs(5);
        (0..40).for_each(|_| patience.taken(now));
    }
    assert_eq!(patience.wait(now), Some(now + PATIENCE));
    (0..9).for_each(|_| patience.taken(now + PATIENCE));
    let left = Duration::from_millis(9 * 125);
    assert_eq!(patience.wait(now + PATIENCE), Some(now + PATIENCE + left));
}
