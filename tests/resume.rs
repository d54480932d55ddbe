//! What a thread is after a run that failed, was refused or was given up half way, as a Rust program that
//! goes on in the same process sees it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::ir::ErrorKind;
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Edit, Engine, Fork, RunOptions, StartError, Written, fork};
use graphc::run::event::{EventKind, Mode};
use graphc::run::interrupt::Answer;
use graphc::run::model::CallContext;
use graphc::run::store::{
    Around, EffectRecord, Effects, Lease, Record, RunState, Store, StoreError,
};
use graphc::run::stream::channel;
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

/// A tool that fails so often, or never ends.
#[derive(Default)]
struct Fetch {
    fails: AtomicU32,
    wrong: AtomicU32,
    hangs: AtomicBool,
    calls: AtomicU32,
    /// The call that fails, from 1.
    fails_at: AtomicU32,
    /// Whether it gives its argument.
    echoes: AtomicBool,
}

#[async_trait]
impl ToolBackend for Fetch {
    async fn call(&self, call: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let left = self.fails.load(Ordering::SeqCst);
        if left > 0 {
            self.fails.store(left - 1, Ordering::SeqCst);
            return Err(ToolError::new(ErrorKind::Network, "no answer"));
        }
        let wrong = self.wrong.load(Ordering::SeqCst);
        if wrong > 0 {
            self.wrong.store(wrong - 1, Ordering::SeqCst);
            return Ok(json!({ "page": wrong }));
        }
        if number == self.fails_at.load(Ordering::SeqCst) {
            return Err(ToolError::new(ErrorKind::ToolError, "no"));
        }
        Ok(match self.echoes.load(Ordering::SeqCst) {
            true => call.args["id"].clone(),
            false => json!("fetched"),
        })
    }
}

/// A store in memory that refuses appends for as long as it is told to, and tells what effects it got.
#[derive(Default)]
struct Frail {
    inner: MemoryStore,
    refuses: AtomicBool,
    panics: AtomicBool,
    effects: Mutex<Vec<EffectRecord>>,
}

#[async_trait]
impl Around for Frail {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        if self.refuses.load(Ordering::SeqCst) {
            let message = "the disk is full".to_owned();
            return Err(StoreError::Unavailable { message });
        }
        assert!(!self.panics.load(Ordering::SeqCst), "a fault of the store");
        self.inner.append(lease, records).await?;
        for record in records {
            if let Record::Effect(effect) = record {
                self.effects.lock().unwrap().push(effect.clone());
            }
        }
        Ok(())
    }
}

struct Bench {
    engine: Engine,
    fetch: Arc<Fetch>,
    store: Arc<Frail>,
}

fn bench(text: &str) -> Bench {
    let files: BTreeMap<String, String> = [("f.graph".to_owned(), text.to_owned())].into();
    let compiled = compile("f.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
    let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow)).unwrap());
    let fetch = Arc::new(Fetch::default());
    let store = Arc::new(Frail::default());
    let tool = |_| Some(fetch.clone() as Arc<dyn ToolBackend>);
    let tools = plan.flow.tools.iter().map(tool).collect();
    let engine = Engine {
        plan,
        backends: Backends {
            models: Default::default(),
            tools,
            ..Default::default()
        },
        store: Some(store.clone()),
        ambient: Arc::new(SystemAmbient),
    };
    Bench {
        engine,
        fetch,
        store,
    }
}

impl Bench {
    async fn start(&self, input: Json) -> graphc::run::engine::RunResult {
        let graph = self.engine.plan.flow.graph("G").unwrap();
        let options = RunOptions::default();
        self.engine
            .start(graph, "t", &input, options)
            .await
            .unwrap()
    }

    async fn resume(&self, answers: &[Answer]) -> graphc::run::engine::RunResult {
        let options = RunOptions::default();
        self.engine.resume("t", answers, options).await.unwrap()
    }
}

const RETRIED: &str = r#"
tool fetch(id: string) -> string
graph G {
  state { out log: list<string> via append }
  start -> a
  node a: call fetch(id: "a") -> end { retry 2  set { log: [result] } }
}
"#;

