//! What a reader gets of a run, and what a run does about a reader that falls behind.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use graphc::ir::ErrorKind;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::event::{Event, EventKind, Mode};
use graphc::run::model::{ChatDelta, FinishReason, ModelError};
use graphc::run::store::RunState;
use graphc::run::stream::{BYTES, EVENTS, EventStream, HARD, channel, patient};
use serde_json::{Value as Json, json};

use super::flow::{Model, Tool, engine};

async fn all(mut events: EventStream) -> Vec<Event> {
    let mut read = Vec::new();
    while let Some(event) = events.next().await {
        read.push(event);
    }
    read
}

/// Without gaps, from 1.
fn numbered(events: &[Event]) {
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.seq, index as u64 + 1);
    }
}

const SPEAKERS: &str = "
model m = \"local/m\"
graph Main {
  state { in speakers: list<int>, out said: int via add = 0 }
  start -> spread
  node spread: update { goto each n in state.speakers -> speak with { n: n } }
  node speak: llm -> end { model m prompt \"go\" input { n: int } set { said: size(reply.text) } }
}
";

/// The most that has waited: events and bytes.
#[derive(Default)]
struct Most(AtomicUsize, AtomicUsize);

impl Most {
    fn note(&self, stream: &EventStream) {
        let (events, bytes) = stream.waiting();
        self.0.fetch_max(events, Ordering::Relaxed);
        self.1.fetch_max(bytes, Ordering::Relaxed);
    }
}

/// Runs speakers who each say that many tokens, all at the same time, before anybody reads.
async fn unread(speakers: usize, tokens: usize) -> (Vec<Event>, Arc<Most>) {
    let (sink, events) = channel(Mode::ALL);
    let events = Arc::new(Mutex::new(Some(events)));
    let most = Arc::new(Most::default());
    let (watched, noted) = (Arc::clone(&events), Arc::clone(&most));
    let model = Model(Box::new(move |_| {
        let (watched, noted) = (Arc::clone(&watched), Arc::clone(&noted));
        let said = stream::iter(0..tokens).then(move |token| {
            if token % 1000 == 0 {
                noted.note(watched.lock().unwrap().as_ref().unwrap());
            }
            async move {
                // The others come in between.
                if token % 10 == 0 {
                    tokio::task::yield_now().await;
                }
                Ok(ChatDelta::Text("token ".to_owned()))
            }
        });
        let end = stream::iter([Ok(ChatDelta::Finish(FinishReason::Stop))]);
        Ok(Box::pin(said.chain(end)))
    }));
    let (engine, graph) = engine(SPEAKERS, Some(model), None);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let numbers: Vec<usize> = (0..speakers).collect();
    let input = json!({ "speakers": numbers });
    let run = engine.start(graph, "t", &input, options).await.unwrap();
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    assert_eq!(run.values["said"], speakers * tokens * 6);
    let events = events.lock().unwrap().take().unwrap();
    most.note(&events);
    (all(events).await, most)
}

/// By task: the text of its tokens, how many were left out, the whole message, in the order read.
fn told(events: &[Event]) -> BTreeMap<String, (String, u64, String)> {
    let mut told: BTreeMap<String, (String, u64, String)> = BTreeMap::new();
    for event in events {
        match &event.kind {
            EventKind::Token { text, by, .. } => {
                let told = told.entry(by.task.clone()).or_default();
                assert_eq!(told.2, "", "a token behind the message");
                assert_eq!(told.1, 0, "a token behind a gap");
                told.0 += text;
                told.1 += event.skipped;
            }
            EventKind::Message { message, by } => {
                let text = message["content"].as_str().unwrap();
                told.entry(by.task.clone()).or_default().2 = text.to_owned();
            }
            _ => {}
        }
    }
    told
}

/// A million tokens, and a reader that has stopped: what waits stays small, the run is not held up, and the reader who
/// comes back knows what is missing.
#[tokio::test]
async fn a_million_tokens_for_a_reader_that_stopped() {
    for (speakers, tokens) in [(1, 1_000_000), (50, 4_000)] {
        let started = Instant::now();
        let (events, most) = unread(speakers, tokens).await;
        assert!(
            most.0.load(Ordering::Relaxed) <= EVENTS + 8 * speakers,
            "{:?}",
            most.0
        );
        // The whole messages come on top.
        let messages = speakers * tokens * 6;
        let bytes = most.1.load(Ordering::Relaxed);
        assert!(bytes <= BYTES + messages + EVENTS * 400, "{bytes}");
        assert!(started.elapsed() < Duration::from_secs(60));
        numbered(&events);
        let told = told(&events);
        assert_eq!(told.len(), speakers);
        for (text, skipped, message) in told.into_values() {
            assert_eq!(message.len(), tokens * 6);
            assert!(message.starts_with(&text));
            assert_eq!(text.len() / 6 + skipped as usize, tokens);
        }
        assert!(
            !events
                .iter()
                .any(|e| matches!(e.kind, EventKind::Dropped { .. }))
        );
    }
}

const EMITS: &str = "
event at { n: int }
graph Main {
  recursion_limit 100000
  state { in most: int, out n: int via add = 0 }
  start -> step
  node step: update {
    set { n: 1 }
    emit at { n: state.n }
    goto { when state.n >= state.most -> end else -> step }
  }
}
";

fn emitting() -> (Engine, graphc::ir::GraphId) {
    engine(EMITS, None, None)
}

fn customs(events: &[Event]) -> Vec<i64> {
    let customs = events.iter().filter_map(|event| match &event.kind {
        EventKind::Custom { payload, .. } => payload["n"].as_i64(),
        _ => None,
    });
    customs.collect()
}

/// What must not be lost is waited for, but not for ever: a run whose reader takes nothing goes on, and what it left out
/// is counted in its place.
#[tokio::test]
async fn a_reader_that_stopped_is_not_waited_for_without_bound() {
    let (engine, graph) = emitting();
    let (sink, events) = patient([Mode::Custom, Mode::Updates], Duration::from_millis(300));
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let started = Instant::now();
    let run = engine
        .start(graph, "t", &json!({ "most": 5000 }), options)
        .await;
    assert_eq!(run.unwrap().state, RunState::Done);
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(events.waiting().0 <= EVENTS + 4);
    let read = all(events).await;
    numbered(&read);
    let Some(EventKind::Dropped { events }) = read.last().map(|event| &event.kind) else {
        panic!("{:?}", read.last());
    };
    assert_eq!(read.len() as u64 - 1 + events, 10_000);
    let customs = customs(&read);
    assert_eq!(customs, (1..=customs.len() as i64).collect::<Vec<_>>());
}

/// A slow reader gets all that must not be lost: the run waits for it.
#[tokio::test]
async fn a_slow_reader_gets_every_event_and_update() {
    let (engine, graph) = emitting();
    let (sink, mut events) = channel([Mode::Custom, Mode::Updates, Mode::Values]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let reader = tokio::spawn(async move {
        let (mut read, mut most) = (Vec::new(), 0);
        while let Some(event) = events.next().await {
            most = most.max(events.waiting().0);
            read.push(event);
            if read.len() % 50 == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        (read, most)
    });
    let run = engine
        .start(graph, "t", &json!({ "most": 5000 }), options)
        .await;
    assert_eq!(run.unwrap().state, RunState::Done);
    let (read, most) = reader.await.unwrap();
    assert!(most <= 2 * EVENTS + 8, "{most}");
    numbered(&read);
    assert_eq!(customs(&read), (1..=5000).collect::<Vec<_>>());
    let updates = read.iter().filter(|e| e.kind.mode() == Some(Mode::Updates));
    assert_eq!(updates.count(), 5000);
    // States gave way to newer ones; none is missing without a word.
    let states = read.iter().filter(|e| e.kind.mode() == Some(Mode::Values));
    let states: Vec<u64> = states.map(|e| e.skipped + 1).collect();
    assert_eq!(states.iter().sum::<u64>(), 5001);
}

/// One that pauses again and again, each time for less than a run waits, gets all of it too.
#[tokio::test]
async fn a_reader_that_pauses_loses_nothing() {
    let (engine, graph) = emitting();
    let (sink, mut events) = patient([Mode::Custom, Mode::Updates], Duration::from_millis(300));
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let reader = tokio::spawn(async move {
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            read.push(event);
            if read.len() % 500 == 0 {
                tokio::time::sleep(Duration::from_millis(60)).await;
            }
        }
        read
    });
    let run = engine
        .start(graph, "t", &json!({ "most": 5000 }), options)
        .await;
    assert_eq!(run.unwrap().state, RunState::Done);
    let read = reader.await.unwrap();
    assert_eq!(customs(&read), (1..=5000).collect::<Vec<_>>());
    assert_eq!(read.len(), 10_000);
}

/// Runs that have one stream are told apart, and the state of one does not give way to that of another.
#[tokio::test]
async fn runs_may_share_a_stream() {
    let (engine, graph) = emitting();
    let (sink, mut events) = channel([Mode::Values]);
    let options = |sink| RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let (one, other) = (options(sink.clone()), options(sink));
    let input = json!({ "most": 2000 });
    let (one, other) = tokio::join!(
        engine.start(graph, "one", &input, one),
        engine.start(graph, "other", &input, other),
    );
    let mut told: BTreeMap<String, (u64, Json)> = BTreeMap::new();
    while let Some(event) = events.next().await {
        let run = match &*event.thread_id {
            "one" => one.as_ref(),
            _ => other.as_ref(),
        };
        assert_eq!(*event.run_id, run.unwrap().run_id);
        let EventKind::Values(state) = event.kind else {
            panic!("{:?}", event.kind);
        };
        let (states, last) = told.entry(event.thread_id.to_string()).or_default();
        *states += event.skipped + 1;
        *last = state["n"].clone();
    }
    let all = (2001, json!(2000));
    let all = [("one", &all), ("other", &all)].map(|(id, all)| (id.to_owned(), all.clone()));
    assert_eq!(told, all.into());
}

/// The states of calls of one node beside each other don't give way to each other.
#[tokio::test]
async fn each_call_has_a_last_state_of_its_own() {
    let text = "
graph Main {
  state { in calls: list<int>, in most: int, out n: int via add = 0 }
  start -> each c in state.calls -> work with { c: c }
  node work: subgraph Count -> end { input { c: int } with { most: state.most } }
}
graph Count {
  state { in most: int, out n: int via add = 0 }
  start -> step
  node step: update { set { n: 1 } goto { when state.n >= state.most -> end else -> step } }
}
";
    let (engine, graph) = engine(text, None, None);
    let (sink, events) = channel([Mode::Values]);
    let options = RunOptions {
        events: Some(sink),
        recursion_limit: Some(10_000),
        ..RunOptions::default()
    };
    let input = json!({ "calls": [0, 1, 2], "most": 900 });
    let run = engine.start(graph, "t", &input, options).await.unwrap();
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    let read = all(events).await;
    numbered(&read);
    let told = read.iter().map(|event| 1 + event.skipped);
    assert_eq!(told.sum::<u64>(), 3 * 901 + 2);
    let mut last = BTreeMap::new();
    for event in &read {
        let EventKind::Values(state) = &event.kind else {
            panic!("{event:?}");
        };
        let (frame, _) = event.task().rsplit_once('/').unwrap_or_default();
        last.insert(frame, state["n"].as_u64());
    }
    let calls = ["0:work[0]", "0:work[1]", "0:work[2]"].map(|frame| (frame, Some(900)));
    assert_eq!(last, [("", Some(2700))].into_iter().chain(calls).collect());
}

/// One step that sends more than fits is not cut short for a reader that reads.
#[tokio::test]
async fn a_wide_step_waits_for_its_reader() {
    let text = "
graph Main {
  state { in all: list<int>, out seen: int via add = 0 }
  start -> spread
  node spread: update { goto each v in state.all -> one with { v: v } }
  node one: update -> end { input { v: int } set { seen: 1 } }
}
";
    let (engine, graph) = engine(text, None, None);
    let (sink, events) = channel([Mode::Tasks, Mode::Updates]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let reader = tokio::spawn(all(events));
    let count = 2 * HARD / 3;
    let input = json!({ "all": vec![1; count] });
    let run = engine.start(graph, "t", &input, options).await.unwrap();
    assert_eq!(run.values["seen"], count);
    let read = reader.await.unwrap();
    assert_eq!(read.len(), 3 * (count + 1));
}

/// A reader who has lost what it read goes back to the last event that it knows.
#[tokio::test]
async fn a_reader_goes_back_to_what_it_saw_last() {
    let (engine, graph) = emitting();
    let (sink, mut events) = channel([Mode::Custom]);
    events.keep(10);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    engine
        .start(graph, "t", &json!({ "most": 30 }), options)
        .await
        .unwrap();
    for _ in 0..20 {
        events.next().await.unwrap();
    }
    events.rewind(15);
    let again = [events.next().await.unwrap(), events.next().await.unwrap()];
    assert_eq!([again[0].seq, again[1].seq], [16, 17]);
    assert_eq!(customs(&again), [16, 17]);
    // What is not kept any more is told.
    events.rewind(3);
    let gap = events.next().await.unwrap();
    assert_eq!(gap.kind, EventKind::Dropped { events: 7 });
    assert_eq!(gap.seq, 10);
    let rest = all(events).await;
    assert_eq!(customs(&rest), (11..=30).collect::<Vec<_>>());
    assert_eq!(rest[0].seq, 11);
    assert_eq!(rest.last().unwrap().seq, 30);
}

/// What a failed attempt has said is told apart from what the next one says.
#[tokio::test]
async fn tokens_say_which_attempt_they_are_of() {
    let text = "
model m = \"local/m\"
graph Main {
  state { out said: string = \"\" }
  start -> speak
  node speak: llm -> end { model m prompt \"go\" retry { attempts 2, initial 1ms, on [network] } set { said: reply.text } }
}
";
    let model = Model(Box::new(|cx| {
        let text = |text: &str| Ok(ChatDelta::Text(text.to_owned()));
        let deltas = match cx.attempt {
            1 => vec![
                text("Hel"),
                Err(ModelError::new(ErrorKind::Network, "gone")),
            ],
            _ => vec![
                text("Hel"),
                text("lo"),
                Ok(ChatDelta::Finish(FinishReason::Stop)),
            ],
        };
        Ok(Box::pin(stream::iter(deltas)))
    }));
    let (engine, graph) = engine(text, Some(model), None);
    let (sink, events) = channel([Mode::Messages]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.output["said"], "Hello", "{:?}", run.error);
    drop(engine);
    let said = all(events).await;
    let said = said.iter().filter_map(|event| match &event.kind {
        EventKind::Token {
            text,
            attempt,
            call,
            ..
        } => Some((*attempt, text.clone(), call.clone())),
        _ => None,
    });
    let call = "model@0".to_owned();
    let token = |attempt, text: &str| (attempt, text.to_owned(), call.clone());
    assert_eq!(
        said.collect::<Vec<_>>(),
        [token(1, "Hel"), token(2, "Hel"), token(2, "lo")]
    );
}

const ORDER: &str = "
event at { n: int }
tool wait(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> spread
  node spread: update { goto each n in [1, 2, 3, 4, 5, 6] -> sub with { n: n } }
  node sub: subgraph Inner -> last
  node last: update -> end {}
}
graph Inner {
  state { in n: int, out log: list<string> via append }
  start -> a -> b -> end
  node a: call wait(n: state.n) { emit at { n: state.n } set { log: [result] } }
  node b: call wait(n: state.n) { emit at { n: state.n } set { log: [result] } }
}
";

/// The order that a reader can rely on: of a task, of a frame, and over the run, however long each call takes.
#[tokio::test]
async fn events_keep_their_order() {
    for round in 0..4_u64 {
        let tool = Tool::new(move |call| async move {
            let n = call.args["n"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis((n * (round * 2 + 3)) % 7)).await;
            Ok(json!(format!("{n}")))
        });
        let (engine, graph) = engine(ORDER, None, Some(tool));
        let (sink, events) = channel(Mode::ALL);
        let options = RunOptions {
            events: Some(sink),
            ..RunOptions::default()
        };
        engine.start(graph, "t", &json!({}), options).await.unwrap();
        let read = all(events).await;
        numbered(&read);
        // Of a task: its beginning, what it emits, what it wrote, its end.
        let mut of_task: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for event in read.iter().filter(|e| e.node.is_some()) {
            let task = event.id.split('#').next().unwrap().to_owned();
            let word = match &event.kind {
                EventKind::TaskStarted { .. } => "started",
                EventKind::Custom { .. } => "custom",
                EventKind::Updates(_) => "updates",
                EventKind::TaskFinished { .. } => "finished",
                _ => continue,
            };
            of_task.entry(task).or_default().push(word);
        }
        assert_eq!(of_task.len(), 1 + 6 + 12 + 1);
        for (task, words) in &of_task {
            match task.ends_with(":a") || task.ends_with(":b") {
                true => assert_eq!(words, &["started", "custom", "updates", "finished"]),
                false => assert_eq!(words, &["started", "updates", "finished"]),
            }
        }
        // Of a frame: all of a step, its checkpoint, its state, then the next step.
        let frame_of = |event: &Event| {
            let task = event.id.split('#').next().unwrap();
            task.rfind('/')
                .map_or(String::new(), |at| task[..=at].to_owned())
        };
        let mut at: BTreeMap<String, (u64, u8)> = BTreeMap::new();
        for event in read
            .iter()
            .filter(|e| !e.id.is_empty() && !e.id.contains('!'))
        {
            let phase = match &event.kind {
                EventKind::Routed { .. } => continue,
                EventKind::Checkpoint { .. } => (event.step, 0),
                EventKind::Values(_) => (event.step, 1),
                _ => (event.step, 2),
            };
            let before = at.entry(frame_of(event)).or_default();
            assert!(*before <= phase, "{event:?} behind {before:?}");
            *before = phase;
        }
        assert_eq!(at.len(), 7);
        // A call stands between the beginning and the end of the task that makes it.
        let place = |id: &str| read.iter().position(|e| e.id == id).unwrap();
        for n in 0..6 {
            let task = format!("1:sub[{n}]");
            assert!(place(&task) < place(&format!("{task}/0:a")));
            assert!(place(&format!("{task}/1:b#end")) < place(&format!("{task}#end")));
        }
    }
}

/// Of called graphs side by side each has a state of its own: none gives way to another's.
#[tokio::test]
async fn the_last_state_of_each_call_is_told() {
    let text = "
graph Main {
  state { in n: int, out log: list<string> via append }
  start -> plan
  node plan: update { goto each i in range(state.n) -> work with { name: string(i) } }
  node work: subgraph Sub -> end
}
graph Sub {
  state { in name: string, i: int = 0, out log: list<string> via append }
  start -> a
  node a: update { set { i: state.i + 1 } goto { when state.i < 40 -> a  else -> b } }
  node b: update -> end { set { log: [state.name] } }
}
";
    let (engine, graph) = engine(text, None, None);
    let (sink, events) = channel([Mode::Values]);
    let options = RunOptions {
        events: Some(sink),
        recursion_limit: Some(100_000),
        ..RunOptions::default()
    };
    let run = engine
        .start(graph, "t", &json!({ "n": 200 }), options)
        .await
        .unwrap();
    assert_eq!(run.state, RunState::Done);
    let read = all(events).await;
    numbered(&read);
    let last = read.iter().filter(|event| match &event.kind {
        EventKind::Values(state) => event.ns == "work" && state["log"] != json!([]),
        _ => false,
    });
    assert_eq!(last.count(), 200);
}

/// Pieces of a reply are events: of each attempt, and fewer and longer ones while the reader is behind, which lose nothing and have the
/// run not wait.
#[tokio::test]
async fn pieces_are_put_together_before_they_are_events() {
    const WORDS: usize = 3000;
    let text = "
model m = \"local/m\"
event said { text: string, size: int }
graph Main {
  state { out said: string = \"\" }
  start -> speak
  node speak: llm -> end {
    model m
    prompt \"go\"
    retry { attempts 2, initial 1ms, on [network] }
    stream as said { text: chunk, size: size(chunk) }
    set { said: reply.text }
  }
}
";
    let model = Model(Box::new(|cx| {
        let word = |_| Ok(ChatDelta::Text("word ".to_owned()));
        let end = match cx.attempt {
            1 => Err(ModelError::new(ErrorKind::Network, "gone")),
            _ => Ok(ChatDelta::Finish(FinishReason::Stop)),
        };
        let words = if cx.attempt == 1 { 2 } else { WORDS };
        Ok(Box::pin(stream::iter((0..words).map(word).chain([end]))))
    }));
    let (engine, graph) = engine(text, Some(model), None);
    let (sink, events) = channel([Mode::Custom]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let started = Instant::now();
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    assert!(started.elapsed() < Duration::from_secs(10));
    let read = all(events).await;
    assert_eq!(read.len(), EVENTS + 1);
    let (mut whole, mut next) = (String::new(), 0);
    for event in &read {
        let EventKind::Custom {
            payload,
            during: Some(of),
            ..
        } = &event.kind
        else {
            panic!("{event:?}");
        };
        let text = payload["text"].as_str().unwrap();
        assert_eq!(payload["size"], text.len());
        if of.attempt == 1 {
            assert_eq!((text, &*event.id), ("word ", ""));
        } else {
            assert_eq!(of.index, next);
            next += 1;
            whole += text;
        }
    }
    assert_eq!(whole, "word ".repeat(WORDS));
}

fn sent(run: &str, step: u64, kind: EventKind) -> Event {
    Event {
        seq: 0,
        id: String::new(),
        ns: format!("call_{run}"),
        step,
        node: None,
        skipped: 0,
        thread_id: Arc::from("t"),
        run_id: Arc::from(run),
        kind,
    }
}

/// A gap is of the run whose events are missing, and of nobody where those of several are; it stands where the first is.
#[tokio::test]
async fn a_gap_says_whose_events_are_missing() {
    let (sink, mut events) = channel(Mode::ALL);
    let update = || EventKind::Updates(json!({}));
    let mut gaps = Vec::new();
    for missing in [[("a", 3), ("a", 4)], [("a", 3), ("b", 9)]] {
        (0..HARD).for_each(|_| sink.send(sent("c", 0, update())));
        for (run, step) in missing {
            sink.send(sent(run, step, update()));
        }
        for _ in 0..HARD {
            let event = events.next().await.unwrap();
            assert_eq!(event.kind, update());
        }
        let gap = events.next().await.unwrap();
        assert_eq!(gap.kind, EventKind::Dropped { events: 2 });
        gaps.push(gap);
    }
    let place = |gap: &Event| {
        let run = (gap.thread_id.to_string(), gap.run_id.to_string());
        (gap.ns.clone(), gap.step, run)
    };
    let run = |thread: &str, run: &str| (thread.to_owned(), run.to_owned());
    let begins = "call_a".to_owned();
    assert_eq!(place(&gaps[0]), (begins.clone(), 3, run("t", "a")));
    assert_eq!(place(&gaps[1]), (begins, 3, run("", "")));
}

/// Each graph has a last state that waits, but not each of very many.
#[tokio::test]
async fn states_of_very_many_graphs_are_bounded() {
    let (sink, events) = channel(Mode::ALL);
    let graphs = 2 * HARD as u64;
    for step in 0..2 {
        for graph in 0..graphs {
            sink.send(Event {
                id: format!("0:call[{graph}]/{step}#values"),
                ..sent("a", step, EventKind::Values(json!({})))
            });
        }
    }
    let (waiting, bytes) = events.waiting();
    assert!(waiting <= HARD + 2, "{waiting}");
    assert!(bytes <= 2 * BYTES + 1000, "{bytes}");
    drop(sink);
    let told = all(events).await.into_iter().map(|event| match event.kind {
        EventKind::Dropped { events } => events,
        _ => 1 + event.skipped,
    });
    assert_eq!(told.sum::<u64>(), 2 * graphs);
}
