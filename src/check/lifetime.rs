//! Fields that begin anew in each run: `persist` that says nothing, and fields that would have to live longer to be of use.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::ir::node::Persist;
use crate::ir::{FieldId, FieldMode, GraphId, NodeId};
use crate::resolve::exprs;
use crate::resolve::program::{Field, Graph, Node, Program, Work};

use super::cfg::build::called_bodies;
use super::cfg::{BlockId, BlockSet, ControlFlowGraph, Transition, Write, Written};
use super::types::flow_state::has_first_value;

/// Warns of `persist` before a field that lives with the thread as it is, or that no checkpoint holds.
pub fn useless_persist(graph: &Graph, diags: &mut Diagnostics) {
    for field in &graph.fields {
        let Some(word) = field.persist else { continue };
        let name = &field.name.node;
        let found = |message: String| Diagnostic::new(&codes::USELESS_PERSIST, message, word);
        if field.mode == FieldMode::InOut {
            let message =
                format!("`{name}` is `in out`: it lives with the thread without `persist`");
            let behind = Span::new(word.file, word.start as usize, word.end as usize + 1);
            diags.push(found(message).help("take it out").fix(behind, ""));
        } else if let Some((other, why)) = passing(field) {
            let message = format!("`{name}` is `{why}`: `persist` says nothing beside that");
            diags.push(
                found(message)
                    .label(other, "said here")
                    .help("take one of the two out"),
            );
        }
    }
}

fn passing(field: &Field) -> Option<(Span, &'static str)> {
    let ephemeral = field.ephemeral.map(|span| (span, "ephemeral"));
    ephemeral.or_else(|| field.untracked.map(|span| (span, "untracked")))
}

/// Whether a field lives longer than a run or a call of its graph.
pub fn outlives_run(field: &Field) -> bool {
    field.persist.is_some() || field.mode == FieldMode::InOut
}

/// A graph, with each read of a field and its place.
pub struct Reads<'a> {
    graph: &'a Graph,
    cfg: &'a ControlFlowGraph,
    by_field: BTreeMap<FieldId, Vec<Span>>,
    /// Ways that lead to several tasks at once.
    forks: Vec<&'a Transition>,
    /// Nodes by where they begin.
    nodes: Vec<(u32, NodeId)>,
}

impl<'a> Reads<'a> {
    /// `read` is what typing the graph has shown.
    pub fn new(
        graph: &'a Graph,
        cfg: &'a ControlFlowGraph,
        read: &BTreeSet<(FieldId, Span)>,
    ) -> Self {
        let mut by_field: BTreeMap<FieldId, Vec<Span>> = BTreeMap::new();
        for (field, span) in read {
            by_field.entry(*field).or_default().push(*span);
        }
        let ways = cfg.blocks().flat_map(|block| cfg.transitions(block));
        let forks = |way: &&Transition| {
            way.successors.len() > 1 || way.successors.iter().any(|goal| goal.many)
        };
        let nodes = graph.nodes.entries();
        let mut nodes: Vec<_> = nodes.map(|(id, node)| (node.span.start, id)).collect();
        nodes.sort_unstable();
        Self {
            graph,
            cfg,
            nodes,
            by_field,
            forks: cfg.start.iter().chain(ways).filter(forks).collect(),
        }
    }

    /// Warns of fields that are written, and read only where this run can't have written them: they are read as they begin,
    /// and what is written would be of use to a later run alone, which begins anew.
    pub fn never_seen(&mut self, program: &Program, diags: &mut Diagnostics) {
        if self.graph.broken || self.cfg.broken {
            return;
        }
        for (field, reads) in std::mem::take(&mut self.by_field) {
            let Some(declared) = self.graph.fields.get(field) else {
                continue;
            };
            let anew = matches!(declared.mode, FieldMode::Private | FieldMode::Out)
                && !outlives_run(declared)
                && passing(declared).is_none();
            if !anew || !has_first_value(declared) || declared.based_on.is_some() {
                continue;
            }
            if let (Some(written), Some(read)) =
                (self.unseen(program, field, &reads), reads.first())
            {
                diags.push(never_seen(declared, *read, written));
            }
        }
    }

    /// Where a field is written, if none of the reads may come behind a write.
    fn unseen(&self, program: &Program, field: FieldId, reads: &[Span]) -> Option<Span> {
        let writes = |writes: &[Write]| {
            let mut writes = writes.iter();
            writes
                .find(|write| write.field == field)
                .map(|write| write.span)
        };
        let on = |way: &Transition| writes(&way.writes);
        let joins = self.cfg.joins.iter().flat_map(|join| &join.transitions);
        if self
            .cfg
            .start
            .iter()
            .chain(joins)
            .any(|way| on(way).is_some())
        {
            return None;
        }
        let mut written = None;
        let mut writers = BTreeSet::new();
        for (id, stop) in self.cfg.nodes.entries() {
            let own = writes(&stop.writes).or_else(|| stop.transitions.iter().find_map(on));
            if let Some(span) = own {
                written = written.or(Some(span));
                writers.insert(id);
            }
        }
        let mut readers = BTreeSet::new();
        for read in reads {
            let (id, node) = self.node_at(*read)?;
            let waits = self.cfg.nodes.get(id).is_some_and(|stop| stop.defer);
            let own = writers.contains(&id) && sees_own(program, self.graph, node, field, *read);
            if waits || own {
                return None;
            }
            readers.insert(id);
        }
        written.filter(|_| !self.may_follow(&writers, &readers))
    }

