//! What a task beside writes holds for all that runs in the next super-step, wherever the other tasks go on to.

use std::collections::BTreeSet;

use crate::ir::NodeId;
use crate::resolve::jumps::Maker;
use crate::resolve::program::Graph;

use super::super::super::flow::{Flow, Spot, Together};

/// Who runs beside whom in a graph.
pub struct Beside<'f> {
    flow: &'f Flow,
    graph: &'f Graph,
    together: Together<'f>,
    /// By node, what leads to it; only of branches.
    before: Vec<Vec<Spot>>,
}

impl<'f> Beside<'f> {
    /// Follows all tasks of the graph.
    pub fn new(graph: &'f Graph, flow: &'f Flow) -> Self {
        let is_branch = |to: NodeId| flow.stops.get(to).is_some_and(|stop| stop.branch);
        let mut before = vec![Vec::new(); flow.stops.len()];
        for spot in flow.spots() {
            for goal in flow.ways(spot).iter().flat_map(|way| &way.goals) {
                match goal.to {
                    Spot::Node(to) if is_branch(to) => {
                        let to = before.get_mut(to.0 as usize);
                        to.into_iter().for_each(|to: &mut Vec<Spot>| to.push(spot));
                    }
                    _ => {}
                }
            }
        }
        Self {
            flow,
            graph,
            together: Together::new(flow),
            before,
        }
    }

    /// The tasks that run, or wait, beside one that makes such a write; `seen` are those that need no more telling.
    pub fn of(&self, by: Maker, seen: &mut BTreeSet<Spot>) -> Vec<Spot> {
        let runners = match by {
            Maker::Start => Vec::new(),
            Maker::Node(node, _) => self.runners(Spot::Node(node)),
            Maker::Join(join) => self.runners(Spot::Join(join)),
            Maker::Handler => self.graph.served().collect(),
        };
        let beside = runners
            .into_iter()
            .flat_map(|node| self.together.beside(node));
        beside.filter(|spot| seen.insert(*spot)).collect()
    }

    /// The nodes in whose super-step it is written: branches are followed at once, and so are joins.
    fn runners(&self, by: Spot) -> Vec<NodeId> {
        let mut seen = BTreeSet::from([by]);
        let mut open = vec![by];
        let mut found = Vec::new();
        while let Some(spot) = open.pop() {
            let before: Vec<Spot> = match spot {
                Spot::Node(node) if self.flow.stops.get(node).is_some_and(|stop| stop.branch) => {
                    let before = self.before.get(node.0 as usize);
                    before.into_iter().flatten().copied().collect()
                }
                Spot::Node(node) => {
                    found.push(node);
                    continue;
                }
                Spot::Join(join) => {
                    let join = self.flow.joins.get(join).into_iter();
                    let members = join.flat_map(|join| &join.members);
                    members.map(|(node, _)| Spot::Node(*node)).collect()
                }
                Spot::End | Spot::Fail | Spot::Leave => continue,
            };
            open.extend(before.into_iter().filter(|spot| seen.insert(*spot)));
        }
        found
    }
}
