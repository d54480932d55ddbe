//! The flow of a thread, looked for in the project: a thread keeps the name of its graph and the flow's version, no file.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::lint::model::Families;
use crate::run::plan::{Plan, plan};
use crate::run::store::ThreadStatus;

use super::super::Context;
use super::super::files;
use super::super::flow::{analyse_source, project_of};

/// Flows below the current folder that are read before the search is given up.
const MOST: usize = 100;

/// The one file below the current folder that has the thread's graph, as it is named in commands, and its flow. Of several the
/// one of the thread's version; `None` where there isn't just one.
pub fn of(status: &ThreadStatus, context: &Context) -> Option<(String, Plan)> {
    let all = files::every(Path::new("."), ".graph").ok()?;
    let all = all.into_iter().take(MOST);
    let mut having: Vec<(String, Plan)> = all
        .filter_map(|path| {
            let plan = planned(&path, &status.graph, context)?;
            Some((files::shown(&path), plan))
        })
        .collect();
    if having
        .iter()
        .any(|(_, plan)| plan.version == status.version)
    {
        having.retain(|(_, plan)| plan.version == status.version);
    }
    match having.len() {
        1 => having.pop(),
        _ => None,
    }
}

/// The flow in a file, where it has no errors and a graph of that name.
fn planned(path: &Path, graph: &str, context: &Context) -> Option<Plan> {
    let source = files::read(path).ok()?;
    if !source.text.contains(&format!("graph {graph}")) {
        return None;
    }
    let project = project_of(path, context).ok()?;
    let analysed = analyse_source(path, source, &project, &Families::default()).ok()?;
    let flow = analysed.analysis.flow()?;
    flow.graph(graph)?;
    plan(Arc::new(flow)).ok()
}

/// Gives the fields of a graph's state that nothing has written the values that they begin with.
pub fn fill(state: &mut JsonMap<String, Json>, graph: &str, plan: &Plan) {
    let Some(graph) = plan.graphs.iter().find(|known| *known.name == *graph) else {
        return;
    };
    for (name, initial) in graph.fields.iter().zip(&graph.initial) {
        if let (Some(initial), None) = (initial, state.get(&**name)) {
            state.insert(name.to_string(), initial.to_json());
        }
    }
}
