//! Compiles a flow and runs it, with a model and a tool of the program's own.
//!
//! ```text
//! $ cargo run --example run
//! the clerk looks for o-7
//! answer: Your order is on its way.
//! tokens: 24 in, 12 out
//! ```
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use futures_util::stream;
use graphc::embed::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, EngineBuilder, ErrorKind,
    FinishReason, ModelError, RunOptions, ToolBackend, ToolCall, ToolCallRequest, ToolError, Usage,
    async_trait, load,
};
use serde_json::{Value as Json, json};

/// A model. This one looks for the order that it is asked about, and says what it has read.
struct Clerk;

#[async_trait]
impl ChatModel for Clerk {
    async fn stream(
        &self,
        request: ChatRequest,
        _: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        // The newest message is the question, or what the tool has given.
        let newest = request
            .messages
            .iter()
            .last()
            .map(|message| message.to_json());
        let newest = newest.unwrap_or_default();
        let said = match newest["role"].as_str() {
            Some("tool") if newest.to_string().contains("sent") => {
                ChatDelta::Text("Your order is on its way.".to_owned())
            }
            Some("tool") => ChatDelta::Text("I can't find that order.".to_owned()),
            _ => ChatDelta::ToolCall(ToolCallRequest {
                id: "call-1".to_owned(),
                name: "find_order".to_owned(),
                arguments: json!({ "id": "o-7" }).to_string(),
            }),
        };
        let used = Usage {
            input_tokens: 12,
            output_tokens: 6,
            ..Usage::default()
        };
        let parts = [
            said,
            ChatDelta::Usage(used),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(parts.map(Ok))))
    }
}

/// A tool. Its arguments have been checked against the flow's types; so is what it gives.
struct Orders;

#[async_trait]
impl ToolBackend for Orders {
    async fn call(&self, call: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        let id = call.args["id"].as_str().unwrap_or_default();
        println!("the clerk looks for {id}");
        match id {
            "o-7" => Ok(json!({ "id": id, "status": "sent" })),
            _ => {
                let message = format!("there is no order {id}");
                Err(ToolError::new(ErrorKind::ToolError, message))
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What `graphc check` would say is the error of `load`; what the flow lacks, that of `build`.
    let flow = load("examples/flows/desk.graph")?;
    let engine = EngineBuilder::new(flow)
        .model("clerk", Clerk)
        .tool("find_order", Orders)
        .build()?;
    let desk = engine.graph("Desk").ok_or("the flow has no graph `Desk`")?;

    let input = json!({ "question": "Where is my order o-7?" });
    let result = engine
        .start(desk, "thread-1", &input, RunOptions::default())
        .await?;

    // A run that failed is a result too: it may have got far, and can be resumed where a store keeps it.
    if let Some(error) = result.error {
        return Err(format!("{}: {}", error.kind.word(), error.message).into());
    }
    println!(
        "answer: {}",
        result.output["answer"].as_str().unwrap_or_default()
    );
    let used = result.usage;
    println!(
        "tokens: {} in, {} out",
        used.input_tokens, used.output_tokens
    );
    Ok(())
}
