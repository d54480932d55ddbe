//! Labels of values: untrusted, private, secret.
//!
//! Each place of a program has the labels that are declared for it and those of all that is ever written to it, in whatever
//! order and on whatever way: one fixpoint over the whole program, in which a node is looked at again when a place that it
//! reads has got a new label. Nothing takes a label off but a type without free text, an anchored `@pattern` and `checked`,
//! which take off that a text is not trusted.
//!
//! What a graph is given is no label but a question ([`label::Origin::Input`]): a caller answers it for what it gets back, so
//! that one caller taints no other; a rule that looks into the graph asks all of them ([`Labels::trail`]).
//!
//! Reading order: [`label`] (labels and their ways), [`value`] (by parts), [`projection`] (by types), [`places`], [`reader`] (expressions),
//! `function`, `text` (templates), [`task`] (a node), `work` (what it gives to its expressions), and here the fixpoint.

mod function;
pub mod label;
pub mod places;
pub mod projection;
pub mod reader;
pub mod task;
mod text;
pub mod value;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::ast::item::Let;
use crate::base::Span;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::exprs::{Site, sites_of_graph, sites_of_node, sites_of_tool};
use crate::resolve::program::{Node, Program};

use super::super::calls::callers;
use super::permitted::unseen;
pub use function::is_check;
use label::{InputPart, Origin};
pub use label::{Label, LabelSet, Trail};
use places::{Place, Places};
pub use projection::takes_free_text;
use reader::Names;
pub use reader::{Operand, Reader};
use task::{Inner, NodeSummary, Task};
pub use value::Value;
pub use work::read_by_model;

/// What is looked at as one: a node, or what of a graph is no node's.
pub type Unit = (GraphId, Option<NodeId>);

/// Whose a site is: of a node, of what it calls, or of its graph.
#[derive(Debug, Clone, Copy)]
pub struct SiteOwner<'a> {
    /// The node, or the graph.
    pub unit: Unit,
    /// The node.
    pub node: Option<&'a Node>,
    /// The `let`s in scope.
    pub lets: &'a [Let],
}

impl SiteOwner<'_> {
    /// The node's name; empty of what is no node's.
    pub fn name(&self) -> &str {
        self.node.map_or("", |node| &node.name.node)
    }
}

/// The labels of all places of a program.
pub struct Labels<'a> {
    places: Places<'a>,
    summaries: BTreeMap<Unit, NodeSummary>,
    /// What graphs are given that has a label by some caller, with the way of the label to there.
    inputs: HashMap<(InputPart, Label), Trail>,
    /// The tools that a permit lets through with any arguments, with that permit.
    pub unseen: BTreeMap<ToolId, Span>,
}

impl<'a> Labels<'a> {
    /// Finds them.
    pub fn new(program: &'a Program) -> Self {
        let mut labels = Self {
            places: Places::new(program),
            summaries: BTreeMap::new(),
            inputs: HashMap::new(),
            unseen: unseen(program),
        };
        labels.settle();
        labels.inputs = labels.inputs();
        labels
    }

    fn settle(&mut self) {
        let graphs = self.places.program.graphs.entries();
        let units = graphs.flat_map(|(id, graph)| {
            let nodes = graph.nodes.ids().map(move |at| (id, Some(at)));
            std::iter::once((id, None)).chain(nodes)
        });
        let mut open: VecDeque<Unit> = units.collect();
        let mut waiting: HashSet<Unit> = open.iter().copied().collect();
        let mut readers: HashMap<Place, BTreeSet<Unit>> = HashMap::new();
        while let Some(unit) = open.pop_front() {
            waiting.remove(&unit);
            let Some(mut summary) = self.summary(unit) else {
                continue;
            };
            for place in &summary.read {
                readers.entry(*place).or_default().insert(unit);
            }
            for (place, value) in summary.writes.drain(..) {
                if self.places.write(place, &value) {
                    let readers = readers.get(&place).into_iter().flatten();
                    open.extend(readers.filter(|unit| waiting.insert(**unit)));
                }
            }
            self.summaries.insert(unit, summary);
        }
    }

    fn summary(&self, (id, at): Unit) -> Option<NodeSummary> {
        let graph = self.places.program.graphs.get(id)?;
        let task = Task::new(&self.places, &self.unseen, (id, graph));
        Some(match at {
            Some(at) => task.node(at, graph.nodes.get(at)?),
            None => task.outside(),
        })
    }

