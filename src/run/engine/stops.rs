//! Nodes that a run was told to stop before. They are the run's and not the process's: a resume, whoever makes it, stops there
//! too, until somebody lets go of them or a new run begins.

use crate::ir::GraphId;
use crate::run::store::ThreadStatus;

use crate::run::step::ANY;

use super::names::Names;
use super::{Engine, Gone, RunOptions, StartError};

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
        if let Some(gone) = stops.iter().find(|stop| !self.has_stop(root, stop)) {
            return Err(StartError::Version {
                message: format!(
                    "the run was to stop before node `{gone}`, which the flow does not have any more"
                ),
                gone: Gone::Stop(gone.clone()),
            });
        }
        self.check_stops(root, options)?;
        let new = options.interrupt_before.iter();
        let new: Vec<&String> = new.filter(|stop| !stops.contains(stop)).collect();
        stops.extend(new.into_iter().cloned());
        Ok(stops)
    }

    /// A stop before a node that there is not would never come.
    ///
    /// # Errors
    /// [`StartError::Refused`].
    pub(super) fn check_stops(
        &self,
        root: GraphId,
        options: &RunOptions,
    ) -> Result<(), StartError> {
        let mut stops = options.interrupt_before.iter();
        match stops.find(|stop| !self.has_stop(root, stop)) {
            Some(stop) => Err(StartError::refused(format!(
                "the run is to stop before `{stop}`, and the flow has no such node"
            ))),
            None => Ok(()),
        }
    }

    fn has_stop(&self, root: GraphId, stop: &str) -> bool {
        let graphs = &self.plan.flow.graphs;
        if stop == ANY {
            return true;
        }
        if !stop.contains('/') {
            return graphs.iter().any(|graph| graph.node(stop).is_some());
        }
        let names = Names {
            engine: self,
            root,
            renames: false,
        };
        let walked = names.walk(stop);
        let (graph, node) = (&walked.at.0, &walked.at.1);
        let graph = graph.and_then(|id| graphs.get(id));
        stop.rsplit('/').next() == Some(node) && graph.is_some_and(|g| g.node(node).is_some())
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
