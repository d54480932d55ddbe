//! Values that are given together by their names: constants of a graph, arguments of a tool, an event's payload, a node's input.

use super::finding::Group::{self, Breaking, Compatible};
use super::fit::{Way, fits, tighter};
use super::{Versions, pairs};
use crate::expr::ty::RecordField;

/// A change of one of them.
pub(super) struct Change {
    /// How much it asks.
    pub group: Group,
    /// What has been said, as a path below that of all of them.
    pub path: String,
    /// What changed, in words.
    pub what: String,
}

impl Change {
    /// A change of what stands at a path.
    pub(super) fn new(group: Group, path: String, what: String) -> Self {
        Self { group, path, what }
    }
}

impl Versions<'_> {
    /// What changes for who gives or takes them. `added` says what one is that is new.
    pub(super) fn members(
        &self,
        (old, new): (&[RecordField], &[RecordField]),
        way: Way,
        added: impl Fn(&RecordField) -> Option<Change>,
    ) -> Vec<Change> {
        let pairs = pairs(old.iter(), new.iter(), |field| field.name.as_str());
        let changes = pairs.into_iter().filter_map(|pair| match pair {
            (Some(old), Some(new)) => self.member(old, new, way),
            (Some(gone), None) => {
                let name = &gone.name;
                let then = match way {
                    Way::Kept => "; tasks that wait have it, and it is lost",
                    Way::Given | Way::Taken => "",
                };
                let what = format!("`{name}` is gone{then}");
                Some(Change::new(Breaking, name.clone(), what))
            }
            (None, Some(new)) => added(new),
            (None, None) => None,
        });
        changes.collect()
    }

    /// One of a name that is in both versions.
    fn member(&self, old: &RecordField, new: &RecordField, way: Way) -> Option<Change> {
        let (was, is) = ((&self.old.types, &old.ty), (&self.new.types, &new.ty));
        let (fit, tighter, how) = match way {
            Way::Taken => {
                let which = tighter(&new.constraints, &old.constraints);
                (fits(is, was, way), which, "allows")
            }
            Way::Given | Way::Kept => {
                let which = tighter(&old.constraints, &new.constraints);
                (fits(was, is, way), which, "refuses")
            }
        };
        let name = &new.name;
        let (part, what) = match (fit, tighter) {
            (Err(why), _) => (
                "ty".to_owned(),
                format!("`{name}` is of another type: {why}"),
            ),
            (Ok(()), _) if way == Way::Given && new.required() && !old.required() => {
                ("default".to_owned(), format!("`{name}` must be given"))
            }
            (Ok(()), _) if way != Way::Kept && old.outer_name() != new.outer_name() => {
                let (was, is) = (old.outer_name(), new.outer_name());
                let what = format!("`{name}` was given as `{was}`, is as `{is}`");
                ("constraints/alias".to_owned(), what)
            }
            (Ok(()), Some(which)) if way != Way::Kept => {
                let what = format!("`@{which}` of `{name}` {how} more than before");
                (format!("constraints/{which}"), what)
            }
            (Ok(()), _) => return None,
        };
        Some(Change::new(Breaking, format!("{name}/{part}"), what))
    }
}

/// A value that whoever gives the others must give too, or may.
pub(super) fn asked_for(added: &RecordField) -> Option<Change> {
    let (group, how) = match added.required() {
        true => (Breaking, "must be given"),
        false => (Compatible, "may be given"),
    };
    let what = format!("`{}` is new and {how}", added.name);
    Some(Change::new(group, added.name.clone(), what))
}
