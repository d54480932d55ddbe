//! Arguments that are taken for more than data: what a model or a stranger wrote must not get there unlooked at.

use std::rc::Rc;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::flow::SinkKind;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Graph, Node, Param, Program, Sink, Tool, Work};

use super::super::cfg::MhpCache;
use super::in_scope;
use super::origin::{Env, Inside, Leaf, Search, Trail, Vouch, Wanted, is_plain, leaves, vetted};

/// Reports `@sink` arguments that such a value reaches.
pub fn sinks<'a>(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, diags: &mut Diagnostics) {
    if !program
        .tools
        .iter()
        .any(|tool| open_sinks(tool).next().is_some())
    {
        return;
    }
    let wanted = Wanted {
        model: true,
        untrusted: true,
        guarded: true,
        ..Wanted::default()
    };
    let mut search = Search::new(program, mhp_cache, wanted);
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            match &node.work {
                Work::Call { .. } => call(&mut search, program, (id, at), node, diags),
                Work::Agent { .. } => chosen(program, graph, node, None, diags),
                Work::Tools {
                    messages: Some(messages),
                    ..
                } => {
                    let read = leaves(messages, &search.guarded(node));
                    let read = search.unguarded(node, read);
                    if let Some(trail) = search.source(Inside::Before(id, at), &read) {
                        chosen(program, graph, node, Some(&trail), diags);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Parameters of a tool that nothing stands before: no person who is asked before each call, no form, no type of few values.
fn open_sinks(tool: &Tool) -> impl Iterator<Item = (&Param, Sink)> {
    let params = tool.params.iter().filter(|_| !tool.asks());
    params
        .filter(|param| param.constraints.pattern.is_none() && !is_plain(&param.ty.node))
        .filter_map(|param| Some((param, param.sink?)))
}

/// The arguments of a `call` node.
fn call(
    search: &mut Search,
    program: &Program,
    (id, at): (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    let Work::Call {
        tool: Some(tool),
        args,
        ..
    } = &node.work
    else {
        return;
    };
    let Some(tool) = program.tools.get(*tool) else {
        return;
    };
    for (param, sink) in open_sinks(tool) {
        let name = &param.name.node;
        let Some(arg) = args.iter().find(|arg| arg.name.node == *name) else {
            continue;
        };
        let made_from = leaves(&arg.value, &search.guarded(node));
        let made_from: Vec<Leaf> = search.unguarded(node, made_from);
        let Some(trail) = search.source(Inside::Before(id, at), &made_from) else {
            continue;
        };
        let message = format!(
            "argument `{name}` of tool `{}` is {}, and `{}` is not checked on its way there",
            tool.name.node,
            taken_for(sink.kind),
            shown(&made_from, trail.read),
        );
        let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.value.span)
            .label(trail.source.0, trail.source.1);
        let through = trail.through.into_iter();
        let found = through.fold(found, |found, (span, text)| found.label(span, text));
        diags.push(
            found
                .label(sink.span, format!("`{name}` is a sink"))
                .help(MEND),
        );
    }
}

const MEND: &str = "check the value with `require` (`in`, `==`, `matches`), or give the parameter a `@pattern` or an enum, or mark the tool `@approve`, so that a person sees each call";

fn shown(leaves: &[Leaf], read: Span) -> String {
    let leaf = leaves.iter().find(|leaf| leaf.span == read);
    leaf.map_or_else(|| "it".to_owned(), |leaf| leaf.path.shown())
}

/// Sinks of the tools that a model may call as it likes.
fn chosen(
    program: &Program,
    graph: &Graph,
    node: &Node,
    trail: Option<&Trail>,
    diags: &mut Diagnostics,
) {
    for used in in_scope(graph, node) {
        let Some(tool) = program.tools.get(used.node) else {
            continue;
        };
        let bound = graph.tools.as_ref().map(|list| list.span);
        let told = narrowed(program, node, used.node);
        for (param, sink) in open_sinks(tool) {
            let name = &param.name.node;
            if told.iter().any(|vouch| vouch.is_for(name)) {
                continue;
            }
            let message = format!(
                "the model of `{}` chooses argument `{name}` of tool `{}`, which is {}",
                node.name.node,
                tool.name.node,
                taken_for(sink.kind)
            );
            let inside = |span: Span| {
                span.file == node.span.file
                    && span.start >= node.span.start
                    && span.end <= node.span.end
            };
            let place = match inside(used.span) {
                true => used.span,
                false => node.name.span,
            };
            let mut found = Diagnostic::new(&codes::TAINTED_SINK, message, place);
            if let (true, Some(bound)) = (place != used.span, bound) {
                found = found.label(bound, "in its scope by this list");
            }
            if let Some(trail) = trail {
                found = found.label(trail.source.0, trail.source.1.clone());
            }
            diags.push(
                found
                    .label(sink.span, format!("`{name}` is a sink"))
                    .help(format!(
                        "give `{name}` a `@pattern` or an enum, or mark the tool `@approve`, so that a person sees each call"
                    )),
            );
        }
    }
}

/// Parameters that the node's `where` vouches for.
fn narrowed(program: &Program, node: &Node, tool: ToolId) -> Vec<Vouch> {
    let list = match &node.work {
        Work::Agent { call, .. } => call.tools.as_ref(),
        Work::Tools { tools, .. } => tools.as_ref(),
        _ => None,
    };
    let used = list.and_then(|list| list.find(tool));
    let ids = used.into_iter().flat_map(|used| &used.narrowed);
    let conditions = ids.filter_map(|id| program.narrowings.get(*id));
    conditions
        .flat_map(|narrowing| vetted(&narrowing.condition, true, &Env::new()))
        .collect()
}

fn taken_for(kind: Option<SinkKind>) -> &'static str {
    match kind {
        Some(SinkKind::Shell) => "run as a command",
        Some(SinkKind::Sql) => "run as a query",
        Some(SinkKind::Url) => "used as an address",
        Some(SinkKind::Path) => "used as a path",
        Some(SinkKind::Html) => "shown as markup",
        None => "a sink",
    }
}
