//! `ends`: every jump of a node against the places that it says it may go to.

mod jump;

use crate::base::Span;
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{End, Ends, Graph, Node, Program, Route, Target, TargetKind, Work};

use super::cfg::Written;
use super::types::cx::Computed;
use jump::{Jump, by_child, by_place, by_tools, name_of, written};

/// Checks the jumps of a node. `computed` are the targets that its expressions compute; those of tools are `known`.
pub fn ends(
    program: &Program,
    graph: &Graph,
    node: &Node,
    (computed, known): (&[Computed], &Written),
    diags: &mut Diagnostics,
) {
    let mut jumps = written(graph, node);
    for target in computed {
        for name in target.names.iter().flatten() {
            jumps.push(Jump {
                required: true,
                home: target.home,
                ..Jump::new(name.clone(), target.span, "this target may be")
            });
        }
    }
    jumps.extend(by_tools(program, known, node));
    jumps.extend(by_child(program, node));
    match &node.ends {
        Some(ends) => {
            let before = diags.len();
            for group in by_place(&jumps) {
                outside(graph, node, ends, (&group, &jumps), diags);
            }
            // An entry that nothing produces may be what was written in place of the one that is lacking or misspelt.
            let lost = |target: &Target| matches!(target.kind, TargetKind::Unknown);
            let lost = node.targets().any(lost) || goes_astray(program, known, node);
            if diags.len() > before || lost {
                return;
            }
            // Where a target's names are not known, any entry may be one of them; that is reported already.
            let tools = node.tools().into_iter();
            let mut all = tools
                .flat_map(|used| known.computed(used.node))
                .chain(computed);
            if all.all(|target| target.names.is_some()) {
                unused(graph, node, ends, &jumps, diags);
            }
        }
        None => missing(graph, node, &jumps, diags),
    }
}

/// Whether a tool of the node, or the graph that it calls, jumps to a name that is not as it should be, which is
/// reported there.
fn goes_astray(program: &Program, known: &Written, node: &Node) -> bool {
    if let Work::Subgraph { graph, .. } = &node.work {
        let child = graph.and_then(|id| program.graphs.get(id));
        return child.is_some_and(|child| {
            let start = child.start.iter().flat_map(Route::targets);
            let nodes = child.nodes.iter().flat_map(|node| node.targets());
            let mut targets = start.chain(nodes);
            targets.any(|target| match &target.kind {
                TargetKind::Parent(name) => !child.leaves.iter().any(|left| left.node == name.node),
                _ => false,
            })
        });
    }
    let tools: Vec<_> = node.tools().into_iter().map(|used| used.node).collect();
    known.lost.iter().any(|(tool, _)| tools.contains(tool))
}

/// The entry that no jump goes to and whose name is nearly that one.
fn nearest<'e>(ends: &'e Ends, jumps: &[Jump], name: &str) -> Option<&'e End> {
    let mut spare = ends.items.iter().filter(|end| {
        let end = &end.name.node;
        end != "end" && jumps.iter().all(|jump| jump.name != *end)
    });
    spare.find(|end| closest(name, [end.name.node.as_str()]).is_some())
}

/// A jump from elsewhere and an entry of `ends` that differ by a slip: of the entry where it renames, else of the jump.
fn slip(jump: &Jump, declared: Span, meant: &End) -> Diagnostic {
    let entry = meant.name.span;
    let renames = entry != meant.to.span;
    let (at, other, why, right) = match renames {
        true => (entry, declared, "the jump", &jump.name),
        false => (
            declared,
            entry,
            "the place that it may go to",
            &meant.name.node,
        ),
    };
    let message = format!(
        "{} `{}`, but `ends` has `{}`",
        jump.what, jump.name, meant.name.node
    );
    let found = Diagnostic::new(&codes::TARGET_OUTSIDE_ENDS, message, at)
        .label(other, why)
        .help(format!("did you mean `{right}`?"));
    jump.meant_by(found, &meant.name.node)
}

