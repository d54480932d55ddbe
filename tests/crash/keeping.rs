//! Who may write a thread, when it is kept, and what happens where it can't be.

use std::fs;

use super::drive::drive;
use super::judge::judge;
use super::place::{Ended, Place};

const INPUT: &str = r#"{"task": "step 2 times"}"#;

#[test]
fn a_thread_has_one_writer_and_is_free_at_once_when_that_dies() {
    let place = Place::new("writer", "loop", "0.2");
    let first = place.run(INPUT, &[]);
    place.until("begin", 1);
    let number = first.child.id();
    for refused in [place.resume(&[]), place.run(INPUT, &[])] {
        let refused = Ended::of(refused);
        assert_eq!(refused.status, 2, "{refused:?}");
        let says = format!("thread `t` is in use by process {number}");
        assert!(refused.stderr.contains(&says), "{refused:?}");
    }
    place.kill(first);
    let next = Ended::of(place.resume(&[]));
    assert_eq!(next.status, 0, "{next:?}");
    let calm = Place::new("writer-calm", "loop", "0.01");
    drive(&calm, INPUT, &[], &[]);
    judge(&place.log(), &calm.log());
}

#[test]
fn under_exit_a_killed_run_was_never_there() {
    let place = Place::new("exit", "loop", "0.02");
    let how = ["--durability", "exit"];
    let process = place.run(INPUT, &how);
    place.until("begin", 3);
    place.kill(process);
    let nothing = Ended::of(place.resume(&how));
    assert_eq!(nothing.status, 2, "{nothing:?}");
    assert!(nothing.stderr.contains("there is no thread"), "{nothing:?}");
    let again = Ended::of(place.run(INPUT, &how));
    assert_eq!(again.status, 0, "{again:?}");
    // All is done again, under the keys that it had.
    let log = place.log();
    let kill = log.iter().position(|line| line.is("kill")).unwrap();
    let keys = |lines: &[super::log::Line]| -> Vec<String> {
        let begun = lines.iter().filter(|line| line.is("begin"));
        begun.map(|line| line.key.clone()).collect()
    };
    let (before, after) = (keys(&log[..kill]), keys(&log[kill..]));
    assert_eq!(before, after[..before.len()]);
}

#[test]
fn a_store_that_goes_away_fails_the_run_until_it_is_back() {
    let place = Place::new("gone", "loop", "0.1");
    let process = place.run(INPUT, &[]);
    place.until("begin", 2);
    let (store, away) = (place.folder.join("store"), place.folder.join("away"));
    fs::rename(&store, &away).unwrap();
    let number = process.number;
    let ended = Ended::of(process);
    assert_eq!(ended.status, 4, "{ended:?}");
    assert_eq!(ended.json()["error"]["kind"], "store");
    assert!(ended.stderr.contains("moved or removed"), "{ended:?}");
    place.note_kill(number);
    let _ = fs::remove_dir_all(&store);
    fs::rename(&away, &store).unwrap();

    let resumed = Ended::of(place.resume(&[]));
    assert_eq!(resumed.status, 0, "{resumed:?}");
    let calm = Place::new("gone-calm", "loop", "0.01");
    drive(&calm, INPUT, &[], &[]);
    judge(&place.log(), &calm.log());
}

#[test]
fn a_store_that_cannot_be_written_refuses_the_run() {
    let place = Place::new("unwritable", "loop", "0.01");
    // A folder in the file's place: nobody's rights let it be opened, whoever runs this.
    fs::create_dir_all(place.folder.join("store/threads.db")).unwrap();
    let refused = Ended::of(place.run(INPUT, &[]));
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("can't be opened"), "{refused:?}");
    assert_eq!(place.log(), []);
    fs::remove_dir(place.folder.join("store/threads.db")).unwrap();
    let ended = Ended::of(place.run(INPUT, &[]));
    assert_eq!(ended.status, 0, "{ended:?}");
}

#[test]
fn attempts_are_counted_over_processes() {
    let place = Place::new("attempts", "broken", "0.05");
    let process = place.run("{}", &[]);
    place.until("begin", 2);
    place.kill(process);
    let failed = Ended::of(place.resume(&[]));
    assert_eq!(failed.status, 4, "{failed:?}");
    // One attempt was kept, the one under way is made again, one is left.
    assert_eq!(place.count("begin", false), 4);

    // A run that has failed is tried anew, its attempts with it.
    let failed = Ended::of(place.resume(&[]));
    assert_eq!(failed.status, 4, "{failed:?}");
    assert_eq!(failed.json()["error"]["kind"], "tool_error");
    assert_eq!(place.count("begin", false), 7);
    let log = place.log();
    assert!(log.iter().all(|l| l.is("kill") || l.key == log[0].key));
}

#[test]
fn a_model_that_has_failed_is_not_asked_again_when_its_fallback_is_killed() {
    let place = Place::new("fallback", "fallback", "0");
    let process = place.run("{}", &[]);
    place.until_asked(2);
    place.kill(process);
    let done = Ended::of(place.resume(&[]));
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(done.json()["output"]["said"], "did it 0 times");
    let log = place.log();
    assert_eq!(log.iter().filter(|line| line.is("fail")).count(), 1);
    assert_eq!(place.count("begin", true), 3);
}
