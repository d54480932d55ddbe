//! Names: from syntax trees to a program of ids.
//!
//! [`resolve`] reads a flow's files through a [`Loader`], gives every declaration an id and every
//! reference the id it means. It says what is wrong with names, with properties a node can't have
//! and with values written out (durations, limits, settings). It refuses, with one error each, what the language
//! has a form for and the runtime no meaning. It does not look into expressions but for names of
//! types, knows nothing of types fitting each other, and asks nothing of how nodes are connected:
//! that is the work of `check`.
//!
//! Reading order: [`program`] (what comes out) with [`graph`], [`node`] and [`target`] (its parts);
//! `load` and `declare` (files, ids, imports); `names` (what a name means); `types` and `alias`; `item/`
//! (top-level items) and `body/` (what stands in a graph); in it `binding`, `generic` and `contract` (graphs with parameters that
//! are no values: each list of items makes a graph of its own).

#![allow(
    clippy::indexing_slicing,
    reason = "an id is only made with the element that it stands for"
)]

mod alias;
pub mod answer;
mod body;
mod bound;
mod channel;
mod declare;
mod expr;
pub mod exprs;
pub mod graph;
mod import;
mod item;
pub mod jumps;
mod load;
pub mod mark;
mod names;
pub mod naming;
pub mod node;
mod order;
mod other_name;
pub mod preparation;
pub mod program;
mod setting;
pub mod stdlib;
pub mod target;
mod template;
mod then;
mod types;

use std::collections::{BTreeMap, VecDeque};

use crate::ast::Name;
use crate::ast::node::RetrySpec;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::ty::{EnumId, RecordId};
use crate::ir::{GraphId, Retry};

pub use load::{LoadError, Loader, declared_words};
pub use program::Program;

use alias::Alias;
use body::binding::Bindings;
use body::generic::{Generic, Unresolved};
use load::Loaded;
use names::SymbolTable;
use program::ToolList;

/// Resolves the flow whose first file is `entry`, a path relative to the project's folder.
///
/// There is always a program, with gaps where something was reported.
pub fn resolve(entry: &str, loader: &dyn Loader, diags: &mut Diagnostics) -> (Program, SourceMap) {
    let mut sources = SourceMap::new();
    let mut files = load::load(entry, loader, &mut sources, diags);
    let graphs = load::graphs(&mut files);
    let mut resolver = Resolver {
        files: &files,
        names: Vec::new(),
        aliases: Vec::new(),
        policies: Vec::new(),
        toolsets: Vec::new(),
        record_copies: Vec::new(),
        enum_copies: Vec::new(),
        prompts: BTreeMap::new(),
        bound: Bindings::new(),
        params: Vec::new(),
        generics: BTreeMap::new(),
        unresolved: VecDeque::new(),
        program: Program::default(),
        loader,
        sources: &mut sources,
        diags,
    };
    resolver.declare();
    resolver.items();
    resolver.graphs(graphs);
    resolver.unused_imports();
    let mut program = resolver.program;
    program.trees = files.into_iter().map(Loaded::tree).collect();
    (program, sources)
}

/// What the passes share.
struct Resolver<'a> {
    /// The files, in the order of their ids.
    files: &'a [Loaded],
    /// Their names, in the same order.
    names: Vec<SymbolTable>,
    /// Type aliases of all files.
    aliases: Vec<Alias<'a>>,
    /// Named retry policies of all files.
    policies: Vec<Policy<'a>>,
    /// Toolsets of all files, as far as they are resolved.
    toolsets: Vec<Toolset<'a>>,
    /// Records imported under another name: the copy and what it is a copy of.
    record_copies: Vec<(RecordId, RecordId)>,
    /// Enums imported under another name.
    enum_copies: Vec<(EnumId, EnumId)>,
    /// Prompt files already read.
    prompts: BTreeMap<String, Option<FileId>>,
    /// What stands for the parameters, of those that are no values, of the graph that is being resolved.
    bound: Bindings,
    /// Its parameters that are values.
    params: Vec<Name>,
    /// Graphs with such parameters.
    generics: BTreeMap<GraphId, Generic>,
    /// Graphs made of them whose bodies are still to be resolved.
    unresolved: VecDeque<Unresolved>,
    program: Program,
    loader: &'a dyn Loader,
    sources: &'a mut SourceMap,
    diags: &'a mut Diagnostics,
}

/// `retry patient = ..`, resolved when first used.
struct Policy<'a> {
    file: FileId,
    name: &'a Name,
    spec: &'a RetrySpec,
    state: State<Option<Retry>>,
}

/// `toolset t = [..]`, resolved when first used.
struct Toolset<'a> {
    file: FileId,
    decl: &'a crate::ast::item::ToolsetDecl,
    state: State<ToolList>,
}

/// How far a declaration is that is resolved when it is first used.
enum State<T> {
    Open,
    Busy,
    Done(T),
}

impl<T> State<T> {
    /// Begins it; `false` where it was begun before.
    fn begin(&mut self) -> bool {
        let open = matches!(self, State::Open);
        if open {
            *self = State::Busy;
        }
        open
    }
}

/// A construct that has a form but no meaning.
fn unsupported(what: &str, span: Span) -> Diagnostic {
    let message = format!("{what} is not supported by this version of graphc");
    Diagnostic::new(&codes::UNSUPPORTED, message, span)
}
