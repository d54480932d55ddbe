//! Lowering: from a checked program to the IR. It cannot fail, for all that could be wrong was
//! reported before; what an error left open (a reference without an id) is left out.
//!
//! What it adds to the program: places instead of spans, text instead of trees, defaults of a graph
//! merged into its nodes, `ends` made explicit, fields passed by name in subgraph calls. Order is the order
//! of declaration everywhere, so that the same source gives the same bytes.
//!
//! Reading order: `text` (expressions, places), `jump`, `node`, `call` (what a node does), `ends`,
//! `tool`, `graph`.

#![allow(
    clippy::indexing_slicing,
    reason = "an id is only made with the element that it stands for"
)]

mod call;
mod ends;
mod graph;
mod jump;
mod narrow;
mod node;
mod permit;
mod text;
mod tool;

use crate::base::SourceMap;
use crate::check::Checked;
use crate::expr::infer::default_value;
use crate::expr::ty::RecordField;
use crate::resolve::Program;
use crate::resolve::mark::Marks;
use crate::resolve::program::{self, Param};

use crate::ir::flow::{Event, FORMAT, Flow, Model, Reducer};

/// The IR of a program without errors.
///
/// Of graphs with parameters the instances are lowered; one whose parameters are unknown is no part of what runs.
pub fn lower(program: &Program, checked: &Checked, sources: &SourceMap) -> Flow {
    let templates = &program.graphs;
    let instances = checked.instances.as_ref();
    let program = instances.map_or(program, |made| &made.program);
    let runs = |graph: &&crate::resolve::graph::Graph| {
        let instance = graph.instance.as_ref();
        instance.is_none_or(|instance| instance.is_whole())
    };
    let mut named = std::collections::BTreeSet::new();
    let parametric = templates.iter().filter(|graph| {
        let has_params = !graph.params.is_empty() || !graph.bound.is_empty();
        has_params && named.insert(graph.name.node.as_str())
    });
    let cx = Lowering {
        program,
        sources,
        is_folded: instances.is_some(),
    };
    Flow {
        format: FORMAT,
        files: text::files(sources),
        types: program.types.clone(),
        functions: cx.functions(),
        secrets: cx.secrets(),
        marks: cx.marks(),
        events: program.events.iter().map(|event| cx.event(event)).collect(),
        reducers: program.reducers.iter().map(|r| cx.reducer(r)).collect(),
        models: program.models.iter().map(|model| cx.model(model)).collect(),
        tools: program.tools.iter().map(|tool| cx.tool(tool)).collect(),
        graphs: program
            .graphs
            .iter()
            .filter(runs)
            .map(|graph| cx.graph(graph))
            .collect(),
        parametric: parametric.map(|graph| cx.parametric(graph)).collect(),
        entry: program.entry,
    }
}

/// What every part is lowered with.
struct Lowering<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    /// Whether expressions of the program may say less than their texts, since parameters have their values there.
    is_folded: bool,
}

impl Lowering<'_> {
    fn functions(&self) -> Vec<String> {
        let modules = self.program.modules.iter();
        let mut names: Vec<String> = modules
            .flat_map(|module| module.functions.iter())
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Of states, contexts and records.
    fn secrets(&self) -> Vec<String> {
        let secret = |param: &Param| param.marks.secret.map(|_| param.name.node.clone());
        let graphs = || self.program.graphs.iter();
        let state = graphs().flat_map(|graph| graph.fields.iter());
        let state = state.filter(|field| field.marks.secret.is_some());
        let context = graphs().filter_map(|graph| graph.context.as_ref());
        let records = self.program.records.iter();
        let mut names: Vec<String> = state
            .map(|field| field.name.node.clone())
            .chain(context.flat_map(|context| context.fields.iter().filter_map(secret)))
            .chain(records.flat_map(|record| record.fields.iter().filter_map(secret)))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Of states, contexts and records, those that are marked.
    fn marks(&self) -> Vec<String> {
        let mut marked = Vec::new();
        let mut note = |of: &str, name: &str, marks: &Marks| {
            for (word, mark) in [
                ("untrusted", marks.untrusted),
                ("private", marks.private),
                ("secret", marks.secret),
            ] {
                if mark.is_some() {
                    marked.push(format!("@{word} {of}.{name}"));
                }
            }
        };
        for graph in &self.program.graphs {
            let of = graph.name.node.as_str();
            for field in &graph.fields {
                note(of, &field.name.node, &field.marks);
            }
            for param in graph.context.iter().flat_map(|context| &context.fields) {
                note(of, &param.name.node, &param.marks);
            }
        }
        for record in &self.program.records {
            for param in &record.fields {
                note(&record.name.node, &param.name.node, &param.marks);
            }
        }
        marked.sort();
        marked.dedup();
        marked
    }

    fn event(&self, event: &program::Event) -> Event {
        Event {
            name: event.name.node.clone(),
            doc: event.doc.clone(),
            fields: self.fields(&event.fields),
            at: self.place(event.name.span),
        }
    }

    fn reducer(&self, reducer: &program::Reducer) -> Reducer {
        let param = |param: &Param| (param.name.node.clone(), param.ty.node.clone());
        Reducer {
            name: reducer.name.node.clone(),
            old: param(&reducer.old),
            new: param(&reducer.new),
            body: self.expr(&reducer.body),
        }
    }

    fn model(&self, model: &program::Model) -> Model {
        let reference = model.reference.node.as_str();
        let (provider, name) = reference.split_once('/').unwrap_or((reference, ""));
        let settings = model.settings.clone();
        Model {
            name: model.name.node.clone(),
            provider: provider.to_owned(),
            model: name.to_owned(),
            temperature: settings.temperature,
            top_p: settings.top_p,
            max_tokens: settings.max_tokens,
            thinking_budget: settings.thinking_budget,
            reasoning_effort: settings.reasoning_effort,
            seed: settings.seed,
            timeout_ms: settings.timeout_ms,
            retry: settings.retry,
            fallback: model.fallback.iter().map(|model| model.node).collect(),
            fallback_on: settings.fallback_on,
            at: self.place(model.span),
        }
    }

    /// Fields of a record, event or `input`, or parameters.
    fn fields(&self, params: &[Param]) -> Vec<RecordField> {
        let field = |param: &Param| RecordField {
            name: param.name.node.clone(),
            doc: param.doc.clone(),
            ty: param.ty.node.clone(),
            default: param
                .default
                .as_ref()
                .and_then(|default| default_value(default, &param.ty.node, &self.program.types)),
            constraints: param.constraints.clone(),
        };
        params.iter().map(field).collect()
    }
}
