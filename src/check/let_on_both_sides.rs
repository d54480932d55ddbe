//! A `let` is computed once, on one side of its node's work: one that is wanted on both sides, and would not be the same there.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::ast::item::Let;
use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Scope;
use crate::expr::infer::reads;
use crate::expr::scope::StateFields;
use crate::ir::{FieldId, NodeId};
use crate::resolve::exprs;
use crate::resolve::preparation::Lets;
use crate::resolve::program::{Graph, Node};

use super::cfg::{ControlFlowGraph, EdgeKind};

const HELP: &str = "take two `let`s: one for what the work is given, one for what comes of it";

/// A `let` that something ahead of the work uses, and that names what comes of the work.
pub fn early_result(node: &Node, bound: &Let) -> Option<Diagnostic> {
    let taken = |name: &str| node.stops.iter().any(|stop| stop.name.node == name);
    let gives = node.work.gives().iter();
    let gives: Vec<&str> = gives.copied().filter(|name| !taken(name)).collect();
    let scope = Scope::of_names(&gives);
    let named = reads(&bound.value, &scope).slots;
    let result = named.into_iter().next()?;
    let result = gives.get(result.0 as usize)?;
    let name = &bound.name.node;
    let message = format!(
        "`{name}` is computed ahead of the work of `{}`, where `{result}` is not there yet",
        node.name.node
    );
    let found = Diagnostic::new(&codes::LET_ON_BOTH_SIDES, message, bound.name.span);
    let used = Uses::of(node).ahead(name);
    let found = used.into_iter().fold(found, |found, span| {
        found.label(span, "used here, ahead of the work")
    });
    Some(found.help(HELP))
}

/// Reports `let`s that both sides use, and that read what the work may write.
pub fn lets(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    for (id, node) in graph.nodes.entries() {
        if node.lets_ahead == 0 {
            continue;
        }
        let writes = written_by_work(graph, cfg, id);
        if writes.is_empty() {
            continue;
        }
        let (state, uses) = (state(graph), Uses::of(node));
        for bound in node.lets_ahead() {
            let name = &bound.name.node;
            // One that is made of another is right when that one is.
            let reads = reads(&bound.value, &state).fields.into_iter();
            let reads: BTreeSet<FieldId> = reads.map(FieldId).collect();
            let changed: Vec<String> = reads
                .intersection(&writes)
                .filter_map(|field| Some(format!("state.{}", graph.fields.get(*field)?.name.node)))
                .collect();
            let (Some(ahead), Some(behind), false) =
                (uses.ahead(name), uses.behind(name), changed.is_empty())
            else {
                continue;
            };
            let message = format!(
                "`{name}` is used ahead of the work of `{}` and behind it, and the work may write {}",
                node.name.node,
                list(changed.iter().map(String::as_str))
            );
            diags.push(
                Diagnostic::new(&codes::LET_ON_BOTH_SIDES, message, bound.name.span)
                    .label(ahead, "used here, ahead of the work")
                    .label(behind, "used here, behind it")
                    .help(HELP),
            );
        }
    }
}

/// What a node's work may write: its tools, the graph that it calls, the embedding program.
fn written_by_work(graph: &Graph, cfg: &ControlFlowGraph, id: NodeId) -> BTreeSet<FieldId> {
    let (Some(node), Some(block)) = (graph.nodes.get(id), cfg.nodes.get(id)) else {
        return BTreeSet::new();
    };
    let own: BTreeSet<Span> = node.set.iter().map(|item| item.name.span).collect();
    let by_work = block
        .writes
        .iter()
        .filter(|write| !own.contains(&write.span));
    let tools = block
        .transitions
        .iter()
        .filter(|way| way.kind == EdgeKind::Tool);
    let all = by_work.chain(tools.flat_map(|way| &way.writes));
    let mut fields: BTreeSet<FieldId> = all.map(|write| write.field).collect();
    let resets = fields.iter().filter_map(|id| graph.fields.get(*id));
    let resets = resets.flat_map(|field| &field.resets);
    let resets: Vec<FieldId> = resets.filter_map(|name| graph.field(name)).collect();
    fields.extend(resets);
    fields
}

fn state(graph: &Graph) -> Scope {
    let fields = graph.fields.iter();
    let fields: StateFields = fields
        .map(|field| (field.name.node.clone(), field.ty.node.clone()))
        .collect();
    Scope {
        state: Some(fields.into()),
        ..Scope::default()
    }
}

/// Where a node uses its `let`s.
struct Uses<'a> {
    node: &'a Node,
    names: Lets,
    /// For each `let`, itself and those that it names, directly or not.
    made_of: Vec<BTreeSet<usize>>,
}

impl<'a> Uses<'a> {
    fn of(node: &'a Node) -> Self {
        let names = Lets::new(&node.lets);
        let mut made_of: Vec<BTreeSet<usize>> = Vec::new();
        for (at, bound) in node.lets.iter().enumerate() {
            let mut all = BTreeSet::from([at]);
            for named in names.named_in(&bound.value) {
                all.extend(made_of.get(named).into_iter().flatten());
            }
            made_of.push(all);
        }
        Self {
            node,
            names,
            made_of,
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let mut lets = self.node.lets.iter();
        lets.position(|bound| bound.name.node == name)
    }

    /// The first place ahead of the work that uses a `let`, by others too.
    fn ahead(&self, name: &str) -> Option<Span> {
        let node = self.node;
        let (mut used, texts) = exprs::of_work(&node.work);
        used.extend(exprs::of_result(&node.work));
        for require in &node.requires {
            used.push(&require.condition);
            used.extend(&require.message);
        }
        used.extend(node.cache.iter().filter_map(|cache| cache.key.as_ref()));
        for emit in node.emits.iter().filter(|emit| emit.on_start) {
            used.extend(exprs::of_emit(emit));
        }
        self.first(name, &used, &texts)
    }

    /// The same behind it.
    fn behind(&self, name: &str) -> Option<Span> {
        let (mut used, texts) = exprs::behind_work(self.node);
        used.extend(self.node.lets_behind().iter().map(|bound| &bound.value));
        self.first(name, &used, &texts)
    }

    fn first(&self, name: &str, used: &[&Expr], texts: &[&TemplateText]) -> Option<Span> {
        let at = self.place(name)?;
        let uses = |named: BTreeSet<usize>| {
            let mut all = named.iter().filter_map(|named| self.made_of.get(*named));
            all.any(|made_of| made_of.contains(&at))
        };
        let used = used.iter().filter(|expr| uses(self.names.named_in(expr)));
        let texts = texts
            .iter()
            .filter(|text| uses(self.names.named_in_text(text)));
        let spans = used
            .map(|expr| expr.span)
            .chain(texts.map(|text| text.span));
        spans.min_by_key(|span| span.start)
    }
}
