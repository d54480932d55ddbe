//! graphc.

// What pest generates without its `std` feature (a stack check at every rule) names `alloc`.
extern crate alloc;

pub mod ast;
pub mod backend;
pub mod base;
pub mod check;
pub mod cli;
pub mod compile;
pub mod diag;
pub mod expr;
pub mod ir;
pub mod parse;
pub mod resolve;
pub mod run;
pub mod scenario;
pub mod store;
pub mod value;
