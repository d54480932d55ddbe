//! graphc.

pub mod ast;
pub mod base;
pub mod diag;
pub mod expr;
pub mod ir;
pub mod parse;
pub mod run;
pub mod store;
pub mod value;
