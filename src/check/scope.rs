//! Tool scopes: what a graph lets its nodes use, and what a tool needs of the graph that calls it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ast::Name;
use crate::base::name::{closest, list};
use crate::base::{IdVec, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::expr::infer::{assignable, default_value};
use crate::expr::{Type, TypeTable};
use crate::ir::{FieldMode, GraphId, ToolId};
use crate::resolve::program::{
    Field, Graph, NarrowingId, Node, Program, Tool, ToolBody, ToolList, ToolUse, Work,
};

use super::calls::{called, callers};
use super::narrow::{left, written};
use super::types::tool::BodyTypes;
use super::types::write::takes;

/// Reports tools outside the `tools [..]` of the graph that their node stands in, and called graphs that may use
/// more than their caller: a scope only narrows on the way down, `where` included.
///
/// What is asked by conditions that are `wrong` is not compared.
pub fn scopes(
    program: &Program,
    sources: &SourceMap,
    wrong: &BTreeSet<NarrowingId>,
    diags: &mut Diagnostics,
) {
    let needs = needs(program);
    for graph in &program.graphs {
        let Some(list) = &graph.tools else { continue };
        let bound = Bound {
            program,
            sources,
            graph,
            list,
            wrong,
            tools: list.tools.iter().map(|used| (used.tool, used)).collect(),
        };
        let mut outside = Vec::new();
        for node in &graph.nodes {
            let (inside, without): (Vec<_>, Vec<_>) = uses(node)
                .into_iter()
                .partition(|((tool, _), _)| bound.tools.contains_key(tool));
            let found = inside.iter().filter_map(|used| bound.own(node, used));
            found.for_each(|found| diags.push(found));
            outside.extend(without);
        }
        bound.outside(&outside, diags);
        for (child, span) in graph.nodes.iter().filter_map(called) {
            let needed = needs.get(child.0 as usize).into_iter().flatten();
            let (inside, outside): (Vec<_>, Vec<_>) =
                needed.partition(|((tool, _), _)| bound.tools.contains_key(tool));
            let found = inside
                .into_iter()
                .filter_map(|(used, place)| bound.of_child(child, used, (span, *place)));
            found.for_each(|found| diags.push(found));
            bound.child_outside(child, span, &outside, diags);
        }
    }
}

/// A tool as a graph or node may use it: with what its arguments are narrowed by, or, in a `call`, with
/// arguments of the flow's own.
type Used = (ToolId, Option<Vec<NarrowingId>>);

fn uses(node: &Node) -> Vec<(Used, Span)> {
    let list = match &node.work {
        Work::Llm(call) | Work::Agent { call, .. } => &call.tools,
        Work::Tools { tools, .. } => tools,
        _ => {
            let called = node.tools().into_iter();
            return called.map(|used| ((used.node, None), used.span)).collect();
        }
    };
    let tools = list.iter().flat_map(|list| &list.tools);
    tools.map(narrowed_use).collect()
}

fn narrowed_use(used: &ToolUse) -> (Used, Span) {
    ((used.tool, Some(used.narrowed.clone())), used.span)
}

/// Most places shown where a tool is used that the graph lacks.
const MOST_USES: usize = 5;

/// What a graph lets its nodes use.
struct Bound<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    graph: &'a Graph,
    list: &'a ToolList,
    wrong: &'a BTreeSet<NarrowingId>,
    tools: BTreeMap<ToolId, &'a ToolUse>,
}

