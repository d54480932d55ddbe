//! The forms in which diagnostics are shown: for people, for programs, for code scanners, for CI.
//!
//! Each form is one pure function from diagnostics and their sources to text; who prints it, and
//! where to, is the caller's matter.
//!
//! - [`human`](fn@human): snippets with labels, for a terminal;
//! - [`json`](fn@json): one object per diagnostic, one per line;
//! - [`sarif`](fn@sarif): one SARIF 2.1.0 log;
//! - [`github`](fn@github): workflow commands that become annotations of a pull request.

mod apart;
pub mod github;
pub mod human;
pub mod json;
pub mod sarif;
pub mod snippet;

pub use github::github;
pub use human::{Style, fault, human, summary};
pub use json::json;
pub use sarif::sarif;
