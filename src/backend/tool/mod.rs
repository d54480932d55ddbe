//! Tools without a body, bound in `graphc.yaml`: [`command`], [`http`], [`script`].

pub mod command;
pub mod http;
pub mod script;