fn outside(
    graph: &Graph,
    node: &Node,
    ends: &Ends,
    (jumps, all): (&[&Jump], &[Jump]),
    diags: &mut Diagnostics,
) {
    // An entry that names no node, which is reported, may be the one that is lacking.
    let undeclared = |end: &End| match &end.to.kind {
        TargetKind::Parent(name) => graph.leaves.iter().all(|left| left.node != name.node),
        _ => false,
    };
    if ends.items.iter().any(|end| unknown(end) || undeclared(end)) {
        return;
    }
    let lacking: Vec<&&Jump> = jumps.iter().filter(|jump| !jump.is_in(ends)).collect();
    let Some(first) = lacking.first() else { return };
    // A graph leaves by names of its own; an entry that renames none of them was to rename this one.
    if let (Some(declared), Some(_)) = (first.declared, first.home)
        && let Some(meant) = nearest(ends, all, &first.name)
        && meant.name.span != meant.to.span
    {
        diags.push(slip(first, declared, meant));
        return;
    }
    let listed = ends.items.iter().map(|end| end.name.node.as_str());
    let of_tool = first.home.is_none();
    if of_tool
        && (names_parameter(graph, first, diags)
            || misspelt(graph, node, first, listed.clone().collect(), diags))
    {
        return;
    }
    let declared = first.declared.or(first.home.map(|_| first.span));
    if let (Some(declared), Some(meant)) = (declared, nearest(ends, all, &first.name)) {
        diags.push(slip(first, declared, meant));
        return;
    }
    let shown: Vec<String> = lacking.iter().map(|jump| jump.shown()).collect();
    let names = || shown.iter().map(String::as_str);
    let message = format!(
        "{} {}, not in the `ends` of `{}`",
        first.what,
        list(names()),
        node.name.node,
    );
    // What comes from elsewhere is as it is: `ends` have to name it.
    let (at, other, what) = match first.declared {
        Some(_) => (ends.span, first.span, "jumps"),
        None => (first.span, ends.span, "the places that it may go to"),
    };
    let mut found = Diagnostic::new(&codes::TARGET_OUTSIDE_ENDS, message, at)
        .label(other, what)
        .help(help(graph, names()));
    if let Some(declared) = first.declared {
        found = found.label(declared, "the jump");
    }
    diags.push(found);
}

/// A tool's jump to a name that is one of its parameters and no node: its value was meant.
fn names_parameter(graph: &Graph, jump: &Jump, diags: &mut Diagnostics) -> bool {
    let Some(place) = jump
        .declared
        .filter(|_| jump.parameter && graph.node(&jump.name).is_none())
    else {
        return false;
    };
    let known =
        |found: &Diagnostic| found.code == &codes::TARGET_OUTSIDE_ENDS && found.span() == place;
    if !diags.iter().any(known) {
        let message = format!(
            "{} `{}`, which is a parameter, no node",
            jump.what, jump.name
        );
        diags.push(
            Diagnostic::new(&codes::TARGET_OUTSIDE_ENDS, message, place)
                .help(format!(
                    "a target that is computed stands in parentheses: `({})`",
                    jump.name
                ))
                .fix(place, format!("({})", jump.name)),
        );
    }
    true
}

/// A tool's jump whose name is no node's and nearly one of those meant: that is mended in the tool, and said once.
fn misspelt(
    graph: &Graph,
    node: &Node,
    jump: &Jump,
    meant: Vec<&str>,
    diags: &mut Diagnostics,
) -> bool {
    let Some(place) = jump.declared.filter(|_| graph.node(&jump.name).is_none()) else {
        return false;
    };
    let Some(near) = closest(&jump.name, meant) else {
        return false;
    };
    let known =
        |found: &Diagnostic| found.code == &codes::TARGET_OUTSIDE_ENDS && found.span() == place;
    if diags.iter().any(known) {
        return true;
    }
    let message = format!(
        "{} `{}`, which is no node of `{}`",
        jump.what,
        jump.shown(),
        graph.name.node
    );
    let found = Diagnostic::new(&codes::TARGET_OUTSIDE_ENDS, message, place)
        .label(jump.span, format!("in the scope of `{}`", node.name.node))
        .help(format!("did you mean `{near}`?"));
    diags.push(jump.meant_by(found, near));
    true
}

