//! A call's context.

use std::time::Duration;

use graphc::run::model::CallContext;
use tokio_util::sync::CancellationToken;

pub fn context() -> CallContext {
    CallContext {
        thread_id: "t-1".into(),
        run_id: "r-1".into(),
        node: "main".into(),
        send: None,
        ordinal: 0,
        attempt: 1,
        idempotency_key: "key-1".into(),
        rank: Vec::new(),
        timeout: Some(Duration::from_secs(20)),
        cancel: CancellationToken::new(),
        stop: CancellationToken::new(),
        memory: None,
        nested: None,
        reports: None,
        secrets: Default::default(),
        waits: Default::default(),
    }
}

/// The n-th call of a node, from 0.
pub fn call(node: &str, ordinal: u64) -> CallContext {
    CallContext {
        node: node.into(),
        ordinal,
        idempotency_key: format!("{node}-{ordinal}"),
        ..context()
    }
}
