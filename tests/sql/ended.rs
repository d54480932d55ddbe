//! Queries that are ended: their time is up, the run stops, nobody waits any more, another program has the database.

use std::time::Duration;

use graphc::ir::ErrorKind;
use rusqlite::Connection;
use serde_json::json;

use super::tool::{Bound, context, folder};

/// Counts without end.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS n FROM c";

fn database(name: &str) -> (std::path::PathBuf, Connection) {
    let folder = folder(name);
    let connection = Connection::open(folder.join("a.db")).unwrap();
    connection
        .execute_batch("CREATE TABLE t (n INTEGER)")
        .unwrap();
    (folder, connection)
}

#[tokio::test]
async fn a_query_ends_with_its_time() {
    let (folder, _db) = database("time");
    let binding = format!(
        "{{ sql: {{ database: 'sqlite:a.db', query: '{ENDLESS}', result: value }}, timeout: 50ms }}"
    );
    let tool = Bound::new("tool count() -> int", &binding, &folder).unwrap();
    let error = tool.call(&json!({}), &context()).await.unwrap_err();
    assert_eq!(
        (error.kind, error.in_doubt, error.message.as_str()),
        (
            ErrorKind::Timeout,
            false,
            "the query of `count` took longer than 50ms and was ended"
        )
    );
}

#[tokio::test]
async fn a_query_ends_with_the_run() {
    let (folder, _db) = database("stop");
    let binding =
        format!("{{ sql: {{ database: 'sqlite:a.db', query: '{ENDLESS}', result: value }} }}");
    let tool = Bound::new("tool count() -> int", &binding, &folder).unwrap();
    let cx = context();
    let cancel = cx.cancel.clone();
    let args = json!({});
    let (outcome, ()) = tokio::join!(tool.call(&args, &cx), async { cancel.cancel() });
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, error.in_doubt), (ErrorKind::Cancelled, false));
}

/// What was written before it ended is not there.
#[tokio::test]
async fn a_write_that_is_ended_has_not_happened() {
    let (folder, db) = database("undone");
    let insert = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO t SELECT x FROM c";
    let binding = format!(
        "{{ sql: {{ database: 'sqlite:a.db', query: '{insert}', result: changes }}, timeout: 50ms }}"
    );
    let tool = Bound::new("tool fill() -> int @effect(write)", &binding, &folder).unwrap();
    let error = tool.call(&json!({}), &context()).await.unwrap_err();
    assert_eq!((error.kind, error.in_doubt), (ErrorKind::Timeout, false));
    let rows: i64 = db
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn a_locked_database_is_tried_again_in_time() {
    let (folder, db) = database("locked");
    let binding = |timeout: &str| {
        format!(
            "{{ sql: {{ database: 'sqlite:a.db', query: 'INSERT INTO t VALUES (:n)', result: changes }}, timeout: {timeout} }}"
        )
    };
    let declared = "tool add(n: int) -> int @effect(write)";
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tool = Bound::new(declared, &binding("100ms"), &folder).unwrap();
    let error = tool.call(&json!({ "n": 1 }), &context()).await.unwrap_err();
    assert_eq!(
        error.message,
        "the query of `add` took longer than 100ms and was ended; another program keeps the database locked"
    );
    assert!(!error.in_doubt);
    let tool = Bound::new(declared, &binding("60s"), &folder).unwrap();
    let freed = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        db.execute_batch("COMMIT").unwrap();
    };
    let (cx, args) = (context(), json!({ "n": 2 }));
    let (outcome, ()) = tokio::join!(tool.call(&args, &cx), freed);
    assert_eq!(outcome.unwrap(), json!(1));
}

/// The thread of a call that nobody waits for ends: more of them than may run at once leave room for the next.
#[tokio::test]
async fn a_query_ends_with_its_call() {
    let (folder, _db) = database("dropped");
    let binding =
        format!("{{ sql: {{ database: 'sqlite:a.db', query: '{ENDLESS}', result: value }} }}");
    let endless = Bound::new("tool count() -> int", &binding, &folder).unwrap();
    for _ in 0..20 {
        let (cx, args) = (context(), json!({}));
        let call = endless.call(&args, &cx);
        assert!(
            tokio::time::timeout(Duration::from_millis(5), call)
                .await
                .is_err()
        );
    }
    let binding =
        "{ sql: { database: 'sqlite:a.db', query: 'SELECT count(*) FROM t', result: value } }";
    let tool = Bound::new("tool count() -> int", binding, &folder).unwrap();
    assert_eq!(tool.call(&json!({}), &context()).await.unwrap(), json!(0));
}
