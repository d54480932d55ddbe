//! Results that are used again, by key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::run::store::Store;
use serde_json::{Value as Json, json};

type Any = Arc<dyn Store>;

async fn at(store: &Any, key: &str, now: i64) -> Option<Json> {
    store.cached(key, now).await.unwrap()
}

pub async fn a_result_is_kept_by_its_key(store: Any) {
    assert_eq!(at(&store, "a", 0).await, None);
    let long = i64::MAX;
    let result = json!({ "x": [1, "é"] });
    store.cache("a", &result, long).await.unwrap();
    store.cache("b", &json!(null), long).await.unwrap();
    assert_eq!(at(&store, "a", long - 1).await, Some(result));
    assert_eq!(at(&store, "b", 0).await, Some(json!(null)));
    store.cache("a", &json!(2), long).await.unwrap();
    assert_eq!(at(&store, "a", 0).await, Some(json!(2)));
    assert!(store.threads().await.unwrap().is_empty());
}

pub async fn a_result_holds_until_its_time(store: Any) {
    store.cache("a", &json!(1), 100).await.unwrap();
    assert_eq!(at(&store, "a", 99).await, Some(json!(1)));
    assert_eq!(at(&store, "a", 100).await, None);
    store.cache("a", &json!(2), 200).await.unwrap();
    assert_eq!(at(&store, "a", 100).await, Some(json!(2)));
}

/// A process that goes on for long lets go of what has run out, not only where it begins.
pub async fn results_that_are_over_are_swept(store: Any) {
    assert_eq!(at(&store, "0", 0).await, None);
    for key in 0..100 {
        store.cache(&key.to_string(), &json!(1), 100).await.unwrap();
    }
    for _ in 0..32 {
        assert_eq!(at(&store, "0", 100).await, None);
    }
    // What looks as if it were a time before the end finds nothing any more.
    let deadline = Instant::now() + Duration::from_secs(10);
    while at(&store, "0", 99).await.is_some() {
        assert!(Instant::now() < deadline);
    }
}
