//! Where calls of tools that ask are permitted ahead, and where they may ask all the same.
//!
//! The answer is that of the checker's analysis, [`Unpermitted`]. For it a question permits itself, so that it says as well which
//! questions every way to a node has passed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::base::IdVec;
use crate::check::cfg::ControlFlowGraph;
use crate::check::safety::permitted::unpermitted::{
    self, GraphPermissions, Permissions, Unpermitted,
};
use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::node::{Permit, Work};
use crate::ir::{Flow, GraphId, ToolId};

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

fn own(node: &Node) -> &[Permit] {
    match &node.work {
        Work::Interrupt { permits, .. } => permits,
        _ => &[],
    }
}

/// What questions have been answered, and which calls they permit, wherever a run comes to.
pub(super) struct Answers<'f> {
    flow: &'f Flow,
    /// Tools by their ids, questions by their numbers behind those.
    ways: Unpermitted<'f>,
    /// All questions, as `Graph.node`.
    questions: Vec<String>,
}

impl<'f> Answers<'f> {
    /// Those of a run of a graph.
    pub fn of(flow: &'f Flow, entry: GraphId, cfgs: &'f IdVec<GraphId, ControlFlowGraph>) -> Self {
        let mut questions = Vec::new();
        let graphs = flow.graphs.iter().zip(cfgs).map(|(graph, cfg)| {
            let nodes = graph.nodes.iter();
            let nodes = nodes.map(|node| of_node(flow, graph, node, &mut questions));
            let nodes = nodes.collect();
            GraphPermissions { cfg, nodes }
        });
        let graphs = graphs.collect();
        let count = flow.tools.len() + questions.len();
        Self {
            flow,
            ways: Unpermitted::new(graphs, vec![entry], count),
            questions,
        }
    }

    /// The questions that every way to a node has passed, those ahead of all that it does among them; `None` where a run never
    /// comes to it.
    pub fn before(&self, at: (GraphId, NodeId)) -> Option<BTreeSet<String>> {
        let passed = self.ways.passed(at)?;
        let questions = self.questions.iter().enumerate();
        let passed = questions.filter(|(i, _)| passed.contains(self.flow.tools.len() + i));
        Some(passed.map(|(_, name)| name.clone()).collect())
    }

    /// The tools of which a call in a node may ask.
    pub fn asking<'a>(
        &'a self,
        at: (GraphId, NodeId),
        node: &'a Node,
    ) -> impl Iterator<Item = ToolId> + 'a {
        let asking = asking(self.flow, node);
        asking.filter(move |tool| self.ways.come_to(at, tool.0 as usize))
    }
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