impl Bound<'_> {
    fn name(&self, tool: ToolId) -> &str {
        let tool = self.program.tools.get(tool);
        tool.map_or("?", |tool| &tool.name.node)
    }

    fn own(&self, node: &Node, ((tool, narrowed), span): &(Used, Span)) -> Option<Diagnostic> {
        let graph = &self.graph.name.node;
        let name = self.name(*tool);
        let allowed = self.tools.get(tool)?;
        let Some(narrowed) = narrowed else {
            return self.refused_call(node, allowed);
        };
        let wider = self.wider(*tool, narrowed, allowed)?;
        let message = format!("tool `{name}` is wider here than in graph `{graph}`: {wider}");
        Some(self.narrow_too(
            Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, *span),
            allowed,
        ))
    }

    /// Tools of nodes that the graph has not; those of one toolset together. What several nodes use is lacking in the graph.
    fn outside(&self, used: &[(Used, Span)], diags: &mut Diagnostics) {
        if self.list.broken {
            return;
        }
        let mut by_place: BTreeMap<Span, Vec<&str>> = BTreeMap::new();
        for ((tool, _), span) in used {
            by_place.entry(*span).or_default().push(self.name(*tool));
        }
        let mut by_tools: BTreeMap<Vec<&str>, Vec<Span>> = BTreeMap::new();
        if self.list.tools.is_empty() && by_place.len() > 1 {
            // It is the list that is wrong, not each of the uses.
            let names: BTreeSet<&str> = by_place.values().flatten().copied().collect();
            let places = std::mem::take(&mut by_place).into_keys().collect();
            by_tools.insert(names.into_iter().collect(), places);
        }
        for (span, names) in by_place {
            by_tools.entry(names).or_default().push(span);
        }
        for (names, places) in by_tools {
            let graph = &self.graph.name.node;
            let shown = list(names.iter().copied());
            let message = match names.len() {
                1 => format!("tool {shown} is outside the tools of graph `{graph}`"),
                _ => format!("tools {shown} are outside the tools of graph `{graph}`"),
            };
            let span = match places.as_slice() {
                [] => continue,
                [span] => *span,
                several => {
                    let found = Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, self.list.span);
                    let shown_uses = several.iter().take(MOST_USES);
                    let found =
                        shown_uses.fold(found, |found, place| found.label(*place, "used here"));
                    let help = format!("add {shown} here, or take it out of the nodes");
                    diags.push(found.here("the most that its nodes may use").help(help));
                    continue;
                }
            };
            diags.push(
                Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, span)
                    .label(self.list.span, "the most that its nodes may use")
                    .help(format!(
                        "add {shown} to the graph's `tools`, or take it out here"
                    )),
            );
        }
    }

    /// Tools that a called graph may use and the graph has not.
    fn child_outside(
        &self,
        child: GraphId,
        call: Span,
        used: &[(&Used, &Span)],
        diags: &mut Diagnostics,
    ) {
        let mut names: Vec<&str> = used.iter().map(|((tool, _), _)| self.name(*tool)).collect();
        names.dedup();
        if self.list.broken || names.is_empty() {
            return;
        }
        let graph = &self.graph.name.node;
        let child = self.program.graphs.get(child);
        let child = child.map_or("?", |child| &child.name.node);
        let shown = list(names.iter().copied());
        let message = match names.len() {
            1 => format!(
                "`{child}` may use tool {shown}, which is outside the tools of graph `{graph}`"
            ),
            _ => format!(
                "`{child}` may use tools {shown}, which are outside the tools of graph `{graph}`"
            ),
        };
        let found = Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, call);
        let places: BTreeSet<Span> = used.iter().map(|(_, place)| **place).collect();
        let found = places
            .into_iter()
            .fold(found, |found, place| found.label(place, "let in here"));
        diags.push(
            found
                .label(
                    self.list.span,
                    "the most that its nodes may use, subgraphs included",
                )
                .help(format!(
                    "add {shown} to the `tools` of `{graph}`, or take it out of `{child}`"
                )),
        );
    }

    fn of_child(
        &self,
        child: GraphId,
        (tool, narrowed): &Used,
        (call, place): (Span, Span),
    ) -> Option<Diagnostic> {
        let graph = &self.graph.name.node;
        let name = self.name(*tool);
        let child = self.program.graphs.get(child);
        let child = child.map_or("?", |child| &child.name.node);
        let allowed = self.tools.get(tool)?;
        // What a `call` node passes is known when it runs, and held to the scope then.
        let wider = self.wider(*tool, narrowed.as_ref()?, allowed)?;
        let message =
            format!("`{child}` may use tool `{name}` wider than graph `{graph}`: {wider}");
        let found =
            Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, call).label(place, "let in here");
        Some(self.narrow_too(found, allowed))
    }

    /// What of a use is not within the scope, in words. What can't be compared is held to the scope at run time.
    fn wider(&self, tool: ToolId, narrowed: &[NarrowingId], allowed: &ToolUse) -> Option<String> {
        let wrong = |id: &NarrowingId| self.wrong.contains(id);
        if allowed.narrowed.iter().all(|id| narrowed.contains(id))
            || allowed.narrowed.iter().chain(narrowed).any(wrong)
        {
            return None;
        }
        let whole = left(self.program, tool, &allowed.narrowed)?;
        let here = left(self.program, tool, narrowed)?;
        if let Some(param) = whole.narrower_than(&here) {
            return Some(format!("that narrows `{param}`"));
        }
        let unlike = !whole.whole && narrowed.is_empty();
        unlike.then(|| "that narrows its arguments".to_owned())
    }

    fn narrow_too(&self, found: Diagnostic, allowed: &ToolUse) -> Diagnostic {
        let condition = written(self.program, &allowed.narrowed, |span| {
            self.sources.text(span).to_owned()
        });
        let name = self.name(allowed.tool);
        let conditions = allowed.narrowed.iter();
        let places = conditions.filter_map(|id| self.program.narrowings.get(*id));
        places
            .fold(found, |found, narrowing| {
                found.label(narrowing.condition.span, "narrowed here")
            })
            .help(format!("narrow it here too: `{name} where {condition}`"))
    }

    /// A `call` whose arguments are written out and can't meet the scope.
    fn refused_call(&self, node: &Node, allowed: &ToolUse) -> Option<Diagnostic> {
        let Work::Call { args, .. } = &node.work else {
            return None;
        };
        if allowed.narrowed.iter().any(|id| self.wrong.contains(id)) {
            return None;
        }
        let tool = self.program.tools.get(allowed.tool)?;
        let whole = left(self.program, allowed.tool, &[])?;
        let spaces = left(self.program, allowed.tool, &allowed.narrowed)?;
        let refused = tool.params.iter().find_map(|param| {
            let given = args.iter().find(|arg| arg.name.node == param.name.node);
            let value = given.map(|arg| &arg.value).or(param.default.as_ref())?;
            let json = default_value(value, &param.ty.node, &self.program.types)?;
            let place = given.map(|arg| arg.value.span);
            // What the parameter itself does not take is said of the argument.
            let refused = spaces.refuses(param, &json) && !whole.refuses(param, &json);
            refused.then_some((param, place))
        });
        let (param, place) = refused?;
        let name = &tool.name.node;
        let message = format!(
            "graph `{}` allows no call of `{name}` with this `{}`",
            self.graph.name.node, param.name.node
        );
        let place = place.or(node.tools().first().map(|used| used.span))?;
        let found = Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, place);
        let found = self.narrow_too(found, allowed);
        Some(found.help(format!(
            "pass a value that the graph's `tools` allow, or widen its `where` of `{name}`"
        )))
    }
}

