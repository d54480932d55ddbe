//! What a refused thing would have done: nothing is said of it.
//!
//! Each rule goes by the place of the refusal, so that it hides nothing of what stands elsewhere.

use std::collections::BTreeSet;

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, Level, codes};
use crate::ir::{GraphId, NodeId, ReducerId, ToolId};

use super::ground::Ground;
use super::{TEXT, is};

/// What is said of what a tool may do.
static DONE: &[&Code] = &[
    &codes::TAINTED_SINK,
    &codes::LETHAL_TRIFECTA,
    &codes::POSSIBLE_TRIFECTA,
];

/// What is said of writes in one super-step.
static COLLIDING: &[&Code] = &[
    &codes::WRITE_CONFLICT,
    &codes::REPLACED_BESIDE,
    &codes::ORDER_DEPENDENT,
];

/// What is said of circles that nothing leads out of.
static CIRCLES: &[&Code] = &[
    &codes::ENDLESS_CYCLE,
    &codes::STUCK_CYCLE,
    &codes::VISITS_CIRCLE,
];

/// What is said of names that nothing reads.
static UNREAD: &[&Code] = &[
    &codes::UNUSED_FIELD,
    &codes::UNUSED_LET,
    &codes::UNUSED_PARAMETER,
];

/// What is said of the types of expressions.
static TYPED: &[&Code] = &[
    &codes::TYPE_MISMATCH,
    &codes::UNKNOWN_FUNCTION,
    &codes::UNKNOWN_FIELD,
    &codes::WRONG_ARGUMENTS,
    &codes::NULL_NOT_HANDLED,
    &codes::NEVER_EQUAL,
];

/// Takes out what is said of the types in a tool's body where it `reads` a field as another type than its graph has: that is
/// said of the `reads`.
pub fn behind_reads(ground: &Ground, diags: &mut Diagnostics) {
    let lacking = diags.iter();
    let lacking = lacking.filter(|found| is(found, &[&codes::TOOL_NEEDS_FIELD]));
    let places = lacking.flat_map(|found| found.labels.iter().map(|label| label.span));
    let mut wrong: BTreeSet<ToolId> = BTreeSet::new();
    for at in places {
        let Some(id) = ground.tool(at) else { continue };
        let body = ground
            .program
            .tools
            .get(id)
            .and_then(|tool| tool.body.as_ref());
        let mut reads = body.into_iter().flat_map(|body| &body.reads);
        if reads.any(|read| read.ty.span == at) {
            wrong.insert(id);
        }
    }
    if !wrong.is_empty() {
        let body = |at: Span| ground.tool(at).is_some_and(|id| wrong.contains(&id));
        diags.retain(|found| !(is(found, TYPED) && body(found.span())));
    }
}

/// What is refused, by place.
#[derive(Default)]
pub struct Moot {
    /// Names of tools that are out of scope where they stand.
    tools: BTreeSet<Span>,
    /// Names of fields where they can't be written.
    writes: BTreeSet<Span>,
    /// Texts that are no literals.
    literals: BTreeSet<Span>,
    /// Reducers whose head is wrong, with the place of the first finding.
    reducers: BTreeSet<(ReducerId, Span)>,
    /// Nodes with a route that may lead nowhere.
    open: BTreeSet<(GraphId, NodeId)>,
    /// Graphs whose nodes speak of a context that they don't have.
    contexts: BTreeSet<GraphId>,
    /// Owners of texts that were to name a file; graphs of such nodes.
    files: BTreeSet<Span>,
    graphs: BTreeSet<GraphId>,
    /// Names of `out` fields that nothing writes, which is said of them as such.
    unwritten: BTreeSet<Span>,
    /// Nodes that call a graph for ever: it is likely another one that was meant.
    calls: BTreeSet<(GraphId, NodeId)>,
    /// Nodes that nothing leads to, which is said of one that leads nowhere; and those in the `ends` of one that names a tool
    /// or a graph that is not known.
    missed: BTreeSet<Span>,
    /// Files with an import that did not parse.
    imports: BTreeSet<FileId>,
    /// Nodes with a `where` that is wrong: what it leaves is not known.
    wheres: BTreeSet<(GraphId, NodeId)>,
}

impl Moot {
    /// Looks at all findings.
    pub fn new(ground: &Ground, sources: &SourceMap, diags: &Diagnostics) -> Self {
        let mut moot = Self::default();
        let narrowings = ground.program.narrowings.iter();
        let mut wheres: Vec<Span> = narrowings.map(|of| of.condition.span).collect();
        wheres.sort_unstable_by_key(|at| (at.file, at.start));
        for found in diags.iter() {
            moot.note(ground, found);
            let at = found.span();
            let before = wheres.partition_point(|of| (of.file, of.start) <= (at.file, at.start));
            let of = before.checked_sub(1).and_then(|of| wheres.get(of));
            if found.level == Level::Error && of.is_some_and(|of| of.holds(at)) {
                moot.wheres.extend(node(ground, at));
            }
            if is(found, TEXT) && line_of(sources, at).trim_start().starts_with("import") {
                moot.imports.insert(at.file);
            }
        }
        moot
    }

