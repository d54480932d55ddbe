//! Graphs with parameters: their contract with flows that make instances of them. What runs are the instances, which are
//! compared as other graphs are.

use std::collections::BTreeMap;

use super::finding::Group::{Breaking, Compatible};
use super::finding::Side::Callers;
use super::fit::Way;
use super::graphs::Owner;
use super::members::asked_for;
use super::tree::{Tree, laid_out};
use super::{Versions, pairs};
use crate::ir::flow::{ItemParam, Parametric};

impl Versions<'_> {
    pub(super) fn parametric(&mut self) {
        let (old, new) = (self.old.parametric.iter(), self.new.parametric.iter());
        for pair in pairs(old, new, |graph| graph.name.as_str()) {
            let (group, code, how, graph) = match pair {
                (Some(old), Some(new)) => {
                    self.template(old, new);
                    continue;
                }
                (Some(gone), None) => (Breaking, "graph-gone", "is gone", gone),
                (None, Some(new)) => (Compatible, "graph-added", "is new", new),
                (None, None) => continue,
            };
            self.claim(format!("/parametric/{}", graph.name));
            let at = (pair.0.map(|graph| graph.at), pair.1.map(|graph| graph.at));
            let message = format!("graph with parameters `{}` {how}", graph.name);
            self.say(group, Callers, code, at, message);
        }
    }

    fn template(&mut self, old: &Parametric, new: &Parametric) {
        let owner = Owner {
            name: &new.name,
            path: format!("/parametric/{}", new.name),
            at: (Some(old.at), Some(new.at)),
        };
        let said = self.found.len();
        for change in self.members((&old.params, &new.params), Way::Given, asked_for) {
            self.claim(format!("{}/params/{}", owner.path, change.path));
            let message = format!("parameters of graph `{}`: {}", owner.name, change.what);
            self.say(change.group, Callers, "params-changed", owner.at, message);
        }
        for (old, new) in pairs(old.items.iter(), new.items.iter(), |item| &item.name) {
            self.item(&owner, old, new);
        }
        let path = format!("{}/fields", owner.path);
        for (old, new) in pairs(old.fields.iter(), new.fields.iter(), |field| &field.name) {
            let before = self.found.len();
            self.contract(owner.name, &path, old, new);
            if let Some(field) = new.or(old).filter(|_| self.found.len() > before) {
                self.claim(format!("{path}/{}", field.name));
            }
        }
        self.context(&owner, (&old.context, &new.context));
        self.leaves(&owner, (&old.leaves, &new.leaves));
        // How it is written has the contract in it, and instances show what it does.
        if self.found.len() > said || self.instances_differ(&new.name) {
            self.claim(format!("{}/text", owner.path));
            self.claim(format!("{}/texts", owner.path));
        }
    }

    /// A parameter that is no value.
    fn item(&mut self, of: &Owner<'_>, old: Option<&ItemParam>, new: Option<&ItemParam>) {
        let takes = |item: &ItemParam| laid_out(&item.ty.text, &BTreeMap::new());
        let (group, part, what) = match (old, new) {
            (Some(old), Some(new)) => {
                if takes(old) != takes(new) {
                    let (was, is) = (&old.ty.text, &new.ty.text);
                    let what = format!("`{}` took `{was}`, takes `{is}`", new.name);
                    (Breaking, "/ty", what)
                } else if old.default.is_some() && new.default.is_none() {
                    let what = format!("`{}` must be given", new.name);
                    (Breaking, "/default", what)
                } else {
                    return;
                }
            }
            (Some(gone), None) => (Breaking, "", format!("`{}` is gone", gone.name)),
            (None, Some(new)) => {
                let (group, how) = match new.default {
                    Some(_) => (Compatible, "may be given"),
                    None => (Breaking, "must be given"),
                };
                (group, "", format!("`{}` is new and {how}", new.name))
            }
            (None, None) => return,
        };
        let name = new.or(old).map_or("", |item| &item.name);
        self.claim(format!("{}/items/{name}{part}", of.path));
        let message = format!("parameters of graph `{}`: {what}", of.name);
        self.say(group, Callers, "params-changed", of.at, message);
    }

    /// Whether an instance of that graph is another in both versions.
    fn instances_differ(&self, name: &str) -> bool {
        let instances = |flow: &'_ Tree| -> BTreeMap<String, Tree> {
            let graphs = flow.get("graphs").map_or(&[] as &[Tree], Tree::elements);
            let of = |graph: &&Tree| {
                let of = graph.get("instance").and_then(|made| made.get("of"));
                of.and_then(Tree::text) == Some(name)
            };
            let made = graphs.iter().filter(of);
            let named = made.filter_map(|graph| Some((graph.name()?.to_owned(), graph.clone())));
            named.collect()
        };
        let (old, new) = (instances(self.trees.0), instances(self.trees.1));
        let mut both = old
            .iter()
            .filter_map(|(name, was)| Some((was, new.get(name)?)));
        both.any(|(was, is)| was != is)
    }
}
