//! Tokens of a run over processes that have died.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use graphc::embed::{
    Answer, CallContext, ChatDelta, ErrorKind, FinishReason, RunOptions, RunState, ToolBackend,
    ToolCall, ToolCallRequest, ToolError, Usage,
};
use graphc::run::store::{Record, ThreadStatus};
use serde_json::{Value as Json, json};

use super::flow::{Model, Tool, begin, engine};

const FLOW: &str = "
model m = \"local/m\"
tool pay(to: string) -> string @effect(write) @approve
graph Main {
  state { out said: string = \"\" }
  start -> work
  node work: agent -> end { model m  prompt \"pay\"  tools [pay]  set { said: reply.text } }
}
";

/// Calls the tool, then says that it is done; each reply takes 10 tokens and gives 5.
fn model() -> Model {
    Model(Box::new(|cx| {
        let said = match cx.ordinal {
            0 => ChatDelta::ToolCall(ToolCallRequest {
                id: "c".to_owned(),
                name: "pay".to_owned(),
                arguments: json!({ "to": "ann" }).to_string(),
            }),
            _ => ChatDelta::Text("done".to_owned()),
        };
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 5,
            ..Usage::default()
        };
        let parts = [
            said,
            ChatDelta::Usage(usage),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(parts.map(Ok))))
    }))
}

/// The call before the question is in what the waiting thread has noted, and in the journal that answers the task when it runs again.
#[tokio::test]
async fn a_call_before_a_question_counts_once_where_the_process_behind_it_dies() {
    let tool = Tool::new(|_| async { Ok(json!("paid")) });
    let (engine, graph) = engine(FLOW, Some(model()), Some(tool));
    let asked = begin(&engine, graph).await;
    assert_eq!(asked.state, RunState::Interrupted, "{:?}", asked.error);
    assert_eq!(asked.usage.input_tokens, 10);

    // What a process that goes on keeps first; then it dies.
    let store = engine.store.clone().unwrap();
    let status = store.load("t").await.unwrap().unwrap().status;
    let lease = store.acquire("t").await.unwrap();
    let running = Record::Status(ThreadStatus {
        state: RunState::Running,
        interrupts: Vec::new(),
        ..status
    });
    store.append(&lease, &[running]).await.unwrap();
    store.release(lease).await.unwrap();

    let options = RunOptions::default;
    let again = engine.resume("t", &[], options()).await.unwrap();
    assert_eq!(again.state, RunState::Interrupted);
    assert_eq!(again.usage.input_tokens, 10);
    let approve = [Answer {
        interrupt: None,
        value: json!({ "decision": "approve" }),
    }];
    let done = engine.resume("t", &approve, options()).await.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    assert_eq!(
        (done.usage.input_tokens, done.usage.output_tokens),
        (20, 10)
    );
}

/// A tool that runs a graph says what that has used: of a call that is done it counts once, also behind a crash.
#[tokio::test]
async fn tokens_of_a_tool_count_once() {
    const FLOW: &str = "
tool work(n: int) -> int
graph Main {
  state { out got: int = 0 }
  start -> first -> ask
  node first: call work(n: 1) { retry 2  set { got: result } }
  node ask: interrupt -> end { ask \"on?\"  expect bool  set { got: state.got + 1 } }
}
";
    let (engine, graph) = engine(FLOW, None, None);
    let mut engine = engine;
    engine.backends.tools = [Some(Arc::new(Uses::default()) as Arc<dyn ToolBackend>)]
        .into_iter()
        .collect();
    let asked = begin(&engine, graph).await;
    assert_eq!(asked.state, RunState::Interrupted, "{:?}", asked.error);
    assert_eq!(asked.usage.input_tokens, 20);
    let answer = [Answer {
        interrupt: None,
        value: json!(true),
    }];
    let done = engine.resume("t", &answer, RunOptions::default()).await;
    let done = done.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    assert_eq!(done.usage.input_tokens, 20);
}

/// Uses ten tokens more with each attempt at a call; the first fails.
#[derive(Default)]
struct Uses(AtomicU64);

#[async_trait]
impl ToolBackend for Uses {
    async fn call(&self, _: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let attempts = 1 + self.0.fetch_add(1, Ordering::Relaxed);
        let usage = Usage {
            input_tokens: 10 * attempts,
            ..Usage::default()
        };
        *cx.nested.as_ref().unwrap().usage.lock().unwrap() = usage;
        match attempts {
            1 => Err(ToolError::new(ErrorKind::Network, "gone")),
            _ => Ok(json!(1)),
        }
    }
}
