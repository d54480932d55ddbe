//! What a lint sees: the program, and for a place of it what was written there.

use std::collections::{HashMap, HashSet};

use crate::ast::item::{Item, ModelDecl};
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
    models: HashMap<Span, &'p ModelDecl>,
}

impl<'p> Cx<'p> {
    /// Finds out where everything is.
    pub fn new(program: &'p Program, sources: &'p SourceMap, families: &'p Families) -> Self {
        let mut cx = Self {
            program,
            sources,
            families,
            models: HashMap::new(),
        };
        for item in program.trees.iter().flat_map(|tree| &tree.items) {
            if let Item::Model(model) = item {
                cx.models.insert(model.span, model);
            }
        }
        cx
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
        self.asked_by([model])
    }

    /// The same of several models.
    pub fn asked_by(&self, models: impl IntoIterator<Item = ModelId>) -> Vec<ModelId> {
        let mut seen = HashSet::new();
        let mut all: Vec<ModelId> = models.into_iter().filter(|id| seen.insert(*id)).collect();
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

/// What a node asks a model.
pub fn call(node: &Node) -> Option<&ModelCall> {
    match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => Some(call),
        _ => None,
    }
}

/// Where the `timeout` stands that a node has: its own, or its graph's.
pub fn timeout_place(graph: &Graph, node: &Node) -> Span {
    let own = node.timeout_ms.as_ref().and_then(|timeout| timeout.at);
    let place = own.or(graph.timeout_at);
    place.unwrap_or(node.name.span)
}

/// Where the `retry` stands that a node has: its own, or its graph's.
pub fn retry_place(graph: &Graph, node: &Node) -> Span {
    let own = node.retry.as_ref().and_then(|retry| retry.at);
    let place = own.or(graph.retry_at);
    place.unwrap_or(node.name.span)
}
