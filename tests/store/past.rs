//! States of old, forks, compaction, listings.

use std::sync::Arc;

use graphc::run::store::{
    Change, Checkpoint, EffectKey, Effects, ForkedFrom, Keep, Lease, Record, RunState, Store,
    StoreError, ThreadImage, ThreadStatus,
};
use graphc::value::Value;

use super::records::*;

type Any = Arc<dyn Store>;

/// Where a fork of `t` stands before it has run.
pub fn forked(checkpoint: u64) -> [Record; 1] {
    [Record::Status(forked_status(checkpoint))]
}

fn forked_status(checkpoint: u64) -> ThreadStatus {
    let Record::Status(status) = status(RunState::Ready) else {
        unreachable!()
    };
    ThreadStatus {
        interrupts: Vec::new(),
        forked_from: Some(Box::new(ForkedFrom {
            stood: [(String::new(), 1)].into(),
            thread_id: "t".into(),
            checkpoint,
            first: "t".into(),
        })),
        ..status
    }
}

/// A thread with two steps of the root, in the second of which two calls are under way, and effects before, between and after
/// the checkpoints.
async fn eventful(store: &Any) -> Lease {
    let lease = begin(store, "t").await;
    let records = [
        effect(1, "1:ask", "model@0"),
        root(2, 2, vec![("log", append(&["a"])), ("n", put(1))]),
        effect(2, "2:call", "now@0"),
        nested(3, "2:call/", 0, 2, vec![("x", put(1))]),
        effect(2, "2:call/0:inner", "model@0"),
        nested(4, "2:other/", 0, 2, vec![("y", append(&["p"]))]),
        nested(5, "2:call/", 1, 2, vec![("x", put(2))]),
        effect(2, "2:call/1:inner", "model@0"),
        nested(6, "2:other/", 1, 2, vec![("y", append(&["q"]))]),
        root(7, 3, vec![("log", append(&["b"])), ("n", Change::Clear)]),
        effect(3, "3:last", "model@0"),
        root(8, 4, vec![("log", append(&["c"]))]),
    ];
    store.append(&lease, &records).await.unwrap();
    lease
}

fn ids(image: &ThreadImage) -> Vec<&str> {
    image.effects.iter().map(|e| e.task.as_str()).collect()
}

fn seqs(image: &ThreadImage) -> Vec<(&str, u64)> {
    let frames = image.frames.iter();
    frames.map(|f| (f.frame.as_str(), f.seq)).collect()
}

/// Without what a compaction may change.
fn even(mut image: ThreadImage) -> ThreadImage {
    let fields = image.frames.iter_mut().flat_map(|f| f.fields.values_mut());
    fields.for_each(|field| field.changes = 0);
    image
}

pub async fn an_image_is_that_of_an_older_checkpoint(store: Any) {
    eventful(&store).await;
    let image = async |seq| store.image_at("t", seq, Effects::Before).await.unwrap();
    let at_2 = image(2).await;
    assert_eq!((at_2.last_seq, seqs(&at_2)), (2, vec![("", 2)]));
    let was = values(&[("log", texts(&["a"])), ("n", Value::Int(1))]);
    assert_eq!(fields(&at_2, ""), was);
    assert_eq!(at_2.frames[0].schedule, serde_json::json!({ "tasks": [2] }));
    let at_5 = image(5).await;
    let frames = vec![("", 2), ("2:other/", 4), ("2:call/", 5)];
    assert_eq!(seqs(&at_5), frames);
    assert_eq!(fields(&at_5, "2:other/"), values(&[("y", texts(&["p"]))]));
    assert_eq!(fields(&at_5, "2:call/"), values(&[("x", Value::Int(2))]));
    let at_8 = image(8).await;
    assert_eq!(seqs(&at_8), [("", 8)]);
    assert_eq!(
        fields(&at_8, ""),
        values(&[("log", texts(&["a", "b", "c"]))])
    );
}

