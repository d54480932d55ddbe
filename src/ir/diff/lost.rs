//! `untracked` fields: a thread that goes on has lost their values, and what reads them from now on meets none.

use super::Versions;
use super::fields::begins;
use super::finding::Group::NeedsMigration;
use super::finding::Side::Threads;
use super::graphs::Both;
use super::nodes::doing;

impl Versions<'_> {
    /// Fields that are in no checkpoint and begin without a value, where the nodes of their graph do something else now.
    pub(super) fn lost(&mut self, both: Both) {
        let renames = &both.new.migrate.fields;
        let graph = both.new.name.as_str();
        let mut changed = None;
        for new in &both.new.fields {
            let mut old = both.old.fields.iter();
            let old = old.find(|old| renames.get(&old.name).unwrap_or(&old.name) == &new.name);
            let old = old.filter(|old| old.untracked && new.untracked);
            let Some(old) = old.filter(|_| !begins(new) && !new.mode.is_in()) else {
                continue;
            };
            let (was, is) = self.trees;
            let changed = changed.get_or_insert_with(|| doing(was, graph) != doing(is, graph));
            if !*changed {
                return;
            }
            let message = format!(
                "field `{}` of graph `{graph}` is in no checkpoint and has no first value; threads that go on lack it, and nodes that have changed may read it",
                new.name
            );
            let at = (Some(old.at), Some(new.at));
            self.say(NeedsMigration, Threads, "field-unset", at, message);
        }
    }
}
