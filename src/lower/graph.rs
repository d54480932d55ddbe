//! Graphs and their state.

use crate::expr::infer::default_value;
use crate::resolve::graph as from;

use super::Lowering;
use super::ends::Names;
use crate::ir::flow::Parametric;
use crate::ir::graph::{Field, Graph, Instance, Join};
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
            at: self.place(field.span),
        }
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
    Some(Instance {
        of: graph.name.node.clone(),
        params: values
            .filter_map(|(param, arg)| Some((param.name.node.clone(), arg.as_ref()?.value.clone())))
            .collect(),
    })
}
