//! Safety: where a person is asked, and what may flow where.
//!
//! [`safety`] is the entry. Nothing here types an expression, and nothing counts but what is declared: effects of
//! tools, marks of values (`@untrusted @private @secret @sink`), and where a run can go ([`ControlFlowGraph`](super::cfg::ControlFlowGraph)).
//!
//! Reading order: [`permitted`] (calls that ask, and permissions), [`origin`] (where a value comes from), and the rules that ask it: [`sink`], [`secret`], [`system`], [`trifecta`]. [`literal`] reads texts only.

pub mod literal;
pub mod origin;
pub mod permitted;
pub mod secret;
pub mod sink;
pub mod system;
pub mod trifecta;

use std::collections::HashSet;
use std::rc::Rc;

use crate::base::Spanned;
use crate::diag::Diagnostics;
use crate::ir::{GraphId, ToolId};
use crate::resolve::Program;
use crate::resolve::program::{Graph, Marks, Node, Work};

use super::calls::callers;
use super::cfg::MhpCache;

/// All rules of safety. `mhp_cache` holds the flows of the program's graphs.
pub fn safety<'a>(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    permitted::at_calls(program, mhp_cache.cfgs, &mut found);
    sink::sinks(program, mhp_cache, &mut found);
    secret::secrets(program, mhp_cache, &mut found);
    system::system_texts(program, mhp_cache, &mut found);
    trifecta::trifectas(program, mhp_cache, &mut found);
    // Instances of one graph share its text, and what is wrong with it.
    let mut seen = HashSet::new();
    for finding in found.iter() {
        if seen.insert((finding.code.slug, finding.span(), finding.message.clone())) {
            diags.push(finding.clone());
        }
    }
}

/// Whether some tool's result or some field has such a mark.
fn marked(program: &Program, has: fn(&Marks) -> bool) -> bool {
    let tools = program.tools.iter().map(|tool| &tool.marks);
    let fields = program.graphs.iter().flat_map(|graph| &graph.fields);
    let fields = fields.map(|field| &field.marks);
    let contexts = program.graphs.iter().flat_map(|graph| &graph.context);
    let constants = contexts.flat_map(|context| &context.fields);
    let constants = constants.map(|field| &field.marks);
    let records = program.marked.values();
    tools.chain(fields).chain(constants).chain(records).any(has)
}

/// Tools that a node may call. What it names outside of its graph's scope is refused, and what that could do is moot.
pub(super) fn in_scope(graph: &Graph, node: &Node) -> Vec<Spanned<ToolId>> {
    let mut tools = node.tools();
    if let Some(scope) = graph.tools.as_ref().filter(|scope| !scope.broken) {
        tools.retain(|used| scope.has(used.node));
    }
    tools
}

/// Graphs that a run may begin with: the entry, and those that no other calls.
fn roots(program: &Program) -> Vec<GraphId> {
    let callers = callers(program);
    // A call of a graph that is not known may be one of any of them.
    let mut nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
    let lost = nodes.any(|node| matches!(node.work, Work::Subgraph { graph: None, .. }));
    if let Some(entry) = program.entry.filter(|_| lost) {
        return vec![entry];
    }
    let mut roots: Vec<GraphId> = callers
        .entries()
        .filter(|(id, callers)| program.entry == Some(*id) || callers.is_empty())
        .map(|(id, _)| id)
        .collect();
    if roots.is_empty() {
        roots.extend(program.graphs.ids());
    }
    roots
}