pub async fn an_image_has_the_effects_of_its_time_or_all(store: Any) {
    eventful(&store).await;
    let image = async |seq, effects| store.image_at("t", seq, effects).await.unwrap();
    // At a checkpoint of the root its step has not begun.
    let at_2 = image(2, Effects::Before).await;
    assert_eq!(at_2.effects, []);
    assert_eq!(at_2.counts.len(), 1);
    let at_5 = image(5, Effects::Before).await;
    assert_eq!(ids(&at_5), ["2:call", "2:call/0:inner"]);
    assert_eq!(at_5.counts.values().sum::<u64>(), 3);
    let all = image(5, Effects::All).await;
    assert_eq!(
        ids(&all),
        ["2:call", "2:call/0:inner", "2:call/1:inner", "3:last"]
    );
    assert_eq!(all.counts, load(&store, "t").await.counts);
    assert_eq!(ids(&image(7, Effects::All).await), ["3:last"]);
}

pub async fn the_latest_image_is_what_a_resume_reads(store: Any) {
    let lease = eventful(&store).await;
    store
        .append(&lease, &[effect(4, "4:end", "model@0")])
        .await
        .unwrap();
    let latest = store.image_at("t", 8, Effects::All).await.unwrap();
    assert_eq!(latest, load(&store, "t").await);
    assert_eq!(ids(&latest), ["4:end"]);
}

pub async fn an_unknown_checkpoint_names_the_nearest(store: Any) {
    let lease = begin(&store, "t").await;
    let records = [root(4, 2, vec![]), root(9, 3, vec![])];
    store.append(&lease, &records).await.unwrap();
    let refusal = async |seq| message(store.image_at("t", seq, Effects::All).await);
    assert_eq!(
        refusal(5).await,
        "thread `t` has no checkpoint 5; the nearest are 4 and 9"
    );
    assert_eq!(
        refusal(10).await,
        "thread `t` has no checkpoint 10; the latest is 9"
    );
    assert_eq!(
        refusal(0).await,
        "thread `t` has no checkpoint 0; the earliest is 1"
    );
    let unknown = store.image_at("u", 1, Effects::All).await;
    assert_eq!(message(unknown), "there is no thread `u`");
}

pub async fn a_fork_has_what_was_and_stands_alone(store: Any) {
    let lease = eventful(&store).await;
    let to = store.acquire("fork").await.unwrap();
    store
        .fork("t", 5, Effects::Before, &to, &forked(5))
        .await
        .unwrap();
    let was = store.image_at("t", 5, Effects::Before).await.unwrap();
    let fork = load(&store, "fork").await;
    assert_eq!(fork.status, forked_status(5));
    let expected = ThreadImage {
        status: forked_status(5),
        ..was
    };
    assert_eq!(fork, expected);
    let info = store.thread("fork").await.unwrap().unwrap();
    assert_eq!((info.checkpoint, info.created_at.as_str()), (5, AT));
    assert_eq!(store.threads().await.unwrap()[0].thread_id, "fork");
    // All that lies before comes with it.
    let history = store.history("fork", None, 10).await.unwrap();
    assert_eq!(history, store.history("t", Some(6), 10).await.unwrap());
    assert_eq!(
        store.state("fork", "", 1).await.unwrap(),
        store.state("t", "", 1).await.unwrap()
    );

    // Each goes its own way, with the same numbers.
    let before = load(&store, "t").await;
    let records = [
        root(6, 3, vec![("log", append(&["fork"]))]),
        effect(3, "3:last", "model@0"),
    ];
    store.append(&to, &records).await.unwrap();
    assert_eq!(load(&store, "t").await, before);
    store
        .append(&lease, &[root(9, 5, vec![("log", put(texts(&[])))])])
        .await
        .unwrap();
    let fork = load(&store, "fork").await;
    assert_eq!(fields(&fork, "")["log"], texts(&["a", "fork"]));
    store.release(lease).await.unwrap();
    store.delete("t").await.unwrap();
    assert_eq!(load(&store, "fork").await, fork);
}

