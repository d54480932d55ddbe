//! Results that are used again, by key.

use std::sync::Arc;

use graphc::run::store::Store;
use serde_json::{Value as Json, json};

type Any = Arc<dyn Store>;

async fn at(store: &Any, key: &str, now: i64) -> Option<Json> {
    store.kept(key, now).await.unwrap()
}

pub async fn a_result_is_kept_by_its_key(store: Any) {
    assert_eq!(at(&store, "a", 0).await, None);
    store
        .keep("a", &json!({ "x": [1, "é"] }), None)
        .await
        .unwrap();
    store.keep("b", &json!(null), None).await.unwrap();
    assert_eq!(
        at(&store, "a", i64::MAX).await,
        Some(json!({ "x": [1, "é"] }))
    );
    assert_eq!(at(&store, "b", 0).await, Some(json!(null)));
    store.keep("a", &json!(2), None).await.unwrap();
    assert_eq!(at(&store, "a", 0).await, Some(json!(2)));
    assert!(store.threads().await.unwrap().is_empty());
}

pub async fn a_result_holds_until_its_time(store: Any) {
    store.keep("a", &json!(1), Some(100)).await.unwrap();
    assert_eq!(at(&store, "a", 99).await, Some(json!(1)));
    assert_eq!(at(&store, "a", 100).await, None);
    store.keep("a", &json!(2), Some(200)).await.unwrap();
    assert_eq!(at(&store, "a", 100).await, Some(json!(2)));
}
