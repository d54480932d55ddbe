//! The order of what was seen, which does not depend on timing.
//!
//! Tasks are in the order of their super-steps, those of one step in the order of declaration and of
//! send index, and what a subgraph does comes right after the task that called it.

use crate::ir::node::Work;
use crate::ir::{Flow, GraphId};

/// The place of a task in a run: of each frame on the way to it, the step, the node's position and
/// the send. Orders as the tasks do.
pub type Place = Vec<(u64, usize, u64)>;

/// A task taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task<'k> {
    /// Where it stands.
    pub place: Place,
    /// Names of its node and of the nodes that called its graph, outermost first.
    pub names: Vec<&'k str>,
    /// The graph that its node is of, where the flow has it.
    pub graph: Option<GraphId>,
}

impl Task<'_> {
    /// Path of its node, such as `cake_man/editor`.
    pub fn path(&self) -> String {
        self.names.join("/")
    }
}

/// Takes a task's key apart, such as `1:cake_man/0:editor[2]`.
pub fn read<'k>(flow: &Flow, root: GraphId, key: &'k str) -> Task<'k> {
    let mut task = Task {
        place: Place::new(),
        names: Vec::new(),
        graph: None,
    };
    let mut graph = Some(root);
    for part in key.split('/') {
        task.graph = graph;
        let (step, node) = part.split_once(':').unwrap_or(("0", part));
        let (name, send) = match node.strip_suffix(']').and_then(|node| node.split_once('[')) {
            // The arrow's task of a node comes before its sends.
            Some((name, send)) => (name, send.parse::<u64>().unwrap_or(0) + 1),
            None => (node, 0),
        };
        let found = graph.and_then(|id| flow.graphs.get(id)?.node(name).map(|node| (id, node)));
        let position = match name {
            "start!" => 0,
            _ => found.map_or(usize::MAX, |(_, node)| node.0 as usize + 1),
        };
        task.place.push((step.parse().unwrap_or(0), position, send));
        task.names.push(name);
        graph = found.and_then(
            |(id, node)| match &flow.graphs.get(id)?.nodes.get(node)?.work {
                Work::Subgraph { graph, .. } => Some(*graph),
                _ => None,
            },
        );
    }
    task
}

/// Orders what tasks did. `items` are in the order in which they were told, each with the place of
/// its task. What a task did before anything inside its subgraph stays before it, the rest after.
pub fn sort<T>(items: Vec<(Place, T)>) -> Vec<T> {
    let places: Vec<Place> = items.iter().map(|(place, _)| place.clone()).collect();
    let mut keyed: Vec<(Place, usize, T)> = Vec::with_capacity(items.len());
    for (index, (mut place, item)) in items.into_iter().enumerate() {
        let earlier = places.iter().take(index);
        let depth = place.len();
        let inside_before = earlier
            .filter(|other| other.len() > depth && other.get(..depth) == Some(&place))
            .count()
            > 0;
        if inside_before {
            place.push((u64::MAX, usize::MAX, u64::MAX));
        }
        keyed.push((place, index, item));
    }
    keyed.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    keyed.into_iter().map(|(_, _, item)| item).collect()
}
