//! The outside of a flow: chat models and tools, as `graphc.yaml` says, and scripts in their place.
//!
//! Nothing here knows how a flow runs; everything here stands behind [`ChatModel`](crate::run::model::ChatModel)
//! and [`ToolBackend`](crate::run::tool::ToolBackend).
//!
//! Reading order: [`secret`] and [`group`] (what the rest stands on), [`wire`] (HTTP), [`llm`] and
//! [`tool`] (the backends), [`scenario`] (scripted backends), [`service`] (programs beside scenarios), [`limit`] (calls at a time), [`mask`] (no secrets in what comes out of a backend), [`telemetry`] (traces and metrics of runs), [`logs`] (logs of runs), [`given`] (what a program brings itself), [`bind`](mod@bind) (which backend serves which model and tool of a flow), [`probe`] (whether they answer).

pub mod bind;
pub mod given;
pub mod group;
pub mod limit;
pub mod llm;
pub mod logs;
pub mod mask;
pub mod probe;
pub mod scenario;
pub mod service;
pub mod telemetry;
pub mod tool;
pub mod wire;

pub use crate::base::secret;