#[tokio::test]
async fn attempts_that_fail_again_after_a_resume_are_kept_too() {
    let bench = bench(RETRIED);
    bench.fetch.fails.store(5, Ordering::SeqCst);
    for attempts in [2, 4] {
        let failed = match attempts {
            2 => bench.start(json!({})).await,
            _ => bench.resume(&[]).await,
        };
        assert_eq!(failed.error.unwrap().kind, ErrorKind::Network);
        let kept = bench.store.effects.lock().unwrap();
        let ids: Vec<&str> = kept.iter().map(|effect| effect.id.as_str()).collect();
        assert_eq!(ids.len(), attempts, "{ids:?}");
    }
    let done = bench.resume(&[]).await;
    assert_eq!(done.error, None);
    assert_eq!(done.output["log"], json!(["fetched"]));
    assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn a_result_of_the_wrong_type_is_a_failed_attempt() {
    let bench = bench(RETRIED);
    bench.fetch.wrong.store(3, Ordering::SeqCst);
    let failed = bench.start(json!({})).await;
    assert_eq!(failed.error.unwrap().kind, ErrorKind::InvalidOutput);
    let done = bench.resume(&[]).await;
    assert_eq!(done.output["log"], json!(["fetched"]));
    assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 4);
    // What came is kept with each attempt.
    let kept = bench.store.effects.lock().unwrap();
    let received = kept
        .iter()
        .map(|effect| &effect.outcome["failed"]["received"]["page"]);
    let received: Vec<&Json> = received.collect();
    assert_eq!(received, [&json!(3), &json!(2), &json!(1), &Json::Null]);
}

#[tokio::test]
async fn a_result_of_the_wrong_type_of_a_call_that_must_not_be_made_twice_is_asked_about() {
    let bench = bench(&RETRIED.replace("-> string", "-> string @idempotent(false)"));
    bench.fetch.wrong.store(1, Ordering::SeqCst);
    let failed = bench.start(json!({})).await;
    assert_eq!(failed.error.unwrap().kind, ErrorKind::InvalidOutput);
    let asked = bench.resume(&[]).await;
    assert_eq!(asked.interrupts[0].ask["received"], json!({ "page": 1 }));
    assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 1);
    let answer = Answer {
        interrupt: None,
        value: json!({ "happened": true, "result": "as it was" }),
    };
    let done = bench.resume(&[answer]).await;
    assert_eq!(done.output["log"], json!(["as it was"]));
    assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_that_must_not_be_made_twice_is_asked_about_where_it_was_cut_off() {
    let once = RETRIED.replace("-> string", "-> string @idempotent(false) @timeout(30ms)");
    for (happened, calls, log) in [(true, 1, "as it was"), (false, 2, "fetched")] {
        for (fails, kind) in [(1, ErrorKind::Network), (0, ErrorKind::Timeout)] {
            let bench = bench(&once);
            bench.fetch.fails.store(fails, Ordering::SeqCst);
            bench.fetch.hangs.store(fails == 0, Ordering::SeqCst);
            let failed = bench.start(json!({})).await;
            assert_eq!(failed.error.unwrap().kind, kind);
            bench.fetch.hangs.store(false, Ordering::SeqCst);
            let asked = bench.resume(&[]).await;
            assert_eq!(asked.interrupts.len(), 1, "{kind:?}");
            let question = asked.interrupts[0].ask["question"].as_str().unwrap();
            assert!(question.contains("has failed ("), "{question}");
            assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 1, "{kind:?}");
            let answer = Answer {
                interrupt: None,
                value: match happened {
                    true => json!({ "happened": true, "result": "as it was" }),
                    false => json!({ "happened": false }),
                },
            };
            let done = bench.resume(&[answer]).await;
            assert_eq!(done.output["log"], json!([log]));
            assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), calls);
        }
    }
}

#[tokio::test]
async fn an_edit_says_which_failed_call_nobody_asks_about_any_more() {
    let bench = bench(&RETRIED.replace("-> string", "-> string @idempotent(false)"));
    bench.fetch.fails.store(1, Ordering::SeqCst);
    bench.start(json!({})).await;
    let behind = Edit {
        as_node: Some("a".to_owned()),
        ..log(json!(["by hand"]))
    };
    let edited = bench.engine.edit("t", &behind).await.unwrap();
    assert_eq!(edited.in_doubt, ["fetch"]);
}

