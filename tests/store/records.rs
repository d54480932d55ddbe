//! Records that cases are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use graphc::run::store::{
    Change, Checkpoint, EffectRecord, FieldWrite, Lease, Record, RunState, Source, Store,
    StoreError, ThreadImage, ThreadStatus,
};
use graphc::value::Value;
use serde_json::json;

pub const AT: &str = "2026-01-09T12:00:00Z";

pub fn status(state: RunState) -> Record {
    Record::Status(ThreadStatus {
        state,
        graph: "main".into(),
        version: "v1".into(),
        run_id: "run".into(),
        interrupts: vec![json!({ "id": "a", "payload": ["?"] })],
        error: None,
        context: serde_json::Value::Null,
        usage: json!({ "input_tokens": 3 }),
        named_from: Some(0),
        life: Some("b5".into()),
        forked_from: None,
        interrupt_before: vec!["ask".into()],
        recursion_limit: Some(7),
        served_by: [("profile".to_owned(), "local".to_owned())].into(),
        at: AT.into(),
    })
}

/// A checkpoint of the root.
pub fn root(seq: u64, step: u64, writes: Vec<(&str, Change)>) -> Record {
    nested(seq, "", step, step, writes)
}

/// A checkpoint of any frame.
pub fn nested(
    seq: u64,
    frame: &str,
    step: u64,
    root_step: u64,
    writes: Vec<(&str, Change)>,
) -> Record {
    let writes = writes.into_iter().map(|(field, change)| FieldWrite {
        field: field.into(),
        change,
    });
    Record::Checkpoint(Checkpoint {
        seq,
        frame: frame.into(),
        step,
        root_step,
        run_id: "run".into(),
        source: match seq {
            1 => Source::Input,
            _ => Source::Step,
        },
        writes: writes.collect(),
        schedule: json!({ "tasks": [seq] }),
        at: AT.into(),
    })
}

pub fn effect(root_step: u64, task: &str, id: &str) -> Record {
    Record::Effect(effect_record(root_step, task, id))
}

pub fn effect_record(root_step: u64, task: &str, id: &str) -> EffectRecord {
    EffectRecord {
        task: task.into(),
        id: id.into(),
        root_step,
        kind: "tool".into(),
        subject: format!("{task}#search"),
        outcome: json!({ "found": [id, null, 1.5] }),
    }
}

pub fn put(value: impl Into<Value>) -> Change {
    Change::Put(value.into())
}

pub fn append(items: &[&str]) -> Change {
    Change::Append(items.iter().map(|item| Value::from(*item)).collect())
}

pub fn merge(entries: &[(&str, i64)]) -> Change {
    let entry = |(key, value): &(&str, i64)| (key.to_string(), Value::Int(*value));
    Change::Merge(entries.iter().map(entry).collect())
}

pub fn texts(items: &[&str]) -> Value {
    items
        .iter()
        .map(|item| Value::from(*item))
        .collect::<Vec<_>>()
        .into()
}

pub fn values(entries: &[(&str, Value)]) -> BTreeMap<String, Value> {
    let entry = |(name, value): &(&str, Value)| (name.to_string(), value.clone());
    entries.iter().map(entry).collect()
}

/// A new thread with a status and checkpoint 1 of step 1 of the root.
pub async fn begin(store: &Arc<dyn Store>, thread: &str) -> Lease {
    let lease = store.acquire(thread).await.unwrap();
    let first = [status(RunState::Running), root(1, 1, vec![])];
    store.append(&lease, &first).await.unwrap();
    lease
}

pub async fn load(store: &Arc<dyn Store>, thread: &str) -> ThreadImage {
    store.load(thread).await.unwrap().unwrap()
}

/// Values of the fields of a frame of an image.
pub fn fields(image: &ThreadImage, frame: &str) -> BTreeMap<String, Value> {
    let frame = image.frames.iter().find(|f| f.frame == frame).unwrap();
    let field = |(name, field): (&String, &graphc::run::store::FieldImage)| {
        (name.clone(), field.value.clone())
    };
    frame.fields.iter().map(field).collect()
}

pub fn is_busy<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Busy { .. }))
}

pub fn is_fenced<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Fenced { .. }))
}

/// The message of a result that must be an error.
pub fn message<T>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(_) => panic!("that was let through"),
        Err(error) => error.to_string(),
    }
}
