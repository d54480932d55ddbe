//! Graphs and their state.

use crate::expr::infer::default_value;
use crate::expr::ty::Type;
use crate::resolve::graph as from;

use super::Lowering;
use super::ends::Names;
use crate::ast::Name;
use crate::base::Span;
use crate::ir::flow::{ItemParam, Parametric};
use crate::ir::graph::{BasedOn, Field, Graph, Instance, Join, Migrate};
use crate::ir::jump::{Jump, Route, Target};
use crate::ir::text::Expr;
use crate::resolve::node::{Ask, Work};

impl Lowering<'_> {
    /// A graph.
    pub fn graph(&self, graph: &from::Graph) -> Graph {
        let all = Names::of_graph(graph);
        let start = match &graph.start {
            Some(route) => self.route(route, all),
            None => Route::Always(Jump {
                to: vec![Target::End],
                set: Vec::new(),
                emits: Vec::new(),
            }),
        };
        let joins = graph.joins.iter().map(|join| Join {
            members: join.members.iter().map(|member| member.node).collect(),
            to: self.jump(&join.to, all),
        });
        let tools = graph.tools.as_ref();
        Graph {
            name: graph.shown_name().to_owned(),
            doc: doc(graph),
            instance: instance(graph),
            context: match &graph.context {
                Some(context) => self.fields(&context.fields),
                None => Vec::new(),
            },
            fields: graph.fields.iter().map(|field| self.field(field)).collect(),
            leaves: graph.leaves.iter().map(|name| name.node.clone()).collect(),
            tools: tools.map(|list| list.tools.iter().map(|used| used.tool).collect()),
            narrowed: tools.map_or_else(Vec::new, |list| self.narrowed(list)),
            start,
            nodes: graph
                .nodes
                .entries()
                .map(|(id, node)| self.node(graph, id, node))
                .collect(),
            joins: joins.collect(),
            exits: graph.exits.iter().map(|when| self.expr(when)).collect(),
            migrate: self.migrate(graph),
            recursion_limit: graph.recursion_limit.map(|limit| limit.node),
            at: self.place(graph.span),
        }
    }

    /// A graph with parameters: its contract with callers, and how it is written.
    pub fn parametric(&self, graph: &from::Graph) -> Parametric {
        let text = |span: Span| {
            let text = self.sources.text(span).trim_start_matches([':', ' ']);
            text.to_owned()
        };
        let items = graph.bound.iter().map(|bound| ItemParam {
            name: bound.param.clone(),
            ty: Expr::new(text(bound.written.takes), self.place(bound.written.takes)),
            default: bound.written.default.map(text),
        });
        let context = graph.context.as_ref();
        let fields = graph.fields.iter();
        let shared = fields.filter(|field| field.mode.is_in() || field.mode.is_out());
        Parametric {
            name: graph.name.node.clone(),
            doc: graph.doc.clone(),
            params: self.fields(&graph.params),
            items: items.collect(),
            context: context.map_or(Vec::new(), |context| self.fields(&context.fields)),
            fields: shared
                .map(|field| self.shared_field(graph, field))
                .collect(),
            leaves: graph.leaves.iter().map(|name| name.node.clone()).collect(),
            text: Expr::new(text(graph.span), self.place(graph.span)),
            texts: texts_elsewhere(graph),
            at: self.place(graph.span),
        }
    }

    /// A field of the contract of a graph with parameters: without what it is based on, which may be no part of that, of an
    /// unknown type and with null for its default where a parameter decides these.
    fn shared_field(&self, graph: &from::Graph, field: &from::Field) -> Field {
        let mut shared = self.field(field);
        shared.based_on = None;
        if field.default.is_some() && shared.default.is_none() {
            // A parameter decides which.
            shared.default = Some(serde_json::Value::Null);
        }
        let mut named = words(self.sources.text(field.ty.span));
        if named.any(|word| graph.bound.iter().any(|bound| bound.param == word)) {
            shared.ty = Type::Error;
        }
        shared
    }

    fn migrate(&self, graph: &from::Graph) -> Migrate {
        let written = &graph.migrate;
        let pair = |(old, new): &(Name, Name)| (old.node.clone(), new.node.clone());
        let defaults = written.defaults.iter().filter_map(|new| {
            let ty = &graph.fields.get(new.field)?.ty.node;
            let value = default_value(&new.value, ty, &self.program.types)?;
            Some((new.name.node.clone(), value))
        });
        Migrate {
            fields: written.fields.iter().map(pair).collect(),
            nodes: written.nodes.iter().map(pair).collect(),
            dropped: written
                .dropped
                .iter()
                .map(|name| name.node.clone())
                .collect(),
            defaults: defaults.collect(),
        }
    }

    fn field(&self, field: &from::Field) -> Field {
        let default = field.default.as_ref();
        Field {
            name: field.name.node.clone(),
            doc: field.doc.clone(),
            ty: field.ty.node.clone(),
            mode: field.mode,
            channel: field.channel.clone(),
            default: default
                .and_then(|expr| default_value(expr, &field.ty.node, &self.program.types)),
            constraints: field.constraints.clone(),
            persist: field.persist.is_some(),
            ephemeral: field.ephemeral.is_some(),
            untracked: field.untracked.is_some(),
            based_on: field.based_on.as_ref().map(based_on),
            at: self.place(field.span),
        }
    }
}

/// A word of a type.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Texts that a graph uses and that don't stand in it.
fn texts_elsewhere(graph: &from::Graph) -> Vec<String> {
    let words = graph.nodes.iter().flat_map(|node| match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => {
            [&call.system, &call.prompt].map(Option::as_ref)
        }
        Work::Interrupt { ask, .. } => match ask.as_deref() {
            Some(Ask::Text(words)) => [Some(words), None],
            _ => [None, None],
        },
        _ => [None, None],
    });
    let within = |span: Span| {
        span.file == graph.span.file && graph.span.start <= span.start && span.end <= graph.span.end
    };
    let elsewhere = words.flatten().filter(|words| !within(words.text.span));
    elsewhere.map(|words| words.text.text.clone()).collect()
}

fn based_on(written: &from::BasedOn) -> BasedOn {
    let named = |keep: bool| {
        let bases = written.on.iter().filter(move |basis| basis.keep == keep);
        bases.filter_map(|basis| basis.field).collect()
    };
    BasedOn {
        on: named(false),
        keep: named(true),
        reset: written.reset,
    }
}

/// Its own doc comment, or that of the graph which it is an instance of.
fn doc(graph: &from::Graph) -> String {
    let declared = graph.instance.as_ref().and_then(|of| of.declared.as_ref());
    let own = declared.map(|declared| &declared.doc);
    own.filter(|doc| !doc.is_empty())
        .unwrap_or(&graph.doc)
        .clone()
}

fn instance(graph: &from::Graph) -> Option<Instance> {
    let instance = graph.instance.as_ref()?;
    let values = graph.params.iter().zip(&instance.args);
    let values = values
        .filter_map(|(param, arg)| Some((param.name.node.clone(), arg.as_ref()?.value.clone())));
    let items = graph.bound.iter();
    let items = items.map(|bound| (bound.param.clone(), bound.item.clone().into()));
    Some(Instance {
        of: graph.name.node.clone(),
        params: items.chain(values).collect(),
    })
}