#[tokio::test]
async fn a_run_that_is_dropped_gives_its_thread_back() {
    let bench = bench(RETRIED);
    bench.fetch.hangs.store(true, Ordering::SeqCst);
    let run = bench.start(json!({}));
    let dropped = tokio::time::timeout(Duration::from_millis(50), run).await;
    assert!(dropped.is_err());
    bench.fetch.hangs.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let done = bench.resume(&[]).await;
    assert_eq!(done.state, RunState::Done);
}

#[tokio::test]
async fn a_store_that_fails_is_told_of_and_gets_its_thread_back() {
    let bench = bench(RETRIED);
    bench.fetch.fails.store(2, Ordering::SeqCst);
    assert_eq!(bench.start(json!({})).await.state, RunState::Failed);
    bench.store.refuses.store(true, Ordering::SeqCst);
    let failed = bench.resume(&[]).await;
    assert_eq!(failed.error.unwrap().kind, ErrorKind::Store);
    bench.store.refuses.store(false, Ordering::SeqCst);
    assert_eq!(bench.resume(&[]).await.state, RunState::Done);
}

#[tokio::test]
async fn an_unkept_loop_of_pure_nodes_ends_early() {
    let bench = bench(
        r#"
graph G {
  state { out n: int via add = 0 }
  start -> a
  node a: update { set { n: 1 }  goto { when state.n < 500000 -> a  else -> end } }
}
"#,
    );
    bench.store.refuses.store(true, Ordering::SeqCst);
    let graph = bench.engine.plan.flow.graph("G").unwrap();
    let (sink, mut told) = channel([Mode::Values]);
    let options = RunOptions {
        recursion_limit: Some(1_000_000),
        events: Some(sink),
        ..RunOptions::default()
    };
    let engine = bench.engine.clone();
    // On a thread of its own, so that the writer gets its turn beside the loop.
    let run = std::thread::spawn(move || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move { engine.start(graph, "t", &json!({}), options).await })
    });
    let failed = run.join().unwrap().unwrap();
    assert_eq!(failed.error.unwrap().kind, ErrorKind::Store);
    // Nothing of it is kept, and so nothing of it is given.
    assert!(failed.values.is_empty(), "{:?}", failed.values);
    let mut last = None;
    while let Some(event) = told.next().await {
        if let EventKind::Values(state) = event.kind {
            last = state["n"].as_i64();
        }
    }
    // The store may have failed before anything was shown.
    assert!(last.is_none_or(|n| n < 500_000), "{last:?}");
}

#[tokio::test]
async fn an_input_that_fails_leaves_the_question_open() {
    let bench = bench(
        r#"
graph G {
  state {
    in n: int
    out log: list<string> via append
  }
  start { when state.n > 9 -> fail("too great")  else -> ask }
  node ask: interrupt -> end { ask "?" expect string set { log: [answer] } }
}
"#,
    );
    assert_eq!(
        bench.start(json!({"n": 1})).await.state,
        RunState::Interrupted
    );
    for _ in 0..2 {
        let refused = bench.start(json!({"n": 10})).await;
        assert_eq!(refused.error.unwrap().kind, ErrorKind::Fail);
    }
    let store: &dyn Store = &*bench.store;
    let info = store.thread("t").await.unwrap().unwrap();
    assert_eq!(info.status.state, RunState::Interrupted);
    let answer = Answer {
        interrupt: None,
        value: json!("yes"),
    };
    let done = bench.resume(&[answer]).await;
    assert_eq!(done.output["log"], json!(["yes"]));
}

const ROUNDS: &str = r#"
graph G {
  state { in n: int, i: int = 0, out log: list<string> = [] }
  start -> round
  node round: update {
    set { i: state.i + 1 }
    goto { when state.i < state.n -> round  else -> end }
  }
}
"#;

