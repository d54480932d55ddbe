//! Nodes that a run was told to stop before. They are the run's and not the process's: a resume, whoever makes it, stops there
//! too, until somebody lets go of them or a new run begins.

use crate::ir::node::Work;
use crate::ir::{Graph, GraphId, Node};
use crate::run::store::ThreadStatus;

use crate::run::step::ANY;

use super::names::Names;
use super::{Engine, Gone, RunOptions, StartError};

/// What becomes of a stop. Of several nodes of one name the first of these counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stop {
    /// A task is made for the node: the run stops before it.
    Comes,
    /// A `branch` is followed with the arrow that leads to it: no task is made.
    Branch,
    /// There is no such node.
    Unknown,
}

impl Stop {
    fn at(node: &Node) -> Self {
        match node.work {
            Work::Branch => Stop::Branch,
            _ => Stop::Comes,
        }
    }
}

fn node<'g>(graph: &'g Graph, name: &str) -> Option<&'g Node> {
    graph.nodes.get(graph.node(name)?)
}

impl Engine {
    /// The stops of a run that goes on: those that it has been told of before, and those that it is told of now.
    ///
    /// # Errors
    /// [`StartError::Version`], where the flow has a node no more that the run was to stop before, and as
    /// [`Engine::check_stops`].
    pub(super) fn stops(
        &self,
        root: GraphId,
        status: &ThreadStatus,
        options: &RunOptions,
    ) -> Result<Vec<String>, StartError> {
        let mut stops = match options.drop_stops {
            true => Vec::new(),
            false => status.interrupt_before.clone(),
        };
        for stop in &stops {
            let why = match self.stop(root, stop) {
                Stop::Comes => continue,
                Stop::Unknown => "the flow does not have any more",
                Stop::Branch => "is a `branch` now and takes no step",
            };
            return Err(StartError::Version {
                message: format!("the run was to stop before node `{stop}`, which {why}"),
                gone: Gone::Stop(stop.clone()),
            });
        }
        self.check_stops(root, options)?;
        let new = options.interrupt_before.iter();
        let new: Vec<&String> = new.filter(|stop| !stops.contains(stop)).collect();
        stops.extend(new.into_iter().cloned());
        Ok(stops)
    }

    /// A stop before a node that there is not, or that takes no step, would never come.
    ///
    /// # Errors
    /// [`StartError::Refused`].
    pub(super) fn check_stops(
        &self,
        root: GraphId,
        options: &RunOptions,
    ) -> Result<(), StartError> {
        for stop in &options.interrupt_before {
            let why = match self.stop(root, stop) {
                Stop::Comes => continue,
                Stop::Unknown => "and the flow has no such node",
                Stop::Branch => "which is a `branch` and takes no step",
            };
            let message = format!("the run is to stop before `{stop}`, {why}");
            return Err(StartError::refused(message));
        }
        Ok(())
    }

    fn stop(&self, root: GraphId, stop: &str) -> Stop {
        let graphs = &self.plan.flow.graphs;
        if stop == ANY {
            return Stop::Comes;
        }
        if !stop.contains('/') {
            let named = graphs.iter().filter_map(|graph| node(graph, stop));
            let of_each = named.map(Stop::at);
            return of_each.min().unwrap_or(Stop::Unknown);
        }
        let names = Names {
            engine: self,
            root,
            renames: false,
        };
        let walked = names.walk(stop);
        let (graph, name) = (&walked.at.0, &walked.at.1);
        let graph = graph.and_then(|id| graphs.get(id));
        let is_last = stop.rsplit('/').next() == Some(name.as_str());
        let found = graph.filter(|_| is_last).and_then(|g| node(g, name));
        found.map_or(Stop::Unknown, Stop::at)
    }

    /// A stop by the names of now.
    pub(super) fn renamed_stop(&self, names: &Names<'_>, stop: &str) -> String {
        if stop.contains('/') {
            return names.key(stop);
        }
        let mut graphs = self.plan.flow.graphs.iter();
        let renamed = graphs.find_map(|graph| graph.migrate.nodes.get(stop));
        renamed.map_or(stop, String::as_str).to_owned()
    }
}
