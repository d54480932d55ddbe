//! Queries as tools, on real databases: a case is a piece of a text file beside this one. `UPDATE=1` writes anew what is
//! expected.
//!
//! A file of `queries/` begins with the statements that make its database. A case begins with `== NAME`; then come
//! declarations of the flow (`tool`, `type`, `enum`), the binding in `graphc.yaml` in one line (`DB` stands for the database), and calls:
//! arguments as JSON, and behind `=> ` the result, of the tool's type, or the error. A file whose first line says
//! `-- sqlite` or `-- postgres` is for that database alone; all others mean the same on both.
//!
//! In `scratch/` a case is SQL as a model would write it: what stands above a line `--` makes the database. `<<TEXT*N>>` is the text N times.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "../cluster/mod.rs"]
mod cluster;
#[path = "../install/mod.rs"]
mod install;

mod cases;
mod ended;
#[cfg(target_os = "linux")]
mod killed;
mod parameters;
mod queries;
mod reached;
mod scratch;
mod tool;
