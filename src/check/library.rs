//! Findings inside of the standard library, shown first where a project uses it.
//!
//! The library's text can't be changed, so what is wrong there is wrong with what one of its graphs was given. The place in the
//! library stays as a label behind that of the call.

use std::collections::BTreeSet;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Label};
use crate::ir::GraphId;
use crate::resolve::Program;
use crate::resolve::program::{Graph, Node};

use super::Checked;

/// Moves the place of each finding in the library to the calls that it is about.
pub fn callers_first(program: &Program, checked: &Checked, diags: &mut Diagnostics) {
    let library = Library::of(program, checked);
    if library.files.is_empty() {
        return;
    }
    let found = std::mem::take(diags);
    for finding in found {
        diags.push(match library.files.contains(&finding.span().file) {
            true => library.at_the_caller(finding),
            false => finding,
        });
    }
}

struct Library<'p> {
    /// What the compiler checked: of graphs with parameters their instances.
    program: &'p Program,
    /// The library's files.
    files: BTreeSet<FileId>,
}

impl<'p> Library<'p> {
    fn of(program: &'p Program, checked: &'p Checked) -> Self {
        let standard = program.trees.iter().filter(|tree| tree.standard);
        let made = checked.instances.as_ref();
        Self {
            program: made.map_or(program, |made| &made.program),
            files: standard.map(|tree| tree.file).collect(),
        }
    }

    fn at_the_caller(&self, mut finding: Diagnostic) -> Diagnostic {
        let at = finding.span();
        let graphs = self.program.graphs.entries();
        let around = graphs.filter(|(_, graph)| graph.span.holds(at));
        let mut around: Vec<(GraphId, &Graph)> = around.collect();
        // A finding of some instances names them.
        let message = finding.message.clone();
        let named = |graph: &Graph| message.contains(&format!("`{}`", graph.shown_name()));
        if around.iter().any(|(_, graph)| named(graph)) {
            around.retain(|(_, graph)| named(graph));
        }
        let mut calls = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for (id, _) in &around {
            self.calls(*id, &mut calls, &mut seen);
        }
        let (Some(first), Some((_, graph))) = (calls.pop_first(), around.first()) else {
            return finding;
        };
        let name = &graph.name.node;
        finding = finding.here(format!("this is where `{name}` needs it otherwise"));
        finding.labels.retain(|label| label.span != first);
        finding.labels.insert(0, label(first, ""));
        let also = calls.into_iter().map(|call| label(call, "called here too"));
        finding.labels.extend(also);
        finding.fix.clear();
        let help = "something else: the library can't be changed";
        finding.help(format!("give `{name}` {help}"))
    }

    /// Where a project calls a graph, also by way of other graphs of the library.
    fn calls(&self, id: GraphId, calls: &mut BTreeSet<Span>, seen: &mut BTreeSet<GraphId>) {
        if !seen.insert(id) {
            return;
        }
        for (caller, graph) in self.program.graphs.entries() {
            let called = graph.nodes.iter().filter_map(Node::called);
            for (_, name) in called.filter(|(called, _)| *called == id) {
                match self.files.contains(&graph.file) {
                    true => self.calls(caller, calls, seen),
                    false => _ = calls.insert(name.span),
                }
            }
        }
        let graph = self.program.graphs.get(id);
        let instance = graph.and_then(|graph| graph.instance.as_ref());
        if let Some(declared) = instance.and_then(|instance| instance.declared.as_ref())
            && !self.files.contains(&declared.name.span.file)
        {
            calls.insert(declared.name.span);
        }
    }
}

fn label(span: Span, message: &str) -> Label {
    Label {
        span,
        message: message.to_owned(),
    }
}
