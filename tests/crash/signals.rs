//! Ctrl-C, once and twice.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::judge::judge;
use super::place::{Ended, Place, Process};

fn interrupt(process: &Process) {
    kill_process(Pid::from_child(&process.child), Signal::INT).unwrap();
}

const INPUT: &str = r#"{"task": "step 2 times"}"#;

#[test]
fn once_lets_the_call_finish_and_nothing_is_repeated() {
    let place = Place::new("cancel", "loop", "0.2");
    let process = place.run(INPUT, &[]);
    place.until("begin", 2);
    interrupt(&process);
    let ended = Ended::of(process);
    assert_eq!(ended.status, 130, "{ended:?}");
    assert_eq!(ended.json()["status"], "cancelled");
    assert_eq!(place.thread()["status"], "cancelled");
    assert_eq!(place.count("begin", false), 2);
    assert_eq!(place.count("end", false), 2);

    let ended = Ended::of(place.resume(&[]));
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(place.count("begin", false), 4);
    judge(&place.log(), &place.log());
}

#[test]
fn twice_ends_at_once() {
    let place = Place::new("cancel-twice", "loop", "1.5");
    let process = place.run(INPUT, &[]);
    place.until("begin", 1);
    interrupt(&process);
    std::thread::sleep(Duration::from_millis(150));
    let again = Instant::now();
    interrupt(&process);
    let ended = Ended::of(process);
    assert_eq!(ended.status, 130, "{ended:?}");
    assert!(again.elapsed() < Duration::from_millis(700));
    assert_eq!(place.count("end", false), 0);
    assert_eq!(place.thread()["status"], "running");
}
