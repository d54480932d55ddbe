//! What a lint sees: the program, and for a place of it what was written there.

use std::collections::{HashMap, HashSet};

use crate::ast;
use crate::ast::graph::Member;
use crate::ast::item::{Item, ModelDecl};
use crate::ast::node::{Property, PropertyKind};
use crate::base::{FileId, SourceMap, Span};
use crate::ir::ModelId;
use crate::resolve::program::{Graph, ModelCall, Node, Program, Work};

use super::model::Families;

/// A program and its text.
pub struct Cx<'p> {
    /// The program.
    pub program: &'p Program,
    /// The texts that it was made from.
    pub sources: &'p SourceMap,
    /// What is known of models.
    pub families: &'p Families,
    graphs: HashMap<Span, &'p ast::graph::Graph>,
    nodes: HashMap<Span, &'p ast::node::Node>,
    models: HashMap<Span, &'p ModelDecl>,
}

impl<'p> Cx<'p> {
    /// Finds out where everything is.
    pub fn new(program: &'p Program, sources: &'p SourceMap, families: &'p Families) -> Self {
        let mut cx = Self {
            program,
            sources,
            families,
            graphs: HashMap::new(),
            nodes: HashMap::new(),
            models: HashMap::new(),
        };
        for item in program.trees.iter().flat_map(|tree| &tree.items) {
            match item {
                Item::Graph(graph) => {
                    cx.graphs.insert(graph.span, graph);
                    let nodes = graph.members.iter().filter_map(node);
                    cx.nodes.extend(nodes.map(|node| (node.span, node)));
                }
                Item::Model(model) => {
                    cx.models.insert(model.span, model);
                }
                _ => {}
            }
        }
        cx
    }

    /// Whether a file is part of the standard library.
    pub fn standard(&self, file: FileId) -> bool {
        let mut trees = self.program.trees.iter();
        trees.any(|tree| tree.file == file && tree.standard)
    }

    /// Items of the project's own files, with their file.
    pub fn items(&self) -> impl Iterator<Item = (FileId, &'p Item)> {
        let own = self.program.trees.iter().filter(|tree| !tree.standard);
        own.flat_map(|tree| tree.items.iter().map(|item| (tree.file, item)))
    }

    /// All nodes with their graphs.
    pub fn nodes(&self) -> impl Iterator<Item = (&'p Graph, &'p Node)> {
        let graphs = self.program.graphs.iter();
        graphs.flat_map(|graph| graph.nodes.iter().map(move |node| (graph, node)))
    }

    /// The node as written.
    pub fn written(&self, node: &Node) -> Option<&'p ast::node::Node> {
        self.nodes.get(&node.span).copied()
    }

    /// A property of a node as written.
    pub fn property(
        &self,
        node: &Node,
        wanted: impl Fn(&PropertyKind) -> bool,
    ) -> Option<&'p Property> {
        let mut properties = self.written(node)?.properties.iter();
        properties.find(|property| wanted(&property.kind))
    }

    /// A member of a graph as written.
    pub fn member(&self, graph: &Graph, wanted: impl Fn(&Member) -> bool) -> Option<&'p Member> {
        let mut members = self.graphs.get(&graph.span)?.members.iter();
        members.find(|member| wanted(member))
    }

    /// Where a setting of a model stands, name and value.
    pub fn setting(&self, model: ModelId, key: &str) -> Option<Span> {
        let model = self.program.models.get(model)?;
        let settings = &self.models.get(&model.span)?.settings;
        let setting = settings.iter().find(|setting| setting.key.node == key)?;
        Some(setting.span)
    }

    /// Name of a model, for messages.
    pub fn model_name(&self, model: ModelId) -> &'p str {
        let model = self.program.models.get(model);
        model.map_or("?", |model| &model.name.node)
    }

    /// A model and all that it falls back to, each once, itself first.
    pub fn asked(&self, model: ModelId) -> Vec<ModelId> {
        let mut all = vec![model];
        let mut seen = HashSet::from([model]);
        let mut next = 0;
        while let Some(model) = all.get(next).copied() {
            next += 1;
            let fallback = self.program.models.get(model).into_iter();
            for other in fallback.flat_map(|model| &model.fallback) {
                if seen.insert(other.node) {
                    all.push(other.node);
                }
            }
        }
        all
    }
}

fn node(member: &Member) -> Option<&ast::node::Node> {
    match member {
        Member::Node(node) => Some(node),
        _ => None,
    }
}

/// What a node asks a model.
pub fn call(node: &Node) -> Option<&ModelCall> {
    match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => Some(call),
        _ => None,
    }
}

/// Where the `timeout` stands that a node has: its own, or its graph's.
pub fn timeout_place(cx: &Cx<'_>, graph: &Graph, node: &Node) -> Span {
    let own = cx.property(node, |kind| matches!(kind, PropertyKind::Timeout { .. }));
    let inherited = || match cx.member(graph, |m| matches!(m, Member::Timeout(..)))? {
        Member::Timeout(_, span) => Some(*span),
        _ => None,
    };
    own.map(|property| property.span)
        .or_else(inherited)
        .unwrap_or(node.name.span)
}

/// Where the `retry` stands that a node has: its own, or its graph's.
pub fn retry_place(cx: &Cx<'_>, graph: &Graph, node: &Node) -> Span {
    let own = cx.property(node, |kind| matches!(kind, PropertyKind::Retry(_)));
    let inherited = || match cx.member(graph, |m| matches!(m, Member::Retry(..)))? {
        Member::Retry(_, span) => Some(*span),
        _ => None,
    };
    own.map(|property| property.span)
        .or_else(inherited)
        .unwrap_or(node.name.span)
}