pub async fn a_fork_keeps_later_effects_or_not(store: Any) {
    eventful(&store).await;
    let fork = async |id: &str, at, effects| {
        let to = store.acquire(id).await.unwrap();
        store
            .fork("t", at, effects, &to, &forked(at))
            .await
            .unwrap();
        (load(&store, id).await, to)
    };
    let (kept, to) = fork("kept", 2, Effects::All).await;
    assert_eq!(
        ids(&kept),
        ["2:call", "2:call/0:inner", "2:call/1:inner", "3:last"]
    );
    assert_eq!(kept.counts, load(&store, "t").await.counts);
    // What is there already can't be made a second time.
    let again = store.append(&to, &[effect(3, "3:last", "model@0")]).await;
    assert!(message(again).contains("there already"));
    store
        .append(&to, &[root(3, 3, vec![]), effect(3, "3:more", "model@0")])
        .await
        .unwrap();
    assert_eq!(ids(&load(&store, "kept").await), ["3:last", "3:more"]);

    let image = async |seq, until| {
        let image = store.image_at("t", seq, Effects::Until(until)).await;
        let image = image.unwrap();
        let counted = image.counts.values().sum::<u64>();
        (image, counted)
    };
    let (of_2, counted) = image(2, 6).await;
    assert_eq!(
        (ids(&of_2), counted),
        (vec!["2:call", "2:call/0:inner", "2:call/1:inner"], 4)
    );
    let (of_5, counted) = image(5, 5).await;
    assert_eq!((ids(&of_5), counted), (vec!["2:call", "2:call/0:inner"], 3));
    assert_eq!(image(7, 8).await.0.effects.len(), 1);
    let (some, _) = fork("some", 2, Effects::Until(6)).await;
    assert_eq!((some.effects, some.counts), (of_2.effects, of_2.counts));
    let listed = store.effects("some", None, 10).await.unwrap();
    assert_eq!(listed.len(), 4);

    let (afresh, to) = fork("afresh", 2, Effects::Before).await;
    assert_eq!((ids(&afresh).len(), afresh.counts.len()), (0, 1));
    let listed = store.effects("afresh", None, 10).await.unwrap();
    assert_eq!(listed.len(), 1);
    store
        .append(&to, &[effect(2, "2:call", "now@0")])
        .await
        .unwrap();
}

pub async fn a_fork_is_refused_where_it_can_not_be(store: Any) {
    let lease = eventful(&store).await;
    begin(&store, "taken").await;
    let taken = store.release(lease).await.and(Ok(()));
    taken.unwrap();
    let fork = async |from: &str, at, to: &Lease| {
        store.fork(from, at, Effects::All, to, &forked(at)).await
    };
    let own = store.acquire("t").await.unwrap();
    let refusal = message(fork("t", 2, &own).await);
    assert_eq!(
        refusal,
        "there is a thread `t` already; nothing was written"
    );
    let to = store.acquire("new").await.unwrap();
    assert!(matches!(
        fork("t", 9, &to).await,
        Err(StoreError::NoCheckpoint {
            seq: 9,
            before: Some(8),
            after: None,
            ..
        })
    ));
    assert!(matches!(
        fork("nobody", 1, &to).await,
        Err(StoreError::NoThread { .. })
    ));
    let old = to.clone();
    store.release(to).await.unwrap();
    assert!(is_fenced(fork("t", 2, &old).await));
    assert_eq!(store.thread("new").await.unwrap(), None);
    assert_eq!(store.threads().await.unwrap().len(), 2);
}

pub async fn a_fork_begins_with_records_of_its_own(store: Any) {
    eventful(&store).await;
    let to = store.acquire("new").await.unwrap();
    let edit = root(6, 3, vec![("log", append(&["edited"]))]);
    let fork = async |records: &[Record]| store.fork("t", 5, Effects::Before, &to, records).await;
    // Wrong ones make no thread, nor do none.
    let refusal = message(fork(&[]).await);
    assert!(refusal.contains("no status"), "{refusal}");
    let wrong = [status(RunState::Ready), root(5, 3, vec![])];
    let refusal = message(fork(&wrong).await);
    assert!(refusal.contains("doesn't come after"), "{refusal}");
    assert_eq!(store.thread("new").await.unwrap(), None);
    fork(&[edit, status(RunState::Ready)]).await.unwrap();
    let image = load(&store, "new").await;
    assert_eq!(seqs(&image), [("", 6)]);
    assert_eq!(fields(&image, "")["log"], texts(&["a", "edited"]));
    assert_eq!(image.status.state, RunState::Ready);
}

pub async fn forks_are_made_while_their_source_is_written(store: Any) {
    let lease = begin(&store, "t").await;
    let writer = async {
        for seq in 2..40 {
            let step = [
                root(seq, seq, vec![("log", append(&["x"]))]),
                effect(seq, "t", "0"),
            ];
            store.append(&lease, &step).await.unwrap();
        }
    };
    let forks = async {
        for n in 0..10 {
            let id = format!("f{n}");
            let at = store.thread("t").await.unwrap().unwrap().checkpoint;
            let to = store.acquire(&id).await.unwrap();
            store
                .fork("t", at, Effects::Before, &to, &forked(at))
                .await
                .unwrap();
            let fork = load(&store, &id).await;
            let log = fields(&fork, "").get("log").cloned();
            let items = log.map_or(0, |log| log.as_list().unwrap().len() as u64);
            assert_eq!((fork.last_seq, items), (at, at - 1));
            assert_eq!(fork.effects, []);
        }
    };
    tokio::join!(writer, forks);
}

