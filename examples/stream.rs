//! Reads a run as it happens: the words of a model as they come, what each node wrote.
//!
//! ```text
//! $ cargo run --example stream
//! clerk: I have no idea.
//! clerk wrote {"answer":"I have no idea."}
//! done after 4 words
//! ```
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::io::Write as _;

use futures_util::{StreamExt as _, stream};
use graphc::embed::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, EngineBuilder, EventKind,
    FinishReason, Mode, ModelError, RunOptions, ToolBackend, ToolCall, ToolError, async_trait,
    channel, load,
};
use serde_json::{Value as Json, json};
use tokio::time::{Duration, sleep};

/// A model that thinks between its words.
struct Slow;

#[async_trait]
impl ChatModel for Slow {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        let words = ["I ", "have ", "no ", "idea."].map(|word| ChatDelta::Text(word.to_owned()));
        let parts = words
            .into_iter()
            .chain([ChatDelta::Finish(FinishReason::Stop)]);
        let slowly = stream::iter(parts).then(|part| async {
            sleep(Duration::from_millis(20)).await;
            Ok(part)
        });
        Ok(Box::pin(slowly))
    }
}

struct NoOrders;

#[async_trait]
impl ToolBackend for NoOrders {
    async fn call(&self, _: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        Ok(Json::Null)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = EngineBuilder::new(load("examples/flows/desk.graph")?)
        .models(Slow)
        .tool("find_order", NoOrders)
        .build()?;
    let desk = engine.entry().ok_or("the flow has several entries")?;

    // The run has one end, the reader the other. What waits for a reader is bounded: docs/runtime/streams.md.
    let (sink, mut events) = channel([Mode::Messages, Mode::Updates]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let input = json!({ "question": "Where is my order?" });
    let run = tokio::spawn(async move { engine.start(desk, "thread-1", &input, options).await });

    let mut words = 0;
    // The stream ends with the run.
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Token { text, .. } => {
                if words == 0 {
                    print!("clerk: ");
                }
                words += 1;
                print!("{text}");
                std::io::stdout().flush()?;
            }
            EventKind::Updates(writes) => {
                println!("\n{} wrote {writes}", event.node.unwrap_or_default());
            }
            _ => {}
        }
    }
    let result = run.await??;
    println!(
        "{} after {words} words",
        json!(result.state).as_str().unwrap_or_default()
    );
    Ok(())
}
