//! What a thread takes on disk: a chat with a model that replies 1 KiB at every turn, of 50, 500 and 5,000 turns, in an
//! SQLite file and in a PostgreSQL database, each thread in one of its own. Once the chat is the state of the run's own
//! graph, once that of a graph that is called at every turn and whose state lasts (`persist thread`).
//!
//! `cargo bench --bench bytes`. Sizes don't depend on the profile: `--profile dev` builds sooner.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../tests/cluster/mod.rs"]
mod cluster;
#[path = "../tests/install/mod.rs"]
mod install;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use futures_util::stream;
use graphc::compile::compile;
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
};
use graphc::run::plan::{Plan, plan};
use graphc::run::store::{RunState, Store};
use graphc::store::{Options, PostgresStore, SqliteStore};
use serde_json::json;
use tokio::runtime::Runtime;

/// Their names, and their flows.
const SHAPES: [(&str, &str); 2] = [("own", OWN), ("lasting", LASTING)];

const OWN: &str = "\
model m = \"local/m\"
graph Chat {
  state { in out messages: list<message> via add_messages, n: int = 0, in turns: int }
  start -> say
  node say: llm {
    model m  prompt \"go on\"
    set { messages: [reply], n: state.n + 1 }
    goto { when state.n < state.turns -> say  else -> end }
  }
}
";

const LASTING: &str = "\
model m = \"local/m\"
graph Chat {
  state { n: int = 0, in turns: int }
  start -> talk
  node talk: subgraph Turn -> again { persist thread }
  node again: update { set { n: state.n + 1 } goto { when state.n < state.turns -> talk  else -> end } }
}
graph Turn {
  state { messages: list<message> via add_messages }
  start -> say
  node say: llm -> end { model m  prompt \"go on\"  set { messages: [reply] } }
}
";

/// 1 KiB of what doesn't compress: every turn another.
struct Talker;

#[async_trait]
impl ChatModel for Talker {
    async fn stream(&self, _: ChatRequest, cx: &CallContext) -> Result<ChatStream, ModelError> {
        let mut seed = cx.ordinal.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut letter = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + ((seed >> 33) % 64) as u8)
        };
        let text: String = (0..1024).map(|_| letter()).collect();
        let deltas = [ChatDelta::Text(text), ChatDelta::Finish(FinishReason::Stop)];
        Ok(Box::pin(stream::iter(deltas.map(Ok))))
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    println!("shape    store      turns       bytes  bytes/turn  seconds");
    for (shape, flow) in SHAPES {
        let text = [("chat.graph".to_owned(), flow.to_owned())];
        let compiled = compile("chat.graph", &BTreeMap::from(text));
        let errors: Vec<_> = compiled.diagnostics.iter().map(|d| &d.message).collect();
        let flow = compiled.flow.unwrap_or_else(|| panic!("{errors:?}"));
        let plan = Arc::new(plan(Arc::new(flow)).unwrap());
        measure(&runtime, shape, &plan);
    }
}

fn measure(runtime: &Runtime, shape: &str, plan: &Arc<Plan>) {
    for turns in [50, 500, 5_000] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-bytes");
        let _ = std::fs::remove_dir_all(&folder);
        let file = folder.join("threads.db");
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let seconds = talk(runtime, plan, store, turns);
        // Closed, so that all is in the one file.
        let bytes = std::fs::metadata(&file).unwrap().len();
        row(shape, "sqlite", turns, bytes, seconds);
    }
    for turns in [50, 500, 5_000] {
        let url = cluster::shared().url();
        let open = PostgresStore::open_with(&url, Path::new(""), Options::default());
        let seconds = talk(runtime, plan, Arc::new(open.unwrap()), turns);
        let bytes = runtime.block_on(relations(&url));
        row(shape, "postgres", turns, bytes, seconds);
    }
}

fn row(shape: &str, store: &str, turns: u64, bytes: u64, seconds: f64) {
    let each = bytes / turns;
    println!("{shape:8} {store:9} {turns:6} {bytes:11} {each:11} {seconds:8.2}");
}

/// Runs a chat, and closes the store; gives the seconds that it ran.
fn talk(runtime: &Runtime, plan: &Arc<Plan>, store: Arc<dyn Store>, turns: u64) -> f64 {
    let mut backends = Backends::default();
    backends.models.push(Arc::new(Talker));
    let engine = Engine {
        plan: plan.clone(),
        backends,
        store: Some(store),
        ambient: Arc::new(SystemAmbient),
    };
    let options = RunOptions {
        recursion_limit: Some(1_000_000),
        ..RunOptions::default()
    };
    let graph = plan.flow.graph("Chat").unwrap();
    let input = json!({ "turns": turns });
    let begin = Instant::now();
    let result = runtime
        .block_on(engine.start(graph, "t", &input, options))
        .unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
    begin.elapsed().as_secs_f64()
}

/// Bytes of a schema's tables, their indexes and what lies outside of their rows.
async fn relations(url: &str) -> u64 {
    let (server, schema) = url.split_once("?schema=").unwrap();
    let connecting = tokio_postgres::connect(server, tokio_postgres::NoTls).await;
    let (client, connection) = connecting.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c \
               JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
    let row = client.query_one(sql, &[&schema]).await.unwrap();
    u64::try_from(row.get::<_, i64>(0)).unwrap()
}