/// For each graph the tools that it may use, itself or through graphs that it calls, each with a place.
pub fn needed_tools(program: &Program) -> Vec<BTreeMap<ToolId, Span>> {
    let tools = |uses: BTreeMap<Used, Span>| {
        let mut tools = BTreeMap::new();
        for ((tool, _), span) in uses {
            tools.entry(tool).or_insert(span);
        }
        tools
    };
    needs(program).into_iter().map(tools).collect()
}

/// The same with the ways in which each tool is narrowed.
fn needs(program: &Program) -> Vec<BTreeMap<Used, Span>> {
    let own = program.graphs.iter().map(|graph| match &graph.tools {
        Some(bound) => bound.tools.iter().map(narrowed_use).collect(),
        None => graph.nodes.iter().flat_map(uses).collect(),
    });
    let mut needs: Vec<BTreeMap<Used, Span>> = own.collect();
    let callers = callers(program);
    let mut open: VecDeque<GraphId> = program.graphs.ids().collect();
    while let Some(child) = open.pop_front() {
        let more = needs.get(child.0 as usize).cloned().unwrap_or_default();
        for (id, _) in callers.get(child).into_iter().flatten() {
            let bound = |graph: &Graph| graph.tools.is_some();
            if more.is_empty() || program.graphs.get(*id).is_none_or(bound) {
                continue;
            }
            let Some(own) = needs.get_mut(id.0 as usize) else {
                continue;
            };
            let before = own.len();
            more.iter().for_each(|(used, span)| {
                own.entry(used.clone()).or_insert(*span);
            });
            if own.len() > before {
                open.push_back(*id);
            }
        }
    }
    needs
}

