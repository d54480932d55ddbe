//! What is said of a destructive tool that runs without an approval, with the way to it.

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ToolId;
use crate::resolve::program::{Node, Program};

use super::super::super::cfg::BlockId;
use super::bypassed::Bypassed;
use super::decision::asked_for;
use super::destroys;
use super::later::Refused;
use super::walk::{Asked, At, Bypass, Found, Hop, Walk};

/// The most names that a path is shown with; of longer ones the middle is left out.
const SHOWN: usize = 10;

/// The most steps that are followed back for it.
const FOLLOWED: usize = 1000;

/// Reports each tool of each node that was come to, in the order declared.
pub fn report(program: &Program, walk: &Walk, mut bypassed: Bypassed, diags: &mut Diagnostics) {
    let mut all: Vec<&Found> = walk.found.iter().collect();
    all.sort_by_key(|found| (found.at.graph, found.at.block));
    for found in all {
        let Some(node) = node(program, found.at) else {
            continue;
        };
        let path = path(program, walk, found);
        let before = match found.at.block {
            BlockId::Node(id) if path.past.is_empty() => bypassed.before(found.at.graph, id),
            _ => None,
        };
        let Some(graph) = program.graphs.get(found.at.graph) else {
            continue;
        };
        for (tool, span) in destroys(program, graph, node) {
            let found = finding(program, &path, found.at, (tool, span), node);
            diags.push(match before {
                Some(asks) => found
                    .label(asks, "this would ask, but nothing leads to it")
                    .help("lead to the interrupt first")
                    .about(asks),
                None => found,
            });
        }
    }
}

/// Reports what runs behind a later no, where the walk, which ends at the first yes, has not come to it.
pub fn later(program: &Program, walk: &Walk, all: Vec<Refused>, diags: &mut Diagnostics) {
    for one in all {
        let known = (walk.found.iter())
            .any(|found| found.at.graph == one.graph && found.at.block == BlockId::Node(one.node));
        let graph = program.graphs.get(one.graph).filter(|_| !known);
        let nodes = graph.and_then(|graph| {
            let (by, node) = (graph.nodes.get(one.by)?, graph.nodes.get(one.node)?);
            Some((graph, by, node))
        });
        let Some((graph, by, node)) = nodes else {
            continue;
        };
        let path = Path {
            shown: format!("start -> .. -> {} -> {}", by.name.node, node.name.node),
            past: vec![(Bypass::Refused, one.arm, by.name.node.clone())],
            straight: true,
        };
        let at = At {
            graph: one.graph,
            block: BlockId::Node(one.node),
            asked: Asked::No,
        };
        for used in destroys(program, graph, node) {
            diags.push(finding(program, &path, at, used, node));
        }
    }
}

fn node(program: &Program, at: At) -> Option<&Node> {
    let BlockId::Node(id) = at.block else {
        return None;
    };
    program.graphs.get(at.graph)?.nodes.get(id)
}

/// The way to a place.
struct Path {
    /// Names from the entry to it.
    shown: String,
    /// Interrupts that it passes, in order: how, where, and the node's name.
    past: Vec<(Bypass, Span, String)>,
    /// Whether the last of them leads straight to it.
    straight: bool,
}

/// The interrupt that was passed: a node, or one of those that stand around a node.
fn passed(node: &Node, span: Span) -> String {
    let stop = node.stops.iter().find(|stop| stop.name.span == span);
    let after = || node.stops.iter().find(|stop| stop.after);
    let first = || node.stops.first();
    let name = stop.or_else(after).or_else(first).map(|stop| &stop.name);
    name.unwrap_or(&node.name).node.clone()
}

/// Whether the place is a `skip` or `require` of the node.
fn in_guard(node: &Node, span: Span) -> bool {
    let mut skips = node.skips.iter().map(|skip| skip.when.span);
    let mut requires = node.requires.iter().map(|require| require.condition.span);
    skips.any(|at| at == span) || requires.any(|at| at == span)
}

fn path(program: &Program, walk: &Walk, found: &Found) -> Path {
    let to = found.at;
    let mut names: Vec<&str> = Vec::new();
    let mut past: Vec<(Bypass, Span, String)> = Vec::new();
    let mut straight = false;
    let written = |bypass: Bypass, span: Span| {
        let write = walk.overwritten.writes.get(&span);
        let write = write.filter(|_| bypass == Bypass::Overwritten);
        write.map(|(field, by)| format!("`{by}` writes to `{field}`"))
    };
    if let Some((bypass, span)) = found.own {
        let stops = node(program, to).into_iter().flat_map(|node| &node.stops);
        let by = stops.into_iter().find(|stop| !stop.after);
        let by = by.map_or_else(String::new, |stop| stop.name.node.clone());
        past.push((bypass, span, written(bypass, span).unwrap_or(by)));
        straight = true;
    }
    let mut at = Some(to);
    for _ in 0..FOLLOWED {
        let Some(here) = at else { break };
        names.extend(node(program, here).map(|node| node.name.node.as_str()));
        let Some((from, hop)) = walk.came(here) else {
            break;
        };
        if let Hop::Past(bypass, span) = hop {
            let by = from.and_then(|from| node(program, from));
            let arm = |node: &&Node| bypass != Bypass::Refused || !in_guard(node, span);
            let by = by.filter(arm);
            let name = by.map_or_else(String::new, |node| passed(node, span));
            past.push((bypass, span, written(bypass, span).unwrap_or(name)));
            straight |= here == to;
        }
        at = from;
    }
    names.push("start");
    names.reverse();
    past.reverse();
    if names.len() > SHOWN {
        let end = names.split_off(names.len() - SHOWN / 2);
        names.truncate(SHOWN / 2);
        names.push("..");
        names.extend(end);
    }
    Path {
        shown: names.join(" -> "),
        past,
        straight,
    }
}

