//! What a killed process leaves, shown by killing processes: `graphc` with a SQLite store, programs as
//! tools and a model server, all of which note what they are asked in a file of their own.
//!
//! `GRAPHC_KILL_POINTS=N` raises the number of points at which the shapes are killed.

use crate::judge;

mod doubt;
mod drive;
mod keeping;
mod log;
mod model;
mod place;
mod shapes;
mod signals;
mod words;
