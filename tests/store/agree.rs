//! Whatever is appended, in whatever order: a file and a database say the same as the memory does.

use std::sync::{Arc, LazyLock};

use graphc::run::store::{Change, EffectKey, Effects, Keep, Record, RunState, Store, ThreadImage};
use graphc::value::Value;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::records::*;

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
        2 => (step.clone(), select(vec!["t", "u"]), 0..4_u8).prop_map(
            |(step, task, id)| effect(step, task, &id.to_string())
        ),
        1 => (step, select(vec!["t", "u"]), 0..4_u8).prop_map(
            |(root_step, task, id)| Record::Forget(EffectKey {
                root_step,
                task: task.to_string(),
                id: id.to_string(),
            })
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
        for seq in [3, 15, 40] {
            let state = async |store: &Arc<dyn Store>| store.state("t", frame, seq).await.unwrap();
            assert_eq!(state(one).await, state(two).await);
        }
    }
}

/// What both say of the thread's past.
async fn compare_past(one: &Arc<dyn Store>, two: &Arc<dyn Store>, thread: &str) {
    let all = async |store: &Arc<dyn Store>| store.checkpoints(thread, None, 99).await.unwrap();
    let checkpoints = all(one).await;
    assert_eq!(checkpoints, all(two).await);
    let effects = async |store: &Arc<dyn Store>| {
        let listed = store.effects(thread, None, 99).await.unwrap();
        let listed = listed.into_iter();
        listed.map(|e| (e.behind, e.effect)).collect::<Vec<_>>()
    };
    assert_eq!(effects(one).await, effects(two).await);
    for checkpoint in &checkpoints {
        for effects in [Effects::Before, Effects::All] {
            let image = async |store: &Arc<dyn Store>| {
                let image = store.image_at(thread, checkpoint.seq, effects);
                image.await.unwrap()
            };
            assert_eq!(image(one).await, image(two).await);
        }
    }
}

/// Forks the thread and compacts it, in all.
async fn change_past(stores: &[Arc<dyn Store>], (at, effects, keep): (u64, Effects, Keep)) {
    for other in &stores[1..] {
        compare_past(&stores[0], other, "t").await;
    }
    let mut said = Vec::new();
    let even = |mut image: ThreadImage| {
        let frames = image.frames.iter_mut();
        let fields = frames.flat_map(|frame| frame.fields.values_mut());
        fields.for_each(|field| field.changes = 0);
        image
    };
    for store in stores {
        let to = store.acquire("fork").await.unwrap();
        let status = super::past::forked(at);
        let forked = store.fork("t", at, effects, &to, &status).await;
        let before = store.load("t").await.unwrap().map(even);
        store.release(to).await.unwrap();
        let lease = store.acquire("t").await.unwrap();
        let done = store.compact(&lease, keep).await.unwrap();
        assert_eq!(store.load("t").await.unwrap().map(even), before);
        said.push((forked.map_err(|error| error.to_string()), done));
    }
    for (other, said_there) in stores.iter().zip(&said).skip(1) {
        assert_eq!(&said[0], said_there);
        compare_past(&stores[0], other, "t").await;
        compare_past(&stores[0], other, "fork").await;
    }
}

async fn run(appends: Vec<Vec<Record>>, past: (u64, Effects, Keep)) {
    // One schema for all cases: tables take longer to make than a case to run.
    static URL: LazyLock<String> = LazyLock::new(|| crate::cluster::shared().url());
    let postgres = super::postgres_at(&URL);
    for thread in ["t", "fork"] {
        postgres.delete(thread).await.unwrap();
    }
    let stores = [super::memory(), super::sqlite_file(), postgres];
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
    for (store, lease) in stores.iter().zip(leases) {
        store.release(lease).await.unwrap();
    }
    change_past(&stores, past).await;
}

fn past() -> impl Strategy<Value = (u64, Effects, Keep)> {
    let keep = prop_oneof![
        (0..6_u64).prop_map(Keep::Newest),
        (0..20_u64).prop_map(Keep::Since)
    ];
    let effects = select(vec![Effects::Before, Effects::All]);
    (1..20_u64, effects, keep)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn stores_agree(
        appends in prop::collection::vec(prop::collection::vec(record(), 0..5), 1..12),
        past in past(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(run(appends, past));
    }
}
