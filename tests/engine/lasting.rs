//! States of calls with `persist thread`, and joins that wait: checkpoints keep what has changed of them, and threads of earlier
//! versions of the program, which kept them whole, go on.

use std::sync::Arc;

use graphc::run::engine::{Edit, Engine, Fork, RunOptions, RunResult, Written, under_way};
use graphc::run::interrupt::Answer;
use graphc::run::joins::{self, JOINS};
use graphc::run::journal::Durability;
use graphc::run::persisted::{apart, path, plain};
use graphc::run::store::{
    Change, Checkpoint, Effects, FieldImage, FieldWrite, Keep, Record, RunState, Source, Store,
};
use graphc::value::Value;
use serde_json::{Value as Json, json};

use super::flow::engine;

/// A call per turn that adds to what it keeps.
const TURNS: &str = "
graph Main {
  state { in turns: int, in text: string, n: int via add = 0 }
  start -> talk
  node talk: subgraph Talk -> again { persist thread }
  node again: update { set { n: 1 } goto { when state.n < state.turns -> talk else -> end } }
}
graph Talk {
  state { in text: string, in n: int, said: list<string> via append, known: map<string> via merge }
  start -> say -> end
  node say: update { set { said: [state.text], known: {\"k\" + string(state.n): state.text} } }
}
";

/// The same two graphs deep: one that begins anew in each turn and calls several times, and one whose own state lasts.
const NESTED: &str = "
graph Main {
  state { in turns: int, in text: string, n: int via add = 0 }
  start -> outer
  node outer: subgraph Outer -> lasting
  node lasting: subgraph Lasting -> again { persist thread }
  node again: update { set { n: 1 } goto { when state.n < state.turns -> outer else -> end } }
}
graph Outer {
  state { in text: string, in n: int, left: int = 3 }
  start -> talk
  node talk: subgraph Talk -> again { persist thread }
  node again: update { set { left: state.left - 1 } goto { when state.left > 0 -> talk else -> end } }
}
graph Lasting {
  state { in text: string, in n: int, calls: list<int> via append }
  start -> talk
  node talk: subgraph Talk -> end { persist thread set { calls: [1] } }
}
graph Talk {
  state { in text: string, in n: int, said: list<string> via append, known: map<string> via merge }
  start -> say -> end
  node say: update { set { said: [state.text], known: {\"k\" + string(state.n): state.text} } }
}
";

/// A call that asks before it adds, in a call that lasts as well: each turn is a process of its own.
const ASKS: &str = "
graph Main {
  state { in turns: int, in text: string, n: int via add = 0, out log: list<string> via append }
  start -> outer
  node outer: subgraph Outer -> again { persist thread }
  node again: update { set { n: 1 } goto { when state.n < state.turns -> outer else -> end } }
}
graph Outer {
  state { in text: string, in n: int, out log: list<string> via append, calls: list<int> via append, last: string = \"\" }
  start -> note -> talk
  node note: update { set { calls: [state.n] } }
  node talk: subgraph Talk -> end { persist thread set { last: state.text + string(state.n) } }
}
graph Talk {
  state { in text: string, in n: int, out log: list<string> via append, said: list<string> via append = [\"hello\"], known: map<string> via merge,
    best: string = \"none\", rough: list<string> via append based_on [best] reset }
  start -> say -> ask
  node say: update { set { said: [state.text], rough: [state.text] } }
  node ask: interrupt { ask \"?\" expect string set { known: {answer: state.text} } goto { when answer.endsWith(\"5\") -> tell { set { best: answer } } else -> tell } }
  node tell: update -> end { set { log: [state.best + string(size(state.said)) + string(size(state.known)) + string(size(state.rough))] } }
}
";

/// Calls side by side in graphs that are sent to, and calls in what has no checkpoints.
const SHARED: &str = "
graph Main {
  state { in turns: int, in text: string, n: int via add = 0, out log: list<string> via append }
  start -> spread
  node spread: update -> each i in [1, 2, 3] -> mid with { i: i }
  node mid: subgraph Mid -> loose { input { i: int } with { left: input.i } }
  node loose: subgraph Mid -> again { persist none, with { left: 2 } }
  node again: update { set { n: 1 } goto { when state.n < state.turns -> spread else -> end } }
}
graph Mid {
  state { in text: string, in left: int = 2, out log: list<string> via append, n: int = 0 }
  start -> talk
  node talk: subgraph Talk -> again { persist thread }
  node again: update { set { n: state.n + 1 } goto { when state.n < state.left -> talk else -> end } }
}
graph Talk {
  state { in text: string, out log: list<string> via append, said: list<string> via append, known: map<string> via merge }
  start -> say -> tell
  node say: update { set { said: [state.text], known: {\"k\" + string(size(state.said)): state.text} } }
  node tell: update -> end { set { log: [string(size(state.said)) + \" \" + string(size(state.known))] } }
}
";

fn options() -> RunOptions {
    RunOptions {
        recursion_limit: Some(1_000_000),
        ..RunOptions::default()
    }
}

async fn start(engine: &Engine, graph: graphc::ir::GraphId, turns: usize) -> RunResult {
    let input = json!({ "turns": turns, "text": "x".repeat(200) });
    engine.start(graph, "t", &input, options()).await.unwrap()
}

async fn answer(engine: &Engine, thread: &str, value: &str) -> RunResult {
    let answers = [Answer {
        interrupt: None,
        value: json!(value),
    }];
    let run = engine.resume(thread, &answers, options()).await.unwrap();
    assert!(run.error.is_none(), "{:?}", run.error);
    run
}

fn store(engine: &Engine) -> Arc<dyn Store> {
    engine.store.clone().unwrap()
}

/// What all checkpoints of a thread have, as text.
async fn bytes(engine: &Engine) -> usize {
    let all = store(engine).checkpoints("t", None, usize::MAX).await;
    let size = |write: &FieldWrite| match &write.change {
        Change::Put(value) => value.to_stored().to_string().len(),
        Change::Append(items) => items.iter().map(|i| i.to_stored().to_string().len()).sum(),
        Change::Merge(entries) => {
            let entries = entries.iter();
            let sizes = entries.map(|(key, v)| key.len() + v.to_stored().to_string().len());
            sizes.sum()
        }
        Change::Clear => 0,
    };
    let all = all.unwrap();
    let of_one = |checkpoint: &Checkpoint| {
        let writes = checkpoint.writes.iter();
        let writes: usize = writes.map(|w| w.field.len() + size(w)).sum();
        writes + checkpoint.schedule.to_string().len()
    };
    all.iter().map(of_one).sum()
}

#[tokio::test]
async fn what_lasts_stays_linear() {
    for flow in [TURNS, NESTED] {
        let mut sizes = Vec::new();
        for turns in [100, 800] {
            let (engine, graph) = engine(flow, None, None);
            let run = start(&engine, graph, turns).await;
            assert_eq!(run.state, RunState::Done, "{:?}", run.error);
            sizes.push(bytes(&engine).await);
        }
        assert!(sizes[1] < sizes[0] * 11, "{sizes:?}");
    }
}

#[tokio::test]
async fn what_lasts_stays_linear_where_each_turn_is_a_process() {
    let mut sizes = Vec::new();
    for turns in [30, 240] {
        let (engine, graph) = engine(ASKS, None, None);
        let mut run = start(&engine, graph, turns).await;
        let mut turn = 0;
        while run.state == RunState::Interrupted {
            run = answer(&engine, "t", &format!("a{turn}")).await;
            turn += 1;
        }
        assert_eq!((run.state, turn), (RunState::Done, turns));
        sizes.push(bytes(&engine).await);
    }
    assert!(sizes[1] < sizes[0] * 11, "{sizes:?}");
}

/// A chain whose nodes are all members of one join, so that one arrives in each step; the one in the middle asks.
fn joined(members: usize) -> String {
    let names: Vec<String> = (0..members).map(|n| format!("n{n}")).collect();
    let all = names.join(", ");
    let mut text = format!(
        "graph Main {{\n  state {{ out n: int via add = 0 }}\n  start -> n0\n  [{all}] -> last\n"
    );
    for n in 0..members {
        let next = match n + 1 < members {
            true => format!(" -> n{}", n + 1),
            false => String::new(),
        };
        text += &match n == members / 2 {
            true => {
                format!(
                    "  node n{n}: interrupt{next} {{ ask \"?\" expect string set {{ n: 1 }} }}\n"
                )
            }
            false => format!("  node n{n}: update{next} {{ set {{ n: 1 }} }}\n"),
        };
    }
    text + "  node last: update -> end { set { n: 1000 } }\n}\n"
}

#[tokio::test]
async fn joins_that_wait_stay_linear() {
    let mut sizes = Vec::new();
    for members in [40, 320] {
        let (engine, graph) = engine(&joined(members), None, None);
        let run = engine.start(graph, "t", &json!({}), options()).await;
        assert_eq!(run.unwrap().state, RunState::Interrupted);
        let run = answer(&engine, "t", "go on").await;
        assert_eq!(run.values["n"], 1000 + members);
        sizes.push(bytes(&engine).await);
    }
    assert!(sizes[1] < sizes[0] * 11, "{sizes:?}");
}

#[tokio::test]
async fn joins_of_an_earlier_version_go_on() {
    let (engine, graph) = engine(&joined(9), None, None);
    let run = engine.start(graph, "t", &json!({}), options()).await;
    assert_eq!(run.unwrap().state, RunState::Interrupted);
    rewrite(&engine).await;
    let image = store(&engine).load("t").await.unwrap().unwrap();
    assert_eq!(
        image.frames[0].schedule["joins"][0]["arrived"],
        json!(["n0", "n1", "n2", "n3"])
    );
    assert_eq!(answer(&engine, "t", "go on").await.values["n"], 1009);
}

/// The state that a thread has kept at a path, as all that reads threads sees it.
async fn state(engine: &Engine, thread: &str, path: &str) -> Json {
    let image = store(engine).load(thread).await.unwrap().unwrap();
    let frames = under_way(&image.frames).unwrap();
    let kept = frames[0].fields.get(&format!("@{path}")).unwrap();
    kept.value.to_json()
}

/// The thread as an earlier version of the program would have written it: states that last whole, joins in the schedule, and of
/// what a call was given as well.
async fn rewrite(engine: &Engine) {
    let store = store(engine);
    let image = store.load("t").await.unwrap().unwrap();
    let frames = under_way(&image.frames).unwrap();
    let root_step = frames[0].step;
    let mut records = Vec::new();
    for frame in frames.iter().map(plain) {
        let mut frame = frame;
        for (_, kept) in frame.fields.iter_mut().filter(|(n, _)| n.starts_with('@')) {
            let mut state = kept.value.as_map().unwrap().clone();
            let mut fields = state.get("fields").unwrap().as_map().unwrap().clone();
            fields.insert("text", Value::text("given"));
            state.insert("fields", Value::Map(fields));
            *kept = FieldImage::of(Value::Map(state));
        }
        let joins = joins::of_checkpoint(frame.fields.remove(JOINS).as_ref()).into_iter();
        let joins: Vec<Json> = joins
            .map(|join| json!({ "members": join.members, "arrived": join.arrived }))
            .collect();
        if !joins.is_empty() {
            frame.schedule["joins"] = json!(joins);
        }
        records.push(Record::Checkpoint(Checkpoint {
            seq: frame.seq,
            frame: frame.frame.clone(),
            step: frame.step,
            root_step,
            run_id: frame.run_id.clone(),
            source: Source::Step,
            writes: frame
                .fields
                .iter()
                .map(|(field, kept)| FieldWrite {
                    field: field.clone(),
                    change: Change::Put(kept.value.clone()),
                })
                .collect(),
            schedule: frame.schedule.clone(),
            at: image.status.at.clone(),
        }));
    }
    records.sort_by_key(|record| match record {
        Record::Checkpoint(checkpoint) => checkpoint.seq,
        _ => u64::MAX,
    });
    records.extend(image.effects.into_iter().map(Record::Effect));
    records.push(Record::Status(image.status));
    store.delete("t").await.unwrap();
    let lease = store.acquire("t").await.unwrap();
    store.append(&lease, &records).await.unwrap();
    store.release(lease).await.unwrap();
}

#[tokio::test]
async fn threads_of_an_earlier_version_go_on() {
    let turns = 7;
    let mut ends = Vec::new();
    for at in [usize::MAX, 0, 1, 4, 6] {
        let (engine, graph) = engine(ASKS, None, None);
        let mut run = start(&engine, graph, turns).await;
        for turn in 0..turns {
            if turn == at {
                rewrite(&engine).await;
            }
            run = answer(&engine, "t", &format!("a{turn}")).await;
        }
        assert_eq!(run.state, RunState::Done);
        let outer = state(&engine, "t", "outer").await;
        ends.push((run.values, outer, state(&engine, "t", "outer/talk").await));
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:#?}");
}

/// A thread that waits in a call is compacted, forked and edited there, and goes on as one that is not.
#[tokio::test]
async fn what_lies_on_what_lasts_is_forked_compacted_and_edited() {
    let turns = 6;
    let (engine, graph) = engine(ASKS, None, None);
    start(&engine, graph, turns).await;
    for turn in 0..3 {
        answer(&engine, "t", &format!("a{turn}")).await;
    }
    let info = store(&engine).thread("t").await.unwrap().unwrap();
    let fork = async |to: &'static str| {
        let wanted = Fork {
            from: "t",
            at: info.checkpoint,
            to,
            effects: Effects::All,
        };
        engine.fork(&wanted).await.unwrap();
    };
    for to in ["plain", "small", "edited"] {
        fork(to).await;
    }
    let lease = store(&engine).acquire("small").await.unwrap();
    let done = store(&engine).compact(&lease, Keep::Newest(1)).await;
    assert!(done.unwrap().checkpoints > 10);
    store(&engine).release(lease).await.unwrap();
    let edit = Edit {
        frame: Some("outer/talk".to_owned()),
        writes: vec![Written {
            field: "said".to_owned(),
            value: json!(["edited"]),
            replace: false,
        }],
        as_node: Some("say".to_owned()),
    };
    engine.edit("edited", &edit).await.unwrap();
    let run = engine.resume("edited", &[], options()).await.unwrap();
    assert_eq!(run.state, RunState::Interrupted);
    let mut ends = Vec::new();
    for thread in ["t", "plain", "small", "edited"] {
        let mut run = answer(&engine, thread, "a3").await;
        for turn in 4..turns {
            run = answer(&engine, thread, &format!("a{turn}")).await;
        }
        assert_eq!(run.state, RunState::Done);
        ends.push((run.values, state(&engine, thread, "outer/talk").await));
    }
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ends[2]);
    let said = |n: usize| ends[n].1["fields"]["said"].as_array().unwrap().clone();
    assert_eq!(said(0).len(), 7);
    let mut other = said(0);
    other.insert(5, json!("edited"));
    assert_eq!(said(3), other);
}

/// A changed flow puts what has changed apart: nothing lies on what is no more.
#[tokio::test]
async fn a_changed_flow_takes_over_what_lies_on_what_lasts() {
    for (from, to) in [
        ("said: list<string>", "said: list<string?>"),
        ("node talk: subgraph", "node tell: subgraph"),
        ("said", "words"),
        ("known: map<string>", "known: map<json>"),
    ] {
        let mut text = ASKS.replace(from, to);
        match to {
            "words" => {
                let block = "graph Talk {\n  migrate { rename field said -> words }";
                text = text.replace("graph Talk {", block);
            }
            "node tell: subgraph" => {
                let block = "graph Outer {\n  migrate { rename node talk -> tell }";
                text = text.replace("graph Outer {", block);
                text = text.replace("note -> talk", "note -> tell");
            }
            _ => {}
        }
        let (first, graph) = engine(ASKS, None, None);
        start(&first, graph, 5).await;
        for turn in 0..2 {
            answer(&first, "t", &format!("a{turn}")).await;
        }
        let (second, _) = engine(&text, None, None);
        let second = Engine {
            store: first.store.clone(),
            ..second
        };
        let answers = [Answer {
            interrupt: None,
            value: json!("a2"),
        }];
        let migrate = RunOptions {
            migrate: true,
            ..options()
        };
        let run = second.resume("t", &answers, migrate).await.unwrap();
        assert!(run.error.is_none(), "{to}: {:?}", run.error);
        for turn in 3..5 {
            answer(&second, "t", &format!("a{turn}")).await;
        }
        let path = match to {
            "node tell: subgraph" => "outer/tell",
            _ => "outer/talk",
        };
        let kept = state(&second, "t", path).await;
        let field = if to == "words" { "words" } else { "said" };
        let said = kept["fields"][field].as_array().unwrap();
        assert_eq!(said.len(), 6, "{to}: {kept}");
        assert_eq!(kept["fields"]["known"].as_object().unwrap().len(), 5);
    }
}

/// Calls side by side have a state each: where a run is cut off between them does not count.
#[tokio::test]
async fn calls_side_by_side_keep_what_the_run_goes_on_with() {
    let paths = ["mid[0]/talk", "mid[1]/talk", "mid[2]/talk", "loose/talk"];
    let (engine, graph) = engine(SHARED, None, None);
    let run = start(&engine, graph, 4).await;
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    let states = async |thread: &str| {
        let mut states = Vec::new();
        for path in paths {
            states.push(state(&engine, thread, path).await);
        }
        states
    };
    let kept = states("t").await;
    let history = store(&engine).history("t", None, usize::MAX).await.unwrap();
    for info in &history {
        let to = format!("f{}", info.seq);
        let wanted = Fork {
            from: "t",
            at: info.seq,
            to: &to,
            effects: Effects::All,
        };
        if engine.fork(&wanted).await.unwrap().state == RunState::Done {
            continue;
        }
        let again = engine.resume(&to, &[], options()).await.unwrap();
        let why = format!("{}: {:?}", info.seq, again.error);
        assert_eq!(again.state, RunState::Done, "{why}");
        assert_eq!(again.values, run.values, "{}", info.seq);
        assert_eq!(states(&to).await, kept, "{}", info.seq);
    }
}

/// Each call adds as many elements to its list as entries to its map: so it is at every checkpoint, also where the calls take turns.
#[tokio::test]
async fn calls_side_by_side_are_whole_at_each_checkpoint() {
    for durability in [Durability::Sync, Durability::Async] {
        let (engine, graph) = engine(SHARED, None, None);
        let input = json!({ "turns": 3, "text": "x" });
        let options = RunOptions {
            durability,
            ..options()
        };
        let run = engine.start(graph, "t", &input, options).await.unwrap();
        assert_eq!(run.state, RunState::Done, "{:?}", run.error);
        let size = |value: Option<&Json>| {
            let list = value.and_then(Json::as_array).map(Vec::len);
            list.or_else(|| Some(value?.as_object()?.len()))
        };
        for seq in 1..=run.checkpoint_id.unwrap() {
            let image = store(&engine).image_at("t", seq, Effects::Before).await;
            for frame in under_way(&image.unwrap().frames).unwrap() {
                let said = frame.fields.get("said").map(|f| f.value.to_json());
                let known = frame.fields.get("known").map(|f| f.value.to_json());
                assert_eq!(size(said.as_ref()), size(known.as_ref()), "{seq}");
                for (name, kept) in &frame.fields {
                    if path(name).is_none() {
                        continue;
                    }
                    let kept = kept.value.to_json();
                    let (said, known) = (&kept["fields"]["said"], &kept["fields"]["known"]);
                    assert!(size(Some(said)) > Some(0), "{seq} {name}: {kept}");
                    assert_eq!(size(Some(said)), size(Some(known)), "{seq} {name}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_lasts_in_what_has_no_checkpoints_stays_linear() {
    let mut sizes = Vec::new();
    for turns in [100, 800] {
        let lines = SHARED
            .lines()
            .filter(|line| !line.contains("-> mid") && !line.contains("node mid"));
        let flow: Vec<&str> = lines.collect();
        let flow = flow.join("\n").replace("spread", "loose");
        let (engine, graph) = engine(&flow, None, None);
        let run = start(&engine, graph, turns).await;
        assert_eq!(run.state, RunState::Done, "{:?}", run.error);
        sizes.push(bytes(&engine).await);
    }
    assert!(sizes[1] < sizes[0] * 11, "{sizes:?}");
}

/// What is taken apart is whole again.
#[tokio::test]
async fn what_is_put_apart_is_put_together_again() {
    let (engine, graph) = engine(ASKS, None, None);
    start(&engine, graph, 5).await;
    for turn in 0..3 {
        answer(&engine, "t", &format!("a{turn}")).await;
    }
    let image = store(&engine).load("t").await.unwrap().unwrap();
    let frames = under_way(&image.frames).unwrap();
    assert_eq!(frames.len(), 3);
    let whole: Vec<_> = frames.iter().map(plain).collect();
    let again: Vec<_> = whole.iter().map(apart).collect();
    let again = under_way(&again).unwrap();
    for (whole, again) in whole.iter().zip(again.iter().map(plain)) {
        let values = |frame: &graphc::run::store::FrameImage| -> Vec<_> {
            let fields = frame.fields.iter();
            fields
                .map(|(n, f)| (n.clone(), f.value.to_json()))
                .collect()
        };
        assert_eq!(values(whole), values(&again));
    }
}

/// Of a field that does not gather a called graph keeps for its caller that it was written, and not what it was each time.
#[tokio::test]
async fn a_field_that_is_written_anew_is_kept_once_a_step() {
    let flow = "
graph Main {
  state { in turns: int, in text: string, out said: string = \"\" }
  start -> inner -> end
  node inner: subgraph Inner
}
graph Inner {
  state { in turns: int, in text: string, out said: string = \"\", left: int = 0 }
  start -> say
  node say: update {
    set { said: state.text + string(state.left), left: state.left + 1 }
    goto { when state.left < state.turns -> say else -> end }
  }
}
";
    let (engine, graph) = engine(flow, None, None);
    let run = start(&engine, graph, 200).await;
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    let text = run.values["text"].as_str().unwrap();
    assert_eq!(run.values["said"], json!(format!("{text}199")));
    let written = 200 * text.len();
    let kept = bytes(&engine).await;
    // With what is left to do at each of them.
    assert!(kept < written * 2, "{kept}, {written} written");
}
