//! Threads that an earlier version of the program has kept: entries of nodes stood whole in each checkpoint's schedule,
//! and steps were not counted.

use graphc::run::engine::{Engine, RunOptions};
use graphc::run::interrupt::Answer;
use graphc::run::store::{Change, Checkpoint, FieldWrite, Record, RunState, Source};
use serde_json::json;

use super::flow::{begin, engine};

/// `MIGRATE` stands for a `migrate` block, `ASK` for the name of the node that asks.
const FLOW: &str = "
graph Main {
  MIGRATE
  state { out log: list<string> via append }
  start -> ASK
  node ASK: interrupt { max_visits 3 -> enough ask \"?\" expect string set { log: [answer + string(run.remaining_steps)] } goto { when answer == \"end\" -> end else -> ASK } }
  node enough: update -> end { set { log: [\"enough\"] } }
}
";

fn flow(migrate: &str, ask: &str) -> String {
    FLOW.replace("MIGRATE", migrate).replace("ASK", ask)
}

async fn answer(engine: &Engine, value: &str, migrate: bool) -> graphc::run::engine::RunResult {
    let answers = [Answer {
        interrupt: None,
        value: json!(value),
    }];
    let options = RunOptions {
        migrate,
        ..RunOptions::default()
    };
    engine.resume("t", &answers, options).await.unwrap()
}

/// The thread as the earlier version would have written it.
async fn rewrite(engine: &Engine) {
    let store = engine.store.clone().unwrap();
    let image = store.load("t").await.unwrap().unwrap();
    let root = image.frames[0].clone();
    let counts = root.fields.get("#visits").expect("counts").value.to_json();
    let counts = counts.as_object().unwrap().iter();
    let counts: Vec<_> = counts.map(|(name, count)| json!([name, count])).collect();
    let mut schedule = root.schedule;
    let entries = schedule.as_object_mut().unwrap();
    assert!(entries.remove("steps").is_some());
    entries.insert("visits".to_owned(), json!(counts));
    let fields = root.fields.iter().filter(|(name, _)| *name != "#visits");
    let writes = fields.map(|(field, kept)| FieldWrite {
        field: field.clone(),
        change: Change::Put(kept.value.clone()),
    });
    let checkpoint = Record::Checkpoint(Checkpoint {
        seq: root.seq,
        frame: root.frame,
        step: root.step,
        root_step: root.step,
        run_id: root.run_id,
        source: Source::Step,
        writes: writes.collect(),
        schedule,
        at: image.status.at.clone(),
    });
    let effects = image.effects.into_iter().map(Record::Effect);
    let status = Record::Status(image.status);
    let records: Vec<Record> = std::iter::once(checkpoint)
        .chain(effects)
        .chain([status])
        .collect();
    store.delete("t").await.unwrap();
    let lease = store.acquire("t").await.unwrap();
    store.append(&lease, &records).await.unwrap();
    store.release(lease).await.unwrap();
}

#[tokio::test]
async fn counts_of_visits_of_an_earlier_version_go_on() {
    for renamed in [false, true] {
        let (first, graph) = engine(&flow("", "ask"), None, None);
        let run = begin(&first, graph);
        assert_eq!(run.await.state, RunState::Interrupted);
        answer(&first, "a", false).await;
        rewrite(&first).await;
        let second = match renamed {
            false => flow("", "ask"),
            true => flow("migrate { rename node ask -> query }", "query"),
        };
        let (second, _) = engine(&second, None, None);
        let second = Engine {
            store: first.store.clone(),
            ..second
        };
        assert_eq!(
            answer(&second, "b", renamed).await.state,
            RunState::Interrupted
        );
        let done = answer(&second, "c", false).await;
        assert_eq!(done.state, RunState::Done, "{:?}", done.error);
        // The steps of the earlier version are not known.
        assert_eq!(
            done.values["log"],
            json!(["a999", "b999", "c998", "enough"])
        );
    }
}

/// What this version keeps takes new names too, and a run that begins anew counts anew.
#[tokio::test]
async fn counts_of_visits_follow_a_renamed_node_and_end_with_their_run() {
    let (first, graph) = engine(&flow("", "ask"), None, None);
    let start = begin(&first, graph);
    start.await;
    answer(&first, "a", false).await;
    let text = flow("migrate { rename node ask -> query }", "query");
    let (second, _) = engine(&text, None, None);
    let second = Engine {
        store: first.store.clone(),
        ..second
    };
    answer(&second, "b", true).await;
    let done = answer(&second, "c", false).await;
    assert_eq!(
        done.values["log"],
        json!(["a999", "b998", "c997", "enough"])
    );
    let start = begin(&second, graph);
    assert_eq!(start.await.state, RunState::Interrupted);
    for value in ["d", "e"] {
        let more = answer(&second, value, false).await;
        assert_eq!(more.state, RunState::Interrupted);
    }
    let done = answer(&second, "f", false).await;
    assert_eq!(done.values["log"].as_array().unwrap().len(), 4);
}
