//! What a text means: the language, the compiler and all that works on a flow without running a process of it, and the documents.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

// What several of the others share.
mod declared;
mod dice;
mod evaluate;
mod install;
mod marked;
mod mutants;
mod program;
mod python;

mod accept;
mod agree;
mod agree_templates;
mod audit;
mod audit_runs;
mod base;
mod cel;
mod check;
mod compile;
mod dependencies;
mod diff;
mod differential;
mod docs;
mod editors;
mod explain;
mod expr;
mod families;
mod files;
mod fit;
mod fmt;
mod fold;
mod fuzz;
mod import;
mod infer;
mod ir;
mod layers;
mod parse;
mod places;
mod promises;
mod render;
mod scope;
mod shapes;
mod side_by_side;
mod targets;
mod template;
mod value;
mod versions;
mod viz;
