//! Arguments that are taken for more than data: what a model or a stranger wrote must not get there unlooked at.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::flow::SinkKind;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::answer::AnswerNames;
use crate::resolve::program::{Graph, Node, Param, Program, Sink, Tool, Work};

use super::super::cfg::MhpCache;
use super::in_scope;
use super::origin::{
    Env, Inside, Leaf, Search, Trail, Vouch, Wanted, elements, is_plain, leaves, vetted,
};
use super::permitted::unseen;

/// Reports `@sink` arguments that such a value reaches.
pub fn sinks<'a>(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, diags: &mut Diagnostics) {
    let unseen = unseen(program);
    let unseen = &unseen;
    let mut tools = program.tools.entries();
    let pinned = program.graphs.iter().flat_map(|graph| &graph.nodes);
    let pinned = pinned.flat_map(Node::permits).next().is_some();
    if !pinned && !tools.any(|(id, tool)| open_sinks((id, tool), unseen).next().is_some()) {
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
            pins(&mut search, program, (id, at), node, diags);
            given(&mut search, (program, unseen), (id, at), node, diags);
            match &node.work {
                Work::Agent { .. } => chosen((program, unseen), graph, node, None, diags),
                Work::Tools {
                    messages: Some(messages),
                    ..
                } => {
                    let read = search.read(node, messages);
                    if let Some(trail) = search.source(Inside::Before(id, at), &read) {
                        chosen((program, unseen), graph, node, Some(&trail), diags);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The tools that a permit lets through with any arguments.
type Unseen = BTreeMap<ToolId, Span>;

/// Parameters of a tool that nothing stands before: no person who sees each call, or what is permitted, no form, no type of few
/// values.
fn open_sinks<'p>(
    (id, tool): (ToolId, &'p Tool),
    unseen: &Unseen,
) -> impl Iterator<Item = (&'p Param, Sink)> + use<'p> {
    let seen = tool.asks() && !unseen.contains_key(&id);
    texts(tool).filter(move |_| !seen)
}

/// Sinks of a tool that take free text of any form.
fn texts(tool: &Tool) -> impl Iterator<Item = (&Param, Sink)> {
    let params = tool.params.iter();
    params
        .filter(|param| param.constraints.pattern.is_none() && !is_plain(&param.ty.node))
        .filter_map(|param| Some((param, param.sink?)))
}

/// The arguments that the flow itself gives: those of a `call`, and those that a list of tools fixes.
fn given(
    search: &mut Search,
    (program, unseen): (&Program, &Unseen),
    (id, at): (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    let tools = node.called_tools().into_iter();
    let tools = tools.filter_map(|used| Some((used.node, program.tools.get(used.node)?)));
    let sinks = tools.flat_map(|(tool_id, tool)| {
        open_sinks((tool_id, tool), unseen).map(move |sink| (tool_id, tool, sink))
    });
    for (tool_id, tool, (param, sink)) in sinks {
        let name = &param.name.node;
        let mut args = node.given(tool_id).iter();
        let Some(arg) = args.find(|arg| arg.name.node == *name) else {
            continue;
        };
        let made_from = search.read(node, &arg.value);
        let Some(trail) = search.source(Inside::Before(id, at), &made_from) else {
            continue;
        };
        let message = format!(
            "argument `{name}` of tool `{}` is {}, and `{}` is not checked on its way there",
            tool.name.node,
            taken_for(sink.kind),
            shown(&made_from, trail.read),
        );
        let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.value.span);
        let found = trail.label(found);
        let found = found.label(sink.span, format!("`{name}` is a sink"));
        diags.push(mended(found, unseen.get(&tool_id), MEND.to_owned()));
    }
}

/// With what helps: where a permit lets any arguments through, that it says which.
fn mended(found: Diagnostic, permit: Option<&Span>, help: String) -> Diagnostic {
    match permit {
        Some(permit) => found
            .label(*permit, "any arguments are permitted here")
            .help("say what is permitted: `permit TOOL(PARAM: ..) when ..`, which the person is shown"),
        None => found.help(help),
    }
}

/// Arguments that a permit pins by the answer: those the person is not shown, so that they have to be trusted by themselves.
fn pins(
    search: &mut Search,
    program: &Program,
    (id, at): (GraphId, NodeId),
    node: &Node,
    diags: &mut Diagnostics,
) {
    let own = match &node.work {
        Work::Interrupt { permits, .. } => Some(("answer", Inside::Work(id, at), permits)),
        _ => None,
    };
    let stops = node.stops.iter().map(|stop| {
        let inside = match stop.after {
            true => Inside::After(id, at),
            false => Inside::Before(id, at),
        };
        (stop.name.node.as_str(), inside, &stop.permits)
    });
    for (answer, inside, permits) in own.into_iter().chain(stops) {
        let names = AnswerNames::of(answer, &node.lets);
        for permit in permits {
            let (Some(tool), Some(args)) = (permit.tool, &permit.args) else {
                continue;
            };
            let Some(tool) = program.tools.get(tool) else {
                continue;
            };
            let mut env = search.guarded(node);
            let late = permit.each.as_ref().is_some_and(|each| {
                env.insert(each.var.node.clone(), elements(&each.items, &env));
                names.read_by(&each.items)
            });
            for (param, sink) in texts(tool) {
                let name = &param.name.node;
                let arg = args.iter().find(|arg| arg.name.node == *name);
                let Some(arg) = arg.filter(|arg| late || names.read_by(&arg.value)) else {
                    continue;
                };
                let read = search.unguarded(node, leaves(&arg.value, &env));
                let Some(trail) = search.source(inside, &read) else {
                    continue;
                };
                let message = format!(
                    "argument `{name}` of tool `{}` is {}, and `{}` is permitted without being shown or checked",
                    tool.name.node,
                    taken_for(sink.kind),
                    shown(&read, trail.read),
                );
                let found = Diagnostic::new(&codes::TAINTED_SINK, message, arg.value.span)
                    .label(trail.source.0, trail.source.1);
                diags.push(
                    found
                        .label(sink.span, format!("`{name}` is a sink"))
                        .help("pin what doesn't read the answer, which the person is shown, or the answer itself"),
                );
            }
        }
    }
}

const MEND: &str = "check the value with `require` (`in`, `==`, `matches`), or give the parameter a `@pattern` or an enum, or mark the tool `@approve`: a person then sees each call, or permits it ahead";

fn shown(leaves: &[Leaf], read: Span) -> String {
    let leaf = leaves.iter().find(|leaf| leaf.span == read);
    leaf.map_or_else(|| "it".to_owned(), |leaf| leaf.path.shown())
}

/// Sinks of the tools that a model may call as it likes.
fn chosen(
    (program, unseen): (&Program, &Unseen),
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
        for (param, sink) in open_sinks((used.node, tool), unseen) {
            let name = &param.name.node;
            let mut fixed = node.given(used.node).iter();
            if fixed.any(|arg| arg.name.node == *name)
                || told.iter().any(|vouch| vouch.is_for(name))
            {
                continue;
            }
            let message = format!(
                "the model of `{}` chooses argument `{name}` of tool `{}`, which is {}",
                node.name.node,
                tool.name.node,
                taken_for(sink.kind)
            );
            let place = match node.span.holds(used.span) {
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
            let found = found.label(sink.span, format!("`{name}` is a sink"));
            let help = format!(
                "give `{name}` a `@pattern` or an enum, or mark the tool `@approve`: a person then sees each call, or permits it ahead"
            );
            diags.push(mended(found, unseen.get(&used.node), help));
        }
    }
}

/// Parameters that the node's `where` vouches for.
fn narrowed(program: &Program, node: &Node, tool: ToolId) -> Vec<Vouch> {
    let used = node.tool_list().and_then(|list| list.find(tool));
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
