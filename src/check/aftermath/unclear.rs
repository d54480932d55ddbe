//! What is not known of a graph because of its errors, and which findings wait until it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, Level, codes};
use crate::ir::{Channel, GraphId, ToolId};
use crate::resolve::program::Work;

use super::ground::Ground;
use super::{TEXT, is};

/// Errors of things that may write, or lead somewhere: nobody knows what.
static OPAQUE: &[&Code] = &[
    &codes::UNKNOWN_IMPORT,
    &codes::UNKNOWN_TOOL,
    &codes::UNKNOWN_GRAPH,
    &codes::UNKNOWN_NODE,
    &codes::UNKNOWN_TARGET,
    &codes::PROPERTY_NOT_ALLOWED,
    &codes::WRONG_BINDING,
    &codes::REDUCER_SIGNATURE,
];

/// Errors of arrows: what they were meant to lead to may be what nothing leads to.
static ARROWS: &[&Code] = &[
    &codes::NO_WAY_ON,
    &codes::ENDLESS_CYCLE,
    &codes::BRANCH_CYCLE,
    &codes::JOIN_NEVER_FIRES,
    &codes::TARGET_OUTSIDE_ENDS,
    &codes::EDGE_AND_GOTO,
    &codes::DUPLICATE_EDGE,
];

/// Errors of what runs beside what.
static DOUBLED: &[&Code] = &[&codes::DUPLICATE_NAME, &codes::DUPLICATE_PROPERTY];

/// Findings that rest on every write being known.
static WRITES: &[&Code] = &[&codes::OUT_NEVER_WRITTEN, &codes::LOST_ON_RESUME];

/// Findings that rest on every write and on all ways of a run being known.
static WAYS: &[&Code] = &[
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::READ_BEFORE_WRITE,
    &codes::STUCK_CYCLE,
];

/// Findings that rest on all jumps being known.
static JUMPS: &[&Code] = &[&codes::UNUSED_END, &codes::UNUSED_LEAVE];

/// What is said of what nothing leads to.
static UNREACHED: &[&Code] = &[&codes::UNREACHABLE_NODE];

/// What is said of writes in one super-step.
static COLLIDING: &[&Code] = &[&codes::WRITE_CONFLICT, &codes::REPLACED_BESIDE];

/// Findings that rest on what conditions, and the attributes of a tool, say.
static DECIDED: &[&Code] = &[&codes::TAINTED_SINK];

/// What is not known of one graph.
#[derive(Debug, Clone, Default)]
struct Part {
    /// Something in it may write any field and lead anywhere.
    opaque: bool,
    /// A name that is written may stand for any field.
    any_field: bool,
    /// It is not known what its runs do one after the other, or side by side.
    ways: bool,
    /// A condition means nothing.
    conditions: bool,
    /// A condition by which it ends means nothing.
    exits: bool,
    /// An arrow leads elsewhere than it was meant to, or nowhere.
    arrows: bool,
    /// How many islands nothing leads to.
    unreached: usize,
    /// It calls a graph that may lead anywhere.
    calls: bool,
    /// Fields, by the places of their names, that a misspelt name stands for, or that a node writes which nothing leads to.
    fields: BTreeSet<Span>,
    /// Fields that are wrong themselves.
    wrong: BTreeSet<Span>,
    /// Those whose type and reducer don't go together.
    mistyped: BTreeSet<Span>,
}

/// What is not known of a program.
pub struct Unclear<'a> {
    ground: &'a Ground<'a>,
    /// Something outside of graphs may write any field of any graph.
    everywhere: bool,
    /// Something outside of graphs means nothing: what it calls, and with which values, is not known.
    calls: bool,
    graphs: BTreeMap<GraphId, Part>,
    tools: BTreeSet<ToolId>,
    /// Files where the text, or a name that nothing is near to, may be a use of anything.
    files: BTreeSet<FileId>,
}

impl<'a> Unclear<'a> {
    /// Looks at all errors.
    pub fn new(ground: &'a Ground<'a>, diags: &Diagnostics) -> Self {
        let mut unclear = Self {
            ground,
            everywhere: false,
            calls: false,
            graphs: BTreeMap::new(),
            tools: BTreeSet::new(),
            files: BTreeSet::new(),
        };
        let waits = [WRITES, WAYS, JUMPS, COLLIDING, DECIDED];
        let waits = |found: &Diagnostic| waits.iter().any(|codes| is(found, codes));
        let errors = diags.iter().filter(|found| found.level == Level::Error);
        for found in errors.filter(|found| !waits(found)) {
            unclear.error(found);
        }
        unclear.callers();
        unclear
    }

