//! One writer a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use graphc::run::store::{RunState, Store};

use super::records::*;

type Any = Arc<dyn Store>;

pub async fn a_thread_has_one_writer(store: Any) {
    let lease = begin(&store, "t").await;
    let refusal = message(store.acquire("t").await);
    assert!(
        refusal.starts_with("thread `t` is in use by another run of this process"),
        "{refusal}"
    );
    assert!(is_busy(store.acquire("t").await));
    // Others are free, and a reader needs no lease.
    store.acquire("u").await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, 1);
    store.release(lease).await.unwrap();
    store.acquire("t").await.unwrap();
}

pub async fn an_old_lease_is_fenced_off(store: Any) {
    let old = begin(&store, "t").await;
    store.release(old.clone()).await.unwrap();
    assert!(is_fenced(store.append(&old, &[root(2, 2, vec![])]).await));
    let new = store.acquire("t").await.unwrap();
    assert!(new.token > old.token);
    assert!(is_fenced(store.append(&old, &[root(2, 2, vec![])]).await));
    store.append(&new, &[root(2, 2, vec![])]).await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, 2);
}

pub async fn an_old_lease_releases_nothing(store: Any) {
    let old = begin(&store, "t").await;
    store.release(old.clone()).await.unwrap();
    let new = store.acquire("t").await.unwrap();
    store.release(old).await.unwrap();
    assert!(is_busy(store.acquire("t").await));
    store.append(&new, &[root(2, 2, vec![])]).await.unwrap();
}

pub async fn a_deleted_thread_leaves_nothing(store: Any) {
    let kept = begin(&store, "kept").await;
    let lease = begin(&store, "t").await;
    let records = [
        root(2, 2, vec![("n", put(1))]),
        nested(3, "2/a", 1, 2, vec![("n", put(1))]),
        effect(2, "2/a", "0"),
    ];
    for lease in [&kept, &lease] {
        store.append(lease, &records).await.unwrap();
    }
    let before = load(&store, "kept").await;
    store.release(lease.clone()).await.unwrap();
    assert!(store.delete("t").await.unwrap());
    assert!(!store.delete("t").await.unwrap());
    assert_eq!(store.load("t").await.unwrap(), None);
    assert_eq!(store.threads().await.unwrap().len(), 1);
    assert_eq!(load(&store, "kept").await, before);

    let new = begin(&store, "t").await;
    assert!(new.token > lease.token);
    assert!(is_fenced(
        store.append(&lease, &[status(RunState::Done)]).await
    ));
    let image = load(&store, "t").await;
    assert_eq!((image.frames.len(), image.last_seq), (1, 1));
    assert!(image.frames[0].fields.is_empty());
    assert!(image.effects.is_empty() && image.counts.is_empty());
    assert_eq!(store.history("t", None, 9).await.unwrap().len(), 1);
    assert_eq!(store.state("t", "2/a", 9).await.unwrap(), values(&[]));
}

pub async fn a_thread_in_use_is_not_deleted(store: Any) {
    let lease = begin(&store, "t").await;
    assert!(is_busy(store.delete("t").await));
    store.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
    store.release(lease).await.unwrap();
    assert!(store.delete("t").await.unwrap());
}

pub async fn one_of_many_gets_the_thread(store: Any) {
    let mut last = 0;
    for _ in 0..10 {
        let tries = (0..16).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.acquire("t").await })
        });
        let mut got = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            got.extend(attempt.await.unwrap().ok());
        }
        assert_eq!(got.len(), 1);
        let lease = got.remove(0);
        assert!(lease.token > last);
        last = lease.token;
        store.release(lease).await.unwrap();
    }
}

/// Who only looks whether a thread is held stands in nobody's way.
pub async fn a_look_takes_nothing(store: Any) {
    let (looks, over) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let look = || {
        let (store, looks, over) = (store.clone(), looks.clone(), over.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                store.is_held("t").await.unwrap();
                looks.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        })
    };
    let looking = [look(), look()];
    for turn in 0.. {
        let lease = store.acquire("t").await.unwrap();
        assert!(store.is_held("t").await.unwrap());
        store.release(lease).await.unwrap();
        if turn >= 100 && looks.load(Ordering::Relaxed) >= 100 {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(!store.is_held("t").await.unwrap());
    over.store(true, Ordering::Relaxed);
    for task in looking {
        task.await.unwrap();
    }
}