/// Reports tools that read or write fields which the graph that runs them lacks or has otherwise. Each tool once a graph.
pub fn tool_fields(program: &Program, bodies: &IdVec<ToolId, BodyTypes>, diags: &mut Diagnostics) {
    let users = users(program);
    for graph in &program.graphs {
        let mut seen: BTreeSet<ToolId> = BTreeSet::new();
        let nodes = graph
            .nodes
            .iter()
            .filter(|node| !matches!(node.work, Work::Llm(_)));
        for used in nodes.flat_map(|node| node.tools()) {
            let tool = program.tools.get(used.node);
            let Some((tool, body)) = tool.and_then(|tool| Some((tool, tool.body.as_ref()?))) else {
                continue;
            };
            if !seen.insert(used.node) {
                continue;
            }
            let mut needs = Needs {
                program,
                graph,
                tool,
                place: used.span,
                alone: users.get(&used.node) == Some(&1),
                diags: &mut *diags,
            };
            needs.reads(body);
            if let Some(types) = bodies.get(used.node) {
                needs.sets(body, types);
            }
        }
    }
}

struct Needs<'a, 'd> {
    program: &'a Program,
    graph: &'a Graph,
    tool: &'a Tool,
    place: Span,
    /// Whether no other graph runs the tool, so that it is made for this one.
    alone: bool,
    diags: &'d mut Diagnostics,
}

/// How many graphs run each tool, those with the same text as one.
fn users(program: &Program) -> BTreeMap<ToolId, usize> {
    let mut users: BTreeMap<ToolId, BTreeSet<Span>> = BTreeMap::new();
    for graph in &program.graphs {
        for node in &graph.nodes {
            for used in node.tools() {
                users.entry(used.node).or_default().insert(graph.name.span);
            }
        }
    }
    let count = |(tool, graphs): (ToolId, BTreeSet<Span>)| (tool, graphs.len());
    users.into_iter().map(count).collect()
}

