//! Jumps of tools to names that no node which runs the tool can mean.
//!
//! A tool's jump names an entry of the `ends` of the nodes that run it, or a node beside them. A name that is neither
//! anywhere is a slip of the tool's own, and reported there; else it is the node's `ends` that lack it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ToolId;
use crate::resolve::program::Program;

/// Names of jumps that lead nowhere, by tool.
pub type Lost = BTreeSet<(ToolId, String)>;

/// The names that the jumps of a tool may have.
#[derive(Default)]
struct Meant<'a> {
    /// Those of the `ends` of each node that runs it.
    ends: Vec<Rc<BTreeSet<&'a str>>>,
    /// Nodes beside those.
    beside: BTreeSet<&'a str>,
}

impl<'a> Meant<'a> {
    fn contains(&self, name: &str) -> bool {
        self.beside.contains(name) || self.ends.iter().any(|ends| ends.contains(name))
    }

    fn iter(&self) -> impl Iterator<Item = &'a str> {
        let ends = self.ends.iter().flat_map(|ends| ends.iter());
        ends.chain(&self.beside).copied()
    }

    /// In order, each once.
    fn all(&self) -> BTreeSet<&'a str> {
        self.iter().collect()
    }
}

/// For each tool that some node runs, the names that a jump of it may have.
fn meant(program: &Program) -> BTreeMap<ToolId, Meant<'_>> {
    let mut all: BTreeMap<ToolId, Meant> = BTreeMap::new();
    for graph in &program.graphs {
        let own = graph.nodes.iter().map(|node| node.name.node.as_str());
        let own: BTreeSet<&str> = own.collect();
        for node in &graph.nodes {
            let ends = node.ends.iter().flat_map(|ends| &ends.items);
            let ends: BTreeSet<&str> = ends.map(|end| end.name.node.as_str()).collect();
            let ends = Rc::new(ends);
            for used in node.called_tools() {
                let tool = program.tools.get(used.node);
                let body = tool.and_then(|tool| tool.body.as_ref());
                let jumps = body.map(|body| body.jumps()).unwrap_or_default();
                if jumps.is_empty() {
                    continue;
                }
                let names = all.entry(used.node).or_default();
                names.ends.push(ends.clone());
                let there = jumps.iter().filter_map(|to| own.get(to.node.as_str()));
                names.beside.extend(there.copied());
            }
        }
    }
    all
}

/// The jumps that no node can take: of one that a single node runs only what is nearly a name that it may mean. Any
/// other is what that node's `ends` lack.
pub fn lost(program: &Program) -> Lost {
    let mut lost = Lost::new();
    for (id, names) in meant(program) {
        let body = program.tools.get(id).and_then(|tool| tool.body.as_ref());
        for to in body.into_iter().flat_map(|body| body.jumps()) {
            let slip = || closest(&to.node, names.iter()).is_some();
            let several = names.ends.len() > 1;
            if to.node != "end" && !names.contains(&to.node) && (several || slip()) {
                lost.insert((id, to.node.clone()));
            }
        }
    }
    lost
}

/// Reports them.
pub fn targets(program: &Program, lost: &Lost, diags: &mut Diagnostics) {
    let meant = meant(program);
    for (id, name) in lost {
        let (Some(tool), Some(names)) = (program.tools.get(*id), meant.get(id)) else {
            continue;
        };
        let jumps = tool.body.iter().flat_map(|body| body.jumps());
        for to in jumps.filter(|to| to.node == *name) {
            let message = format!(
                "tool `{}` goes to `{name}`, which no node that runs it can mean",
                tool.name.node
            );
            let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
            let nodes = nodes.map(|node| node.name.node.as_str());
            let names = names.all();
            let near = closest(name, names.iter().copied()).or_else(|| closest(name, nodes));
            let help = match (near, names.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, false) => format!("their `ends` have {}", list(names.iter().copied())),
                (None, true) => format!(
                    "add a node `{name}`, and `{name}` to the `ends` of the nodes that run the tool"
                ),
            };
            diags.push(Diagnostic::new(&codes::UNKNOWN_TARGET, message, to.span).help(help));
        }
    }
}