/// More super-steps than may wait for the store: none of them waits for a writer that is no more.
#[tokio::test]
async fn a_store_that_panics_ends_the_run() {
    let bench = bench(ROUNDS);
    bench.store.panics.store(true, Ordering::SeqCst);
    let run = bench.start(json!({ "n": 900 }));
    let failed = tokio::time::timeout(Duration::from_secs(60), run).await;
    let error = failed.expect("the run waits for ever").error.unwrap();
    assert_eq!(error.kind, ErrorKind::Store);
    assert!(error.message.contains("panicked"), "{}", error.message);
    // The thread is nobody's, and begins anew.
    bench.store.panics.store(false, Ordering::SeqCst);
    let done = bench.start(json!({ "n": 900 })).await;
    assert_eq!(done.error, None);
    assert_eq!(done.state, RunState::Done);
}

const ASKED: &str = r#"
tool fetch(id: string) -> string
graph G {
  state { out log: list<string> via append }
  start -> a -> ask
  node a: call fetch(id: "a") { set { log: [result] } }
  node ask: interrupt -> b { ask "?" expect string set { log: [answer] } }
  node b: call fetch(id: "b") -> end { set { log: [result] } }
}
"#;

fn log(value: Json) -> Edit {
    Edit {
        writes: vec![Written {
            field: "log".to_owned(),
            value,
            replace: false,
        }],
        ..Edit::default()
    }
}

/// A fork with all that the thread had, whatever it has come to.
fn from(at: u64) -> Fork<'static> {
    Fork {
        from: "t",
        at,
        to: "fork",
        effects: Effects::All,
    }
}

