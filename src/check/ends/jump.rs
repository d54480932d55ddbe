//! The jumps of a node that `ends` speaks of: those of its `goto`, of its tools and of the graph that it calls.

use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, Home};
use crate::resolve::program::{End, Ends, Graph, Node, Program, Route, Target, TargetKind};

use super::super::cfg::Written;
use super::super::narrow::target::narrowed;

/// A jump that is checked against `ends`.
pub(super) struct Jump {
    /// The name that `ends` must have.
    pub(super) name: String,
    /// Where the jump is written or what brings it.
    pub(super) span: Span,
    /// What jumps, for messages: "tool `move_on` goes to".
    pub(super) what: String,
    /// Whether `ends` must be written for it.
    pub(super) required: bool,
    /// Where the jump itself is declared, where that is elsewhere.
    pub(super) declared: Option<Span>,
    /// Whether the name is that of a parameter of the tool.
    pub(super) parameter: bool,
    /// Whether it leaves the graph by that name, for a tool that goes to `parent.name`.
    pub(super) upward: bool,
    /// The names that it is one of, where it is declared among others: those that a graph leaves by, members of an enum.
    pub(super) home: Option<Home>,
}

impl Jump {
    /// A jump that is in plain sight.
    pub(super) fn new(name: String, span: Span, what: &str) -> Self {
        Self {
            name,
            span,
            what: what.to_owned(),
            required: false,
            declared: None,
            parameter: false,
            upward: false,
            home: None,
        }
    }

    /// Says that another name is written where this jump's was meant.
    pub(super) fn meant_by(&self, found: Diagnostic, written: &str) -> Diagnostic {
        match self.home {
            Some(home) => found.unknown(written, home).near(Some(&self.name)),
            None => found,
        }
    }

    /// As `ends` must have it.
    pub(super) fn shown(&self) -> String {
        match self.upward {
            true => format!("parent.{}", self.name),
            false => self.name.clone(),
        }
    }

    pub(super) fn is_in(&self, ends: &Ends) -> bool {
        let found = ends.find(&self.name);
        let up = |end: &End| matches!(end.to.kind, TargetKind::Parent(_) | TargetKind::Unknown);
        found.is_some_and(|end| !self.upward || up(end))
    }
}

/// Jumps of its `goto`. Its other arrows are in plain sight and need no `ends`.
pub(super) fn written(graph: &Graph, node: &Node) -> Vec<Jump> {
    let targets = node.goto.iter().flat_map(|goto| goto.node.targets());
    let named = targets.filter_map(|target| {
        let name = name_of(graph, target)?;
        Some(Jump::new(name, target.span, "this goes to"))
    });
    named.collect()
}

pub(super) fn name_of(graph: &Graph, target: &Target) -> Option<String> {
    match &target.kind {
        TargetKind::End => Some("end".to_owned()),
        TargetKind::Parent(name) => Some(name.node.clone()),
        _ => {
            let id = target.node()?;
            graph.nodes.get(id).map(|node| node.name.node.clone())
        }
    }
}

pub(super) fn by_tools(program: &Program, known: &Written, node: &Node) -> Vec<Jump> {
    let mut jumps = Vec::new();
    for used in node.called_tools() {
        let tool = program.tools.get(used.node);
        let Some((tool, body)) = tool.and_then(|tool| Some((tool, tool.body.as_ref()?))) else {
            continue;
        };
        let name = &tool.name.node;
        let mut jump = |what: &str, to: &str, place: Span, upward: bool| {
            let what = format!("tool `{name}` {what}");
            let new = Jump {
                required: true,
                declared: Some(place),
                parameter: tool.params.iter().any(|param| param.name.node == to),
                upward,
                ..Jump::new(to.to_owned(), used.span, &what)
            };
            jumps.push(new);
        };
        let lost = |name: &str| known.lost.contains(&(used.node, name.to_owned()));
        for to in body.jumps().into_iter().filter(|to| !lost(&to.node)) {
            jump("goes to", &to.node, to.span, false);
        }
        for target in body.goto.iter().flat_map(Route::targets) {
            if let TargetKind::Parent(to) = &target.kind {
                jump("goes to", &to.node, target.span, true);
            }
        }
        for target in known.computed(used.node) {
            // Where `where` narrows the parameter that names the target, only what it leaves is gone to.
            let narrow = narrowed(program, node, (used.node, tool), target.span);
            let names = target.names.iter().flatten();
            for to in names.filter(|to| !narrow.iter().any(|left| left.refuses(to))) {
                jump("may go to", to, target.span, false);
            }
        }
    }
    jumps
}

pub(super) fn by_child(program: &Program, node: &Node) -> Vec<Jump> {
    let Some((child, name)) = node.called() else {
        return Vec::new();
    };
    let child = program.graphs.get(child);
    let leaves = child.map_or(&[][..], |child| &child.leaves);
    let what = format!("`{}` leaves to", name.node);
    let jump = |left: &Spanned<String>| Jump {
        required: true,
        declared: Some(left.span),
        home: child.map(|child| Home::Leaves(Some(child.name.span))),
        ..Jump::new(left.node.clone(), name.span, &what)
    };
    leaves.iter().map(jump).collect()
}

/// Jumps of one place together, so that a computed target or a tool makes one message.
pub(super) fn by_place(jumps: &[Jump]) -> Vec<Vec<&Jump>> {
    let mut groups: Vec<Vec<&Jump>> = Vec::new();
    for jump in jumps {
        match groups.iter_mut().find(|g| {
            g.first()
                .is_some_and(|j| j.span == jump.span && j.what == jump.what)
        }) {
            Some(group) => group.push(jump),
            None => groups.push(vec![jump]),
        }
    }
    groups
}
