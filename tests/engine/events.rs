//! What a reader is told of a run, by what happens in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::stream;
use graphc::ir::ErrorKind;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::event::{Event, EventKind, Mode};
use graphc::run::interrupt::Answer;
use graphc::run::model::{ChatDelta, FinishReason};
use graphc::run::store::RunState;
use graphc::run::stream::{EventStream, channel};
use graphc::run::tool::ToolError;
use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use super::flow::{Model, Tool, begin_with, engine};

fn watched(modes: &[Mode]) -> (RunOptions, EventStream) {
    let (sink, events) = channel(modes.iter().copied());
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    (options, events)
}

async fn all(mut events: EventStream) -> Vec<Event> {
    let mut read = Vec::new();
    while let Some(event) = events.next().await {
        read.push(event);
    }
    read
}

/// Where, who, what: `inner/a finished`.
fn line(event: &Event) -> String {
    let word = match &event.kind {
        EventKind::TaskStarted { .. } => "started".to_owned(),
        EventKind::TaskFinished { error: None, .. } => "finished".to_owned(),
        EventKind::TaskFinished {
            error: Some(error), ..
        } => format!("failed {}", error["kind"].as_str().unwrap()),
        EventKind::TaskInterrupted { .. } => "waits".to_owned(),
        EventKind::Retrying { attempt, error, .. } => {
            format!("retries {attempt} {}", error["kind"].as_str().unwrap())
        }
        EventKind::Updates(data) => format!("wrote {data}"),
        EventKind::Values(data) => format!("has {data}"),
        EventKind::Checkpoint { next, .. } => format!("next {}", next.join("+")),
        EventKind::Message { message, .. } => format!("said {}", message["content"]),
        other => format!("{other:?}"),
    };
    let node = event.node.iter().map(String::as_str);
    let path: Vec<&str> = std::iter::once(event.ns.as_str()).chain(node).collect();
    format!("{} {word}", path.join("/").trim_matches('/'))
        .trim()
        .to_owned()
}

fn lines(events: &[Event]) -> Vec<String> {
    events.iter().map(line).collect()
}

