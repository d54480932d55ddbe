//! What only follows from a mistake that is reported already.
//!
//! The passes go on behind an error with what they have. Where a part of the text could not be read, or a name means nothing, that
//! is less than what was written, and rules about what is missing (a write, a read, a use) would report the
//! difference. [`silence`] takes such findings out: one mistake makes one message.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::graph::Member;
use crate::ast::item::Item;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, codes};
use crate::ir::GraphId;
use crate::resolve::Program;
use crate::resolve::node::Work;

/// Errors of the text itself.
static TEXT: &[&Code] = &[
    &codes::SYNTAX_ERROR,
    &codes::UNCLOSED,
    &codes::BAD_LITERAL,
    &codes::UNKNOWN_KEYWORD,
    &codes::LIMIT_EXCEEDED,
    &codes::FILE_NOT_FOUND,
    &codes::FILE_OUTSIDE,
    &codes::UNKNOWN_MODULE,
];

/// Names that mean nothing: what they stand for may be read, written or used there.
static UNRESOLVED: &[&Code] = &[
    &codes::UNKNOWN_IMPORT,
    &codes::UNKNOWN_TYPE,
    &codes::UNKNOWN_REDUCER,
    &codes::UNKNOWN_EVENT,
    &codes::UNKNOWN_MODEL,
    &codes::UNKNOWN_TOOL,
    &codes::UNKNOWN_RETRY,
    &codes::UNKNOWN_PROMPT,
    &codes::UNKNOWN_GRAPH,
    &codes::UNKNOWN_NODE,
    &codes::UNKNOWN_TARGET,
    &codes::UNKNOWN_NAME,
    &codes::UNKNOWN_FIELD,
];

/// Other mistakes behind which something that is written means nothing.
static MEANINGLESS: &[&Code] = &[
    &codes::REDUCER_SIGNATURE,
    &codes::REDUCER_TYPE,
    &codes::PROPERTY_NOT_ALLOWED,
    &codes::BAD_TEMPLATE,
    &codes::WRONG_BINDING,
];

/// What else is said of names that are known nowhere.
static UNHEARD: &[&Code] = &[&codes::UNKNOWN_FUNCTION, &codes::CONTEXT_MISMATCH];

/// What is said of what nothing writes, reads or uses.
static MISSING: &[&Code] = &[
    &codes::OUT_NEVER_WRITTEN,
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::READ_BEFORE_WRITE,
    &codes::MAYBE_UNSET,
    &codes::UNUSED_FIELD,
    &codes::UNUSED_LET,
    &codes::UNUSED_READ,
    &codes::UNUSED_PARAMETER,
    &codes::UNREAD_OUTPUT,
    &codes::UNREAD_RESULT,
    &codes::UNUSED_END,
    &codes::UNUSED_LEAVE,
    &codes::STUCK_CYCLE,
    &codes::LOST_ON_RESUME,
];

/// Names without which it isn't known what runs side by side, or how writes are put together.
static WAYS: &[&Code] = &[
    &codes::UNKNOWN_REDUCER,
    &codes::REDUCER_SIGNATURE,
    &codes::REDUCER_TYPE,
    &codes::UNKNOWN_GRAPH,
    &codes::UNKNOWN_NODE,
    &codes::UNKNOWN_TARGET,
    &codes::DUPLICATE_NAME,
    &codes::DUPLICATE_PROPERTY,
];

/// What is said of writes in one super-step.
static COLLIDING: &[&Code] = &[&codes::WRITE_CONFLICT, &codes::REPLACED_BESIDE];