/// Compacts, and shows that all that is kept reads as before.
async fn compact(store: &Any, lease: &Lease, keep: Keep) -> graphc::run::store::Compacted {
    let thread = lease.thread_id.as_str();
    let all = store.history(thread, None, usize::MAX).await.unwrap();
    let mut images = Vec::new();
    for info in &all {
        for effects in [Effects::Before, Effects::All] {
            let image = store.image_at(thread, info.seq, effects).await.unwrap();
            images.push((info.seq, effects, even(image)));
        }
    }
    let latest = even(load(store, thread).await);
    let done = store.compact(lease, keep).await.unwrap();
    assert_eq!(even(load(store, thread).await), latest);
    let left = store.history(thread, None, usize::MAX).await.unwrap();
    assert_eq!(left.len() as u64 + done.checkpoints, all.len() as u64);
    assert_eq!(left, all[..left.len()]);
    for (seq, effects, image) in images {
        let now = store.image_at(thread, seq, effects).await;
        match left.iter().any(|info| info.seq == seq) {
            true => assert_eq!(even(now.unwrap()), image),
            false => assert!(matches!(now, Err(StoreError::NoCheckpoint { .. }))),
        }
    }
    done
}

pub async fn compaction_keeps_what_is_kept(store: Any) {
    let lease = eventful(&store).await;
    let counts = load(&store, "t").await.counts;
    let done = compact(&store, &lease, Keep::Newest(2)).await;
    assert_eq!((done.checkpoints, done.effects), (6, 4));
    let left = store.history("t", None, 10).await.unwrap();
    assert_eq!(left.iter().map(|info| info.seq).collect::<Vec<_>>(), [8, 7]);
    // Of the log one whole value is left, the cleared field is gone, and the frames of old with all they had.
    assert_eq!(done.changes, 3 + 4);
    assert_eq!(store.state("t", "2:call/", 8).await.unwrap(), values(&[]));
    assert_eq!(load(&store, "t").await.counts, counts);
    // The thread goes on.
    store
        .append(&lease, &[root(9, 5, vec![("log", append(&["d"]))])])
        .await
        .unwrap();
    let now = load(&store, "t").await;
    assert_eq!(fields(&now, "")["log"], texts(&["a", "b", "c", "d"]));
    assert!(message(store.append(&lease, &[root(9, 6, vec![])]).await).contains("doesn't come"));

    // Nothing is left to do the second time, and all may be let go but the latest.
    let again = compact(&store, &lease, Keep::Since(7)).await;
    assert_eq!(again, graphc::run::store::Compacted::default());
    let done = compact(&store, &lease, Keep::Newest(0)).await;
    assert_eq!((done.checkpoints, done.effects), (2, 1));
    let left = store.history("t", None, 10).await.unwrap();
    assert_eq!(left.len(), 1);
}

pub async fn compaction_keeps_live_frames(store: Any) {
    let lease = begin(&store, "t").await;
    let records = [
        root(2, 2, vec![("n", put(1))]),
        nested(3, "2:call/", 0, 2, vec![("x", append(&["a"]))]),
        effect(2, "2:call/0:inner", "model@0"),
        // The root's step once more, as a migration writes it.
        root(4, 2, vec![("n", put(2))]),
        nested(5, "2:call/", 1, 2, vec![("x", append(&["b"]))]),
    ];
    store.append(&lease, &records).await.unwrap();
    let done = compact(&store, &lease, Keep::Newest(1)).await;
    assert_eq!((done.checkpoints, done.effects, done.changes), (1, 0, 0));
    let image = load(&store, "t").await;
    assert_eq!(fields(&image, "2:call/")["x"], texts(&["a", "b"]));
    assert_eq!(ids(&image), ["2:call/0:inner"]);
}

