//! graphc.

// What pest generates without its `std` feature (a stack check at every rule) names `alloc`.
extern crate alloc;

pub mod ast;
pub mod base;
pub mod diag;
pub mod expr;
pub mod parse;
pub mod value;
