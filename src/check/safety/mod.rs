//! Safety: where a person is asked, and what may flow where.
//!
//! [`safety`] is the entry. Nothing here types an expression, and nothing counts but what is declared: effects of
//! tools, marks of values (`@untrusted @private @secret @sink`), and for permissions where a run can go ([`ControlFlowGraph`]).
//!
//! Reading order: [`permitted`] (calls that ask, and permissions), [`labels`] (what is known of each value), and the rules that
//! read them: [`sink`], [`weak_check`], [`secret`], [`system`], [`trifecta`]. [`literal`] reads texts only.

pub mod labels;
pub mod literal;
pub mod permitted;
pub mod secret;
pub mod sink;
pub mod system;
pub mod trifecta;
pub mod weak_check;

use std::collections::HashSet;

use crate::ast::expr::{Expr, ExprKind};
use crate::base::{IdVec, Spanned};
use crate::diag::Diagnostics;
use crate::ir::{GraphId, ToolId};
use crate::resolve::Program;
use crate::resolve::exprs::sites;
use crate::resolve::program::{Graph, Marks, Node, Tool, Work};

use super::calls::callers;
use super::cfg::ControlFlowGraph;
use labels::Labels;

/// All rules of safety. `cfgs` are the flows of the program's graphs.
pub fn safety(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    permitted::at_calls(program, cfgs, &mut found);
    if has_rules(program) {
        let labels = Labels::new(program);
        sink::sinks(program, &labels, &mut found);
        weak_check::checks(program, &labels, &mut found);
        secret::secrets(program, &labels, &mut found);
        system::system_texts(&labels, &mut found);
        trifecta::trifectas(program, &labels, &mut found);
    }
    // Instances of one graph share its text, and what is wrong with it.
    let mut seen = HashSet::new();
    for finding in found.iter() {
        if seen.insert((finding.code.slug, finding.span(), finding.message.clone())) {
            diags.push(finding.clone());
        }
    }
}

/// Whether anything of a program asks for labels: a mark, a sink, a `checked`.
fn has_rules(program: &Program) -> bool {
    let is_marked = |marks: &Marks| !marks.is_empty();
    let of_tool = |tool: &Tool| {
        is_marked(&tool.marks) || tool.params.iter().any(|param| param.sink.is_some())
    };
    let of_graph = |graph: &Graph| {
        let mut constants = graph.context.iter().flat_map(|context| &context.fields);
        graph.fields.iter().any(|field| is_marked(&field.marks))
            || constants.any(|field| is_marked(&field.marks))
    };
    program.marked.values().any(is_marked)
        || program.tools.iter().any(of_tool)
        || program.graphs.iter().any(of_graph)
        || sites(program).any(|site| site.exprs().any(has_check))
}

fn has_check(expr: &Expr) -> bool {
    let checks = match &expr.kind {
        ExprKind::Call { function, args, .. } => labels::is_check(&function.node, args),
        _ => false,
    };
    checks || expr.parts().into_iter().any(has_check)
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
