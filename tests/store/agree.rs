//! Whatever is appended, in whatever order: a file and a database say the same as the memory does.

use std::sync::Arc;

use graphc::run::store::{Change, Record, RunState, Store};
use graphc::value::Value;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::records::*;

const FRAMES: [&str; 3] = ["", "a", "b"];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<i64>().prop_map(put),
        Just(put(texts(&["p", "q"]))),
        Just(put(Value::from_json(&json!({ "k": [1.5] })))),
        Just(append(&["x"])),
        Just(append(&["y", "z"])),
        (0..3_i64).prop_map(|n| merge(&[("k", n), ("l", n)])),
        Just(Change::Clear),
    ]
}

/// Records of a thread whose steps mostly go up, and now and then don't.
fn record() -> impl Strategy<Value = Record> {
    let writes = prop::collection::vec((select(vec!["f", "g"]), change()), 0..3);
    let step = 1..4_u64;
    prop_oneof![
        4 => (1..40_u64, select(FRAMES.to_vec()), step.clone(), writes).prop_map(
            |(seq, frame, step, writes)| match frame {
                "" => root(seq, step, writes),
                _ => nested(seq, frame, seq, step, writes),
            }
        ),
        2 => (step, select(vec!["t", "u"]), 0..4_u8).prop_map(
            |(step, task, id)| effect(step, task, &id.to_string())
        ),
        1 => select(vec![RunState::Running, RunState::Done]).prop_map(status),
    ]
}

async fn compare(one: &Arc<dyn Store>, two: &Arc<dyn Store>) {
    assert_eq!(one.load("t").await.unwrap(), two.load("t").await.unwrap());
    assert_eq!(one.threads().await.unwrap(), two.threads().await.unwrap());
    for before in [None, Some(20)] {
        let page = async |store: &Arc<dyn Store>| store.history("t", before, 5).await.unwrap();
        assert_eq!(page(one).await, page(two).await);
    }
    for frame in FRAMES {
        for seq in [3, 10, 20, 40] {
            let state = async |store: &Arc<dyn Store>| store.state("t", frame, seq).await.unwrap();
            assert_eq!(state(one).await, state(two).await);
        }
    }
}

async fn run(appends: Vec<Vec<Record>>) {
    let stores = [
        crate::memory(),
        crate::sqlite_file(),
        crate::postgres_schema(),
    ];
    let mut leases = Vec::new();
    for store in &stores {
        leases.push(store.acquire("t").await.unwrap());
    }
    for mut records in appends {
        // Checkpoints are numbered on, but for the few that break that rule.
        let mut last = stores[0]
            .thread("t")
            .await
            .unwrap()
            .map_or(0, |t| t.checkpoint);
        for record in &mut records {
            if let Record::Checkpoint(checkpoint) = record
                && checkpoint.seq % 8 != 0
            {
                last += 1;
                checkpoint.seq = last;
            }
        }
        let mut kept = Vec::new();
        for (store, lease) in stores.iter().zip(&leases) {
            let done = store.append(lease, &records).await;
            kept.push(done.map_err(|error| error.to_string()));
        }
        assert_eq!(kept[0], kept[1]);
        assert_eq!(kept[0], kept[2]);
        compare(&stores[0], &stores[1]).await;
        compare(&stores[0], &stores[2]).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn stores_agree(appends in prop::collection::vec(prop::collection::vec(record(), 0..5), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(run(appends));
    }
}