    fn error(&mut self, found: &Diagnostic) {
        let at = found.span();
        let unknown = found.unknown_name();
        if is(found, TEXT) || unknown.is_some_and(|unknown| unknown.near.is_none()) {
            self.files.insert(at.file);
        }
        self.calls |= is(found, TEXT);
        if is(found, &[&codes::TOOL_NEEDS_FIELD]) {
            // What a tool lacks may be what it was to write.
            let users = found
                .labels
                .iter()
                .map(|label| self.ground.graph(label.span));
            let users: Vec<GraphId> = users.flatten().collect();
            users.into_iter().for_each(|id| self.part(id).opaque = true);
            return;
        }
        let opaque = is(found, TEXT) || is(found, OPAQUE);
        let Some(id) = self.ground.graph(at) else {
            self.everywhere |= opaque;
            let whole = found.facts.contains(&Fact::WholeProgram);
            self.calls |= opaque && !whole || self.ground.is_instance(at);
            self.tools.extend(self.ground.tool(at));
            return self.reducer(at);
        };
        let field = self.ground.field(at);
        let condition = self.ground.is_condition(at);
        let exit = self.ground.is_exit(at);
        let meant = self.meant(found, id);
        let part = self.part(id);
        part.opaque |= opaque;
        part.any_field |= meant == Meant::Any;
        let arrows = is(found, ARROWS) || found.facts.contains(&Fact::Arrow);
        part.arrows |= arrows;
        part.unreached += usize::from(is(found, UNREACHED));
        part.ways |= is(found, DOUBLED);
        part.conditions |= condition;
        part.exits |= exit;
        part.mistyped
            .extend(field.filter(|_| is(found, &[&codes::REDUCER_TYPE])));
        part.wrong.extend(field);
        if let Meant::Field(field) = meant {
            part.fields.insert(field);
        }
        if is(found, UNREACHED) {
            self.unreached(found, id);
        }
    }

    fn part(&mut self, id: GraphId) -> &mut Part {
        self.graphs.entry(id).or_default()
    }

    /// What was to be written by a name that stands for nothing.
    fn meant(&self, found: &Diagnostic, id: GraphId) -> Meant {
        if !found.facts.contains(&Fact::Written) {
            return Meant::Nothing;
        }
        let near = found.unknown_name().and_then(|of| of.near.as_deref());
        let graph = self.ground.program.graphs.get(id);
        let field = graph.zip(near).and_then(|(graph, near)| {
            let field = graph.fields.get(graph.field(near)?)?;
            Some(field.name.span)
        });
        field.map_or(Meant::Any, Meant::Field)
    }

    /// What a node that nothing leads to would write is not missing where it is read, or at the end.
    fn unreached(&mut self, found: &Diagnostic, id: GraphId) {
        let ground = self.ground;
        let Some(graph) = ground.program.graphs.get(id) else {
            return;
        };
        let part = self.part(id);
        for label in &found.labels {
            let Some(node) = ground.node(label.span).and_then(|id| graph.nodes.get(id)) else {
                continue;
            };
            // What a tool or a graph writes is not looked up.
            part.ways |= !matches!(node.work, Work::Update | Work::Branch | Work::Llm(_));
            let jumps = node.jumps().flat_map(|(_, jump)| &jump.set);
            let written = node.set.iter().chain(jumps);
            let fields = written.filter_map(|item| graph.fields.get(item.field?));
            part.fields.extend(fields.map(|field| field.name.span));
        }
    }

    /// Of a reducer with an error it is not known what its fields begin with.
    fn reducer(&mut self, at: Span) {
        let Some(wrong) = self.ground.reducer(at) else {
            return;
        };
        for (id, graph) in self.ground.program.graphs.entries() {
            for field in &graph.fields {
                if matches!(field.channel, Channel::Own { reducer } if reducer == wrong) {
                    let part = self.graphs.entry(id).or_default();
                    part.wrong.insert(field.name.span);
                }
            }
        }
    }

