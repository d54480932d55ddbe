//! Graphs with parameters: their contract with flows that make instances of them. What runs are the instances, which are
//! compared as other graphs are.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::assignable::Use;
use super::finding::Group::{Breaking, Compatible};
use super::finding::Side::Callers;
use super::graphs::ContractOwner;
use super::members::{Members, asked_for, declared};
use super::named::without_places;
use super::text::laid_out;
use super::{Versions, pairs, renamed};
use crate::ir::flow::{ItemParam, Parametric};

impl Versions<'_> {
    pub(super) fn parametric(&mut self) {
        let all = (self.old.parametric.iter(), self.new.parametric.iter());
        let what = ("graph with parameters", "parametric", Callers);
        let added = |_: &Parametric| (Compatible, "graph-added", "");
        for (old, new) in self.both(what, all, (Breaking, "graph-gone"), added) {
            let owner = ContractOwner {
                name: &new.name,
                path: format!("/parametric/{}", new.name),
                at: (Some(old.at), Some(new.at)),
            };
            let said = self.found.len();
            let values = Members {
                what: format!("parameters of graph `{}`", new.name),
                path: format!("{}/params", owner.path),
                at: owner.at,
                side: Callers,
                codes: ["params-changed"; 4],
                used: Use::Given,
                part: "",
                added: &asked_for,
            };
            self.members(&values, (&declared(&old.params), &declared(&new.params)));
            let items = (old.items.iter(), new.items.iter());
            for pair in renamed(items.0, items.1, |item| &item.name, &BTreeMap::new()) {
                self.item(&owner, pair);
            }
            let signatures = [old, new].map(|graph| {
                let Parametric {
                    fields,
                    context,
                    leaves,
                    ..
                } = graph;
                (fields.as_slice(), context.as_slice(), leaves.as_slice())
            });
            self.signature(&owner, signatures[0], signatures[1]);
            for (old, new) in pairs(old.fields.iter(), new.fields.iter()) {
                if let (Some(lone), None) | (None, Some(lone)) = (old, new) {
                    self.claim(format!("{}/fields/{}", owner.path, lone.name));
                }
            }
            // How it is written has the contract in it, and instances show what it does.
            if self.found.len() > said || self.instances_differ(&new.name) {
                self.claim(format!("{}/text", owner.path));
                self.claim(format!("{}/texts", owner.path));
            }
        }
    }

    /// A parameter that is no value.
    fn item(&mut self, of: &ContractOwner<'_>, pair: (Option<&ItemParam>, Option<&ItemParam>)) {
        let takes = |item: &ItemParam| laid_out(&item.ty.text, &BTreeMap::new());
        let (group, name, part, what) = match pair {
            (Some(old), Some(new)) if takes(old) != takes(new) => {
                let (was, is) = (&old.ty.text, &new.ty.text);
                (
                    Breaking,
                    &new.name,
                    "/ty",
                    format!("took `{was}`, takes `{is}`"),
                )
            }
            (Some(old), Some(new)) if old.default.is_some() && new.default.is_none() => {
                (Breaking, &new.name, "/default", "must be given".to_owned())
            }
            (Some(gone), None) => (Breaking, &gone.name, "", "is gone".to_owned()),
            (None, Some(new)) => {
                let Some((group, how)) = asked_for(new.default.is_none()) else {
                    return;
                };
                (group, &new.name, "", format!("is new{how}"))
            }
            _ => return,
        };
        self.claim(format!("{}/items/{name}{part}", of.path));
        let message = format!("parameters of graph `{}`: `{name}` {what}", of.name);
        self.say(group, Callers, "params-changed", of.at, message);
    }

    /// Whether an instance of that graph is another in both versions.
    fn instances_differ(&self, name: &str) -> bool {
        let instances = |flow: &Map<String, Json>| -> BTreeMap<String, Json> {
            let graphs = flow.get("graphs").and_then(Json::as_array);
            let graphs = graphs.into_iter().flatten();
            let made = graphs.filter(|graph| {
                let of = graph.pointer("/instance/of");
                of.and_then(Json::as_str) == Some(name)
            });
            let made = made.map(|graph| (graph["name"].to_string(), without_places(graph)));
            made.collect()
        };
        let (old, new) = (instances(self.named.0), instances(self.named.1));
        let mut both = old
            .iter()
            .filter_map(|(name, was)| Some((was, new.get(name)?)));
        both.any(|(was, is)| was != is)
    }
}
