//! What a node does of its kind, as far as threads may rest in it: questions, called graphs and calls that have been made.

use super::Versions;
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::Threads;
use super::fit::{Way, fits};
use crate::expr::ty::Type;
use crate::ir::flow::Flow;
use crate::ir::graph::Node;
use crate::ir::node::Work;
use crate::ir::text::Place;

impl<'f> Versions<'f> {
    /// Two nodes of one name and kind.
    pub(super) fn work(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let of = format!("node `{}` of graph `{graph}`", new.name);
        let path = format!("/graphs/{graph}/nodes/{}/work", new.name);
        let at = (Some(old.at), Some(new.at));
        match (&old.work, &new.work) {
            (Work::Interrupt { expect: from, .. }, Work::Interrupt { expect: to, .. }) => {
                let path = format!("{path}/interrupt/expect");
                self.answer(&of, &path, (old, new), (from.as_ref(), to.as_ref()));
            }
            (
                Work::Subgraph {
                    graph: was,
                    persist: from,
                    ..
                },
                Work::Subgraph {
                    graph: is,
                    persist: to,
                    ..
                },
            ) => {
                let name = |flow: &Flow, id| {
                    let graph = flow.graphs.get(id);
                    graph.map_or(String::new(), |graph| graph.name.clone())
                };
                let (was, is) = (name(self.old, *was), name(self.new, *is));
                if was != is {
                    self.claim(format!("{path}/subgraph/graph"));
                    let message =
                        format!("{of} called graph `{was}`, calls `{is}`; threads may rest in it");
                    let code = "subgraph-changed";
                    self.say(Breaking, Threads, code, at, message);
                }
                if from != to {
                    self.claim(format!("{path}/subgraph/persist"));
                    let message = format!("{of} keeps the state of `{is}` otherwise: `persist`");
                    let code = "persist-changed";
                    self.say(NeedsMigration, Threads, code, at, message);
                }
            }
            (Work::Call { tool: was, .. }, Work::Call { tool: is, .. }) => {
                let name = |flow: &'f Flow, id| flow.tools.get(id).map(|tool| &tool.name);
                let (was, is) = (name(self.old, *was), name(self.new, *is));
                let path = format!("{path}/call/tool");
                self.other_effect((&of, &path, "tool-changed"), at, "called tool", (was, is));
            }
            (Work::Extern { name: was, .. }, Work::Extern { name: is, .. }) => {
                let path = format!("{path}/extern/name");
                let pair = (Some(was), Some(is));
                self.other_effect((&of, &path, "extern-changed"), at, "ran", pair);
            }
            _ => {}
        }
    }

    /// What a node calls is another: where a thread rests beside a call that has been made, the other is made as well.
    fn other_effect(
        &mut self,
        (of, path, code): (&str, &str, &'static str),
        at: (Option<Place>, Option<Place>),
        did: &str,
        (was, is): (Option<&String>, Option<&String>),
    ) {
        if was == is {
            return;
        }
        let (was, is) = (
            was.map_or("", String::as_str),
            is.map_or("", String::as_str),
        );
        self.claim(path.to_owned());
        let message = format!(
            "{of} {did} `{was}`, now it is `{is}`; a thread that waits beside it, or after it, has made the old call; where it begins the node again it makes the new one too"
        );
        self.say(NeedsMigration, Threads, code, at, message);
    }

    /// The type of an interrupt's answer, at a path: one that is on its way must still be taken.
    pub(super) fn answer(
        &mut self,
        of: &str,
        path: &str,
        pair: (&Node, &Node),
        (old, new): (Option<&Type>, Option<&Type>),
    ) {
        let at = (Some(pair.0.at), Some(pair.1.at));
        let from = (&self.old.types, old.unwrap_or(&Type::Json));
        let to = (&self.new.types, new.unwrap_or(&Type::Json));
        let (was, is) = (from.0.show(from.1).to_string(), to.0.show(to.1).to_string());
        let message = match was == is {
            true => format!("{of} expects another `{is}`"),
            false => format!("{of} expected `{was}`, expects `{is}`"),
        };
        match fits(from, to, Way::Given) {
            Err(why) => {
                self.claim(path.to_owned());
                let message = format!("{message}: {why}");
                self.say(Breaking, Threads, "answer-type", at, message);
            }
            Ok(()) if was != is => {
                self.claim(path.to_owned());
                self.say(Compatible, Threads, "answer-type", at, message);
            }
            Ok(()) => {}
        }
    }
}
