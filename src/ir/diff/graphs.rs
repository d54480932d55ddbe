//! Graphs: which there are, which runs unasked, what callers give and get, how they can be left.

use super::assignable::Use;
use super::finding::Group::{Breaking, Compatible};
use super::finding::Side::Callers;
use super::members::{Members, asked_for, declared, inputs, outputs};
use super::{Places, Versions};
use crate::expr::ty::RecordField;
use crate::ir::flow::Flow;
use crate::ir::graph::{Field, Graph};

/// A graph in both versions.
#[derive(Clone, Copy)]
pub(super) struct Both<'f> {
    pub old: &'f Graph,
    pub new: &'f Graph,
}

/// What callers of a graph know, in one version: its fields, its constants, and names by which it leaves.
pub(super) type Signature<'f> = (&'f [Field], &'f [RecordField], &'f [String]);

/// Whose contract is looked at.
pub(super) struct ContractOwner<'n> {
    /// The graph's name.
    pub name: &'n str,
    /// Where it is in the flow.
    pub path: String,
    /// Where it is declared in both versions.
    pub at: Places,
}

impl<'f> Versions<'f> {
    pub(super) fn graphs(&mut self) {
        let all = (self.old.graphs.iter(), self.new.graphs.iter());
        let gone = (Breaking, "graph-gone");
        let added = |_: &Graph| (Compatible, "graph-added", "");
        for (old, new) in self.both(("graph", "graphs", Callers), all, gone, added) {
            let both = Both { old, new };
            let owner = ContractOwner {
                name: &new.name,
                path: format!("/graphs/{}", new.name),
                at: (Some(old.at), Some(new.at)),
            };
            let signature = |graph: &'f Graph| {
                let fields: &'f [Field] = graph.fields.iter().as_slice();
                (fields, graph.context.as_slice(), graph.leaves.as_slice())
            };
            self.signature(&owner, signature(old), signature(new));
            self.fields(both);
            self.nodes(both);
            self.joins(both);
            self.lost(both);
        }
    }

    /// What callers give and get.
    pub(super) fn signature(
        &mut self,
        of: &ContractOwner<'_>,
        old: Signature<'f>,
        new: Signature<'f>,
    ) {
        let graph = of.name;
        let of_graph = |what: &str, list: &str, codes| Members {
            what: format!("{what} of graph `{graph}`"),
            path: format!("{}/{list}", of.path),
            at: of.at,
            side: Callers,
            codes,
            used: Use::Given,
            part: if list == "fields" { "/mode" } else { "" },
            added: &asked_for,
        };
        let codes = ["input-gone", "input-added", "input-required", "input-type"];
        let both = (
            inputs(self.old, old.0.iter()),
            inputs(self.new, new.0.iter()),
        );
        self.members(&of_graph("input", "fields", codes), (&both.0, &both.1));
        let codes = ["output-gone", "output-added", "output-type", "output-type"];
        let taken = Members {
            used: Use::Taken,
            added: &|_| Some((Compatible, "")),
            ..of_graph("output", "fields", codes)
        };
        let both = (outputs(old.0.iter()), outputs(new.0.iter()));
        self.members(&taken, (&both.0, &both.1));
        let codes = ["context-changed"; 4];
        let both = (declared(old.1), declared(new.1));
        self.members(&of_graph("context", "context", codes), (&both.0, &both.1));
        self.leaves(of, (old.2, new.2));
    }

    /// Names by which a graph leaves to its caller.
    fn leaves(&mut self, of: &ContractOwner<'_>, (old, new): (&[String], &[String])) {
        let graph = of.name;
        for name in new.iter().filter(|name| !old.contains(name)) {
            self.claim(format!("{}/leaves", of.path));
            let message =
                format!("graph `{graph}` may leave by `{name}`, which its callers must provide");
            self.say(Breaking, Callers, "leave-added", of.at, message);
        }
        for name in old.iter().filter(|name| !new.contains(name)) {
            self.claim(format!("{}/leaves", of.path));
            let message = format!("graph `{graph}` does not leave by `{name}` any more");
            self.say(Compatible, Callers, "leave-gone", of.at, message);
        }
    }

    /// The graph that runs where none is named.
    pub(super) fn entry_graph(&mut self) {
        let entry = |flow: &'f Flow| flow.entry.and_then(|id| flow.graphs.get(id));
        let (old, new) = (entry(self.old), entry(self.new));
        let [was, is] = [old, new].map(|graph| graph.map(|graph| &graph.name));
        if was == is {
            return;
        }
        let (group, message) = match (was, is) {
            (Some(was), Some(is)) => (
                Breaking,
                format!("graph `{is}` runs where none is named, and `{was}` did"),
            ),
            (Some(was), None) => (
                Breaking,
                format!("a graph must be named now; `{was}` ran where none was"),
            ),
            (None, is) => {
                let is = is.map_or("", String::as_str);
                (Compatible, format!("graph `{is}` runs where none is named"))
            }
        };
        self.claim("/entry".to_owned());
        let at = (old.map(|graph| graph.at), new.map(|graph| graph.at));
        self.say(group, Callers, "entry-changed", at, message);
    }
}
