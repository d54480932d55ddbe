//! Destructive tools: none may be reached from `start` without a person who agreed.
//!
//! A run is followed through all graphs that it calls, as long as nobody has agreed to anything. What it comes to then is
//! what can happen without a person. An interrupt ends that, unless its answer says no, or nothing looks at its
//! answer; a way past it (`skip`, `timeout`, `on_error`, `max_visits`) does not.
//!
//! Reading order: [`answer`] (yes or no), [`sense`] (which way round a value says it), [`reader`] and [`carried`] (of any expression), [`held`] (of all that is written),
//! [`decision`] (what of an answer says it), [`place`] (what fields a mention is), [`writes`] and [`arms`] (all that is
//! written), [`decided`] (fields that hold an answer), [`direction`] (which way round), [`sure`] (and by whom) with [`others`] (words that nobody said), [`overwritten`] (and don't any more), [`beside`] (by
//! tasks beside), [`kept`] (or of an earlier run), [`walk`](mod@walk) with [`onward`], [`guards`] and [`called`], [`looks`] (what a node reads of answers),
//! [`later`] (a no behind a yes), [`bypassed`] (interrupts that nothing leads to), [`report`]. [`person`] answers the same for a value that is followed backwards.

mod answer;
mod arms;
mod beside;
mod bypassed;
mod called;
mod carried;
mod decided;
mod decision;
mod direction;
mod guards;
mod held;
mod kept;
mod later;
mod looks;
mod onward;
mod others;
mod overwritten;
mod person;
mod place;
mod reader;
mod report;
mod sense;
mod sure;
mod walk;
mod writes;

pub(super) use answer::Says;
pub(super) use person::Persons;

use crate::base::{IdVec, Span};
use crate::diag::Diagnostics;
use crate::ir::flow::ToolEffect;
use crate::ir::{GraphId, ToolId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, Node, Program, Tool, Work};

use super::super::cfg::ControlFlowGraph;
use super::in_scope;
use bypassed::Bypassed;
use decided::Decided;
use overwritten::Overwritten;
use sure::Sure;
use walk::Walk;

/// Reports destructive tools that run without an approval.
pub fn approvals(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    diags: &mut Diagnostics,
) {
    if !program.tools.iter().any(needs_approval) {
        return;
    }
    let decided = Decided::new(program);
    let overwritten = Overwritten::new(program, cfgs, &decided);
    let said = (&decided, &overwritten);
    let first = Walk::new(program, cfgs, said, Sure::default()).run();
    let later = later::refused(program, cfgs);
    if !first.comes_to_one() && later.is_empty() {
        return;
    }
    // What is written where no run comes without an approval is said by a person too.
    let open = |graph: GraphId, by: Maker| first.visited(graph, by);
    let sure = decided.only_by_a_person(program, &open);
    let walk = Walk::new(program, cfgs, said, sure).run();
    report::report(program, &walk, Bypassed::new(program, cfgs), diags);
    report::later(program, &walk, later, diags);
}

/// Whether a person has to agree before the tool runs.
fn needs_approval(tool: &Tool) -> bool {
    tool.effect == ToolEffect::Destructive && tool.approve.is_none() && tool.unattended.is_none()
}

/// Tools of a node that a person has to agree to, each with the place to point at. An `llm` only asks for calls.
fn destroys(program: &Program, graph: &Graph, node: &Node) -> Vec<(ToolId, Span)> {
    if matches!(node.work, Work::Llm(_)) {
        return Vec::new();
    }
    let tools = in_scope(graph, node).into_iter();
    let found = tools.filter(|used| program.tools.get(used.node).is_some_and(needs_approval));
    let inside = |span: Span| {
        span.file == node.span.file && span.start >= node.span.start && span.end <= node.span.end
    };
    found
        .map(|used| match inside(used.span) {
            true => (used.node, used.span),
            // Taken from the graph's list.
            false => (used.node, node.name.span),
        })
        .collect()
}
