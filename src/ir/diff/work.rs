//! What a node does of its kind, as far as threads may rest in it: questions, called graphs and calls that have been made.

use super::assignable::{Use, assignable};
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::Threads;
use super::{Places, Versions};
use crate::expr::ty::Type;
use crate::ir::graph::Node;
use crate::ir::node::Work;

impl<'f> Versions<'f> {
    /// Two nodes of one name and kind.
    pub(super) fn work(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let of = &format!("node `{}` of graph `{graph}`", new.name);
        let path = format!("/graphs/{graph}/nodes/{}", new.name);
        let at = (Some(old.at), Some(new.at));
        let (from, to) = (self.old, self.new);
        match (&old.work, &new.work) {
            (Work::Interrupt { expect: was, .. }, Work::Interrupt { expect: is, .. }) => {
                let path = format!("{path}/expect");
                self.answer(of, path, at, (was.as_ref(), is.as_ref()));
            }
            (
                Work::Subgraph {
                    graph: was,
                    persist: kept,
                    ..
                },
                Work::Subgraph {
                    graph: is, persist, ..
                },
            ) => {
                let was = from.graphs.get(*was).map_or("", |graph| &graph.name);
                let is = to.graphs.get(*is).map_or("", |graph| &graph.name);
                if was != is {
                    self.claim(format!("{path}/graph"));
                    let message =
                        format!("{of} called graph `{was}`, calls `{is}`; threads may rest in it");
                    self.say(Breaking, Threads, "subgraph-changed", at, message);
                }
                if kept != persist {
                    self.claim(format!("{path}/persist"));
                    let message = format!("{of} keeps the state of `{is}` otherwise: `persist`");
                    self.say(NeedsMigration, Threads, "persist-changed", at, message);
                }
            }
            (Work::Call { tool: was, .. }, Work::Call { tool: is, .. }) => {
                let was = from.tools.get(*was).map_or("", |tool| &tool.name);
                let is = to.tools.get(*is).map_or("", |tool| &tool.name);
                let (code, did) = ("tool-changed", format!("{of} called tool"));
                self.other_effect(code, format!("{path}/tool"), at, did, (was, is));
            }
            (Work::Extern { name: was, .. }, Work::Extern { name: is, .. }) => {
                let (code, did) = ("extern-changed", format!("{of} ran"));
                self.other_effect(code, format!("{path}/extern"), at, did, (was, is));
            }
            _ => {}
        }
    }

    /// What a node calls is another: where a thread rests beside a call that has been made, the other is made as well.
    fn other_effect(
        &mut self,
        code: &'static str,
        path: String,
        at: Places,
        did: String,
        (was, is): (&str, &str),
    ) {
        if was != is {
            self.claim(path);
            let message = format!(
                "{did} `{was}`, now it is `{is}`; a thread that waits beside it, or after it, has made the old call; where it begins the node again it makes the new one too"
            );
            self.say(NeedsMigration, Threads, code, at, message);
        }
    }

    /// The type of an interrupt's answer, at a path: one that is on its way must still be taken.
    pub(super) fn answer(
        &mut self,
        of: &str,
        path: String,
        at: Places,
        (old, new): (Option<&Type>, Option<&Type>),
    ) {
        let from = (&self.old.types, old.unwrap_or(&Type::Json));
        let to = (&self.new.types, new.unwrap_or(&Type::Json));
        let (was, is) = (from.0.show(from.1).to_string(), to.0.show(to.1).to_string());
        let (group, why) = match assignable(from, to, Use::Given) {
            Err(why) => (Breaking, format!(": {why}")),
            Ok(()) if was != is => (Compatible, String::new()),
            Ok(()) => return,
        };
        let message = match was == is {
            true => format!("{of} expects another `{is}`{why}"),
            false => format!("{of} expected `{was}`, expects `{is}`{why}"),
        };
        self.claim(path);
        self.say(group, Threads, "answer-type", at, message);
    }
}