fn finding(
    program: &Program,
    path: &Path,
    at: At,
    (tool, span): (ToolId, Span),
    node: &Node,
) -> Diagnostic {
    let declared = program.tools.get(tool);
    let name = declared.map_or("?", |tool| &tool.name.node);
    let runs = match node.name.node == name {
        true => format!("destructive tool `{name}`"),
        false => format!("destructive tool `{name}` of `{}`", node.name.node),
    };
    let last = path.past.last();
    let mut found = match last {
        Some((Bypass::Refused, place, by)) => Diagnostic::new(
            &codes::RUNS_AFTER_REFUSAL,
            match by.is_empty() {
                true => format!("{runs} is reached where the answer is no"),
                false => format!("{runs} is reached on the arm of `{by}` where the answer is no"),
            },
            *place,
        )
        .label(span, format!("runs `{name}`"))
        .help(format!(
            "lead this arm past `{}`, or ask again before it",
            node.name.node
        )),
        Some((Bypass::Ignored, place, by)) => {
            let asked = question(program, at, by);
            let asked = asked.unwrap_or_else(|| "answer".to_owned());
            Diagnostic::new(
                &codes::ANSWER_IGNORED,
                format!("{runs} runs whatever is answered at `{by}`"),
                *place,
            )
            .label(span, format!("runs `{name}`"))
            .help(format!(
                "decide by the answer: `goto {{ when {asked}.. -> {}  else -> end }}`",
                node.name.node
            ))
        }
        Some((Bypass::Overwritten, place, written)) => Diagnostic::new(
            &codes::ANSWER_IGNORED,
            format!("{runs} runs by what {written}, in place of a person's answer"),
            *place,
        )
        .label(span, format!("runs `{name}`"))
        .help("write it to a field of its own, or ask a person behind this"),
        Some((Bypass::Kept, place, _)) => Diagnostic::new(
            &codes::UNAPPROVED_TOOL,
            format!("{runs} is reached without an approval"),
            *place,
        )
        .label(span, format!("runs `{name}`"))
        .help("ask a person on this way too: an answer that the thread has kept is one of another run"),
        _ => {
            let place = last.filter(|_| path.straight).map(|(_, span, _)| *span);
            let found = Diagnostic::new(
                &codes::UNAPPROVED_TOOL,
                format!("{runs} is reached without an approval"),
                place.unwrap_or(span),
            );
            let found = match place {
                Some(_) => found.label(span, format!("runs `{name}`")),
                None => found,
            };
            found.help("put an `interrupt` on the way, or mark the tool `@approve`, or `@unattended` if nobody has to be asked")
        }
    };
    let primary = found.span();
    for (bypass, place, by) in &path.past {
        let part = question(program, at, by).filter(|asked| asked.contains('.'));
        let told = match (bypass, part) {
            (Bypass::Ignored, Some(part)) => format!("nothing looks at `{part}` of `{by}`"),
            _ => told(*bypass, by),
        };
        if *place != primary {
            found = found.label(*place, told);
        } else {
            found = found.here(told);
        }
    }
    if let Some(tool) = declared
        && let Some(effect) = tool.effect_span
    {
        found = found.label(effect, "what it does can't be undone");
    }
    let asked = match at.asked {
        Asked::Open => "with the answer not looked at: ",
        Asked::No => "the way: ",
    };
    found.label(node.name.span, format!("{asked}{}", path.shown))
}

/// What of the answer to a question of the graph decides.
fn question(program: &Program, at: At, name: &str) -> Option<String> {
    let graph = program.graphs.get(at.graph)?;
    let mut nodes = graph.nodes.iter();
    nodes.find_map(|node| asked_for(program, node, name))
}

fn told(bypass: Bypass, by: &str) -> String {
    match bypass {
        Bypass::Skipped => format!("`{by}` is skipped here"),
        Bypass::TimedOut => format!("nobody answers `{by}`"),
        Bypass::Failed => format!("`{by}` fails"),
        Bypass::Visits => format!("`{by}` is not entered any more"),
        Bypass::Refused => "here the answer is no".to_owned(),
        Bypass::Overwritten => "what was answered is overwritten here".to_owned(),
        Bypass::Ignored => format!("nothing looks at the answer of `{by}`"),
        Bypass::Kept => {
            "nobody has answered yet in this run: it is what an earlier run has left".to_owned()
        }
    }
}
