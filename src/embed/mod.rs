//! graphc in a Rust program: a flow from a file, an engine that runs it.
//!
#![cfg_attr(feature = "run", doc = "```")]
#![cfg_attr(not(feature = "run"), doc = "```ignore")]
//! use graphc::embed::{EngineBuilder, RunOptions, load};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let flow = load("examples/flows/counter.graph")?; // all that `graphc check` finds, or the flow
//! let engine = EngineBuilder::new(flow).build()?;
//! let graph = engine.graph("Counter").ok_or("no such graph")?;
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let result = engine
//!     .start(graph, "thread-1", &json!({ "to": 3 }), RunOptions::default())
//!     .await?;
//! assert_eq!(result.output["counted"], json!([1, 2, 3]));
//! # Ok(()) })
//! # }
//! ```
//!
//! What a program brings itself:
//!
//! | to | implement | give it to |
//! |---|---|---|
//! | answer for a model | [`ChatModel`] | [`EngineBuilder::model`], [`EngineBuilder::models`] |
//! | make a tool's calls | [`ToolBackend`] | [`EngineBuilder::tool`] |
//! | do the work of an `extern` node | [`ExternNode`] | [`EngineBuilder::extern_node`] |
//! | keep threads elsewhere | [`Store`] | [`EngineBuilder::store`] |
//! | give the time and chance, in tests | [`Ambient`] | [`EngineBuilder::ambient`] |
//!
//! A run is one future: [`Engine::start`] begins one, [`Engine::resume`] goes on with a thread, with answers to what it asks. Both end
//! with a [`RunResult`]: a run that has failed, stopped or asks something is no [`StartError`]. [`Engine::fork`] and [`Engine::edit`]
//! go back in a thread. What happens on the way is read from
//! an [`EventStream`]. [`RunOptions`] bounds, cancels and drains it. The programs below `examples/` run a flow, read its stream, answer what
//! it asks in another process and bring a model, a tool and an `extern` node.
//!
//! Who drops the future of a run stops it where it stands, as a killed process would: calls under way are cut off and made again, or asked
//! about, by a resume. What had finished is still written, by the runtime, and then the thread is given back: a resume that comes at
//! once may find it in use for a moment ([`StartError::Store`] with [`StoreError::Busy`]). [`RunOptions`]' `cancel` and `drain` stop a run in order.
//!
//! Traits are implemented with [`async_trait`](macro@async_trait); the other crates whose types are part of this
//! interface are `serde_json`, `futures_util` ([`ChatStream`]) and `tokio_util` ([`CancellationToken`]). A runtime of `tokio` with its time
//! and I/O enabled is needed; any number of threads will do.
//!
//! Inside: [`disk`] (the compiler's way to the files of a [`project`](crate::project)), [`mod@load`], [`flows`], [`build`].

#[cfg(feature = "run")]
pub mod build;
pub mod disk;
pub mod flows;
pub mod load;

#[cfg(feature = "run")]
pub use build::{BuildError, EngineBuilder};
pub use load::{LoadError, Refused, load};

#[doc(no_inline)]
pub use crate::ir::ErrorKind;
pub use crate::project::text::FileError;
#[cfg(feature = "run")]
#[doc(no_inline)]
pub use {
    crate::backend::logs::logs,
    crate::backend::telemetry::{Telemetry, settings::TelemetrySettings},
    crate::run::ambient::Ambient,
    crate::run::engine::{
        Edit, Edited, Engine, Fork, Gone, RunOptions, RunResult, StartError, Written,
    },
    crate::run::error::{Passage, RunError},
    crate::run::event::{Event, EventKind, Mode, Speaker},
    crate::run::extern_node::{ExternCall, ExternNode},
    crate::run::half_join::HalfJoin,
    crate::run::interrupt::{Answer, OpenInterrupt},
    crate::run::journal::Durability,
    crate::run::memory::{Embedder, Embedding, Settings as MemorySettings},
    crate::run::model::{
        CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
        OutputSpec, ToolCallRequest, ToolChoice, ToolSpec, Usage,
    },
    crate::run::observe::{Asked, CallEnd, CallKey, Observed, Observer, RunKey, RunStart},
    crate::run::store::{Effects, RunState, Store, StoreError},
    crate::run::stream::{EventSink, EventStream, channel},
    crate::run::tool::{Permit, ToolBackend, ToolCall, ToolError},
    crate::store::{MemoryStore, PostgresStore, SqliteStore},
    async_trait::async_trait,
    tokio_util::sync::CancellationToken,
};