pub async fn compaction_needs_the_lease_and_a_checkpoint(store: Any) {
    let lease = begin(&store, "t").await;
    store.release(lease.clone()).await.unwrap();
    assert!(is_fenced(store.compact(&lease, Keep::Newest(1)).await));
    let none = store.acquire("none").await.unwrap();
    let nothing = graphc::run::store::Compacted::default();
    assert_eq!(
        store.compact(&none, Keep::Newest(1)).await.unwrap(),
        nothing
    );
    store
        .append(&none, &[status(RunState::Failed), effect(1, "a", "0")])
        .await
        .unwrap();
    assert_eq!(
        store.compact(&none, Keep::Newest(1)).await.unwrap(),
        nothing
    );
    assert_eq!(store.reclaim().await.unwrap_or_default(), 0);
}

pub async fn a_compacted_thread_is_forked(store: Any) {
    let lease = eventful(&store).await;
    let was = store.image_at("t", 7, Effects::Before).await.unwrap();
    store.compact(&lease, Keep::Newest(2)).await.unwrap();
    let to = store.acquire("fork").await.unwrap();
    store
        .fork("t", 7, Effects::Before, &to, &forked(7))
        .await
        .unwrap();
    let fork = load(&store, "fork").await;
    let was = ThreadImage {
        status: forked_status(7),
        ..was
    };
    assert_eq!(even(fork), even(was));
    assert!(matches!(
        store.image_at("t", 6, Effects::All).await,
        Err(StoreError::NoCheckpoint {
            before: None,
            after: Some(7),
            ..
        })
    ));
}

pub async fn records_are_listed_whole(store: Any) {
    let lease = eventful(&store).await;
    let list = async |after, limit| store.checkpoints("t", after, limit).await.unwrap();
    let all = list(None, 100).await;
    assert_eq!(all.len(), 8);
    let Record::Checkpoint(seventh) =
        root(7, 3, vec![("log", append(&["b"])), ("n", Change::Clear)])
    else {
        unreachable!()
    };
    assert_eq!(all[6], seventh);
    assert_eq!(list(None, 3).await, all[..3]);
    assert_eq!(list(Some(3), 3).await, all[3..6]);
    assert_eq!(list(Some(8), 3).await, []);
    assert_eq!(list(Some(u64::MAX), 3).await, []);

    let effects = store.effects("t", None, 100).await.unwrap();
    let behind: Vec<_> = effects.iter().map(|listed| listed.behind).collect();
    assert_eq!(behind, [1, 2, 3, 5, 7].map(Some));
    assert_eq!(effects[0].effect, effect_record(1, "1:ask", "model@0"));
    let page = async |after| store.effects("t", after, 2).await.unwrap();
    assert_eq!(page(None).await, effects[..2]);
    assert_eq!(page(Some(effects[1].position)).await, effects[2..4]);
    assert_eq!(page(Some(effects[4].position)).await, []);

    // What a compaction has put together stands with the checkpoint that it is of.
    store.compact(&lease, Keep::Newest(1)).await.unwrap();
    let all: Vec<Checkpoint> = list(None, 100).await;
    assert_eq!(all.len(), 1);
    let names: Vec<_> = all[0].writes.iter().map(|w| w.field.as_str()).collect();
    assert_eq!(names, ["log"]);
    assert_eq!(all[0].writes[0].change, put(texts(&["a", "b", "c"])));
    assert_eq!(store.effects("u", None, 9).await.unwrap(), []);
    assert_eq!(store.checkpoints("u", None, 9).await.unwrap(), []);
}

pub async fn a_forgotten_effect_answers_no_more(store: Any) {
    let lease = begin(&store, "t").await;
    let key = |task: &str| {
        Record::Forget(EffectKey {
            root_step: 1,
            task: task.into(),
            id: "0".into(),
        })
    };
    let records = [
        effect(1, "a", "0"),
        effect(1, "b", "0"),
        key("a"),
        key("nobody"),
    ];
    store.append(&lease, &records).await.unwrap();
    assert_eq!(ids(&load(&store, "t").await), ["b"]);
    // It may be made anew, and was counted.
    let records = [effect(1, "a", "0"), key("a"), effect(1, "a", "0")];
    store.append(&lease, &records).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!(ids(&image), ["b", "a"]);
    let count = |task: &str| image.counts[&("tool".to_string(), format!("{task}#search"))];
    assert_eq!((count("a"), count("b")), (3, 1));
    assert_eq!(store.effects("t", None, 9).await.unwrap().len(), 2);
}
