//! What a frame has left to do, as the JSON of a checkpoint. Nodes go by name, so that a thread
//! outlives a change of the flow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::ir::{ErrorKind, FieldId, JoinId, NodeId};
use crate::value::Value;

use super::engine::Gone;
use super::error::RunError;
use super::frame::{Agenda, Frame};
use super::freshness::Freshness;
use super::half_join::HalfJoin;
use super::joins::{self, JOINS};
use super::model::Usage;
use super::plan::GraphPlan;
use super::store::FrameImage;
use super::task::Task;
use super::waiting::{self, WAITING};

#[derive(Serialize, Deserialize)]
struct Stored {
    graph: String,
    /// Tokens that the run had used.
    #[serde(default)]
    usage: Usage,
    /// Super-steps that the frame has made, those of its ended calls counted in. None in what earlier versions of the
    /// program have kept.
    #[serde(default)]
    steps: u64,
    tasks: Vec<StoredTask>,
    /// Joins that graphs which the frame called have left half arrived at.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    half: BTreeSet<HalfJoin>,
    /// In what earlier versions of the program have kept; since then they are a field ([`super::joins::JOINS`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<StoredJoin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred: Vec<String>,
    /// In what earlier versions of the program have kept; since then they are a field ([`super::waiting::WAITING`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred_sends: Vec<StoredTask>,
    /// What comes behind the fan-outs among the tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    then: Vec<String>,
    /// What comes behind those that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred_then: Vec<String>,
    /// In what earlier versions of the program have kept; since then they are a field ([`super::visits::VISITS`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    visits: Vec<(String, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    leaves: Vec<String>,
    /// Fields that were made from others, each with those that were written since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    made: BTreeMap<String, Vec<String>>,
    /// Fields that `migrate` of this version has values for: where one has none, the thread knows of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredTask {
    node: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    send: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
}

/// A join by its members, since joins have no names.
#[derive(Serialize, Deserialize)]
struct StoredJoin {
    members: Vec<String>,
    arrived: Vec<String>,
}

/// What a frame has left to do as JSON, and what of its state is stale.
pub fn to_json(graph: &GraphPlan, frame: &Frame, usage: Usage) -> Json {
    let agenda = &frame.agenda;
    let name = |node: &NodeId| graph.nodes[*node].name.to_string();
    let tasks = agenda.tasks.iter().map(|task| StoredTask {
        node: name(&task.node),
        send: task.send.as_ref().map(|(index, _)| *index),
        input: task.send.as_ref().map(|(_, input)| input.to_stored()),
    });
    let stored = Stored {
        graph: graph.name.to_string(),
        usage,
        steps: frame.made,
        tasks: tasks.collect(),
        half: frame.half.clone(),
        joins: Vec::new(),
        deferred: agenda.deferred.iter().map(name).collect(),
        deferred_sends: Vec::new(),
        then: agenda.then.iter().map(name).collect(),
        deferred_then: agenda.deferred_then.iter().map(name).collect(),
        visits: Vec::new(),
        leaves: agenda.leaves.iter().map(|name| name.to_string()).collect(),
        made: made(graph, &frame.freshness),
        given: graph.given.clone(),
    };
    // Plain data with text keys always has a JSON form.
    serde_json::to_value(stored).unwrap_or_default()
}