/// A task is told of once, with all that it wrote: a list with what was added, a sum with what was added
/// each time, of a plain field the last. One that wrote nothing says so.
#[tokio::test]
async fn what_a_task_wrote_is_told_once() {
    let text = "
graph Main {
  state { out log: list<string> via append, out last: string = \"\", n: int via add = 0 }
  start -> a
  node a: update {
    set { log: [\"one\", \"two\"], last: \"set\", n: 2 }
    goto b { set { log: [\"three\"], last: \"jump\", n: 3 } }
  }
  node b: update -> c
  node c: update -> end { set { log := [\"new\"] } }
}
";
    let (engine, graph) = engine(text, None, None);
    let (options, events) = watched(&[Mode::Updates]);
    begin_with(&engine, graph, options).await;
    let wrote = [
        r#"a wrote {"last":"jump","log":["one","two","three"],"n":[2,3]}"#,
        "b wrote null",
        r#"c wrote {"log":["new"]}"#,
    ];
    assert_eq!(lines(&all(events).await), wrote);
}

const ASKING: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> a -> [ask, beside] -> last
  node a: update { set { log: [\"a\"] } }
  node ask: interrupt { ask \"?\" expect string set { log: [answer] } }
  node beside: update { set { log: [\"beside\"] } }
  node last: update -> end { set { log: [\"last\"] } }
}
";

async fn answer(engine: &Engine, options: RunOptions) {
    let answer = Answer {
        interrupt: None,
        value: json!("yes"),
    };
    let done = engine.resume("t", &[answer], options).await.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
}

/// A question: the task waits, nothing of its step is in the state, and the run's last word is the result. The answer: the step is told of again
/// from its beginning, and goes on.
#[tokio::test]
async fn a_question_and_its_answer_are_told() {
    let (engine, graph) = engine(ASKING, None, None);
    let modes = [Mode::Values, Mode::Tasks, Mode::Checkpoints];
    let (options, events) = watched(&modes);
    begin_with(&engine, graph, options).await;
    let asked = [
        "next a",
        r#"has {"log":[]}"#,
        "a started",
        "a finished",
        "next ask+beside",
        r#"has {"log":["a"]}"#,
        "beside started",
        "beside finished",
        "ask started",
        "ask waits",
    ];
    let told = lines(&all(events).await);
    assert_eq!(told, asked);
    let (options, events) = watched(&modes);
    answer(&engine, options).await;
    let answered = [
        "beside started",
        "beside finished",
        "ask started",
        "ask finished",
        "next last",
        r#"has {"log":["a","yes","beside"]}"#,
        "last started",
        "last finished",
        "next",
        r#"has {"log":["a","yes","beside","last"]}"#,
    ];
    assert_eq!(lines(&all(events).await), answered);
}

/// Each question is told of once in a run, however many there are, and those that are still open once more by each resume.
#[tokio::test]
async fn each_question_is_told_once() {
    let text = "
graph Main {
  state { out log: list<string> via append }
  start -> each n in [1, 2, 3] -> sub with { n: n }
  node sub: subgraph Inner -> end { input { n: int } }
}
graph Inner {
  state { out log: list<string> via append }
  start -> ask
  node ask: interrupt -> end { ask \"?\" expect string set { log: [answer] } }
}
";
    let (engine, graph) = engine(text, None, None);
    let waits = |events: Vec<Event>| {
        let waits = lines(&events).into_iter();
        waits.filter(|line| line == "sub/ask waits").count()
    };
    let (options, events) = watched(&[Mode::Tasks]);
    let mut run = begin_with(&engine, graph, options).await;
    assert_eq!(waits(all(events).await), 3);
    for left in [2, 1, 0] {
        let (options, events) = watched(&[Mode::Tasks]);
        let answer = Answer {
            interrupt: Some(run.interrupts[0].id.clone()),
            value: json!("yes"),
        };
        run = engine.resume("t", &[answer], options).await.unwrap();
        assert_eq!(run.interrupts.len(), left);
        assert_eq!(waits(all(events).await), left);
    }
}

const LIVE: &str = "
tool first(n: int) -> string
tool second(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> outer -> end
  node outer: subgraph Middle
}
graph Middle {
  state { out log: list<string> via append }
  start -> inner -> end
  node inner: subgraph Inner
}
graph Inner {
  state { out log: list<string> via append }
  start -> a -> b -> end
  node a: call first(n: 1) { set { log: [result] } }
  node b: call second(n: 2) { set { log: [result] } }
}
";

/// What happens three graphs deep is told while it runs: the second call does not end before a reader has seen what the first task wrote. Each event
/// has the path of its graph.
#[tokio::test]
async fn called_graphs_are_told_of_while_they_run() {
    let seen = Arc::new(Notify::new());
    let told = Arc::clone(&seen);
    let tool = Tool::new(move |call| {
        let told = Arc::clone(&told);
        async move {
            if call.tool == "second" {
                told.notified().await;
            }
            Ok(json!(call.tool))
        }
    });
    let (engine, graph) = engine(LIVE, None, Some(tool));
    let (options, mut events) = watched(&[Mode::Updates, Mode::Tasks]);
    let reader = tokio::spawn(async move {
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            if line(&event).starts_with("outer/inner/a wrote") {
                seen.notify_one();
            }
            read.push(event);
        }
        read
    });
    let run = begin_with(&engine, graph, options);
    let run = tokio::time::timeout(std::time::Duration::from_secs(10), run);
    assert_eq!(run.await.unwrap().state, RunState::Done);
    drop(engine);
    let told = lines(&reader.await.unwrap());
    let expected = [
        "outer started",
        "outer/inner started",
        "outer/inner/a started",
        r#"outer/inner/a wrote {"log":["first"]}"#,
        "outer/inner/a finished",
        "outer/inner/b started",
        r#"outer/inner/b wrote {"log":["second"]}"#,
        "outer/inner/b finished",
        r#"outer/inner wrote {"log":["first","second"]}"#,
        "outer/inner finished",
        r#"outer wrote {"log":["first","second"]}"#,
        "outer finished",
    ];
    assert_eq!(told, expected);
}

/// Attempts that fail are told with their kind, before the one that succeeds; a task that fails says with what.
#[tokio::test]
async fn attempts_are_told() {
    let text = "
tool get(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> a -> b -> end
  node a: call get(n: 1) { retry { attempts 3, initial 1ms, on [network, timeout] } set { log: [result] } }
  node b: call get(n: 2) { set { log: [result] } }
}
";
    let calls = Arc::new(AtomicU32::new(0));
    let tool = Tool::new(move |_| {
        let made = calls.fetch_add(1, Ordering::SeqCst);
        async move {
            match made {
                0 => Err(ToolError::new(ErrorKind::Network, "gone")),
                1 => Err(ToolError::new(ErrorKind::Timeout, "late")),
                2 => Ok(json!("got")),
                _ => Err(ToolError::new(ErrorKind::Auth, "no")),
            }
        }
    });
    let (engine, graph) = engine(text, None, Some(tool));
    let (options, events) = watched(&[Mode::Tasks]);
    begin_with(&engine, graph, options).await;
    let expected = [
        "a started",
        "a retries 1 network",
        "a retries 2 timeout",
        "a finished",
        "b started",
        "b failed auth",
    ];
    assert_eq!(lines(&all(events).await), expected);
}

/// A message is told where it is made, once: neither what came in nor what a later node hands on is told again.
#[tokio::test]
async fn a_message_is_told_once() {
    let text = "
model m = \"local/m\"
graph Main {
  state { in out messages: list<message> via add_messages }
  start -> speak -> again -> end
  node speak: llm { model m messages state.messages set { messages: [reply] } }
  node again: update { set { messages: state.messages } }
}
";
    let model = Model(Box::new(|_| {
        let deltas = [
            Ok(ChatDelta::Text("hello".to_owned())),
            Ok(ChatDelta::Finish(FinishReason::Stop)),
        ];
        Ok(Box::pin(stream::iter(deltas)))
    }));
    let (engine, graph) = engine(text, Some(model), None);
    let (options, events) = watched(&[Mode::Messages]);
    let input = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let done = engine.start(graph, "t", &input, options).await.unwrap();
    assert_eq!(done.values["messages"].as_array().map(Vec::len), Some(2));
    drop(engine);
    let said = all(events).await;
    let said = said.iter().filter_map(|event| match &event.kind {
        EventKind::Message { message, .. } => Some(&message["content"]),
        _ => None,
    });
    assert_eq!(said.collect::<Vec<&Json>>(), ["hello"]);
}
