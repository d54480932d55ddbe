//! Long-term memory: what every store does alike.

use std::sync::Arc;

use graphc::run::memory::{
    Filter, Item, ItemStore, KNOWN_FOR, Near, NewItem, Search, Space, Write, WriteKey,
};
use graphc::run::store::Store;
use serde_json::{Value as Json, json};

pub type Any = Arc<dyn Store>;

pub fn items(store: &Any) -> &dyn ItemStore {
    store.memory().unwrap()
}

pub fn space(parts: &[&str]) -> Space {
    Space::prefix(parts.iter().map(|part| (*part).to_owned()).collect()).unwrap()
}

pub fn new(parts: &[&str], key: &str, value: Json) -> NewItem {
    NewItem {
        space: space(parts),
        key: key.to_owned(),
        value,
        ttl: None,
        vectors: Vec::new(),
        embedder: String::new(),
    }
}

/// The key of a write that no other has.
fn once() -> WriteKey {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut key = WriteKey::default();
    key[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    key
}

pub async fn put(store: &Any, item: NewItem, now: i64) -> bool {
    items(store)
        .write(once(), &Write::Put(item), now)
        .await
        .unwrap()
}

pub async fn delete(store: &Any, parts: &[&str], key: &str, now: i64) -> bool {
    let delete = Write::Delete {
        space: space(parts),
        key: key.to_owned(),
    };
    items(store).write(once(), &delete, now).await.unwrap()
}

async fn get(store: &Any, parts: &[&str], key: &str, now: i64) -> Option<Item> {
    let space = space(parts);
    let found = items(store).item(&space, key, now, false);
    found.await.unwrap()
}

pub fn search(parts: &[&str]) -> Search {
    Search {
        prefix: space(parts),
        filter: Filter::default(),
        near: None,
        limit: 100,
        most_bytes: usize::MAX,
        offset: 0,
        refresh: false,
    }
}

pub async fn found(store: &Any, search: Search, now: i64) -> Vec<String> {
    let found = items(store).search(&search, now).await.unwrap();
    found.into_iter().map(|item| item.key).collect()
}

pub async fn what_is_put_is_got(store: Any) {
    let value = json!({ "text": "é \u{0} 漢", "n": [1, 2.5, null, true], "deep": { "a": {} } });
    assert_eq!(get(&store, &["u", "a"], "k", 5).await, None);
    assert!(put(&store, new(&["u", "a"], "k", value.clone()), 5).await);
    let item = get(&store, &["u", "a"], "k", 6).await.unwrap();
    assert_eq!((item.value, item.created, item.updated), (value, 5, 5));
    assert_eq!((item.space, item.key.as_str()), (space(&["u", "a"]), "k"));
    assert_eq!(item.score, None);
    // Another namespace, also one above or below, is another.
    assert_eq!(get(&store, &["u"], "k", 6).await, None);
    assert_eq!(get(&store, &["u", "a", "b"], "k", 6).await, None);
    assert!(!put(&store, new(&["u", "a"], "k", json!(null)), 8).await);
    let item = get(&store, &["u", "a"], "k", 9).await.unwrap();
    assert_eq!(
        (item.value, item.created, item.updated),
        (json!(null), 5, 8)
    );
}

pub async fn what_is_deleted_is_gone(store: Any) {
    put(&store, new(&["u"], "k", json!(1)), 1).await;
    put(&store, new(&["u"], "other", json!(2)), 1).await;
    assert!(delete(&store, &["u"], "k", 2).await);
    assert!(!delete(&store, &["u"], "k", 3).await);
    assert_eq!(get(&store, &["u"], "k", 3).await, None);
    assert_eq!(found(&store, search(&["u"]), 3).await, ["other"]);
    assert!(put(&store, new(&["u"], "k", json!(3)), 4).await);
    assert_eq!(get(&store, &["u"], "k", 4).await.unwrap().created, 4);
}

pub async fn a_write_is_made_once(store: Any) {
    let memory = items(&store);
    let (a, b, c) = (once(), once(), once());
    let value = |n: i32| Write::Put(new(&["u"], "k", json!(n)));
    assert!(memory.write(a, &value(1), 1).await.unwrap());
    assert!(!memory.write(b, &value(2), 2).await.unwrap());
    // The first again, by a process that goes on: what was written since stays, and the result is that of then.
    assert!(memory.write(a, &value(1), 3).await.unwrap());
    let item = get(&store, &["u"], "k", 3).await.unwrap();
    assert_eq!((item.value, item.updated), (json!(2), 2));
    let delete = Write::Delete {
        space: space(&["u"]),
        key: "k".to_owned(),
    };
    assert!(memory.write(c, &delete, 4).await.unwrap());
    put(&store, new(&["u"], "k", json!(5)), 5).await;
    assert!(memory.write(c, &delete, 6).await.unwrap());
    assert!(memory.write(a, &value(1), 6).await.unwrap());
    assert_eq!(get(&store, &["u"], "k", 6).await.unwrap().value, json!(5));
    // What is that old nobody goes on with.
    for n in 0..40 {
        put(&store, new(&["u"], "other", json!(n)), KNOWN_FOR + 7).await;
    }
    assert!(!memory.write(a, &value(7), KNOWN_FOR + 8).await.unwrap());
    let item = get(&store, &["u"], "k", 9).await.unwrap();
    assert_eq!(item.value, json!(7));
}

pub async fn an_item_is_there_until_its_time(store: Any) {
    let short = NewItem {
        ttl: Some(100),
        ..new(&["t"], "short", json!(1))
    };
    assert!(put(&store, short.clone(), 1000).await);
    put(&store, new(&["t"], "long", json!(2)), 1000).await;
    assert!(get(&store, &["t"], "short", 1099).await.is_some());
    assert_eq!(get(&store, &["t"], "short", 1100).await, None);
    assert_eq!(found(&store, search(&["t"]), 1099).await.len(), 2);
    assert_eq!(found(&store, search(&["t"]), 1100).await, ["long"]);
    put(
        &store,
        NewItem {
            space: space(&["gone"]),
            ..short.clone()
        },
        1000,
    )
    .await;
    let left = items(&store).spaces(&space(&[]), 1100).await.unwrap();
    assert_eq!(left, [space(&["t"])]);
    assert!(!delete(&store, &["t"], "short", 1100).await);
    // It is new again, whether or not it was swept away.
    assert!(put(&store, short.clone(), 2000).await);
    assert_eq!(
        get(&store, &["t"], "short", 2000).await.unwrap().created,
        2000
    );
    // Its time begins anew when it is put, and when it is read so.
    assert!(!put(&store, short.clone(), 2050).await);
    assert!(get(&store, &["t"], "short", 2149).await.is_some());
    let again = items(&store)
        .item(&space(&["t"]), "short", 2149, true)
        .await;
    assert!(again.unwrap().is_some());
    assert!(get(&store, &["t"], "short", 2248).await.is_some());
    let refresh = Search {
        refresh: true,
        ..search(&["t"])
    };
    assert_eq!(
        found(&store, refresh.clone(), 2248).await,
        ["short", "long"]
    );
    assert!(get(&store, &["t"], "short", 2347).await.is_some());
    assert_eq!(get(&store, &["t"], "short", 2348).await, None);
    // Reading brings nothing back.
    let late = items(&store)
        .item(&space(&["t"]), "short", 2348, true)
        .await;
    assert_eq!(late.unwrap(), None);
    assert_eq!(found(&store, refresh, 2348).await, ["long"]);
    // Put without a time, it stays.
    put(&store, NewItem { ttl: None, ..short }, 3000).await;
    assert!(get(&store, &["t"], "short", i64::MAX).await.is_some());
}

/// No time is too long: what would be over later than any time is kept for good.
pub async fn a_time_may_be_as_long_as_can_be(store: Any) {
    for (key, ttl) in [("most", i64::MAX), ("less", i64::MAX - 500)] {
        let item = NewItem {
            ttl: Some(ttl),
            ..new(&["t"], key, json!(1))
        };
        put(&store, item, 1000).await;
        for now in [2000, -5, 3000] {
            let again = items(&store).item(&space(&["t"]), key, now, true).await;
            assert!(again.unwrap().is_some(), "{key} {now}");
        }
    }
    let refresh = Search {
        refresh: true,
        ..search(&["t"])
    };
    assert_eq!(found(&store, refresh, 4000).await.len(), 2);
    assert_eq!(found(&store, search(&["t"]), i64::MAX / 2).await.len(), 2);
}

pub async fn what_is_over_is_swept_away(store: Any) {
    for n in 0..300 {
        let item = NewItem {
            ttl: Some(10),
            vectors: vec![vec![1.0, 0.0]],
            embedder: "e".to_owned(),
            ..new(&["old"], &n.to_string(), json!("x".repeat(100)))
        };
        put(&store, item, 0).await;
    }
    for n in 0..40 {
        put(&store, new(&["new"], &n.to_string(), json!(n)), 100).await;
    }
    // By a time at which they were there: they are not only hidden.
    assert!(found(&store, search(&["old"]), 5).await.is_empty());
    assert_eq!(found(&store, search(&["new"]), 100).await.len(), 40);
}

pub async fn many_put_at_once(store: Any) {
    let tasks = (0..8).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..25 {
                let key = format!("{task}-{n}");
                let item = NewItem {
                    ttl: (n % 2 == 0).then_some(1000),
                    ..with_vectors(&key, "m", &[&[1.0, 0.0]])
                };
                assert!(put(&store, item, 1).await);
                put(&store, new(&["v"], "shared", json!(key)), 2 + n).await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(
        found(
            &store,
            Search {
                limit: 1000,
                ..search(&["v"])
            },
            30
        )
        .await
        .len(),
        201
    );
    let near = Some(Near {
        embedder: "m".to_owned(),
        vector: vec![1.0, 0.0],
    });
    let scored = Search {
        near,
        limit: 1000,
        ..search(&["v"])
    };
    let scored = items(&store).search(&scored, 30).await.unwrap();
    assert_eq!(scored.iter().filter(|i| i.score == Some(1.0)).count(), 200);
}

pub fn with_vectors(key: &str, embedder: &str, vectors: &[&[f32]]) -> NewItem {
    NewItem {
        vectors: vectors.iter().map(|v| v.to_vec()).collect(),
        embedder: embedder.to_owned(),
        ..new(&["v"], key, json!({ "key": key }))
    }
}
