//! Joins that some but not all of their members have arrived at: where nothing else is left to do in their graph, nobody comes there
//! any more, and that is said.

use serde::{Deserialize, Serialize};

use crate::base::name;

use super::frame::Agenda;
use super::plan::{GraphPlan, TargetPlan};

/// A join that waits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HalfJoin {
    /// Path of the call whose graph it is in, such as `content/slide_builder`; empty in the run's own graph, and of an edit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Names of its members.
    pub members: Vec<String>,
    /// Those that have not arrived.
    pub missing: Vec<String>,
    /// Names of the nodes that it leads to.
    pub to: Vec<String>,
}

impl HalfJoin {
    /// For people: `` the join of `a` and `b` ahead of `c` in `content` ``.
    pub fn shown(&self) -> String {
        let list = |names: &[String]| name::list(names.iter().map(String::as_str));
        let to = match self.to.as_slice() {
            [] => String::new(),
            to => format!(" ahead of {}", list(to)),
        };
        let within = match self.path.as_str() {
            "" => String::new(),
            path => format!(" in `{path}`"),
        };
        format!("the join of {}{to}{within}", list(&self.members))
    }
}

/// The joins of a graph that wait, in the order declared. `path` is that of the call whose graph it is.
pub fn half_joins(graph: &GraphPlan, path: &str, agenda: &Agenda) -> Vec<HalfJoin> {
    let named = |nodes: &mut dyn Iterator<Item = crate::ir::NodeId>| -> Vec<String> {
        nodes
            .map(|node| graph.nodes[node].name.to_string())
            .collect()
    };
    let waiting = agenda.joins.iter().map(|(join, arrived)| {
        let (members, jump) = &graph.joins[*join];
        let missing = members.iter().filter(|member| !arrived.contains(member));
        let to = jump.to.iter().filter_map(|target| match target {
            TargetPlan::Node(node) | TargetPlan::Each { worker: node, .. } => Some(*node),
            _ => None,
        });
        HalfJoin {
            path: path.to_owned(),
            members: named(&mut members.iter().copied()),
            missing: named(&mut missing.copied()),
            to: named(&mut to.into_iter()),
        }
    });
    waiting.collect()
}
