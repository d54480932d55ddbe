//! graphc.

pub mod ast;
pub mod base;
pub mod check;
pub mod compile;
pub mod diag;
pub mod expr;
pub mod ir;
pub mod parse;
pub mod resolve;
pub mod run;
pub mod value;