    /// Follows what callers give, from those that have a label by themselves to the graphs that are called with it.
    fn inputs(&self) -> HashMap<(InputPart, Label), Trail> {
        let mut open = VecDeque::new();
        let mut passed_on: HashMap<_, Vec<(InputPart, &Trail)>> = HashMap::new();
        let callers = callers(self.places.program);
        let mut given = Vec::new();
        for (part, input) in self.places.parts() {
            for (caller, node) in callers.get(input.graph).into_iter().flatten() {
                let summary = self.summaries.get(&(*caller, Some(*node)));
                if let Some(value) = summary.and_then(|summary| summary.arguments.get(&input.of)) {
                    given.push((part, value.at(&input.path).flat()));
                }
            }
        }
        for (part, labels) in &given {
            for (origin, label, trail) in labels.iter() {
                match origin {
                    Origin::Source => open.push_back((*part, label, trail.clone())),
                    Origin::Input(from) => {
                        let parts = passed_on.entry((from, label)).or_default();
                        parts.push((*part, trail));
                    }
                }
            }
        }
        let mut known: HashMap<(InputPart, Label), Trail> = HashMap::new();
        while let Some((part, label, trail)) = open.pop_front() {
            if known.contains_key(&(part, label)) {
                continue;
            }
            for (to, behind) in passed_on.get(&(part, label)).into_iter().flatten() {
                open.push_back((*to, label, trail.followed_by(behind)));
            }
            known.insert((part, label), trail);
        }
        known
    }

    /// What reads the expressions of a node, or of the jumps of its graph that no node makes.
    pub fn reader(&self, id: GraphId, at: Option<NodeId>) -> Reader<'_, 'a> {
        let summary = self.summaries.get(&(id, at));
        let names = summary.map(|summary| summary.names.clone());
        Reader::new(&self.places, Some(id), names.unwrap_or_default())
    }

    /// Shows every site of what may run, with whose it is and what reads it.
    pub fn each_site(&self, visit: &mut dyn FnMut(SiteOwner<'a>, &mut Reader<'_, 'a>, &Site<'a>)) {
        let program = self.places.program;
        for (unit, summary) in &self.summaries {
            let (id, at) = *unit;
            let Some(graph) = program.graphs.get(id) else {
                continue;
            };
            let node = at.and_then(|at| graph.nodes.get(at));
            let mut look = |scope, names: &Names, lets: &'a [Let], sites: Vec<Site<'a>>| {
                let mut reader = Reader::new(&self.places, scope, names.clone());
                let unit = *unit;
                for site in sites {
                    reader.within(&site, |reader| {
                        visit(SiteOwner { unit, node, lets }, reader, &site)
                    });
                }
            };
            match node {
                Some(node) => look(Some(id), &summary.names, &node.lets, sites_of_node(node)),
                None => look(Some(id), &summary.names, &[], sites_of_graph(graph)),
            }
            for (called, names) in &summary.inner {
                match called {
                    Inner::Body(tool) => {
                        let tool = program.tools.get(*tool);
                        if let Some(body) = tool.and_then(|tool| tool.body.as_ref()) {
                            look(Some(id), names, &body.lets, sites_of_tool(body));
                        }
                    }
                    Inner::Reducer(reducer) => {
                        if let Some(reducer) = program.reducers.get(*reducer) {
                            look(None, names, &[], vec![Site::of(&reducer.body)]);
                        }
                    }
                }
            }
        }
    }

    /// What a tool gives back where a node calls it.
    pub fn result(&self, (id, at): (GraphId, NodeId), tool: ToolId) -> Value {
        let summary = self.summaries.get(&(id, Some(at)));
        let result = summary.and_then(|summary| summary.results.get(&tool));
        result.cloned().unwrap_or_default()
    }

    /// How one of some labels comes into a value, by any caller of the graph that it is in.
    pub fn trail(&self, value: &Value, labels: &[Label]) -> Option<Trail> {
        let all = value.flat();
        let mut asked = all.iter().filter(|(_, label, _)| labels.contains(label));
        asked.find_map(|(origin, label, trail)| match origin {
            Origin::Source => Some(trail.clone()),
            Origin::Input(part) => {
                let before = self.inputs.get(&(part, label))?;
                Some(before.followed_by(trail))
            }
        })
    }
}
