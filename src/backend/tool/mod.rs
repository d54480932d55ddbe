//! Tools without a body, bound in `graphc.yaml`: [`command`], [`graph`], [`http`], [`mcp`], [`script`],
//! [`sql`]; [`schema`] compares types with JSON Schemas.

pub mod command;
pub mod graph;
pub mod http;
pub mod mcp;
pub mod schema;
pub mod script;
pub mod sql;
