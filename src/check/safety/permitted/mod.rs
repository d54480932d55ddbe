//! `asks-at-call`: calls of tools that ask, to which some way comes without a question that permits them.
//!
//! [`unpermitted`] is the analysis, of [`kinds`] of calls and of what is [`left`] for each. [`unseen`] are the tools whose arguments a person may never have seen, which the rules of values ask.

mod kinds;
mod left;
mod unpermitted;

use std::collections::BTreeMap;

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, ToolId};
use crate::resolve::program::{Graph, Node, Permit, Program, Tool, Work};

use super::super::cfg::ControlFlowGraph;
use super::in_scope;
use kinds::Kind;
use left::{ALL, NONE, UNDECIDED};
use unpermitted::Unpermitted;

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
    let mut ways = Unpermitted::new(program, cfgs, &permits);
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            for (used, place) in asking(program, graph, node) {
                let known = permits.get(&used).map_or(&[][..], Vec::as_slice);
                let why = match ways.at_call((id, at), used) {
                    _ if known.is_empty() => Why::NoPermit,
                    Some((left, kind)) => match Why::of(left, kind) {
                        Some(why) => why,
                        None => continue,
                    },
                    None => continue,
                };
                if let Some(tool) = program.tools.get(used) {
                    let way = match why {
                        Why::Unpermitted => ways.way((id, at), used),
                        _ => Vec::new(),
                    };
                    diags.push(note(node, tool, place, (known, why), way));
                }
            }
        }
    }
}

/// Why a call may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// No question permits its tool.
    NoPermit,
    /// None permits it with these arguments.
    OtherArguments,
    /// Some way has no permission that is left.
    Unpermitted,
    /// A no leads to it too.
    No,
}

impl Why {
    fn of(left: u8, kind: Kind) -> Option<Self> {
        match left {
            ALL => None,
            UNDECIDED => Some(Why::No),
            NONE if kind.is_never_covered() => Some(Why::OtherArguments),
            NONE => Some(Why::Unpermitted),
            // It may call again.
            _ => kind.many.then_some(Why::Unpermitted),
        }
    }
}

/// By tool, each permit with the graph that it stands in.
type Permits<'a> = BTreeMap<ToolId, Vec<(GraphId, &'a Permit)>>;

/// Every permit.
fn permits(program: &Program) -> Permits<'_> {
    let mut found = Permits::new();
    for (id, graph) in program.graphs.entries() {
        for permit in graph.nodes.iter().flat_map(Node::permits) {
            if let Some(tool) = permit.tool {
                found.entry(tool).or_default().push((id, permit));
            }
        }
    }
    found
}

/// The tools that some question permits with any arguments, each with that permit: nobody may have seen what they are given.
pub fn unseen(program: &Program) -> BTreeMap<ToolId, Span> {
    let mut found = BTreeMap::new();
    for (tool, permits) in permits(program) {
        let any = permits.iter().find(|(_, permit)| permit.args.is_none());
        found.extend(any.map(|(_, permit)| (tool, permit.span)));
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
    (permits, why): (&[(GraphId, &Permit)], Why),
    way: Vec<(Span, String)>,
) -> Diagnostic {
    let (name, node) = (&tool.name.node, &node.name.node);
    let asks = format!("`{node}` asks a person before it calls `{name}`");
    let may_ask = format!("`{node}` may ask a person before it calls `{name}`");
    let message = match why {
        Why::NoPermit => asks,
        Why::OtherArguments => format!("{asks}: no `permit` of it is for these arguments"),
        Why::Unpermitted => format!("{may_ask}: some way comes here without a `permit` of it"),
        Why::No => format!("{may_ask}: a no to the question leads here too"),
    };
    let mut found = Diagnostic::new(&codes::ASKS_AT_CALL, message, place);
    if let Some(effect) = tool.approve.or(tool.effect_span) {
        found = found.label(effect, "a call of it asks");
    }
    for (_, permit) in permits.iter().take(SHOWN) {
        let text = match (why, permit.once) {
            (Why::OtherArguments, _) => "permitted here with other arguments",
            (_, true) => "permitted here for one call",
            (_, false) => "permitted here",
        };
        found = found.label(permit.span, text);
    }
    let found = way
        .into_iter()
        .fold(found, |found, (span, text)| found.label(span, text));
    found.help(match why {
        Why::No => "let the answer decide where it goes: `goto { when answer .. -> NODE  else -> end }`, `skip when`".to_owned(),
        _ => format!("a question on the way may permit it: `permit {name}(..) when answer ..`"),
    })
}
