//! `asks-at-call`: calls of tools that ask, to which some way comes without a question that permits them.
//!
//! [`mod@unpermitted`] is the analysis. [`unseen`] are the tools whose arguments a person may never have seen, which the rules of values ask.

pub mod unpermitted;

use std::collections::BTreeMap;

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, ToolId};
use crate::resolve::program::{Graph, Node, Permit, Program, Tool, Work};

use super::super::cfg::ControlFlowGraph;
use super::in_scope;
use super::roots;
use unpermitted::{Calls, GraphPermissions, Permission, Permissions, Unpermitted};

/// Most permits of the same tool that one note points at.
const SHOWN: usize = 3;

/// Notes them.
pub fn at_calls(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    diags: &mut Diagnostics,
) {
    if !program.tools.iter().any(Tool::asks) {
        return;
    }
    let permits = permits(program);
    let calls = calls(program, cfgs);
    let mut by_tool: BTreeMap<ToolId, Unpermitted> = BTreeMap::new();
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            for (used, place) in asking(program, graph, node) {
                let ways = by_tool.entry(used);
                let ways = ways.or_insert_with(|| calls.without(used.0 as usize));
                if let Some(tool) = program.tools.get(used).filter(|_| ways.come_to((id, at))) {
                    let known = permits.get(&used).map_or(&[][..], Vec::as_slice);
                    // Where nothing permits it, each way is one without a permit.
                    let way = match known.is_empty() {
                        true => Vec::new(),
                        false => ways.way((id, at)),
                    };
                    diags.push(note(node, tool, place, known, way));
                }
            }
        }
    }
}

/// What the nodes of a program do with permissions; each tool is a number.
fn calls<'a>(program: &Program, cfgs: &'a IdVec<GraphId, ControlFlowGraph>) -> Calls<'a> {
    let graphs = program.graphs.iter().zip(cfgs).map(|(graph, cfg)| {
        let nodes = graph.nodes.iter();
        let nodes = nodes.map(|node| permissions(program, graph, node));
        let nodes = nodes.collect();
        GraphPermissions { cfg, nodes }
    });
    Calls::new(graphs.collect(), roots(program))
}

fn permissions(program: &Program, graph: &Graph, node: &Node) -> Permissions {
    let given = |permit: &Permit| {
        let of = permit.tool?.0 as usize;
        Some(Permission::new(of, permit.once, permit.each.is_some()))
    };
    let stops = |after| {
        let stops = node.stops.iter().filter(move |stop| stop.after == after);
        stops.flat_map(|stop| &stop.permits)
    };
    let own = match &node.work {
        Work::Interrupt { permits, .. } => permits.as_slice(),
        _ => &[],
    };
    let uses = asking(program, graph, node).into_iter();
    Permissions {
        ahead: stops(false).filter_map(given).collect(),
        behind: own.iter().chain(stops(true)).filter_map(given).collect(),
        uses: uses.map(|(tool, _)| tool.0 as usize).collect(),
        repeats: !matches!(node.work, Work::Call { .. }),
        skips: node.skips.iter().any(|skip| skip.to.is_none()),
        calls: node.called().map(|(child, _)| child),
    }
}

/// Every permit, by tool.
fn permits(program: &Program) -> BTreeMap<ToolId, Vec<&Permit>> {
    let mut found: BTreeMap<ToolId, Vec<&Permit>> = BTreeMap::new();
    let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
    for permit in nodes.flat_map(Node::permits) {
        if let Some(tool) = permit.tool {
            found.entry(tool).or_default().push(permit);
        }
    }
    found
}

/// The tools that some question permits with any arguments, each with that permit: nobody may have seen what they are given.
pub fn unseen(program: &Program) -> BTreeMap<ToolId, Span> {
    let mut found = BTreeMap::new();
    for (tool, permits) in permits(program) {
        let any = permits.iter().find(|permit| permit.args.is_none());
        found.extend(any.map(|permit| (tool, permit.span)));
    }
    found
}

/// Tools that ask and that a node may call, each with the place to point at. An `llm` only asks for calls.
fn asking(program: &Program, graph: &Graph, node: &Node) -> Vec<(ToolId, Span)> {
    if matches!(node.work, Work::Llm(_)) {
        return Vec::new();
    }
    let tools = in_scope(graph, node).into_iter();
    let asks = tools.filter(|used| program.tools.get(used.node).is_some_and(Tool::asks));
    asks.map(|used| match node.span.holds(used.span) {
        true => (used.node, used.span),
        // Taken from the graph's list.
        false => (used.node, node.name.span),
    })
    .collect()
}

fn note(
    node: &Node,
    tool: &Tool,
    place: Span,
    permits: &[&Permit],
    way: Vec<(Span, String)>,
) -> Diagnostic {
    let name = &tool.name.node;
    let message = match permits.is_empty() {
        true => format!(
            "`{}` asks a person before it calls `{name}`",
            node.name.node
        ),
        false => format!(
            "`{}` may ask a person before it calls `{name}`: some way comes here without a `permit` of it",
            node.name.node
        ),
    };
    let mut found = Diagnostic::new(&codes::ASKS_AT_CALL, message, place);
    if let Some(effect) = tool.approve.or(tool.effect_span) {
        found = found.label(effect, "a call of it asks");
    }
    for permit in permits.iter().take(SHOWN) {
        let text = match permit.once {
            true => "permitted here for one call",
            false => "permitted here",
        };
        found = found.label(permit.span, text);
    }
    let found = way
        .into_iter()
        .fold(found, |found, (span, text)| found.label(span, text));
    found.help(format!(
        "a question on the way may permit it: `permit {name}(..) when answer ..`"
    ))
}
