//! Connections to PostgreSQL: shared, bounded, lost, and what is ended on the server.

use std::path::Path;
use std::time::{Duration, Instant};

use graphc::ir::ErrorKind;
use graphc::store::{Connection, Server};
use serde_json::{Value as Json, json};

use super::cluster::Cluster;
use super::tool::{Bound, context};

const SLEEP: &str =
    "{ sql: { database: 'DB', query: 'SELECT pg_sleep(60)::text', result: value }, timeout: TIME }";

fn bound(declared: &str, binding: &str, url: &str) -> Bound {
    Bound::new(declared, &binding.replace("DB", url), Path::new(".")).unwrap()
}

async fn watcher(url: &str) -> Connection {
    let server = Server::parse(url, Path::new(".")).unwrap();
    server.connect().await.unwrap()
}

/// Waits until the server does nothing for anybody else.
async fn until_idle(watcher: &Connection) {
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let deadline = Instant::now() + Duration::from_secs(20);
    while watcher
        .client
        .query_one(busy, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        > 0
    {
        assert!(Instant::now() < deadline, "it is at work still");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_query_is_ended_on_the_server() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url_of("public");
    let watcher = watcher(&url).await;
    let short = bound(
        "tool nap() -> string",
        &SLEEP.replace("TIME", "100ms"),
        &url,
    );
    let error = short.call(&json!({}), &context()).await.unwrap_err();
    assert_eq!(
        (error.kind, error.in_doubt, error.message.as_str()),
        (
            ErrorKind::Timeout,
            false,
            "the query of `nap` took longer than 100ms and was ended"
        )
    );
    until_idle(&watcher).await;

    let long = bound("tool nap() -> string", &SLEEP.replace("TIME", "50s"), &url);
    let (cx, args) = (context(), json!({}));
    let cancel = cx.cancel.clone();
    let stopped = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(long.call(&args, &cx), stopped);
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, error.in_doubt), (ErrorKind::Cancelled, false));
    until_idle(&watcher).await;

    // Nobody waits any more.
    let cx = context();
    let call = long.call(&args, &cx);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), call)
            .await
            .is_err()
    );
    until_idle(&watcher).await;
}

#[tokio::test]
async fn connections_are_few_and_used_again() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url_of("public");
    let binding = "{ sql: { database: 'DB', query: 'SELECT pg_backend_pid() FROM pg_sleep(0.02)', result: value } }";
    let tool = bound("tool who() -> int", binding, &url);
    let (cx, args) = (context(), json!({}));
    let calls = (0..40).map(|_| tool.call(&args, &cx));
    let answers = futures_util::future::join_all(calls).await;
    let mut who: Vec<i64> = answers
        .into_iter()
        .map(|answer| answer.unwrap().as_i64().unwrap())
        .collect();
    who.sort_unstable();
    who.dedup();
    assert!((1..=8).contains(&who.len()), "{who:?}");
}

#[tokio::test]
async fn a_lost_connection_is_a_network_error_and_made_anew() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url_of("public");
    let binding = "{ sql: { database: 'DB', query: 'SELECT pg_terminate_backend(CASE WHEN :now THEN pg_backend_pid() ELSE 0 END)', result: value } }";
    let tool = bound("tool go(now: bool) -> bool", binding, &url);
    let call = async |now: bool| tool.call(&json!({ "now": now }), &context()).await;
    assert_eq!(call(false).await.unwrap(), json!(false));
    let error = call(true).await.unwrap_err();
    assert_eq!(
        (error.kind, error.in_doubt),
        (ErrorKind::Network, false),
        "{error}"
    );
    assert_eq!(call(false).await.unwrap(), json!(false));
    // A server that was started anew has closed what was idle.
    cluster.stop();
    let error = call(false).await.unwrap_err();
    assert_eq!(
        (error.kind, error.in_doubt),
        (ErrorKind::Network, false),
        "{error}"
    );
    cluster.start_again();
    assert_eq!(call(false).await.unwrap(), json!(false));
}

/// A write that is ended before it is committed has not happened.
#[tokio::test]
async fn a_write_that_is_ended_has_not_happened() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url_of("public");
    let watcher = watcher(&url).await;
    watcher
        .client
        .batch_execute("CREATE TABLE t (n INTEGER)")
        .await
        .unwrap();
    let binding = "{ sql: { database: 'DB', query: 'INSERT INTO t SELECT 1 FROM pg_sleep(60)', result: changes }, timeout: 100ms }";
    let tool = bound("tool fill() -> int @effect(write)", binding, &url);
    let error = tool.call(&json!({}), &context()).await.unwrap_err();
    assert_eq!((error.kind, error.in_doubt), (ErrorKind::Timeout, false));
    until_idle(&watcher).await;
    let count = "{ sql: { database: 'DB', query: 'SELECT count(*) FROM t', result: value } }";
    let count = bound("tool count() -> int", count, &url);
    let none: Json = json!(0);
    assert_eq!(count.call(&json!({}), &context()).await.unwrap(), none);
}
