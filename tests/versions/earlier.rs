//! Threads that an earlier version of the program has kept, in which ids of effects were positions in the task.

use std::sync::Arc;

use graphc::run::store::{Change, Checkpoint, FieldWrite, Record, Source, Store, ThreadImage};
use graphc::store::MemoryStore;
use serde_json::Value as Json;

use super::play::play;

const CASE: &str = r#"
tool pay(q: string) -> string @effect(write) @timeout(9s)
tool charge(q: string) -> string @effect(write) @timeout(9s) @approve
graph Main {
  state { out log: list<string> via append }
  start -> [c, ask, more, asks]
  [c, ask, more, asks] -> d
  interrupt sure before c { ask "sure?" expect bool }
  node c: call pay(q: "a") { let k = uuid() require k != "" set { log: [result + string(size(k)) + string(sure)] } }
  node ask: interrupt { ask "?" expect string set { log: [answer] } }
  node more: interrupt { ask "?" expect string set { log: [answer] } }
  node asks: call charge(q: "z") { set { log: [result] } }
  node d: call pay(q: "b") -> end { set { log: [result] } }
}
"#;

const BEFORE: &str = "//> waits sure ask more asks
//> answer sure true
//> waits ask more asks
//> calls 1
";

/// The thread waits once more in the step that the earlier version left it in, and goes on into another.
const AFTER: &str = "//> answer ask \"x\"
//> waits more asks
//> answer asks {\"decision\": \"approve\"}
//> calls 2
//> waits more
//> answer more \"y\"
//> calls 3
//> keys 3
//> output {\"log\": [\"a36true\", \"x\", \"y\", \"z\", \"b\"]}
";

/// By what effects are of, where they stood.
const POSITIONS: [(&str, &str); 7] = [
    ("ask:sure@0", "0"),
    ("answer:sure@0", "1"),
    ("uuid@0", "2"),
    ("tool:pay@0.tool@0", "3.0"),
    ("tool:charge@0.approve@0&", "0.0&"),
    ("ask@0", "0"),
    ("answer@0", "1"),
];

fn numbered(id: &str) -> String {
    let found = POSITIONS.iter().find(|(named, _)| *named == id);
    found.unwrap_or_else(|| panic!("{id}")).1.to_owned()
}

/// The thread's records as the earlier version would have written them.
fn earlier(image: ThreadImage) -> Vec<Record> {
    let root = &image.frames[0];
    let writes = root.fields.iter().map(|(field, kept)| FieldWrite {
        field: field.clone(),
        change: Change::Put(kept.value.clone()),
    });
    let mut records = vec![Record::Checkpoint(Checkpoint {
        seq: root.seq,
        frame: root.frame.clone(),
        step: root.step,
        root_step: root.step,
        run_id: root.run_id.clone(),
        source: Source::Step,
        writes: writes.collect(),
        schedule: root.schedule.clone(),
        at: image.status.at.clone(),
    })];
    for mut effect in image.effects {
        effect.id = numbered(&effect.id);
        records.push(Record::Effect(effect));
    }
    let mut status = image.status;
    for open in &mut status.interrupts {
        open["effect"] = Json::String(numbered(open["effect"].as_str().unwrap()));
    }
    status.named_from = None;
    records.push(Record::Status(status));
    records
}

#[tokio::test]
async fn goes_on_with_its_own_ids() {
    let store = Arc::new(MemoryStore::default());
    let rewritten = async || {
        let image = store.load("t").await.unwrap().unwrap();
        store.delete("t").await.unwrap();
        let lease = store.acquire("t").await.unwrap();
        store.append(&lease, &earlier(image)).await.unwrap();
        store.release(lease).await.unwrap();
    };
    let text = format!("{CASE}{BEFORE}// ---- new\n{CASE}{AFTER}");
    play("earlier", &text, &store, rewritten).await;
    let image = store.load("t").await.unwrap().unwrap();
    assert!(image.status.named_from.is_some());
    let ids: Vec<&str> = image.effects.iter().map(|e| e.id.as_str()).collect();
    assert!(ids.iter().all(|id| id.starts_with("tool:pay@0")), "{ids:?}");
}
