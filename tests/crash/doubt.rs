//! A call that must not be made twice, and may have been made.

use serde_json::{Value as Json, json};

use super::drive::drive;
use super::judge::judge;
use super::place::{Ended, Place, Process};

/// Kills a process while a tool is at work, so many calls after the start; gives what a resume asks.
fn doubt(place: &Place, process: Process, calls: usize) -> Json {
    place.until("begin", calls);
    place.kill(process);
    let asked = Ended::of(place.resume(&[]));
    assert_eq!(asked.status, 3, "{asked:?}");
    assert_eq!(place.count("begin", false), calls, "called again");
    let asked = asked.json();
    let open = asked["interrupts"].as_array().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0]["ask"]["tool"], "charge");
    let question = open[0]["ask"]["question"].as_str().unwrap();
    assert!(question.contains("did it happen?"), "{question}");
    open[0].clone()
}

fn answered(place: &Place, answer: &Json) -> Process {
    place.resume(&["--answer", &answer.to_string()])
}

fn happened(args: &Json) -> Json {
    json!({ "happened": true, "result": { "tool": "charge", "args": args } })
}

#[test]
fn what_happened_is_not_done_again() {
    let place = Place::new("happened", "charge", "0.1");
    let open = doubt(&place, place.run("{}", &[]), 1);
    assert_eq!(open["path"], "pay");
    assert_eq!(open["ask"]["args"], json!({ "n": 100 }));

    // The answer is checked against the tool's type, and asked for as long as it isn't given.
    for wrong in [
        json!({ "happened": "yes" }),
        json!({ "happened": true }),
        json!({ "happened": true, "result": { "tool": 5, "args": null } }),
    ] {
        let refused = Ended::of(answered(&place, &wrong));
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.stderr.contains("is refused"), "{refused:?}");
    }
    let again = Ended::of(place.resume(&[]));
    assert_eq!(again.json()["interrupts"][0]["id"], open["id"]);

    // The model's calls: of two, the first is in doubt.
    let open = doubt(&place, answered(&place, &happened(&open["ask"]["args"])), 2);
    assert_eq!(open["path"], "work");
    let done = Ended::of(answered(&place, &happened(&open["ask"]["args"])));
    assert_eq!(done.status, 0, "{done:?}");

    let calm = Place::new("happened-calm", "charge", "0.01");
    drive(&calm, "{}", &[], &[]);
    assert_eq!(place.thread()["state"], calm.thread()["state"]);
    assert_eq!(place.count("begin", false), 3);
    judge(&place.log(), &calm.log());
}

#[test]
fn what_did_not_happen_is_done_again() {
    let place = Place::new("did-not-happen", "charge", "0.1");
    let first = doubt(&place, place.run("{}", &[]), 1);
    let both = json!({ "happened": false, "result": { "tool": "charge", "args": {} } });
    let refused = Ended::of(answered(&place, &both));
    assert_eq!(refused.status, 2, "{refused:?}");
    let not = json!({ "happened": false });
    // Made again, and in doubt again: that is another question.
    let second = doubt(&place, answered(&place, &not), 2);
    assert_ne!(first["id"], second["id"]);
    let done = Ended::of(answered(&place, &not));
    assert_eq!(done.status, 0, "{done:?}");
    let calm = Place::new("did-not-happen-calm", "charge", "0.01");
    drive(&calm, "{}", &[], &[]);
    assert_eq!(place.thread()["state"], calm.thread()["state"]);
    judge(&place.log(), &calm.log());
}

#[test]
fn calls_made_side_by_side_are_asked_about_one_by_one() {
    let place = Place::new("at-once", "at_once", "0.1");
    let process = place.run("{}", &[]);
    place.until("begin", 2);
    place.kill(process);
    let asked = Ended::of(place.resume(&[])).json();
    let open = asked["interrupts"].as_array().unwrap();
    assert_eq!(open.len(), 2, "{asked}");

    let id = open[1]["id"].as_str().unwrap();
    let answer = happened(&open[1]["ask"]["args"]).to_string();
    let one = Ended::of(place.resume(&["--interrupt", id, "--answer", &answer])).json();
    assert_eq!(one["interrupts"].as_array().unwrap().len(), 1);
    assert_eq!(one["interrupts"][0]["id"], open[0]["id"]);
    let done = Ended::of(answered(&place, &json!({ "happened": false })));
    assert_eq!(done.status, 0, "{done:?}");

    let calm = Place::new("at-once-calm", "at_once", "0.01");
    drive(&calm, "{}", &[], &[]);
    assert_eq!(place.thread()["state"], calm.thread()["state"]);
    assert_eq!(place.count("begin", false), 3);
    judge(&place.log(), &calm.log());
}
