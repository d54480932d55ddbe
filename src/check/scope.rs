//! Tool scopes: what a graph lets its nodes use, and what a tool needs of the graph that calls it.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::name::list;
use crate::base::{SourceMap, Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::default_value;
use crate::ir::{GraphId, ToolId};
use crate::resolve::program::{Graph, NarrowingId, Node, Program, ToolList, ToolUse, Work};

use super::calls::settle;
use super::narrow::{left, written};

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
                .partition(|((tool, ..), _)| bound.tools.contains_key(tool));
            let found = inside.iter().filter_map(|used| bound.own(node, used));
            found.for_each(|found| diags.push(found));
            outside.extend(without);
        }
        bound.outside(&outside, diags);
        for (child, name) in graph.nodes.iter().filter_map(Node::called) {
            let needed = needs.get(child.0 as usize).into_iter().flatten();
            let (inside, outside): (Vec<_>, Vec<_>) =
                needed.partition(|((tool, ..), _)| bound.tools.contains_key(tool));
            let found = inside
                .into_iter()
                .filter_map(|(used, place)| bound.of_child(child, used, (name.span, *place)));
            found.for_each(|found| diags.push(found));
            bound.child_outside(child, name.span, &outside, diags);
        }
    }
}

/// A tool as a graph or node may use it: with what its arguments are narrowed by, or, in a `call`, with
/// arguments of the flow's own; and with what a list fixes, each by its place and the parameter.
type Used = (ToolId, Option<Vec<NarrowingId>>, Vec<(Span, String)>);

fn uses(node: &Node) -> Vec<(Used, Span)> {
    match node.tool_list() {
        Some(list) => list.tools.iter().map(narrowed_use).collect(),
        None => {
            let called = node.tools().into_iter();
            let call = |used: Spanned<ToolId>| ((used.node, None, Vec::new()), used.span);
            called.map(call).collect()
        }
    }
}

fn narrowed_use(used: &ToolUse) -> (Used, Span) {
    let fixed = used.fixed.iter();
    let fixed = fixed.map(|arg| (arg.name.span, arg.name.node.clone()));
    let narrowed = Some(used.narrowed.clone());
    ((used.tool, narrowed, fixed.collect()), used.span)
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

    fn own(&self, node: &Node, (used, span): &(Used, Span)) -> Option<Diagnostic> {
        let tool = &used.0;
        let graph = &self.graph.name.node;
        let name = self.name(*tool);
        let allowed = self.tools.get(tool)?;
        if let Some(refused) = self.refused_call(node, allowed) {
            return Some(refused);
        }
        let wider = self.wider(used, allowed)?;
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
        for ((tool, ..), span) in used {
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
        let mut names: Vec<&str> = used
            .iter()
            .map(|((tool, ..), _)| self.name(*tool))
            .collect();
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
        used: &Used,
        (call, place): (Span, Span),
    ) -> Option<Diagnostic> {
        let graph = &self.graph.name.node;
        let name = self.name(used.0);
        let child = self.program.graphs.get(child);
        let child = child.map_or("?", |child| &child.name.node);
        let allowed = self.tools.get(&used.0)?;
        // What a `call` node passes is known when it runs, and held to the scope then.
        let wider = self.wider(used, allowed)?;
        let message =
            format!("`{child}` may use tool `{name}` wider than graph `{graph}`: {wider}");
        let found =
            Diagnostic::new(&codes::TOOL_OUT_OF_SCOPE, message, call).label(place, "let in here");
        Some(self.narrow_too(found, allowed))
    }

    /// What of a use is not within the scope, in words. What can't be compared is held to the scope at run time.
    fn wider(&self, (tool, narrowed, fixed): &Used, allowed: &ToolUse) -> Option<String> {
        let own = |at: Span| fixed.iter().any(|(place, _)| *place == at);
        if let Some(arg) = allowed.fixed.iter().find(|arg| !own(arg.name.span)) {
            return Some(format!("that fixes `{}`", arg.name.node));
        }
        let narrowed = narrowed.as_ref()?;
        let wrong = |id: &NarrowingId| self.wrong.contains(id);
        if allowed.narrowed.iter().all(|id| narrowed.contains(id))
            || allowed.narrowed.iter().chain(narrowed).any(wrong)
        {
            return None;
        }
        let whole = left(self.program, *tool, &allowed.narrowed)?;
        let here = left(self.program, *tool, narrowed)?;
        if let Some(param) = whole.narrower_than(&here, fixed) {
            return Some(format!("that narrows `{param}`"));
        }
        let unlike = !whole.whole && narrowed.is_empty() && fixed.is_empty();
        unlike.then(|| "that narrows its arguments".to_owned())
    }

    fn narrow_too(&self, found: Diagnostic, allowed: &ToolUse) -> Diagnostic {
        let condition = written(self.program, &allowed.narrowed, |span| {
            self.sources.text(span).to_owned()
        });
        let name = self.name(allowed.tool);
        let conditions = allowed.narrowed.iter();
        let places = conditions.filter_map(|id| self.program.narrowings.get(*id));
        let found = places.fold(found, |found, narrowing| {
            found.label(narrowing.condition.span, "narrowed here")
        });
        match allowed.fixed.first() {
            Some(arg) => found
                .label(arg.name.span, "fixed here")
                .help("list the same toolset here, or the tool alone in the graph"),
            None => found.help(format!("narrow it here too: `{name} where {condition}`")),
        }
    }

    /// A tool whose arguments are written out, in a `call` or fixed by a list, and can't meet the scope.
    fn refused_call(&self, node: &Node, allowed: &ToolUse) -> Option<Diagnostic> {
        let args = node.given(allowed.tool);
        let call = matches!(node.work, Work::Call { .. });
        if allowed.narrowed.iter().any(|id| self.wrong.contains(id)) {
            return None;
        }
        let tool = self.program.tools.get(allowed.tool)?;
        let whole = left(self.program, allowed.tool, &[])?;
        let spaces = left(self.program, allowed.tool, &allowed.narrowed)?;
        let refused = tool.params.iter().find_map(|param| {
            let given = args.iter().find(|arg| arg.name.node == param.name.node);
            let value = given
                .map(|arg| &arg.value)
                .or(param.default.as_ref().filter(|_| call))?;
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
        for ((tool, ..), span) in uses {
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
    settle(program, |id| {
        let graph = program.graphs.get(id);
        let Some(graph) = graph.filter(|graph| graph.tools.is_none()) else {
            return false;
        };
        let called = graph.nodes.iter().filter_map(Node::called);
        let more = called.filter_map(|(child, _)| needs.get(child.0 as usize).cloned());
        let more: Vec<_> = more.flatten().collect();
        let Some(own) = needs.get_mut(id.0 as usize) else {
            return false;
        };
        let before = own.len();
        for (used, span) in more {
            own.entry(used).or_insert(span);
        }
        own.len() > before
    });
    needs
}
