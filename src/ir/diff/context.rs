//! The constants of a graph, which its callers give.

use super::Versions;
use super::finding::Side::Callers;
use super::fit::Way;
use super::graphs::Both;
use super::members::asked_for;

impl Versions<'_> {
    /// Constants that whoever starts a run gives.
    pub(super) fn context(&mut self, Both { old, new }: Both) {
        let at = (Some(old.at), Some(new.at));
        let graph = &new.name;
        for change in self.members((&old.context, &new.context), Way::Given, asked_for) {
            self.claim(format!("/graphs/{graph}/context/{}", change.path));
            let message = format!("context of graph `{graph}`: {}", change.what);
            self.say(change.group, Callers, "context-changed", at, message);
        }
    }
}