/// The agenda of a checkpoint, and the numbers that it has for the joins in it.
///
/// # Errors
/// Kind `version`, where the graph has no such node or join any more; kind `store`, where it is no agenda.
pub fn agenda(
    graph: &GraphPlan,
    image: &FrameImage,
) -> Result<(Agenda, BTreeMap<JoinId, u64>), RunError> {
    let stored: Stored = serde_json::from_value(image.schedule.clone()).map_err(|error| {
        RunError::new(
            ErrorKind::Store,
            format!("a checkpoint can't be read: {error}"),
        )
    })?;
    let gone = |what: String, gone: Gone| {
        let message = format!(
            "the thread stands at {what}, which graph `{}` does not have any more",
            graph.name
        );
        RunError::gone(message, gone)
    };
    let node = |name: &String| {
        let found = graph
            .nodes
            .entries()
            .find(|(_, node)| *node.name == **name)
            .map(|(id, _)| id);
        found.ok_or_else(|| gone(format!("node `{name}`"), Gone::Node(name.clone())))
    };
    let mut agenda = Agenda::default();
    for task in &stored.tasks {
        let input = task
            .input
            .as_ref()
            .and_then(Value::from_stored)
            .unwrap_or_default();
        agenda.tasks.push(Task {
            node: node(&task.node)?,
            send: task.send.map(|index| (index, input)),
        });
    }
    let mut numbers = BTreeMap::new();
    let earlier = stored.joins.into_iter();
    let earlier = earlier.map(|join| (None, join.members, join.arrived));
    let kept = joins::of_checkpoint(image.fields.get(JOINS)).into_iter();
    let kept = kept.map(|join| (Some(join.number), join.members, join.arrived));
    for (number, names, arrived) in earlier.chain(kept) {
        let members = names.iter().map(node).collect::<Result<BTreeSet<_>, _>>()?;
        // In whichever order they are written; of joins of the same members the first is found first.
        let known = graph.joins.entries().filter(|(id, (of, _))| {
            !agenda.joins.contains_key(id) && of.iter().copied().collect::<BTreeSet<_>>() == members
        });
        let found: Option<JoinId> = known.map(|(id, _)| id).next();
        let members = || format!("the join of {}", names.join(", "));
        let id = found.ok_or_else(|| gone(members(), Gone::Other))?;
        numbers.extend(number.map(|number| (id, number)));
        agenda
            .joins
            .insert(id, arrived.iter().map(node).collect::<Result<_, _>>()?);
    }
    agenda.deferred = stored.deferred.iter().map(node).collect::<Result<_, _>>()?;
    for task in &stored.deferred_sends {
        let input = task.input.as_ref().and_then(Value::from_stored);
        let inputs = agenda.deferred_sends.entry(node(&task.node)?).or_default();
        inputs.push(input.unwrap_or_default());
    }
    for (name, input) in waiting::entries(image.fields.get(WAITING)) {
        let node = node(&name.to_owned())?;
        agenda.deferred_sends.entry(node).or_default().push(input);
    }
    agenda.then = stored.then.iter().map(node).collect::<Result<_, _>>()?;
    let behind = stored.deferred_then.iter();
    agenda.deferred_then = behind.map(node).collect::<Result<_, _>>()?;
    agenda.leaves = stored
        .leaves
        .iter()
        .map(|name| Arc::from(name.as_str()))
        .collect();
    Ok((agenda, numbers))
}

/// The names of fields that were made from others, each with those that were written since.
pub fn made(graph: &GraphPlan, freshness: &Freshness) -> BTreeMap<String, Vec<String>> {
    let name = |field: &FieldId| graph.fields[*field].to_string();
    let made = freshness.made.iter();
    made.map(|(field, since)| (name(field), since.iter().map(name).collect()))
        .collect()
}

/// What of a state was stale at a checkpoint. A field that the graph has no more is passed over.
pub fn freshness(graph: &GraphPlan, json: &Json) -> Freshness {
    let made = json.get("made").cloned().unwrap_or_default();
    let made: BTreeMap<String, Vec<String>> = serde_json::from_value(made).unwrap_or_default();
    let find = |name: &String| {
        let mut fields = graph.fields.entries();
        fields.find_map(|(id, field)| (**field == **name).then_some(id))
    };
    let known = made.iter().filter_map(|(field, since)| {
        let since = since.iter().filter_map(find).collect();
        Some((find(field)?, since))
    });
    Freshness {
        made: known.collect(),
    }
}

/// Lets go of what a checkpoint says of when fields were made, but for those fields.
pub fn retain_made(json: &mut Json, stays: impl Fn(&str) -> bool) {
    if let Some(made) = json.get_mut("made").and_then(Json::as_object_mut) {
        made.retain(|name, _| stays(name));
    }
}