/// Takes out what follows from the errors that are there.
pub fn silence(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    unread_for_placeholders(sources, diags);
    if !diags.has_errors() {
        return;
    }
    let text = |span: Span| sources.text(span).to_owned();
    let errors: Vec<Span> = diags
        .iter()
        .filter(|d| is(d, UNRESOLVED) || is(d, MEANINGLESS) || is(d, TEXT) || is_reducer(d))
        .map(Diagnostic::span)
        .collect();
    let damaged = Damaged::new(program, sources, &errors);
    let of = |codes: &[&Code]| -> Vec<Span> {
        let found = diags.iter().filter(|d| is(d, codes) || is(d, TEXT));
        found.map(Diagnostic::span).collect()
    };
    let twisted = unclear(program, &of(WAYS));
    // What a tool lacks may be what it was to write.
    let lacking = diags.iter().filter(|d| is(d, &[&codes::TOOL_NEEDS_FIELD]));
    let mut missed: Vec<Span> = lacking.map(Diagnostic::span).collect();
    missed.extend(&errors);
    let unclear = unclear(program, &missed);
    // Where one lies outside of graphs, an instance may be missing.
    let outside = errors
        .iter()
        .any(|error| graph_at(program, *error).is_none());
    let wrong = diags
        .iter()
        .filter(|found| is(found, &[&codes::UNKNOWN_IMPORT]));
    let imports: Vec<(FileId, String)> = wrong
        .map(|found| (found.span().file, found.help.clone().unwrap_or_default()))
        .collect();
    let workers = without_input(program, diags);
    let tools = program.tools.iter().map(|tool| tool.span);
    let torn_tools: Vec<Span> = tools
        .filter(|tool| errors.iter().any(|error| within(*tool, *error)))
        .collect();
    let mut told: BTreeSet<(Span, String)> = BTreeSet::new();
    let files: BTreeSet<FileId> = errors.iter().map(|error| error.file).collect();
    diags.retain(|found| {
        if is(found, TEXT) {
            return true;
        }
        let at = found.span();
        let graph = || graph_at(program, at);
        let is_unknown = is(found, UNRESOLVED) || is(found, UNHEARD);
        let follows = damaged.holds(at)
            || is_unknown && damaged.names(&text(at))
            || is(found, MISSING)
                && graph().is_none_or(|graph| unclear.contains(&graph))
                && !missed.is_empty()
            || is(found, COLLIDING) && graph().is_some_and(|graph| twisted.contains(&graph))
            || is(found, &[&codes::UNUSED_IMPORT]) && files.contains(&at.file)
            || is(found, &[&codes::NULL_NOT_HANDLED])
                && found.message.contains("`state.")
                && graph()
                    .and_then(|graph| program.graphs.get(graph))
                    .is_some_and(|graph| graph.broken)
            || is(found, &[&codes::ROUTE_NOT_EXHAUSTIVE]) && damaged.part_of(at)
            || is(found, &[&codes::UNREACHABLE_NODE])
                && outside
                && found.message.contains("instance")
            || is_unknown
                && imports.iter().any(|(file, meant)| {
                    *file == at.file && meant.contains(&format!("`{}`", text(at)))
                })
            || is(found, &[&codes::UNKNOWN_NAME])
                && text(at) == "input"
                && workers.iter().any(|node| within(*node, at))
            || is(found, &[&codes::TOOL_NEEDS_FIELD])
                && torn_tools
                    .iter()
                    .any(|tool| found.labels.iter().any(|label| within(*tool, label.span)));
        // A name that is declared by a slip is unknown wherever it is meant: once is enough.
        let again = is(found, &[&codes::UNKNOWN_NAME])
            && !told.insert((owner(program, at), found.message.clone()));
        !(follows || again)
    });
}

/// A placeholder that stays text was meant to read what it names.
fn unread_for_placeholders(sources: &SourceMap, diags: &mut Diagnostics) {
    let plain: Vec<String> = diags
        .iter()
        .filter(|found| is(found, &[&codes::PLACEHOLDER_IN_TEXT]))
        .map(|found| found.message.clone())
        .collect();
    let meant = |name: &str| {
        let mut words = plain
            .iter()
            .flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
        words.any(|word| word == name)
    };
    let unread: &[&Code] = &[
        &codes::UNUSED_FIELD,
        &codes::UNUSED_LET,
        &codes::UNUSED_PARAMETER,
    ];
    diags.retain(|found| !(is(found, unread) && meant(sources.text(found.span()))));
}

/// A reducer that lacks what it needs.
fn is_reducer(found: &Diagnostic) -> bool {
    is(found, &[&codes::BAD_VALUE]) && found.message.starts_with("reducer `")
}

