//! What is sent to a node that runs a graph: values of the graph's `in` fields.
//!
//! Such a node need not declare an `input`: it has the fields that sends may give, and passes them on by their names, as if
//! `input { topic: string }` and `with { topic: input.topic }` were written.

use std::collections::BTreeMap;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, codes};
use crate::ir::{FieldId, GraphId, NodeId};

use super::super::Resolver;
use super::super::graph::Field;
use super::super::node::{Node, Pass, Work};
use super::super::program::Param;
use super::super::target::{Route, TargetKind};

impl Resolver<'_> {
    /// Gives nodes that run a graph, declare no `input` and are sent to the `input` that the graph asks for.
    pub(super) fn sent_to_graphs(&mut self) {
        let graphs: Vec<GraphId> = self.program.graphs.ids().collect();
        for graph in graphs {
            for (node, names) in self.sent(graph) {
                self.give(graph, node, &names);
            }
        }
    }

    /// By node that runs a graph and declares no `input`, the names of what is sent to it.
    fn sent(&self, id: GraphId) -> BTreeMap<NodeId, Vec<Name>> {
        let graph = &self.program.graphs[id];
        let mut sent: BTreeMap<NodeId, Vec<Name>> = BTreeMap::new();
        let mut note = |worker: NodeId, names: &mut dyn Iterator<Item = &Name>| {
            let calls = |node: &Node| matches!(node.work, Work::Subgraph { graph: Some(_), .. });
            let node = graph.nodes.get(worker);
            if node.is_some_and(|node| node.input.is_empty() && calls(node)) {
                sent.entry(worker).or_default().extend(names.cloned());
            }
        };
        for target in graph.jumps().flat_map(|(_, jump)| &jump.to) {
            if let TargetKind::Each(each) = &target.kind
                && let Some(worker) = each.worker
            {
                note(worker, &mut each.with.iter().map(|arg| &arg.name));
            }
        }
        for node in graph.nodes.iter() {
            let Some(ends) = &node.ends else { continue };
            let tools = node.tools().into_iter();
            let bodies = tools.filter_map(|used| self.program.tools.get(used.node)?.body.as_ref());
            let jumps = bodies.filter_map(|body| body.goto.as_ref());
            for target in jumps.flat_map(Route::targets) {
                if let TargetKind::NamedEach(each) = &target.kind
                    && let Some(end) = ends.find(&each.name.node)
                    && let TargetKind::Node(worker) = end.to.kind
                {
                    note(worker, &mut each.with.iter().map(|arg| &arg.name));
                }
            }
        }
        sent
    }

    /// The `input` of such a node: the `in` fields that neither its `with` gives nor, where no send does, a field of the caller.
    fn give(&mut self, id: GraphId, worker: NodeId, names: &[Name]) {
        let (caller, node) = (
            &self.program.graphs[id],
            &self.program.graphs[id].nodes[worker],
        );
        let Work::Subgraph {
            graph: Some(called),
            with,
            name,
            ..
        } = &node.work
        else {
            return;
        };
        let called = &self.program.graphs[*called];
        let mut twice = Vec::new();
        for given in names {
            let other = with.iter().find(|pass| pass.name.node == given.node);
            twice.extend(other.map(|pass| {
                let message = format!(
                    "`{}` of `{}` is given by this send and by `with`",
                    given.node, called.name.node
                );
                Diagnostic::new(&codes::DUPLICATE_FIELD, message, given.span)
                    .label(pass.name.span, "given here as well")
                    .help("take one of the two out")
            }));
        }
        let mut input = Vec::new();
        let mut passed = Vec::new();
        for (to, field) in called.fields.entries().filter(|(_, f)| f.mode.is_in()) {
            let own = &field.name.node;
            let is_sent = names.iter().any(|given| given.node == *own);
            let by_with = with.iter().any(|pass| pass.name.node == *own);
            if is_sent || !by_with && caller.field(own).is_none() {
                input.push(param(field));
                passed.extend((!by_with).then(|| pass(to, field, name)));
            }
        }
        let record = format!("input of {}.{}", caller.name.node, node.name.node);
        twice.into_iter().for_each(|found| self.diags.push(found));
        if input.is_empty() {
            return;
        }
        let fields = self.record_fields(&input);
        let record = self.synthetic(&record, fields);
        let node = &mut self.program.graphs[id].nodes[worker];
        node.input = input.into();
        node.input_record = Some(record);
        if let Work::Subgraph { with, .. } = &mut node.work {
            with.extend(passed);
        }
    }
}

/// An `in` field as one of an `input`.
fn param(field: &Field) -> Param {
    Param {
        name: field.name.clone(),
        doc: field.doc.clone(),
        ty: field.ty.clone(),
        default: field.default.clone(),
        constraints: field.constraints.clone(),
        marks: field.marks,
        sink: None,
        span: field.span,
    }
}

/// `topic: input.topic`, written nowhere.
fn pass(to: FieldId, field: &Field, at: &Name) -> Pass {
    let input = Expr {
        kind: ExprKind::Ident("input".to_owned()),
        span: at.span,
    };
    Pass {
        to: Some(to),
        name: Name::new(field.name.node.clone(), at.span),
        value: Expr {
            kind: ExprKind::Select {
                operand: Box::new(input),
                field: Name::new(field.name.node.clone(), at.span),
                optional: false,
            },
            span: at.span,
        },
        sent: true,
    }
}
