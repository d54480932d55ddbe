//! Third pass: what stands in a graph. First the state of every graph, since calls name fields of
//! other graphs; then members and nodes.

mod based;
pub(super) mod binding;
mod brief;
mod call;
mod context;
mod contract;
mod edge;
mod extern_node;
pub(super) mod generic;
mod instance;
pub(super) mod jump;
mod member;
mod migrate;
mod model;
mod node;
mod permit;
mod property;
mod sent;
mod state;
mod stop;

use std::collections::BTreeMap;

use crate::ast::graph::{Graph as Written, Member};
use crate::base::{FileId, IdVec, Span};
use crate::ir::{FieldId, GraphId, NodeId};

use super::Resolver;
use super::graph::Graph;
use super::names::Seen;

/// Names that the members of one graph may use.
pub(super) struct Inside {
    /// The file it stands in.
    pub file: FileId,
    /// The graph's name.
    name: String,
    /// Its id.
    pub graph: GraphId,
    /// Its nodes.
    nodes: BTreeMap<String, NodeId>,
    /// Its state.
    fields: BTreeMap<String, FieldId>,
    /// Whether it names a default model, be it unknown.
    has_model: bool,
    /// Whether it lists tools, be they unknown.
    has_tools: bool,
}

impl Resolver<'_> {
    /// Resolves all graphs: those of the first file first, each with its file. Their trees go as they
    /// are read, since the nodes of a large flow are most of it.
    pub fn graphs(&mut self, written: Vec<(FileId, Written)>) {
        for (file, graph) in &written {
            self.parameters_of_items(*file, graph);
            let header = self.header(*file, graph);
            self.program.graphs.push(header);
            self.bound.clear();
        }
        self.defaults_of_items();
        self.instances();
        for (index, (file, graph)) in written.into_iter().enumerate() {
            let id = crate::base::id::Id::from_index(index);
            if self.generics.contains_key(&id) {
                self.generic_body(id, graph);
            } else {
                self.body(file, id, graph);
            }
        }
        self.generic_bodies();
        self.params.clear();
        self.sent_to_graphs();
        self.program.entry = self.entry();
    }

    /// Name, state and what callers see.
    fn header(&mut self, file: FileId, written: &Written) -> Graph {
        let context = self.context(file, written);
        let (params, params_record) = self.graph_params(file, written);
        self.params = params.iter().map(|param| param.name.clone()).collect();
        let fields = self.state(file, written);
        let out = fields.iter().filter(|field| field.mode.is_out());
        let out = out.map(|field| crate::expr::ty::RecordField {
            name: field.name.node.clone(),
            doc: field.doc.clone(),
            ty: field.ty.node.clone(),
            default: None,
            constraints: Default::default(),
        });
        let out = out.collect();
        let result = self.synthetic(&format!("result of {}", written.name.node), out);
        let end = written.span.end + 1;
        let broken = self.is_damaged(Span {
            end,
            ..written.span
        });
        Graph {
            name: written.name.clone(),
            doc: written.doc.clone(),
            file,
            params,
            params_record,
            bound: Vec::new(),
            open: false,
            unused_params: Vec::new(),
            instance: None,
            broken,
            leaves: Vec::new(),
            tools: None,
            context,
            fields,
            result,
            start: None,
            nodes: IdVec::new(),
            joins: IdVec::new(),
            plain_edges: BTreeMap::new(),
            recursion_limit: None,
            recursion_by: None,
            model: None,
            retry: None,
            timeout_ms: None,
            timeout_at: None,
            retry_at: None,
            exits: Vec::new(),
            migrate: Default::default(),
            on_error: None,
            span: written.span,
            index: Default::default(),
        }
    }

    fn body(&mut self, file: FileId, id: GraphId, mut written: Written) {
        let mut inside = Inside {
            file,
            name: written.name.node.clone(),
            graph: id,
            nodes: BTreeMap::new(),
            fields: BTreeMap::new(),
            has_tools: written
                .members
                .iter()
                .any(|m| matches!(m, Member::Tools(..))),
            has_model: written
                .members
                .iter()
                .any(|m| matches!(m, Member::Model(..))),
        };
        let params = self.program.graphs[id].params.iter();
        self.params = params.map(|param| param.name.clone()).collect();
        for (field, declared) in self.program.graphs[id].fields.entries() {
            inside.fields.insert(declared.name.node.clone(), field);
        }
        let mut known = self.node_names(&mut inside, &written).into_iter();
        self.leaves(id, &written);
        self.members(&inside, &written);
        self.program.graphs[id]
            .nodes
            .reserve_exact(inside.nodes.len());
        let members = std::mem::take(&mut written.members);
        for member in members {
            match member {
                Member::Node(node) if known.next() == Some(true) => {
                    let node = self.node(&inside, &node);
                    self.program.graphs[id].nodes.push(node);
                }
                Member::Node(_) => {}
                other => written.members.push(other),
            }
        }
        self.edges(&inside, &written);
        self.stops(&inside, &written);
        self.migrate(&inside, &written);
    }

    /// Gives every node its id and says which have one: a second one of a name is reported and left out.
    fn node_names(&mut self, inside: &mut Inside, written: &Written) -> Vec<bool> {
        let mut known = Vec::new();
        let mut nodes: Vec<&crate::ast::node::Node> = Vec::new();
        for member in &written.members {
            let Member::Node(node) = member else {
                continue;
            };
            if !self.check_node_name(&node.name) {
                self.program.graphs[inside.graph].broken = true;
            }
            if let Some(first) = inside.nodes.get(&node.name.node) {
                // Its edges are lost.
                self.program.graphs[inside.graph].broken = true;
                if let Some(first) = nodes.get(first.0 as usize) {
                    self.twice("node", &first.name, &node.name);
                }
                known.push(false);
                continue;
            }
            known.push(true);
            let id = crate::base::id::Id::from_index(nodes.len());
            inside.nodes.insert(node.name.node.clone(), id);
            nodes.push(node);
        }
        known
    }

    fn leaves(&mut self, id: GraphId, written: &Written) {
        let mut seen = Seen::default();
        let leaves = written.leaves.iter();
        let leaves = leaves.filter(|name| self.once(&mut seen, "name", name));
        let leaves = leaves.cloned().collect();
        self.program.graphs[id].leaves = leaves;
    }

    /// The only graph of the first file that no other calls.
    fn entry(&self) -> Option<GraphId> {
        let called = self.program.called_by_others();
        let mut candidates = (self.program.graphs)
            .entries()
            .filter(|(id, graph)| graph.file == FileId(0) && !called.contains(id))
            .filter(|(_, graph)| graph.bound.is_empty())
            .map(|(id, _)| id);
        let first = candidates.next()?;
        candidates.next().is_none().then_some(first)
    }
}