impl<'a> Needs<'a, '_> {
    fn reads(&mut self, body: &ToolBody) {
        for read in &body.reads {
            let Some(field) = self.field(&read.name.node, read.name.span, "reads") else {
                continue;
            };
            if !assignable(&field.ty.node, &read.ty.node, &self.program.types) {
                self.mistyped(
                    field,
                    ("reads", read.ty.span),
                    &field.ty.node,
                    &read.ty.node,
                );
            }
        }
    }

    /// Whether the graph has a field as the tool reads it, so that what is written is a question of its own.
    fn fits(&self, body: &ToolBody, name: &str) -> bool {
        let field = self
            .graph
            .field(name)
            .and_then(|id| self.graph.fields.get(id));
        let mut reads = body.reads.iter().filter(|read| read.name.node == name);
        field.is_some_and(|field| {
            reads.all(|read| assignable(&field.ty.node, &read.ty.node, &self.program.types))
        })
    }

    fn sets(&mut self, body: &ToolBody, types: &BodyTypes) {
        let own = body
            .set
            .iter()
            .map(|item| (&item.field, item.replace, item.value.span));
        for (item, value) in own.zip(&types.sets) {
            self.write(body, item, value);
        }
        let by_jumps = body
            .jump_sets()
            .map(|item| (&item.name, item.replace, item.value.span));
        for (item, value) in by_jumps.zip(&types.jump_sets) {
            self.write(body, item, value);
        }
    }

    fn write(&mut self, body: &ToolBody, (name, replace, span): (&Name, bool, Span), value: &Type) {
        let read = body.reads.iter().any(|read| read.name.node == name.node);
        if read && !self.fits(body, &name.node) {
            return;
        }
        let Some(field) = self.field(&name.node, name.span, "writes") else {
            return;
        };
        let takes = takes(self.program, field, replace);
        if field.mode == FieldMode::In {
            let message = format!(
                "tool `{}` writes `{}`, an `in` field that can only be read here",
                self.tool.name.node, field.name.node
            );
            self.diags.push(
                Diagnostic::new(&codes::READ_ONLY_FIELD, message, self.place)
                    .label(field.name.span, "declared `in`")
                    .label(name.span, "written here")
                    .help(format!("declare it `in out {}`", field.name.node)),
            );
        } else if !assignable(value, &takes, &self.program.types) {
            self.mistyped(field, ("writes", span), &takes, value);
        }
    }

    /// The graph's field of that name; reported where it has none.
    fn field(&mut self, name: &str, span: Span, verb: &str) -> Option<&'a Field> {
        let graph: &'a Graph = self.graph;
        if let Some(field) = graph.field(name).and_then(|id| graph.fields.get(id)) {
            return Some(field);
        }
        let near = closest(name, graph.fields.iter().map(|f| f.name.node.as_str()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare `{name}` in the state of `{}`", graph.name.node),
        };
        if let Some(near) = near {
            self.misspelt(near);
        }
        let message = format!(
            "tool `{}` {verb} `{name}`, which graph `{}` does not have",
            self.tool.name.node, graph.name.node
        );
        // What is misspelt is mended in the tool.
        let (place, other, said) = match near {
            Some(_) => (span, self.place, "used here"),
            None => (self.place, span, "needed here"),
        };
        let found = Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, place)
            .label(other, said)
            .help(help);
        // However many nodes use the tool, the slip is one.
        let home = Home::State(Some(graph.name.span));
        self.diags.push(found.unknown(name, home).near(near));
        None
    }

    /// Takes out that the body does not know the name which it reads under another.
    fn misspelt(&mut self, near: &str) {
        let tool = self.tool.span;
        let inside =
            |span: Span| span.file == tool.file && span.start >= tool.start && span.end <= tool.end;
        self.diags.retain(|found| {
            let unknown = found.unknown_name();
            !(unknown.is_some_and(|unknown| unknown.name == near) && inside(found.span()))
        });
    }

    fn mistyped(&mut self, field: &Field, (verb, span): (&str, Span), here: &Type, there: &Type) {
        let types: &TypeTable = &self.program.types;
        let message = format!(
            "tool `{}` {verb} `{}` as `{}`, but graph `{}` has it as `{}`",
            self.tool.name.node,
            field.name.node,
            types.show(there),
            self.graph.name.node,
            types.show(here)
        );
        let found = match self.alone {
            true => Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, span)
                .label(self.place, "used here"),
            false => Diagnostic::new(&codes::TOOL_NEEDS_FIELD, message, self.place)
                .label(span, "by the tool"),
        };
        self.diags
            .push(found.label(field.ty.span, "by the graph").help(format!(
                "declare `{}: {}` in the state of `{}`, or change the tool",
                field.name.node,
                types.show(there),
                self.graph.name.node
            )));
    }
}