#[tokio::test]
async fn a_program_forks_edits_and_goes_on() {
    let mut bench = bench(ASKED);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    bench.engine.store = Some(store.clone());
    let asked = bench.start(json!({})).await;
    assert_eq!(asked.state, RunState::Interrupted);
    let forked = fork(&store, &SystemAmbient, &from(2)).await.unwrap();
    assert_eq!(forked.state, RunState::Interrupted);
    assert_eq!(forked.forked_from.unwrap().first, "t");

    let edited = bench.engine.edit("t", &log(json!(["edited"]))).await;
    let edited = edited.unwrap();
    assert_eq!((edited.as_node.as_str(), edited.checkpoint), ("a", 3));
    assert_eq!((edited.next, edited.dropped.len()), (vec!["ask".into()], 1));
    let asked_again = bench.resume(&[]).await;
    assert_ne!(asked_again.interrupts[0].id, asked.interrupts[0].id);
    // The fork waits for the question of before.
    let answer = Answer {
        interrupt: Some(asked.interrupts[0].id.clone()),
        value: json!("yes"),
    };
    let options = RunOptions::default();
    let done = bench.engine.resume("fork", &[answer], options).await;
    let done = done.unwrap();
    assert_eq!(done.output["log"], json!(["fetched", "yes", "fetched"]));
    assert_eq!(bench.fetch.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_thread_under_way_is_forked_but_not_edited() {
    let mut bench = bench(RETRIED);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    bench.engine.store = Some(store.clone());
    bench.fetch.hangs.store(true, Ordering::SeqCst);
    let engine = bench.engine.clone();
    let graph = engine.plan.flow.graph("G").unwrap();
    let run = tokio::spawn(async move {
        let options = RunOptions::default();
        engine.start(graph, "t", &json!({}), options).await
    });
    while bench.fetch.calls.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let refused = bench.engine.edit("t", &log(json!([]))).await;
    assert!(matches!(
        refused,
        Err(StartError::Store(StoreError::Busy { .. }))
    ));
    fork(&store, &SystemAmbient, &from(1)).await.unwrap();

    let wrong = Fork {
        to: "wrong",
        ..from(1)
    };
    let refused = bench.engine.fork_edited(&wrong, &log(json!(3))).await;
    assert!(refused.unwrap_err().to_string().contains("field `log`"));
    assert_eq!(store.thread("wrong").await.unwrap(), None);
    run.abort();
    bench.fetch.hangs.store(false, Ordering::SeqCst);
    let options = RunOptions::default();
    let done = bench.engine.resume("fork", &[], options).await.unwrap();
    assert_eq!(done.output["log"], json!(["fetched"]));
}

#[tokio::test]
async fn an_edit_says_what_nobody_asks_about_any_more() {
    let bench = bench(&ASKED.replace("-> string\n", "-> string @idempotent(false)\n"));
    bench.fetch.hangs.store(true, Ordering::SeqCst);
    let cut_off = tokio::time::timeout(Duration::from_millis(50), bench.start(json!({})));
    assert!(cut_off.await.is_err());
    bench.fetch.hangs.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let behind = Edit {
        as_node: Some("a".to_owned()),
        ..log(json!(["by hand"]))
    };
    let edited = bench.engine.edit("t", &behind).await.unwrap();
    assert_eq!(
        (edited.replaced, edited.in_doubt),
        (vec!["a".into()], vec!["fetch".into()])
    );
    let asked = bench.resume(&[]).await;
    assert_eq!(asked.interrupts[0].ask, json!("?"));
    // A call that has ended is in no doubt.
    let edited = bench.engine.edit("t", &log(json!([]))).await.unwrap();
    assert_eq!(edited.in_doubt, Vec::<String>::new());
}

const LOOKED_UP: &str = r#"
tool fetch(id: string) -> string
graph G {
  state { in ids: list<string>, out i: int = 0, out log: list<string> via append }
  start -> look
  node look: call fetch(id: state.ids[state.i]) -> step { set { log: [state.ids[state.i] + "=" + result] } }
  node step: update {
    set { i: state.i + 1 }
    goto { when state.i < size(state.ids) -> look  else -> end }
  }
}
"#;

/// A bench whose store keeps earlier states, and whose tool gives its argument.
fn travelling(text: &str) -> Bench {
    let mut bench = bench(text);
    bench.fetch.echoes.store(true, Ordering::SeqCst);
    bench.engine.store = Some(Arc::new(MemoryStore::new()));
    bench
}

/// A fork made at a checkpoint, gone on with by that flow: the log, and the calls that were made for it.
async fn forked(bench: &Bench, at: u64, engine: &Engine) -> (Json, u32) {
    let before = bench.fetch.calls.load(Ordering::SeqCst);
    let store = bench.engine.store.clone().unwrap();
    fork(&store, &SystemAmbient, &from(at)).await.unwrap();
    let done = engine.resume("fork", &[], RunOptions::default()).await;
    let log = done.unwrap().output["log"].clone();
    (log, bench.fetch.calls.load(Ordering::SeqCst) - before)
}

#[tokio::test]
async fn a_fork_is_not_answered_by_the_results_of_other_calls() {
    let ids = json!({ "ids": ["a", "b", "c", "d"] });
    let all = json!(["a=a", "b=b", "c=c", "d=d"]);
    // The same way: nothing is called.
    let same = travelling(LOOKED_UP);
    same.start(ids.clone()).await;
    let engine = same.engine.clone();
    assert_eq!(forked(&same, 1, &engine).await, (all.clone(), 0));
    // Under a flow in which the same super-steps make other calls, only those that are the same are answered.
    let changed = travelling(LOOKED_UP);
    changed.start(ids.clone()).await;
    let longer = LOOKED_UP.replace("-> step {", "-> between {");
    let between = "  node between: update -> more\n  node more: update -> step\n  node step";
    let longer = longer.replace("  node step", between);
    let engine = Engine {
        plan: bench(&longer).engine.plan,
        ..changed.engine.clone()
    };
    assert_eq!(forked(&changed, 1, &engine).await, (all.clone(), 3));
    // Behind the checkpoint another run has begun: its results are of other calls.
    let again = travelling(LOOKED_UP);
    again.fetch.fails_at.store(2, Ordering::SeqCst);
    assert_eq!(again.start(ids.clone()).await.state, RunState::Failed);
    let other = json!({ "ids": ["p", "q", "r", "s"] });
    assert_eq!(again.start(other).await.state, RunState::Done);
    let engine = again.engine.clone();
    assert_eq!(forked(&again, 3, &engine).await, (all, 3));
}

#[tokio::test]
async fn a_call_in_doubt_is_asked_about_with_the_arguments_that_it_had() {
    let once = RETRIED.replace("-> string", "-> string @idempotent(false)");
    let first = bench(&once);
    first.fetch.fails.store(1, Ordering::SeqCst);
    first.start(json!({})).await;
    let engine = Engine {
        plan: bench(&once.replace("id: \"a\"", "id: \"z\"")).engine.plan,
        ..first.engine.clone()
    };
    let asked = engine.resume("t", &[], RunOptions::default()).await;
    assert_eq!(
        asked.unwrap().interrupts[0].ask["args"],
        json!({ "id": "a" })
    );
}

const LATE: &str = r#"
graph G {
  state { in xs: list<string>, in out left: int, out log: list<string> via append }
  start -> [each x in state.xs -> last with { x: x }, a]
  node last: update -> end { defer  input { x: string = "" }  set { log: [input.x] } }
  node a: update {
    set { left: state.left - 1 }
    goto { when state.left > 0 -> a  else -> end }
  }
}
"#;

/// A run that is stopped while what was sent to a node waits there, and what it would have come to.
async fn waiting() -> (Bench, Arc<dyn Store>, Json) {
    let bench = travelling(LATE);
    let store = bench.engine.store.clone().unwrap();
    let xs: Vec<String> = (0..200).map(|n| format!("input {n}")).collect();
    let graph = bench.engine.plan.flow.graph("G").unwrap();
    let options = RunOptions {
        stop_after_steps: Some(30),
        ..RunOptions::default()
    };
    let input = json!({ "xs": &xs, "left": 40 });
    let stopped = bench.engine.start(graph, "t", &input, options).await;
    assert_eq!(stopped.unwrap().state, RunState::Cancelled);
    (bench, store, json!(xs))
}

#[tokio::test]
async fn what_waits_is_kept_once() {
    let (bench, store, log) = waiting().await;
    let kept = store.checkpoints("t", None, 99).await.unwrap();
    assert_eq!(kept.len(), 31);
    for (number, checkpoint) in kept.iter().enumerate() {
        let size = format!("{:?} {}", checkpoint.writes, checkpoint.schedule).len();
        assert!(number == 0 || size < 1000, "{number}: {size}");
    }
    assert_eq!(bench.resume(&[]).await.output["log"], log);
    let image = store.load("t").await.unwrap().unwrap();
    assert!(!image.frames[0].fields.contains_key("#waiting"));
}

/// A new input lets go of what waits: it doesn't come back with what the new run sends.
#[tokio::test]
async fn what_waits_goes_with_a_new_input() {
    let (bench, _, _) = waiting().await;
    let graph = bench.engine.plan.flow.graph("G").unwrap();
    let input = json!({ "xs": ["new"], "left": 40 });
    let options = RunOptions {
        stop_after_steps: Some(3),
        ..RunOptions::default()
    };
    bench
        .engine
        .start(graph, "t", &input, options)
        .await
        .unwrap();
    assert_eq!(bench.resume(&[]).await.output["log"], json!(["new"]));
}

#[tokio::test]
async fn what_waits_goes_on_under_another_name() {
    let (bench, _, log) = waiting().await;
    let renamed = LATE.replace("last", "later").replace(
        "graph G {",
        "graph G {\n  migrate { rename node last -> later }",
    );
    let engine = Engine {
        plan: self::bench(&renamed).engine.plan,
        ..bench.engine.clone()
    };
    let options = RunOptions {
        migrate: true,
        ..RunOptions::default()
    };
    let done = engine.resume("t", &[], options).await.unwrap();
    assert_eq!(done.output["log"], log);
}

/// Earlier versions of the program have kept it whole in each checkpoint.
#[tokio::test]
async fn what_waits_on_a_thread_of_an_earlier_version_goes_on() {
    let (bench, store, log) = waiting().await;
    let image = store.load("t").await.unwrap().unwrap();
    let waits = image.frames[0].fields["#waiting"].value.to_json();
    let mut records = vec![Record::Status(image.status)];
    for mut checkpoint in store.checkpoints("t", None, 99).await.unwrap() {
        checkpoint.writes.retain(|write| write.field != "#waiting");
        checkpoint.schedule["deferred_sends"] = waits.clone();
        records.push(Record::Checkpoint(checkpoint));
    }
    let lease = store.acquire("old").await.unwrap();
    store.append(&lease, &records).await.unwrap();
    store.release(lease).await.unwrap();
    for options in [
        RunOptions {
            stop_after_steps: Some(3),
            ..RunOptions::default()
        },
        RunOptions::default(),
    ] {
        let went_on = bench.engine.resume("old", &[], options).await.unwrap();
        if went_on.state == RunState::Done {
            assert_eq!(went_on.output["log"], log);
            return;
        }
    }
    panic!("not done");
}
