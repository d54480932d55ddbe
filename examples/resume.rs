//! Asks a person and goes on when the answer comes, in another engine: nothing has to keep running while a thread waits.
//! Then looks at the thread's history and goes back in it.
//!
//! ```text
//! $ cargo run --example resume
//! interrupted: {"order":"o-7","refund":1250}
//! refused: the answer to `i-b9f4b90d5404` (agree) is refused, the thread is as it was: $.yes: expected bool, found "sure"
//! expected: { yes: bool }
//! paid 12.50 for o-7
//! done: paid
//! done the other way: refused
//! ```
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::path::Path;

use graphc::embed::{
    Answer, CallContext, Effects, Engine, EngineBuilder, Fork, RunOptions, SqliteStore,
    ToolBackend, ToolCall, ToolError, async_trait, load,
};
use serde_json::{Value as Json, json};

/// Pays. A call that may have happened when its process died has the same key when it is made again, so that the bank can tell;
/// this tool is `@idempotent(false)` in the flow, so graphc asks a person instead.
struct Bank;

#[async_trait]
impl ToolBackend for Bank {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        assert!(!cx.idempotency_key.is_empty());
        let cents = call.args["cents"].as_i64().unwrap_or_default();
        let order = call.args["order"].as_str().unwrap_or_default();
        println!("paid {}.{:02} for {order}", cents / 100, cents % 100);
        Ok(json!("paid"))
    }
}

/// An engine as each process of a service would make it.
fn engine(threads: &Path) -> Result<Engine, Box<dyn std::error::Error>> {
    let engine = EngineBuilder::new(load("examples/flows/refund.graph")?)
        .tool("pay", Bank)
        .store(SqliteStore::open(threads)?)
        .build()?;
    Ok(engine)
}

fn answer(value: Json) -> [Answer; 1] {
    // With several open questions, each answer names its own.
    [Answer {
        interrupt: None,
        value,
    }]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("graphc-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let threads = folder.join("threads.db");

    let first = engine(&threads)?;
    let refund = first.entry().ok_or("the flow has several entries")?;
    let input = json!({ "order": "o-7", "cents": 1250 });
    let asked = first
        .start(refund, "refund-o-7", &input, RunOptions::default())
        .await?;
    println!("interrupted: {}", asked.interrupts[0].ask);
    drop(first);

    // Days later, in another process.
    let later = engine(&threads)?;
    let wrong = answer(json!({ "yes": "sure" }));
    if let Err(refused) = later
        .resume("refund-o-7", &wrong, RunOptions::default())
        .await
    {
        println!("refused: {refused}");
    }
    let yes = answer(json!({ "yes": true }));
    let done = later
        .resume("refund-o-7", &yes, RunOptions::default())
        .await?;
    println!("done: {}", done.output["done"].as_str().unwrap_or_default());

    // What if the answer had been no? A fork from before it is a thread of its own; the old one stays as it is.
    let begun = asked.checkpoint_id.ok_or("no checkpoint was kept")?;
    let back = Fork {
        from: "refund-o-7",
        at: begun,
        to: "what-if",
        effects: Effects::Before,
    };
    later.fork(&back).await?;
    // It asks again, as what-if.
    let again = later.resume("what-if", &[], RunOptions::default()).await?;
    assert_eq!(again.interrupts[0].id, asked.interrupts[0].id);
    let no = answer(json!({ "yes": false }));
    let other = later.resume("what-if", &no, RunOptions::default()).await?;
    println!(
        "done the other way: {}",
        other.output["done"].as_str().unwrap_or_default()
    );

    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