/// Whether nothing was left to do at a checkpoint. Where something was sent to nodes that wait, others are to run.
pub fn is_finished(json: &Json) -> bool {
    let some = |key: &str| {
        let list = json.get(key).and_then(Json::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    some("leaves") || !(some("tasks") || some("deferred") || some("deferred_sends"))
}

/// Names of the nodes that were to run at a checkpoint, each once, in order.
pub fn next_names(json: &Json) -> Vec<&str> {
    let tasks = json.get("tasks").and_then(Json::as_array);
    let nodes = tasks.into_iter().flatten();
    let mut names: Vec<&str> = Vec::new();
    for name in nodes.filter_map(|task| task.get("node")?.as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The tasks that were to run at a checkpoint, in order: their nodes' names, with the index of a send (`work[1]`).
pub fn next_tasks(json: &Json) -> Vec<String> {
    let tasks = json.get("tasks").and_then(Json::as_array);
    let named = tasks.into_iter().flatten().filter_map(|task| {
        let node = task.get("node")?.as_str()?;
        Some(match task.get("send").and_then(Json::as_u64) {
            Some(send) => format!("{node}[{send}]"),
            None => node.to_owned(),
        })
    });
    named.collect()
}

/// Notes in a checkpoint which node its edit stands for.
pub fn note_edit(json: &mut Json, node: &str) {
    if let Some(entries) = json.as_object_mut() {
        entries.insert(EDITED_AS.to_owned(), node.into());
    }
}

/// The node that a checkpoint's edit stands for.
pub fn edited_as(json: &Json) -> Option<&str> {
    json.get(EDITED_AS)?.as_str()
}

const EDITED_AS: &str = "as";

/// Notes in the checkpoint of an input the constants of the run that begins with it: the thread's status has only
/// those of the last one.
pub fn note_context(json: &mut Json, context: Json) {
    if let (Some(entries), false) = (json.as_object_mut(), context.is_null()) {
        entries.insert(CONTEXT.to_owned(), context);
    }
}

/// The constants of the run that began with a checkpoint.
pub fn context(json: &Json) -> Option<&Json> {
    json.get(CONTEXT)
}

const CONTEXT: &str = "context";

/// Notes in a checkpoint the version of the flow that has made it and those behind it.
pub fn note_version(json: &mut Json, version: &str) {
    if let Some(entries) = json.as_object_mut() {
        entries.insert(VERSION.to_owned(), version.into());
    }
}

/// The version that a checkpoint says that it is of; most leave that to one before them.
pub fn version(json: &Json) -> Option<&str> {
    json.get(VERSION)?.as_str()
}

const VERSION: &str = "version";

/// Entries of nodes as earlier versions of the program kept them, by name.
pub fn visits(json: &Json) -> Vec<(String, u32)> {
    let visits = json.get("visits").cloned().unwrap_or_default();
    serde_json::from_value(visits).unwrap_or_default()
}

/// Super-steps that a frame had made at a checkpoint, those of its ended calls counted in.
pub fn steps(json: &Json) -> u64 {
    json.get("steps").and_then(Json::as_u64).unwrap_or_default()
}

/// Joins that graphs which a frame called had left half arrived at, at a checkpoint.
pub fn half(json: &Json) -> BTreeSet<HalfJoin> {
    let half = json.get("half").map(BTreeSet::deserialize);
    half.and_then(Result::ok).unwrap_or_default()
}

/// The same with each of them made another, or let go.
pub fn with_half(json: &mut Json, other: impl Fn(HalfJoin) -> Option<HalfJoin>) {
    if let Some(kept) = json.get_mut("half") {
        let half = BTreeSet::deserialize(&*kept).unwrap_or_default();
        let half: BTreeSet<HalfJoin> = half.into_iter().filter_map(other).collect();
        *kept = serde_json::to_value(half).unwrap_or_default();
    }
}

/// Tokens that the run had used at a checkpoint.
pub fn usage(json: &Json) -> Usage {
    let usage = json.get("usage").cloned().unwrap_or_default();
    serde_json::from_value(usage).unwrap_or_default()
}

/// Names of the nodes that run next, each once, in order.
pub fn next_nodes(graph: &GraphPlan, agenda: &Agenda) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for task in &agenda.tasks {
        let name = &graph.nodes[task.node].name;
        if names.last().is_none_or(|last| **last != **name) {
            names.push(name.to_string());
        }
    }
    names
}
