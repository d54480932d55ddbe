//! Where calls of tools that ask are permitted ahead, and where they may ask all the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::node::{Permit, Work};
use crate::ir::{Flow, GraphId, ToolId};

use super::map::{Map, Way};
use super::reach::{Reach, stop_name};

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
pub(super) fn permissions(flow: &Flow, reach: &Reach) -> BTreeMap<ToolId, Vec<Permission>> {
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

/// The nodes, as `Graph.node`, where a call of the tool may ask: some way comes there and passes no permit of it.
pub(super) fn asked_at(
    flow: &Flow,
    reach: &Reach,
    entry: GraphId,
    tool: ToolId,
) -> BTreeSet<String> {
    let mut ways = Ways {
        flow,
        tool,
        through: BTreeMap::new(),
    };
    // Called graphs come first; of one that calls itself it is not known yet whether a way leads through.
    for id in &reach.order {
        if let Some(graph) = flow.graphs.get(*id) {
            let (_, ends) = ways.unpermitted(graph);
            ways.through.insert(*id, ends);
        }
    }
    let mut entered = BTreeSet::from([entry]);
    let mut found = BTreeSet::new();
    for id in reach.order.iter().rev() {
        let Some(graph) = flow.graphs.get(*id).filter(|_| entered.contains(id)) else {
            continue;
        };
        let (nodes, _) = ways.unpermitted(graph);
        for (_, node) in graph.nodes.entries().filter(|(at, _)| nodes.contains(at)) {
            if ways.permitted_ahead(node) {
                continue;
            }
            if let Work::Subgraph { graph, .. } = &node.work {
                entered.insert(*graph);
            }
            let calls = !matches!(node.work, Work::Llm(_)) && node.work.tools().contains(&tool);
            if calls {
                found.insert(format!("{}.{}", graph.name, node.name));
            }
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

/// What is followed for one tool.
struct Ways<'f> {
    flow: &'f Flow,
    tool: ToolId,
    /// By graph, whether some way from its start to its end passes no permit.
    through: BTreeMap<GraphId, bool>,
}

impl Ways<'_> {
    /// The nodes of a graph that some way from its start comes to without a permit, and whether one comes to its end.
    fn unpermitted(&self, graph: &Graph) -> (BTreeSet<NodeId>, bool) {
        let map = Map::of(self.flow, graph);
        let mut seen = BTreeSet::from([0]);
        let mut open = vec![0];
        // Of each join, the members that have come.
        let mut come: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut ends = !graph.exits.is_empty();
        while let Some(place) = open.pop() {
            let Some(spot) = map.spots.get(place) else {
                continue;
            };
            let node = spot.node.and_then(|id| graph.nodes.get(id));
            if node.is_some_and(|node| self.permitted_ahead(node)) {
                continue;
            }
            let permitted = node.is_some_and(|node| self.permitted_behind(node));
            let called = node.is_some_and(|node| self.permitted_in_call(node));
            for arm in &spot.arms {
                let taken = |way: &&Way| match way.leaves {
                    true => !called,
                    false => way.unasked || !permitted,
                };
                ends |= arm.is_empty() && (!permitted || node.is_some_and(goes_past));
                for way in arm.iter().filter(taken) {
                    let members = map.spots.get(way.to).map_or(&[][..], |to| &to.members);
                    let here = come.entry(way.to).or_default();
                    here.insert(place);
                    let all = members.iter().all(|member| here.contains(member));
                    if all && seen.insert(way.to) {
                        open.push(way.to);
                    }
                }
            }
        }
        let nodes = seen.iter().filter_map(|place| map.spots.get(*place)?.node);
        (nodes.collect(), ends)
    }

    fn permits(&self, permits: &[Permit]) -> bool {
        permits.iter().any(|permit| permit.tool == self.tool)
    }

    /// Whether a question ahead of all that the node does permits it.
    fn permitted_ahead(&self, node: &Node) -> bool {
        let mut ahead = node.stops.iter().filter(|stop| !stop.after);
        ahead.any(|stop| self.permits(&stop.permits))
    }

    /// Whether the node's own way on is behind a permit.
    fn permitted_behind(&self, node: &Node) -> bool {
        let mut behind = node.stops.iter().filter(|stop| stop.after);
        let asked = self.permits(own(node)) || behind.any(|stop| self.permits(&stop.permits));
        (asked || self.permitted_in_call(node)) && !leads_on(node)
    }

    /// Whether each way through the graph that the node calls passes a permit.
    fn permitted_in_call(&self, node: &Node) -> bool {
        match &node.work {
            Work::Subgraph { graph, .. } => !self.through.get(graph).copied().unwrap_or(true),
            _ => false,
        }
    }
}

/// Whether some way out of the node is taken though nobody has answered.
fn goes_past(node: &Node) -> bool {
    let waits = matches!(
        &node.work,
        Work::Interrupt {
            timeout: Some(_),
            ..
        }
    );
    waits || node.on_error.is_some() || node.skips.iter().any(|skip| skip.to.is_some())
}

/// Whether a `skip` without a target leads on, past what the node does and asks.
fn leads_on(node: &Node) -> bool {
    node.skips.iter().any(|skip| skip.to.is_none())
}
