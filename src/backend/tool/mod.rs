//! Tools without a body, bound in `graphc.yaml`: [`command`], [`graph`], [`http`], [`mcp`], [`script`],
//! [`sql`].

pub mod command;
pub mod graph;
pub mod http;
pub mod mcp;
pub mod script;
pub mod sql;
