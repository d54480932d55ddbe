//! What settings say of the outside of a flow, as plain data: [`provider`] of a provider of models; [`command`], [`graph`], [`http`], [`mcp`],
//! [`script`] and [`sql`] of a tool; [`telemetry`]. What is made of them stands in `backend`.
//!
//! Below them: [`address`], [`schema`] (types compared with JSON Schemas).

pub mod address;
pub mod command;
pub mod graph;
pub mod http;
pub mod mcp;
pub mod provider;
pub mod schema;
pub mod script;
pub mod sql;
pub mod telemetry;
