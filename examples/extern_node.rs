//! A node in Rust: `extern` nodes read and write the state by its fields, several at a time.
//!
//! ```text
//! $ cargo run --example extern_node
//! prices: {"pear":0.5,"plum":0.25}
//! sum: 0.75
//! ```
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::sync::atomic::{AtomicBool, Ordering};

use graphc::embed::{
    CallContext, EngineBuilder, ErrorKind, ExternCall, ExternNode, RunOptions, ToolError,
    async_trait, load,
};
use serde_json::{Map, Value as Json, json};

/// Finds prices. Its line is down the first time; the flow says that it is tried again.
struct PriceList {
    was_down: AtomicBool,
}

#[async_trait]
impl ExternNode for PriceList {
    async fn run(&self, call: ExternCall, _: &CallContext) -> Result<Map<String, Json>, ToolError> {
        if !self.was_down.swap(true, Ordering::Relaxed) {
            let message = "the price list does not answer";
            return Err(ToolError::new(ErrorKind::Network, message));
        }
        let input = call.input.unwrap_or_default();
        let thing = input["thing"].as_str().unwrap_or_default();
        let price = match thing {
            "pear" => 0.5,
            "plum" => 0.25,
            _ => {
                let message = format!("there is no price for {thing}");
                return Err(ToolError::new(ErrorKind::ToolError, message));
            }
        };
        // What the node writes goes through the reducers of the fields: this one merges.
        let mut written = Map::new();
        written.insert("prices".to_owned(), json!({ thing: price }));
        Ok(written)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let list = PriceList {
        was_down: AtomicBool::new(false),
    };
    let engine = EngineBuilder::new(load("examples/flows/prices.graph")?)
        .extern_node("price_list", list)
        .build()?;
    let prices = engine.entry().ok_or("the flow has several entries")?;
    let input = json!({ "things": ["pear", "plum"] });
    let result = engine
        .start(prices, "thread-1", &input, RunOptions::default())
        .await?;
    if let Some(error) = result.error {
        return Err(error.message.into());
    }
    println!("prices: {}", result.output["prices"]);
    println!("sum: {}", result.output["sum"]);
    Ok(())
}
