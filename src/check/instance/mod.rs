//! Graphs with parameters: from one graph to its instances.
//!
//! A graph with parameters is typed once, as it is written. What runs are its instances: copies in which the
//! parameters are constants, so that conditions on them are decided, and nodes which that rules out are
//! gone. [`expand`] makes the program of instances, in which each is a graph of its own and each
//! `subgraph` node calls one. All rules about where a run can go look at that program, and so does lowering.
//!
//! An instance is made for each declared one (`graph Mode1 = Chat(..)`) and for each list of values that some
//! call gives. A graph with parameters that nothing is an instance of is one itself where all of them
//! have defaults; otherwise it is checked with its parameters unknown, and no part of what runs.
//!
//! Reading order: [`args`] (the values), [`fold`](mod@fold) and [`prune`] (one instance), [`make`] (all of them), [`merge`] (what is
//! said of several is said once), [`unreached`], [`unused`].

pub mod args;
pub mod fold;
pub mod make;
pub mod merge;
pub mod prune;
pub mod unreached;
pub mod unused;

use crate::base::{FileId, IdVec};
use crate::diag::Diagnostics;
use crate::ir::GraphId;
use crate::resolve::Program;
use crate::resolve::program::Graph;

/// A program of instances.
#[derive(Debug)]
pub struct Instances {
    /// The program: its graphs are instances, and those without parameters.
    pub program: Program,
    /// For each of its graphs the graph that it is made from.
    pub made_from: IdVec<GraphId, GraphId>,
    /// For each of its graphs which nodes of that one are left.
    pub kept: IdVec<GraphId, Vec<bool>>,
    /// What was found wrong while it was made.
    pub found: IdVec<GraphId, Diagnostics>,
}

impl Instances {
    /// Whether that graph has parameters, and is not only a copy of itself with its parameters unknown.
    pub fn is_template(&self, id: GraphId, graph: &Graph) -> bool {
        let of = |made: &Graph| {
            let instance = made.instance.as_ref();
            instance.is_some_and(|instance| instance.of == id && instance.is_whole())
        };
        !graph.params.is_empty() && self.program.graphs.iter().any(of)
    }
}

/// Makes the program of instances; `None` where no graph has parameters and none is an instance.
pub fn expand(program: &Program, diags: &mut Diagnostics) -> Option<Instances> {
    let wrong = args::check(program, diags);
    let plain = |graph: &Graph| graph.params.is_empty() && graph.bound.is_empty();
    let plain = program.graphs.iter().all(plain);
    if plain && program.instances.is_empty() {
        return None;
    }
    let mut instances = make::make(program, &wrong, diags);
    instances.program.entry = entry(program, &instances.program);
    Some(instances)
}

/// The only graph of the first file that no other calls; of a graph with parameters, its declared
/// instances in that file.
fn entry(program: &Program, made: &Program) -> Option<GraphId> {
    let called = made.called_by_others();
    let first = FileId(0);
    let here = |graph: &Graph| match &graph.instance {
        Some(instance) => match &instance.declared {
            Some(declared) => declared.name.span.file == first,
            None => graph.file == first && instance.is_whole() && instance.name == graph.name.node,
        },
        None => graph.file == first,
    };
    // A graph without parameters that instances are named for is no flow of its own beside them.
    let renamed = |id: GraphId, graph: &Graph| {
        let mut names = program.instances.iter();
        graph.instance.is_none() && names.any(|decl| decl.base == original(program, made, id))
    };
    let mut candidates = made
        .graphs
        .entries()
        .filter(|(id, graph)| here(graph) && !called.contains(id) && !renamed(*id, graph))
        .map(|(id, _)| id);
    let only = candidates.next()?;
    candidates.next().is_none().then_some(only)
}

fn original(program: &Program, made: &Program, id: GraphId) -> Option<GraphId> {
    let name = &made.graphs.get(id)?.name.node;
    let mut graphs = program.graphs.entries();
    graphs
        .find(|(_, graph)| graph.name.node == *name)
        .map(|(id, _)| id)
}