/// What to write: the names, with nodes for those that the graph lacks.
fn help<'a>(graph: &'a Graph, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let entries: Vec<String> = names
        .map(
            |name| match graph.node(name).is_some() || name == "end" || name.contains('.') {
                true => name.to_owned(),
                false if graph.leaves.iter().any(|left| left.node == name) => {
                    format!("parent.{name}")
                }
                false => {
                    let near = closest(name, graph.nodes.iter().map(|n| n.name.node.as_str()));
                    format!("{name} as {}", near.unwrap_or("NODE"))
                }
            },
        )
        .collect();
    format!("add `{}` to `ends`", entries.join(", "))
}

fn missing(graph: &Graph, node: &Node, jumps: &[Jump], diags: &mut Diagnostics) {
    let required: Vec<&Jump> = jumps.iter().filter(|jump| jump.required).collect();
    let Some(first) = required.first() else {
        return;
    };
    let nodes = graph.nodes.iter().map(|node| node.name.node.as_str());
    if misspelt(graph, node, first, nodes.collect(), diags) {
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for jump in jumps {
        if !names.contains(&jump.shown()) {
            names.push(jump.shown());
        }
    }
    // What jumps, each with its own targets.
    let mut needed: Vec<(&str, Vec<String>)> = Vec::new();
    for jump in &required {
        match needed.iter_mut().find(|(what, _)| *what == jump.what) {
            Some((_, targets)) => targets.push(jump.shown()),
            None => needed.push((&jump.what, vec![jump.shown()])),
        }
    }
    let needed = needed
        .iter()
        .map(|(what, targets)| format!("{what} {}", list(targets.iter().map(String::as_str))));
    let needed = needed.collect::<Vec<_>>().join(", ");
    let message = format!("node `{}` needs `ends`: {needed}", node.name.node);
    let help = help(graph, names.iter().map(String::as_str));
    let help = help
        .trim_start_matches("add `")
        .trim_end_matches("` to `ends`");
    let mut found = Diagnostic::new(&codes::MISSING_ENDS, message, first.span)
        .help(format!("write `ends [{help}]` in `{}`", node.name.node));
    if let Some(declared) = first.declared {
        found = found.label(declared, "the jump");
    }
    // Where a node of this graph must be chosen for a name, only its writer knows which.
    let known = |name: &String| graph.node(name).is_some() || name == "end";
    if let Some(body) = node.body.filter(|_| names.iter().all(known)) {
        found = found.fix(body, format!("ends [{help}], "));
    }
    diags.push(found);
}

fn unknown(end: &End) -> bool {
    matches!(end.to.kind, TargetKind::Unknown)
}

fn unused(graph: &Graph, node: &Node, ends: &Ends, jumps: &[Jump], diags: &mut Diagnostics) {
    let produced = |name: &str| {
        jumps.iter().any(|jump| jump.name == name)
            || node
                .targets()
                .any(|target| name_of(graph, target).as_deref() == Some(name))
    };
    let upward = |end: &End| matches!(end.to.kind, TargetKind::Parent(_));
    // The place of an entry is that of its names: what stands before `parent.x` would be left over.
    let plain = !ends.items.iter().any(upward);
    let list: Vec<Span> = ends
        .items
        .iter()
        .map(|end| end.name.span.to(end.to.span))
        .collect();
    for (at, end) in ends.items.iter().enumerate() {
        let name = &end.name.node;
        let slip = || {
            let mut lacking = jumps
                .iter()
                .filter(|j| j.declared.is_some() && !j.is_in(ends));
            lacking.any(|jump| closest(&jump.name, [name.as_str()]).is_some())
        };
        if unknown(end) || produced(name) || slip() {
            continue;
        }
        let finding = Diagnostic::new(
            &codes::UNUSED_END,
            format!("nothing in `{}` goes to `{name}`", node.name.node),
            end.name.span,
        )
        .help(format!("take `{name}` out of `ends`"));
        diags.push(match plain {
            true => finding.take_out(&list, at),
            false => finding,
        });
    }
}