    fn node_at(&self, place: Span) -> Option<(NodeId, &'a Node)> {
        let behind = self
            .nodes
            .partition_point(|(start, _)| *start <= place.start);
        let (_, id) = self.nodes.get(behind.checked_sub(1)?)?;
        let node = self.graph.nodes.get(*id)?;
        node.span.holds(place).then_some((*id, node))
    }

    /// Whether one of the readers may run in a later super-step than one of the writers: on a way from it, or beside it.
    fn may_follow(&self, writers: &BTreeSet<NodeId>, readers: &BTreeSet<NodeId>) -> bool {
        let lead_to = |nodes: &BTreeSet<NodeId>| {
            let mut all = BlockSet::new(self.cfg);
            for node in nodes {
                let before = self.cfg.all_before(BlockId::Node(*node));
                before.for_each(|block| _ = all.insert(block));
            }
            all
        };
        let (to_read, to_write) = (lead_to(readers), lead_to(writers));
        let leads_on = |block: BlockId| {
            let mut behind = self.cfg.successors(block);
            behind.any(|goal| to_read.contains(goal.to))
        };
        let mut forks = self.forks.iter().map(|way| &way.successors);
        writers.iter().any(|id| leads_on(BlockId::Node(*id)))
            || forks.any(|goals| {
                goals.iter().any(|goal| to_write.contains(goal.to))
                    && goals.iter().any(|goal| leads_on(goal.to))
            })
    }
}

fn never_seen(field: &Field, read: Span, written: Span) -> Diagnostic {
    let name = &field.name.node;
    let message = format!(
        "`state.{name}` has its first value wherever it is read: what a run writes to it comes behind that"
    );
    Diagnostic::new(&codes::NEVER_SEEN, message, read)
        .about(field.name.span)
        .here("always as it begins")
        .label(written, "written here, and nothing reads it behind this")
        .help(format!(
            "declare it `persist {name}` where a later run on the thread is to go on with it, else take the read out"
        ))
}

/// Whether what a node writes may be there at a place in it.
fn sees_own(program: &Program, graph: &Graph, node: &Node, field: FieldId, read: Span) -> bool {
    let by_work = match &node.work {
        Work::Extern { .. } | Work::Subgraph { .. } => true,
        _ => called_bodies(program, node).iter().any(|(_, body)| {
            let mut names = body.written();
            names.any(|name| graph.field(&name.node) == Some(field))
        }),
    };
    let ahead = |span: Span| node.set.iter().any(|item| item.value.span == span);
    let (behind, texts) = exprs::behind_work(node);
    let mut behind = behind.iter().map(|expr| expr.span);
    let mut texts = texts.iter().map(|text| text.span);
    let is_behind = behind.any(|span| span == read) || texts.any(|span| span == read);
    by_work || is_behind && !ahead(read)
}

/// The graphs whose state some node keeps from call to call.
pub fn lasting(program: &Program) -> BTreeSet<GraphId> {
    let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
    let called = nodes.filter_map(|node| match node.work {
        Work::Subgraph {
            graph: Some(called),
            persist: Persist::Thread,
            ..
        } => Some(called),
        _ => None,
    });
    called.collect()
}

/// Warns of `based_on` where no run can make the field stale: it begins anew, and nothing writes what it is made from.
pub fn never_stale(graph: &Graph, id: GraphId, written: &Written, diags: &mut Diagnostics) {
    let own_basis = |field: &Field| {
        let on = field.based_on.iter().flat_map(|based_on| &based_on.on);
        let on = on.filter(|basis| !basis.keep);
        let on = on.filter_map(|basis| basis.field);
        on.collect::<Vec<FieldId>>()
    };
    for field in &graph.fields {
        let Some(based_on) = &field.based_on else {
            continue;
        };
        if field.mode == FieldMode::In || outlives_run(field) {
            continue;
        }
        let mut all = BTreeSet::new();
        let mut open = own_basis(field);
        while let Some(at) = open.pop() {
            if all.insert(at) {
                open.extend(graph.fields.get(at).map(own_basis).unwrap_or_default());
            }
        }
        if all.is_empty() || all.iter().any(|basis| written.has(id, *basis)) {
            continue;
        }
        let names = all.iter().filter_map(|id| graph.fields.get(*id));
        let names = list(names.map(|field| field.name.node.as_str()));
        let name = &field.name.node;
        let message = format!(
            "no run can make `{name}` stale: it begins anew in each, and nothing writes {names} in between"
        );
        let mut found = Diagnostic::new(&codes::NEVER_STALE, message, based_on.span)
            .about(field.name.span)
            .help(format!(
                "declare it `persist {name}` where it is to outlast the run, else take `based_on` out"
            ))
            .fix(field.span.before(), "persist ");
        found.level = Level::Warning;
        diags.push(found);
    }
}