    fn note(&mut self, ground: &Ground, found: &Diagnostic) {
        let at = found.span();
        let node = || node(ground, at);
        if is(found, &[&codes::TOOL_OUT_OF_SCOPE]) {
            self.tools
                .extend(found.labels.iter().map(|label| label.span));
        }
        if is(found, &[&codes::READ_ONLY_FIELD]) {
            self.writes.insert(at);
        }
        if is(found, &[&codes::BAD_LITERAL]) {
            self.literals.insert(at);
        }
        if is(found, &[&codes::REDUCER_SIGNATURE])
            && let Some(id) = ground.reducer(at)
            && !self.reducers.iter().any(|(known, _)| *known == id)
        {
            self.reducers.insert((id, at));
        }
        if is(found, &[&codes::ROUTE_NOT_EXHAUSTIVE]) {
            self.open.extend(node());
        }
        if is(found, &[&codes::ENDLESS_CALLS]) {
            let calls = found.labels.iter().skip(1);
            self.calls
                .extend(calls.filter_map(|label| self::node(ground, label.span)));
        }
        if is(found, &[&codes::NO_WAY_ON]) {
            let others = found.labels.iter().skip(1);
            self.missed.extend(others.map(|label| label.span));
        }
        if is(found, &[&codes::OUT_NEVER_WRITTEN]) {
            self.unwritten.insert(at);
        }
        if is(found, &[&codes::UNKNOWN_TOOL, &codes::UNKNOWN_GRAPH]) {
            self.missed
                .extend(node().into_iter().flat_map(|of| ends_of(ground, of)));
        }
        if found
            .unknown_name()
            .is_some_and(|unknown| unknown.name == "context")
        {
            self.contexts.extend(ground.graph(at));
        }
        if found.facts.contains(&Fact::MeantFile) {
            match ground.node(at) {
                Some(_) => self.graphs.extend(ground.graph(at)),
                None => self.files.extend(ground.owner(at)),
            }
        }
    }

    /// Whether a finding only tells what something refused would have done.
    pub fn explains(&self, ground: &Ground, found: &Diagnostic) -> bool {
        let at = found.span();
        let any = |places: &BTreeSet<Span>| {
            let mut labels = found.labels.iter();
            labels.any(|label| places.contains(&label.span))
        };
        if is(found, DONE) {
            return any(&self.tools);
        }
        if is(found, COLLIDING) {
            return any(&self.writes);
        }
        if is(found, &[&codes::BAD_REGEX]) {
            return self.literals.iter().any(|literal| at.holds(*literal));
        }
        if is(found, &[&codes::UNKNOWN_NAME, &codes::REDUCER_SIGNATURE])
            && let Some(id) = ground.reducer(at)
        {
            let mut wrong = self.reducers.iter();
            return wrong.any(|(known, first)| *known == id && *first != at);
        }
        if is(found, CIRCLES) {
            let mut labels = found.labels.iter();
            let open = |at: Span| node(ground, at).is_some_and(|at| self.open.contains(&at));
            return labels.any(|label| open(label.span));
        }
        if is(found, &[&codes::TARGET_OUTSIDE_ENDS]) {
            return node(ground, at).is_some_and(|at| self.wheres.contains(&at));
        }
        if is(found, &[&codes::UNKNOWN_FIELD, &codes::WRONG_BINDING]) {
            return node(ground, at).is_some_and(|at| self.calls.contains(&at));
        }
        if is(found, &[&codes::CONTEXT_MISMATCH]) {
            let own = found.unknown_name().is_some();
            return own
                && ground
                    .graph(at)
                    .is_some_and(|id| self.contexts.contains(&id));
        }
        if is(found, UNREAD) {
            let owner = ground.owner(at).is_some_and(|at| self.files.contains(&at));
            let graph = ground.graph(at);
            let graph = graph.is_some_and(|id| self.graphs.contains(&id));
            return owner || graph || self.unwritten.contains(&at);
        }
        if is(found, &[&codes::UNREACHABLE_NODE]) {
            return self.missed.contains(&at);
        }
        let item = found
            .unknown_name()
            .is_some_and(|unknown| unknown.near.is_none());
        item && is(found, &[&codes::UNKNOWN_FUNCTION]) && self.imports.contains(&at.file)
    }
}

/// The names of the nodes in the `ends` of a node.
fn ends_of(ground: &Ground, (graph, node): (GraphId, NodeId)) -> Vec<Span> {
    let Some(graph) = ground.program.graphs.get(graph) else {
        return Vec::new();
    };
    let node = graph.nodes.get(node);
    let ends = node
        .into_iter()
        .flat_map(|node| &node.ends)
        .flat_map(|ends| &ends.items);
    let to = ends.filter_map(|end| graph.nodes.get(end.to.node()?));
    to.map(|to| to.name.span).collect()
}

fn node(ground: &Ground, at: Span) -> Option<(GraphId, NodeId)> {
    Some((ground.graph(at)?, ground.node(at)?))
}

/// The line that a place begins in, up to it.
fn line_of(sources: &SourceMap, at: Span) -> &str {
    let text = sources.file(at.file).map_or("", |file| &*file.text);
    let before = text.get(..at.start as usize).unwrap_or("");
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let rest = text.get(line..).unwrap_or("");
    rest.lines().next().unwrap_or("")
}
