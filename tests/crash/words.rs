//! Words of a reply are said as they come, and of a reply that is kept not again.

use std::io::{BufRead, BufReader};

use serde_json::Value as Json;

use super::place::{Ended, Place};

/// The texts of the events among lines of a stream.
fn said<'l>(lines: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let events = lines
        .into_iter()
        .map(|line| serde_json::from_str(line).unwrap());
    let events = events.filter(|event: &Json| event["type"] == "custom");
    let texts = events.map(|event| {
        event["data"]["payload"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    texts.collect()
}

#[test]
fn of_a_reply_that_is_kept_they_are_said_once() {
    let place = Place::new("words", "words", "1.0");
    let how = ["--stream", "custom"];
    let mut process = place.run(r#"{"task": "step 1 times"}"#, &how);
    let mut lines = BufReader::new(process.child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert_eq!(said([&*first]), ["I call step."]);
    // A call begins when the reply that asks for it is kept.
    place.until("begin", 1);
    place.kill(process);
    assert!(lines.next().is_none());

    let ended = Ended::of(place.resume(&how));
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(said(ended.stdout.lines()), ["did it 1 times"]);
}
