//! Where a question stands.

use graphc::run::interrupt::OpenInterrupt;
use serde_json::Value as Json;

fn open(task: &str, node: &str) -> OpenInterrupt {
    OpenInterrupt {
        id: String::new(),
        node: node.to_owned(),
        path: String::new(),
        ask: Json::Null,
        permits: Vec::new(),
        changed: false,
        expect: None,
        task: task.to_owned(),
        effect: String::new(),
    }
}

#[test]
fn places_have_the_indices_of_sends() {
    for (task, node, place) in [
        ("0:ask", "ask", "ask"),
        ("3:ask[2]", "ask", "ask[2]"),
        ("0:work[1]/4:deep/0:ask", "ask", "work[1]/deep/ask"),
        ("0:work[1]/0:pay[0]", "gate", "work[1]/gate[0]"),
    ] {
        assert_eq!(open(task, node).place(), place);
    }
}

#[test]
fn parts_without_an_index_stand_for_any() {
    let open = open("0:work[1]/0:ask[3]", "ask");
    for path in ["work[1]/ask[3]", "work/ask", "work[1]/ask", "work/ask[3]"] {
        assert!(open.is_at(path), "{path}");
    }
    for path in ["work[0]/ask", "work", "ask[3]", "work[1]/ask[3]/x", ""] {
        assert!(!open.is_at(path), "{path}");
    }
}
