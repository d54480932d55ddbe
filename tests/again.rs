//! What a reader has seen is left out (`--after`).

use graphc::cli::running::run::again::Again;
use graphc::run::event::{Event, EventKind, Speaker};
use serde_json::Value as Json;

fn event(id: &str, kind: EventKind) -> Event {
    Event {
        seq: 0,
        id: id.to_owned(),
        ns: String::new(),
        step: 0,
        node: None,
        skipped: 0,
        thread_id: "t".into(),
        run_id: "r".into(),
        kind,
    }
}

fn started(id: &str) -> Event {
    event(id, EventKind::TaskStarted { send: None })
}

fn emitted(id: &str) -> Event {
    let (name, payload) = ("at".to_owned(), Json::Null);
    event(
        id,
        EventKind::Custom {
            name,
            payload,
            during: None,
        },
    )
}

fn ended(id: &str) -> Event {
    let (send, error) = (None, None);
    event(id, EventKind::TaskFinished { send, error })
}

fn told(after: &[&str], events: Vec<Event>) -> Vec<String> {
    let mut again = Again::after(after.iter().map(|id| id.to_string()).collect());
    let mut told: Vec<Event> = Vec::new();
    for event in events {
        told.extend(again.tell(event));
    }
    told.extend(again.rest());
    told.into_iter().map(|event| event.id).collect()
}

#[test]
fn what_a_task_has_told_is_left_out() {
    let events = || {
        vec![
            started("1:a"),
            started("1:b"),
            emitted("1:a#emit:at@0"),
            emitted("1:b#emit:at@0"),
            emitted("1:a#emit:at@1"),
            ended("1:a#end"),
        ]
    };
    assert_eq!(
        told(&["1:a#emit:at@0"], events()),
        ["1:b", "1:b#emit:at@0", "1:a#emit:at@1", "1:a#end"]
    );
    assert_eq!(
        told(&["1:a#emit:at@0", "1:a#emit:at@1", "1:b"], events()),
        ["1:b#emit:at@0", "1:a#end"]
    );
    // What several events are called, and what a message is.
    let spoken = || {
        let (task, send) = ("1:a".to_owned(), None);
        let by = Speaker { task, send };
        let message = |id: &str| {
            let (message, by) = (Json::Null, by.clone());
            event(id, EventKind::Message { message, by })
        };
        vec![
            started("1:a"),
            message("1:a/0"),
            message("1:a/1"),
            event("1:a", EventKind::Updates(Json::Null)),
            ended("1:a#end"),
        ]
    };
    assert_eq!(told(&["1:a/0"], spoken()), ["1:a/1", "1:a", "1:a#end"]);
    assert_eq!(told(&["updates:1:a"], spoken()), ["1:a#end"]);
    assert_eq!(told(&["tasks:1:a"], spoken()).len(), 4);
    // What never comes again holds nothing back.
    let mut again = Again::after(vec!["1:a#wait-00ff".into(), "1:a#tool:f@0!1".into()]);
    assert_eq!(again.tell(started("1:a")).len(), 1);
    // What does not come again was of something else.
    assert_eq!(told(&["1:a#emit:other@0", "0:z"], events()).len(), 6);
    assert_eq!(told(&["1:b#end"], events()).len(), 6);
}
