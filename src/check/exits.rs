//! `exit when`: a condition that nothing in the graph changes ends nothing, and no cycle in which nothing changes it.

use std::cell::OnceCell;

use crate::ast::expr::Expr;
use crate::base::SharedSet;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::ir::{FieldId, GraphId};
use crate::resolve::program::Graph;

use super::cfg::{BlockId, ControlFlowGraph, MayHappenInParallel, Written, exit};
use super::types::beside;

/// Which cycles of a graph its `exit when` may end.
pub struct Endings<'a> {
    cfg: &'a ControlFlowGraph,
    mhp: &'a MayHappenInParallel<'a>,
    /// The fields that the conditions read; `None` where one reads what changes by itself.
    fields: Option<Vec<FieldId>>,
    beside: OnceCell<Vec<SharedSet<FieldId>>>,
}

impl<'a> Endings<'a> {
    /// Looks at the conditions of a graph; those of a graph without any end nothing.
    pub fn of(graph: &Graph, cfg: &'a ControlFlowGraph, mhp: &'a MayHappenInParallel<'a>) -> Self {
        let conditions: Vec<&Expr> = graph.exits.iter().collect();
        Self {
            cfg,
            mhp,
            fields: exit::read(graph, &conditions),
            beside: OnceCell::new(),
        }
    }

    /// Whether something in a cycle, or beside it, writes what a condition reads. What held before it was come to has
    /// ended the graph there.
    pub fn end(&self, cycle: &[BlockId]) -> bool {
        let Some(fields) = &self.fields else {
            return true;
        };
        if fields.is_empty() {
            return false;
        }
        let cfg = self.cfg;
        let mut writes = cycle.iter().flat_map(|block| cfg.writes(*block));
        let inside = writes.any(|write| fields.contains(&write.field));
        inside || {
            let beside = self.beside.get_or_init(|| beside(cfg, self.mhp));
            let mut nodes = cycle.iter().filter_map(|block| match block {
                BlockId::Node(id) => beside.get(id.0 as usize),
                _ => None,
            });
            nodes.any(|written| fields.iter().any(|field| written.contains(field)))
        }
    }
}

/// Warns of conditions that read fields which nothing in the graph writes, and nothing of the run.
pub fn unchanging(graph: &Graph, id: GraphId, written: &Written, diags: &mut Diagnostics) {
    if graph.exits.is_empty() || graph.broken {
        return;
    }
    let (scope, run) = exit::scope(graph);
    for when in &graph.exits {
        let seen = reads(when, &scope);
        let changes = |field: &u32| written.has(id, FieldId(*field));
        if seen.fields.is_empty() || seen.slots.contains(&run) || seen.fields.iter().any(changes) {
            continue;
        }
        let fields = seen
            .fields
            .iter()
            .filter_map(|f| graph.fields.get(FieldId(*f)));
        let names = list(fields.map(|field| field.name.node.as_str()));
        let message = format!(
            "`exit when` of `{}` reads only {names}, which nothing in it writes",
            graph.name.node
        );
        diags.push(
            Diagnostic::new(&codes::CONSTANT_CONDITION, message, when.span)
                .help("read a field that some node writes, or route at `start`"),
        );
    }
}
