//! What a run costs: super-steps, fan-out, growing lists, durable steps. What the compiler costs: `check`.
//!
//! `cargo bench --bench run`. Figures are of the whole run divided by nothing: a row names how many
//! steps or tasks it has. Targets: docs/runtime/README.md.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use divan::Bencher;
use graphc::compile::compile;
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::plan::{Plan, plan};
use graphc::run::store::{RunState, Store};
use graphc::store::{MemoryStore, SqliteStore};
use serde_json::json;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

fn planned(source: &str) -> Arc<Plan> {
    let files: BTreeMap<String, String> = [("bench.graph".to_owned(), source.to_owned())].into();
    let compiled = compile("bench.graph", &files);
    let errors: Vec<&str> = compiled
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .take(3)
        .collect();
    Arc::new(
        plan(Arc::new(
            compiled.flow.unwrap_or_else(|| panic!("{errors:?}")),
        ))
        .unwrap(),
    )
}

fn engine(plan: &Arc<Plan>, store: Option<Arc<dyn Store>>) -> Engine {
    let backends = Backends::default();
    Engine {
        plan: plan.clone(),
        backends,
        store,
        ambient: Arc::new(SystemAmbient),
    }
}

fn options() -> RunOptions {
    RunOptions {
        recursion_limit: Some(1_000_000),
        ..RunOptions::default()
    }
}

fn run(runtime: &Runtime, engine: &Engine, thread: &str, input: &serde_json::Value) {
    let graph = engine.plan.flow.graph("Main").unwrap();
    let result = runtime
        .block_on(engine.start(graph, thread, input, options()))
        .unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// A chain of `n` nodes that each write an int.
fn chain(n: usize) -> String {
    let mut source = String::from("graph Main {\n  state { in out n: int }\n  start -> n0\n");
    for i in 0..n {
        let next = if i + 1 == n {
            "end".to_owned()
        } else {
            format!("n{}", i + 1)
        };
        let _ = writeln!(
            source,
            "  node n{i}: update -> {next} {{ set {{ n: state.n + 1 }} }}"
        );
    }
    source + "}\n"
}

/// One node that comes back to itself `limit` times.
const LOOP: &str = "graph Main {
  state { in out n: int, in limit: int }
  start -> again
  node again: update {
    set { n: state.n + 1 }
    goto { when state.n < state.limit -> again  else -> end }
  }
}
";

const APPEND: &str = "graph Main {
  state { in out items: list<int> via append, in limit: int }
  start -> again
  node again: update {
    set { items: [size(state.items)] }
    goto { when size(state.items) < state.limit -> again  else -> end }
  }
}
";

const FAN_OUT: &str = "graph Main {
  state { in items: list<int>, out doubled: list<int> via append }
  start -> split
  node split: update { goto each x in state.items -> worker with { x: x } }
  node worker: update -> end { input { x: int } set { doubled: [input.x * 2] } }
}
";

const QUESTIONS: &str = "graph Main {
  state { in items: list<int>, out said: list<string> via append }
  start -> split
  node split: update { goto each x in state.items -> ask with { x: x } }
  node ask: interrupt -> end { input { x: int }  ask { x: input.x }  expect string  set { said: [answer] } }
}
";

#[divan::bench(args = [10, 1_000, 10_000])]
fn chain_without_store(bencher: Bencher<'_, '_>, n: usize) {
    let (runtime, engine) = (runtime(), engine(&planned(&chain(n)), None));
    bencher
        .counter(n)
        .bench(|| run(&runtime, &engine, "t", &json!({ "n": 0 })));
}

#[divan::bench(args = [10_000])]
fn loop_without_store(bencher: Bencher<'_, '_>, n: usize) {
    let (runtime, engine) = (runtime(), engine(&planned(LOOP), None));
    bencher
        .counter(n)
        .bench(|| run(&runtime, &engine, "t", &json!({ "n": 0, "limit": n })));
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn fan_out(bencher: Bencher<'_, '_>, n: usize) {
    let (runtime, engine) = (runtime(), engine(&planned(FAN_OUT), None));
    let items: Vec<usize> = (0..n).collect();
    let input = json!({ "items": items });
    bencher
        .counter(n)
        .bench(|| run(&runtime, &engine, "t", &input));
}

/// So many tasks of one step that ask, beside a list as long: what they see is digested once for all of them.
#[divan::bench(args = [100, 1_000])]
fn questions_of_one_step(bencher: Bencher<'_, '_>, n: usize) {
    let (runtime, engine) = (runtime(), engine(&planned(QUESTIONS), None));
    let items: Vec<usize> = (0..n).collect();
    let input = json!({ "items": items });
    let graph = engine.plan.flow.graph("Main").unwrap();
    bencher.counter(n).bench(|| {
        let asked = runtime.block_on(engine.start(graph, "t", &input, options()));
        assert_eq!(asked.unwrap().interrupts.len(), n);
    });
}

/// 1,000 steps that each append one element to a list of `n`.
#[divan::bench(args = [0, 100_000])]
fn append_1000_to_a_list_of(bencher: Bencher<'_, '_>, n: usize) {
    let (runtime, engine) = (runtime(), engine(&planned(APPEND), None));
    let items: Vec<usize> = (0..n).collect();
    let input = json!({ "items": items, "limit": n + 1000 });
    bencher
        .counter(1000usize)
        .bench(|| run(&runtime, &engine, "t", &input));
}

/// 1,000 durable steps on SQLite (`async`).
#[divan::bench(args = [1_000], sample_count = 10)]
fn steps_on_sqlite(bencher: Bencher<'_, '_>, n: usize) {
    let runtime = runtime();
    let plan = planned(LOOP);
    let input = json!({ "n": 0, "limit": n });
    bencher
        .counter(n)
        .with_inputs(|| {
            let folder =
                std::env::temp_dir().join(format!("graphc-bench-{}", uuid::Uuid::new_v4()));
            let store: Arc<dyn Store> =
                Arc::new(SqliteStore::open(folder.join("threads.db")).unwrap());
            (engine(&plan, Some(store)), folder)
        })
        .bench_values(|(engine, folder)| {
            run(&runtime, &engine, "t", &input);
            drop(engine);
            let _ = std::fs::remove_dir_all(folder);
        });
}

#[divan::bench(args = [1_000])]
fn steps_in_memory_store(bencher: Bencher<'_, '_>, n: usize) {
    let runtime = runtime();
    let plan = planned(LOOP);
    let input = json!({ "n": 0, "limit": n });
    bencher
        .counter(n)
        .with_inputs(|| engine(&plan, Some(Arc::new(MemoryStore::new()))))
        .bench_values(|engine| run(&runtime, &engine, "t", &input));
}
