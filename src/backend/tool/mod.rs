//! Tools without a body, bound in `graphc.yaml`: [`command`], [`http`], [`script`], [`sql`].

pub mod command;
pub mod http;
pub mod script;
pub mod sql;