    /// What is not known of a graph is not known of those that call it: whether it ends, and what it gives back.
    fn callers(&mut self) {
        let program = self.ground.program;
        let mut callers: BTreeMap<GraphId, Vec<GraphId>> = BTreeMap::new();
        for (id, graph) in program.graphs.entries() {
            for node in graph.nodes.iter() {
                if let Work::Subgraph {
                    graph: Some(graph), ..
                } = &node.work
                {
                    callers.entry(*graph).or_default().push(id);
                }
            }
        }
        // What is not given back is a matter of the graph itself.
        let given = |id: &GraphId, part: &Part| {
            let fields = program.graphs.get(*id).into_iter();
            let mut out =
                fields.flat_map(|graph| graph.fields.iter().filter(|of| of.mode.is_out()));
            out.any(|field| part.fields.contains(&field.name.span))
        };
        let known = |id: &GraphId, part: &Part| {
            let any = part.opaque || part.any_field || part.conditions;
            !any && part.wrong.is_empty() && (part.fields.is_empty() || !given(id, part))
        };
        let open = self.graphs.iter().filter(|(id, part)| !known(id, part));
        let mut open: Vec<GraphId> = open.map(|(id, _)| *id).collect();
        let mut seen: BTreeSet<GraphId> = open.iter().copied().collect();
        while let Some(graph) = open.pop() {
            let of = |is: fn(&Part) -> bool| self.graphs.get(&graph).is_some_and(is);
            let opaque = of(|part| part.opaque);
            let any_field = of(|part| part.any_field);
            for caller in callers.get(&graph).into_iter().flatten() {
                let part = self.graphs.entry(*caller).or_default();
                let more = opaque && !part.opaque || any_field && !part.any_field;
                part.any_field |= any_field;
                part.ways = true;
                part.calls |= opaque;
                part.opaque |= opaque;
                if seen.insert(*caller) || more {
                    open.push(*caller);
                }
            }
        }
    }

    /// Whether a finding may be no mistake of its own.
    pub fn explains(&self, found: &Diagnostic) -> bool {
        if is(found, &[&codes::UNUSED_IMPORT]) {
            return self.files.contains(&found.span().file);
        }
        if found.facts.contains(&Fact::WholeProgram) {
            return self.calls;
        }
        if is(found, &[&codes::TOOL_NEEDS_FIELD]) {
            let places = found.labels.iter().map(|label| label.span);
            return self.of_wrong_tool(places);
        }
        if is(found, DECIDED) {
            let places = || found.labels.iter().map(|label| label.span);
            let unsaid = |at: Span| self.graph(at).is_some_and(|part| part.conditions);
            return places().any(unsaid) || self.of_wrong_tool(places());
        }
        if is(found, &[&codes::NULL_NOT_HANDLED]) {
            return self.unwritten(found);
        }
        if is(found, &[&codes::TYPE_MISMATCH]) {
            // The default of a field whose type its reducer does not go with.
            let field = self.ground.field(found.span());
            let part = field.and_then(|_| self.graph(found.span()));
            return part.is_some_and(|part| field.is_some_and(|of| part.mistyped.contains(&of)));
        }
        if is(found, UNREACHED) {
            // One arrow that goes elsewhere leaves one island behind.
            let lost = |part: &Part| part.calls || part.arrows && part.unreached == 1;
            return self.graph(found.span()).is_some_and(lost) || self.everywhere;
        }
        if is(found, &[&codes::ENDLESS_CYCLE]) {
            // What was to end it is there, and wrong.
            return self.graph(found.span()).is_some_and(|part| part.exits);
        }
        let (writes, ways) = (is(found, WRITES), is(found, WAYS));
        let (jumps, colliding) = (is(found, JUMPS), is(found, COLLIDING));
        if !(writes || ways || jumps || colliding) {
            return false;
        }
        if self.everywhere {
            return true;
        }
        let Some(part) = self.graph(found.span()) else {
            return false;
        };
        let holds = |fields: &BTreeSet<Span>| match found.spoken_of() {
            Some(field) => fields.contains(&field),
            None => !fields.is_empty(),
        };
        let field = holds(&part.wrong) || !colliding && holds(&part.fields);
        let gone = part.ways && (ways || colliding) || part.conditions && ways;
        // Another writer makes no two of them fewer.
        let any_field = part.any_field && !colliding;
        part.opaque || any_field || gone || field && !jumps
    }

    /// Whether what may be null is a field that a misspelt name was to write.
    fn unwritten(&self, found: &Diagnostic) -> bool {
        let field = || {
            let graph = self.ground.graph(found.span())?;
            let graph = self.ground.program.graphs.get(graph)?;
            let name = found.value()?.strip_prefix("state.")?;
            let name = name.split(['.', '[']).next()?;
            Some(graph.fields.get(graph.field(name)?)?.name.span)
        };
        let part = self.graph(found.span());
        part.is_some_and(|part| field().is_some_and(|field| part.fields.contains(&field)))
    }

    fn graph(&self, at: Span) -> Option<&Part> {
        self.graphs.get(&self.ground.graph(at)?)
    }

    fn of_wrong_tool(&self, mut places: impl Iterator<Item = Span>) -> bool {
        let wrong = |tool: ToolId| self.tools.contains(&tool);
        places.any(|at| self.ground.tool(at).is_some_and(wrong))
    }
}

/// What a name that is to be written was meant to be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meant {
    /// Nothing is written.
    Nothing,
    /// The field whose name stands there.
    Field(Span),
    /// Any field.
    Any,
}
