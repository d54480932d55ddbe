//! graphc.

pub mod ast;
pub mod backend;
pub mod base;
pub mod diag;
pub mod expr;
pub mod ir;
pub mod run;
pub mod value;
