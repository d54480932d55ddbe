//! `untracked` fields: a thread that goes on has lost their values, and what reads them only now meets none.

use std::collections::{BTreeMap, BTreeSet};

use super::Versions;
use super::fields::begins;
use super::finding::{Group, Side};
use super::graphs::Both;
use super::tree::{Part, Tree, read_in};
use crate::base::name::list;
use crate::ir::flow::Flow;
use crate::ir::graph::Field;
use crate::ir::node::Work;

/// What says where a node or a graph goes on.
const WAYS: [&str; 7] = [
    "start",
    "next",
    "joins",
    "ends",
    "on_error",
    "max_visits",
    "skips",
];

/// By node the fields that it reads, as far as they are asked for; `""` is the graph itself.
type Reads<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

impl Versions<'_> {
    /// Fields that are in no checkpoint and begin without a value, where a node reads them that has not, where nodes are come
    /// to otherwise, or threads wait elsewhere.
    pub(super) fn lost(&mut self, both: Both) {
        let renames = &both.new.migrate.fields;
        let lasts = |field: &&Field| !field.untracked || begins(field) || field.mode.is_in();
        let was_lost = |new: &&Field| {
            let mut old = both.old.fields.iter().filter(|old| old.untracked);
            old.any(|old| *renames.get(&old.name).unwrap_or(&old.name) == new.name)
        };
        let fields = both.new.fields.iter().filter(|field| !lasts(field));
        let fields: Vec<&Field> = fields.filter(was_lost).collect();
        if fields.is_empty() {
            return;
        }
        let graph = both.new.name.as_str();
        let names: BTreeSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let (old, new) = self.trees;
        let (was, is) = (reads(old, graph, &names), reads(new, graph, &names));
        let moved = ways(old, graph) != ways(new, graph)
            || !questions(self.new).is_subset(&questions(self.old));
        for field in fields {
            let name = field.name.as_str();
            let reads = |node: &&str| is.get(node).is_some_and(|read| read.contains(name));
            let read = |node: &&str| was.get(node).is_some_and(|read| read.contains(name));
            let readers = is.keys().copied().filter(reads);
            let readers: Vec<&str> = readers.filter(|node| moved || !read(node)).collect();
            let nodes: Vec<&str> = readers.iter().copied().filter(|n| !n.is_empty()).collect();
            let who = match nodes.is_empty() {
                _ if readers.is_empty() => continue,
                true => "the graph".to_owned(),
                false => list(nodes),
            };
            let message = format!(
                "field `{name}` of graph `{graph}` is in no checkpoint and has no first value; threads that go on lack it, \
                 and {who} may read it now"
            );
            let at = both.old.fields.iter();
            let at = at.filter(|old| renames.get(&old.name).unwrap_or(&old.name) == name);
            let at = (at.map(|old| old.at).next(), Some(field.at));
            let (group, side) = (Group::NeedsMigration, Side::Threads);
            self.say(group, side, "field-unset", at, message);
        }
    }
}

/// The graph of that name.
fn graph_of<'t>(flow: &'t Tree, name: &str) -> Option<&'t Part> {
    let mut graphs = flow.get("graphs")?.elements().iter();
    let graph = graphs.find(|graph| graph.name() == Some(name))?;
    match graph {
        Tree::Part(part) => Some(part),
        _ => None,
    }
}

/// Which of some fields are read in a graph, by the nodes that read them themselves or by their tools.
fn reads<'t>(flow: &'t Tree, graph: &str, names: &BTreeSet<&'t str>) -> Reads<'t> {
    let mut all = Reads::new();
    let Some(graph) = graph_of(flow, graph) else {
        return all;
    };
    let tools = flow.get("tools").map_or(&[] as &[Tree], Tree::elements);
    let tools = tools.iter().filter_map(|tool| {
        let found = read_in(tool.get("body")?, names);
        Some((tool.name()?, found)).filter(|(_, found)| !found.is_empty())
    });
    let tools: BTreeMap<&str, BTreeSet<&str>> = tools.collect();
    for (key, tree) in &graph.entries {
        match key.as_str() {
            "nodes" => {
                for node in tree.elements() {
                    let mut found = read_in(node, names);
                    let used = tools.iter().filter(|(tool, _)| mentions(node, tool));
                    used.for_each(|(_, read)| found.extend(read));
                    all.insert(node.name().unwrap_or_default(), found);
                }
            }
            "fields" | "migrate" => {}
            _ => all.entry("").or_default().extend(read_in(tree, names)),
        }
    }
    all
}

/// Whether a leaf of a tree is a name.
fn mentions(tree: &Tree, name: &str) -> bool {
    let mut open = vec![tree];
    while let Some(tree) = open.pop() {
        match tree {
            Tree::Leaf(text) if text == name => return true,
            Tree::List(elements) => open.extend(elements),
            Tree::Part(part) => open.extend(part.entries.iter().map(|(_, tree)| tree)),
            _ => {}
        }
    }
    false
}

/// Where threads may wait for a person: questions around nodes, nodes that ask, tools whose calls ask.
fn questions(flow: &Flow) -> BTreeSet<(&str, &str, &str)> {
    let tools = flow.tools.iter().filter(|tool| tool.asks());
    let tools = tools.map(|tool| ("", "", tool.name.as_str()));
    let nodes = flow.graphs.iter().flat_map(|graph| {
        let nodes = graph.nodes.iter();
        nodes.map(|node| (graph.name.as_str(), node))
    });
    let stops = nodes.flat_map(|(graph, node)| {
        let asks = matches!(node.work, Work::Interrupt { .. }).then_some("");
        let names = node.stops.iter().map(|stop| stop.name.as_str());
        let names = names.chain(asks);
        names.map(move |name| (graph, node.name.as_str(), name))
    });
    stops.chain(tools).collect()
}

/// All that says where a graph and its nodes go on.
fn ways<'t>(flow: &'t Tree, graph: &str) -> Vec<(&'t str, &'t str, &'t Tree)> {
    let mut all = Vec::new();
    let Some(graph) = graph_of(flow, graph) else {
        return all;
    };
    let nodes = graph.get("nodes").map_or(&[] as &[Tree], Tree::elements);
    let nodes = nodes.iter().filter_map(|node| match node {
        Tree::Part(part) => Some((node.name().unwrap_or_default(), part)),
        _ => None,
    });
    for (name, part) in nodes.chain([("", graph)]) {
        let ways = part.entries.iter();
        let ways = ways.filter(|(key, _)| WAYS.contains(&key.as_str()));
        all.extend(ways.map(|(key, tree)| (name, key.as_str(), tree)));
    }
    all.sort_by_key(|(name, key, _)| (*name, *key));
    all
}
