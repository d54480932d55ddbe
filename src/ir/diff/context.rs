//! The constants of a graph, which its callers give.

use super::Versions;
use super::finding::Side::Callers;
use super::fit::Way;
use super::graphs::Owner;
use super::members::asked_for;
use crate::expr::ty::RecordField;

impl Versions<'_> {
    /// Constants that whoever starts a run gives.
    pub(super) fn context(&mut self, of: &Owner<'_>, both: (&[RecordField], &[RecordField])) {
        for change in self.members(both, Way::Given, asked_for) {
            self.claim(format!("{}/context/{}", of.path, change.path));
            let message = format!("context of graph `{}`: {}", of.name, change.what);
            self.say(change.group, Callers, "context-changed", of.at, message);
        }
    }
}
