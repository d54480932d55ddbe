//! Graphs and their state.

use crate::expr::infer::default_value;
use crate::resolve::graph as from;

use super::Lowering;
use super::ends::Names;
use crate::ast::Name;
use crate::ir::flow::Parametric;
use crate::ir::graph::{BasedOn, Field, Graph, Instance, Join, Migrate};
use crate::ir::jump::{Jump, Route, Target};

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

    /// A graph with parameters, by name.
    pub fn parametric(&self, graph: &from::Graph) -> Parametric {
        Parametric {
            name: graph.name.node.clone(),
            params: self.fields(&graph.params),
            at: self.place(graph.span),
        }
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
