//! Where calls of tools that ask are permitted ahead, and where they may ask all the same.
//!
//! The answer is that of the checker's analysis, [`Calls::without`]. For it a question permits itself, so that it says as well which
//! questions every way to a node has passed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::base::IdVec;
use crate::check::safety::permitted::unpermitted::{
    self, Calls, GraphPermissions, Permissions, Unpermitted,
};
use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::node::{Permit, Work};
use crate::ir::{Flow, GraphId, ToolId};

use super::graph::BoundedGraph;
use super::reach::{ReachableGraphs, stop_name};

/// What the answer to a question permits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Permission {
    /// The question, as `Graph.node`, or `Graph.name` of an interrupt around a node.
    pub at: String,
    /// Whether it is for one call.
    pub once: bool,
    /// For each element of a list, as `d in LIST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// The arguments as they are written; `None` where any are permitted.
    pub pins: Option<BTreeMap<String, String>>,
    /// When the answer permits it; each answer does where there is none.
    pub when: Option<String>,
}

impl Permission {
    fn of(at: String, permit: &Permit) -> Self {
        let each = permit.each.as_ref();
        let pins = permit.pins.as_ref().map(|pins| {
            let pins = pins.iter();
            pins.map(|pin| (pin.name.clone(), pin.value.text.clone()))
                .collect()
        });
        Self {
            at,
            once: permit.once,
            each: each.map(|each| format!("{} in {}", each.var, each.items.text)),
            pins,
            when: permit.when.as_ref().map(|when| when.text.clone()),
        }
    }

    /// In words, without the question.
    pub fn shown(&self) -> String {
        let once = if self.once { "once, " } else { "" };
        let each = self.each.as_ref();
        let each = each.map_or(String::new(), |each| format!("each {each}, "));
        let pins = match &self.pins {
            None => "any arguments".to_owned(),
            Some(pins) if pins.is_empty() => "no arguments".to_owned(),
            Some(pins) => {
                let pins: Vec<String> = pins
                    .iter()
                    .map(|(name, is)| format!("{name}: {is}"))
                    .collect();
                pins.join(", ")
            }
        };
        let when = match &self.when {
            Some(when) => format!(" when {when}"),
            None => ", whatever is answered".to_owned(),
        };
        format!("{once}{each}{pins}{when}")
    }
}

/// By tool, all permissions that questions in reach give.
pub(super) fn permissions(
    flow: &Flow,
    reach: &ReachableGraphs,
) -> BTreeMap<ToolId, Vec<Permission>> {
    let mut found: BTreeMap<ToolId, Vec<Permission>> = BTreeMap::new();
    for (_, graph, _, node) in reach.nodes(flow) {
        let own = own(node).iter().map(|permit| (&node.name, permit));
        let stops = node.stops.iter();
        let stops = stops.flat_map(|stop| stop.permits.iter().map(move |p| (&stop.name, p)));
        for (name, permit) in own.chain(stops) {
            let permission = Permission::of(stop_name(graph, name), permit);
            found.entry(permit.tool).or_default().push(permission);
        }
    }
    found
}

fn own(node: &Node) -> &[Permit] {
    match &node.work {
        Work::Interrupt { permits, .. } => permits,
        _ => &[],
    }
}

/// Nodes, with the questions that each way to them has passed, those ahead of all that they do among them.
pub(super) type Before = BTreeMap<(GraphId, NodeId), BTreeSet<String>>;

/// The nodes that a run of a graph may come to, with what is answered before; and by tool the nodes, as `Graph.node`, where a
/// call of it may ask.
pub(super) fn answered(
    flow: &Flow,
    entry: GraphId,
    bounded: &IdVec<GraphId, BoundedGraph>,
) -> (Before, BTreeMap<ToolId, BTreeSet<String>>) {
    let mut questions = Vec::new();
    let graphs = flow.graphs.iter().zip(bounded).map(|(graph, bounded)| {
        let nodes = graph.nodes.iter();
        let nodes = nodes.map(|node| of_node(flow, graph, node, &mut questions));
        let nodes = nodes.collect();
        let cfg = &bounded.cfg;
        GraphPermissions { cfg, nodes }
    });
    let calls = Calls::new(graphs.collect(), vec![entry]);
    // Tools have their ids as numbers, questions the numbers behind those.
    let nothing = calls.without(flow.tools.len() + questions.len());
    let nodes = flow.graphs.entries().flat_map(|(id, graph)| {
        let nodes = graph.nodes.entries();
        nodes.map(move |(at, node)| ((id, at), graph, node))
    });
    let nodes: Vec<_> = nodes.filter(|(at, ..)| nothing.come_to(*at)).collect();
    let mut before: Vec<Vec<String>> = vec![Vec::new(); nodes.len()];
    for (number, question) in questions.iter().enumerate() {
        let ways = calls.without(flow.tools.len() + number);
        for ((at, ..), passed) in nodes.iter().zip(&mut before) {
            passed.extend((!ways.come_to(*at)).then(|| question.clone()));
        }
    }
    let before = nodes.iter().zip(before);
    let before = before.map(|((at, ..), passed)| (*at, passed.into_iter().collect()));
    let before: Before = before.collect();
    let mut asks: BTreeMap<ToolId, BTreeSet<String>> = BTreeMap::new();
    let mut by_tool: BTreeMap<ToolId, Unpermitted> = BTreeMap::new();
    for (at, graph, node) in nodes {
        for tool in asking(flow, node) {
            let ways = by_tool.entry(tool);
            let ways = ways.or_insert_with(|| calls.without(tool.0 as usize));
            if ways.come_to(at) {
                asks.entry(tool)
                    .or_default()
                    .insert(stop_name(graph, &node.name));
            }
        }
    }
    (before, asks)
}

/// The tools that a node calls and that ask. An `llm` only asks for calls.
fn asking<'a>(flow: &'a Flow, node: &'a Node) -> impl Iterator<Item = ToolId> + 'a {
    let tools = match &node.work {
        Work::Llm(_) => &[],
        work => work.tools(),
    };
    let asks = |tool: &ToolId| flow.tools.get(*tool).is_some_and(|tool| tool.asks());
    tools.iter().copied().filter(asks)
}

fn of_node(flow: &Flow, graph: &Graph, node: &Node, questions: &mut Vec<String>) -> Permissions {
    let mut answered = |name: &str, permits: &[Permit]| {
        let mut given = vec![unpermitted::Permission {
            of: flow.tools.len() + questions.len(),
            lasts: true,
        }];
        questions.push(stop_name(graph, name));
        given.extend(permits.iter().map(|permit| {
            let of = permit.tool.0 as usize;
            unpermitted::Permission::new(of, permit.once, permit.each.is_some())
        }));
        given
    };
    let mut found = Permissions {
        uses: asking(flow, node).map(|tool| tool.0 as usize).collect(),
        repeats: !matches!(node.work, Work::Call { .. }),
        skips: node.skips.iter().any(|skip| skip.to.is_none()),
        calls: node.called(),
        ..Permissions::default()
    };
    if let Work::Interrupt { permits, .. } = &node.work {
        found.behind.extend(answered(&node.name, permits));
    }
    for stop in &node.stops {
        let given = answered(&stop.name, &stop.permits);
        match stop.after {
            true => found.behind.extend(given),
            false => found.ahead.extend(given),
        }
    }
    found
}