/// Nodes that are sent values and say nothing of an `input`.
fn without_input(program: &Program, diags: &Diagnostics) -> Vec<Span> {
    let places: Vec<Span> = diags
        .iter()
        .filter(|found| is(found, &[&codes::MISSING_PROPERTY]))
        .filter(|found| found.message.ends_with("declares no `input`"))
        .map(Diagnostic::span)
        .collect();
    let nodes = program.graphs.iter().flat_map(|graph| graph.nodes.iter());
    nodes
        .filter(|node| places.contains(&node.name.span))
        .map(|node| node.span)
        .collect()
}

fn is(found: &Diagnostic, codes: &[&Code]) -> bool {
    codes.iter().any(|code| std::ptr::eq(*code, found.code))
}

fn within(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.start < outer.end
}

/// Pieces that did not parse.
struct Damaged {
    /// By file, in order.
    pieces: BTreeMap<FileId, Vec<Span>>,
    /// The words in them.
    words: BTreeSet<String>,
}

impl Damaged {
    fn new(program: &Program, sources: &SourceMap, unknown: &[Span]) -> Self {
        let mut pieces: BTreeMap<FileId, Vec<Span>> = BTreeMap::new();
        let mut words = BTreeSet::new();
        for span in program.trees.iter().flat_map(|tree| &tree.damaged) {
            pieces.entry(span.file).or_default().push(*span);
            let text = sources.text(*span);
            let split = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.extend(split.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        // The name of a question around a node that is not there.
        let items = program.trees.iter().flat_map(|tree| &tree.items);
        let graphs = items.filter_map(|item| match item {
            Item::Graph(graph) => Some(graph),
            _ => None,
        });
        for member in graphs.flat_map(|graph| &graph.members) {
            if let Member::Interrupt(interrupt) = member
                && unknown.contains(&interrupt.node.span)
            {
                words.insert(interrupt.name.node.clone());
            }
        }
        pieces
            .values_mut()
            .for_each(|spans| spans.sort_by_key(|span| span.start));
        Self { pieces, words }
    }

    /// Whether a place lies in one. They are pieces of one list or lie in each other, so that few have to be asked.
    fn holds(&self, at: Span) -> bool {
        let Some(spans) = self.pieces.get(&at.file) else {
            return false;
        };
        let before = spans.partition_point(|span| span.start <= at.start);
        let near = spans.iter().take(before).rev().take(100);
        near.into_iter().any(|span| at.start < span.end)
    }

    /// Whether one lies in the place.
    fn part_of(&self, at: Span) -> bool {
        let spans = self.pieces.get(&at.file).into_iter().flatten();
        spans.into_iter().any(|span| within(at, *span))
    }

    /// Whether the last word of a text stands in one.
    fn names(&self, text: &str) -> bool {
        let word = text
            .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next();
        word.is_some_and(|word| self.words.contains(word))
    }
}

/// Graphs of which something is not known: those with such an error, all where it stands outside of graphs, and those that
/// call one of them.
fn unclear(program: &Program, errors: &[Span]) -> BTreeSet<GraphId> {
    let mut unclear = BTreeSet::new();
    for error in errors {
        match graph_at(program, *error) {
            Some(graph) => unclear.insert(graph),
            None => {
                unclear.extend(program.graphs.ids());
                return unclear;
            }
        };
    }
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
    let mut open: Vec<GraphId> = unclear.iter().copied().collect();
    while let Some(graph) = open.pop() {
        let callers = callers.get(&graph).into_iter().flatten();
        open.extend(callers.copied().filter(|caller| unclear.insert(*caller)));
    }
    unclear
}

/// The node or the tool that a place lies in; else the place itself.
fn owner(program: &Program, at: Span) -> Span {
    let graph = graph_at(program, at).and_then(|graph| program.graphs.get(graph));
    let nodes = graph.into_iter().flat_map(|graph| graph.nodes.iter());
    let tools = program.tools.iter().map(|tool| tool.span);
    let mut owners = nodes.map(|node| node.span).chain(tools);
    owners.find(|owner| within(*owner, at)).unwrap_or(at)
}

/// The graph that a place lies in.
fn graph_at(program: &Program, at: Span) -> Option<GraphId> {
    let mut graphs = program.graphs.entries();
    graphs.find_map(|(id, graph)| within(graph.span, at).then_some(id))
}
