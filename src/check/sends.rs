//! The `input` of a node: who goes there must bring it.

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{Graph, Param};

use super::cfg::{BlockId, ControlFlowGraph, Successor};

/// Reports ways to a node that bring none of the input that it can't do without. What `each`
/// brings is typed where it is written.
pub fn without_input(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    let out = cfg.blocks().flat_map(|block| cfg.transitions(block));
    let successors = cfg
        .start
        .iter()
        .chain(out)
        .flat_map(|transition| &transition.successors);
    for successor in successors.filter(|successor| !successor.many) {
        lacking(graph, successor)
            .into_iter()
            .for_each(|found| diags.push(found));
    }
}

fn lacking(graph: &Graph, successor: &Successor) -> Option<Diagnostic> {
    let BlockId::Node(id) = successor.to else {
        return None;
    };
    let node = graph.nodes.get(id)?;
    let needed = |param: &&Param| param.default.is_none() && !param.ty.node.admits_null();
    let needed: Vec<&Param> = node.input.iter().filter(needed).collect();
    let first = needed.first()?;
    let name = &node.name.node;
    let names = list(needed.iter().map(|param| param.name.node.as_str()));
    let message = format!("this goes to `{name}` without its input {names}");
    Some(
        Diagnostic::new(&codes::MISSING_FIELD, message, successor.span)
            .label(first.name.span, "declared here")
            .help(format!(
                "send it: `each x in LIST -> {name} with {{ {}: x }}`, or give it a default",
                first.name.node
            )),
    )
}
