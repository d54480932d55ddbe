//! The constants of a graph, which its callers give.

use super::finding::{Group, Side};
use super::fit::{Way, fits, tighter};
use super::graphs::Both;
use super::{Versions, pairs};

impl Versions<'_> {
    /// Constants that whoever starts a run gives.
    pub(super) fn context(&mut self, Both { old, new }: Both) {
        let at = (Some(old.at), Some(new.at));
        let graph = &new.name;
        for pair in pairs(old.context.iter(), new.context.iter(), |c| c.name.as_str()) {
            let (group, path, what) = match pair {
                (Some(old), Some(new)) => {
                    let from = (&self.old.types, &old.ty);
                    let to = (&self.new.types, &new.ty);
                    match fits(from, to, Way::Given) {
                        Ok(()) if new.required() && !old.required() => (
                            Group::Breaking,
                            format!("{}/default", new.name),
                            format!("`{}` must be given", new.name),
                        ),
                        Ok(()) if old.outer_name() != new.outer_name() => (
                            Group::Breaking,
                            format!("{}/constraints/alias", new.name),
                            format!(
                                "`{}` was given as `{}`, is as `{}`",
                                new.name,
                                old.outer_name(),
                                new.outer_name()
                            ),
                        ),
                        Ok(()) => match tighter(&old.constraints, &new.constraints) {
                            Some(which) => (
                                Group::Breaking,
                                format!("{}/constraints/{which}", new.name),
                                format!("`@{which}` of `{}` refuses more than before", new.name),
                            ),
                            None => continue,
                        },
                        Err(why) => (
                            Group::Breaking,
                            format!("{}/ty", new.name),
                            format!("`{}` is of another type: {why}", new.name),
                        ),
                    }
                }
                (Some(gone), None) => (
                    Group::Breaking,
                    gone.name.clone(),
                    format!("`{}` is gone", gone.name),
                ),
                (None, Some(added)) => {
                    let (group, how) = match added.required() {
                        true => (Group::Breaking, "must be given"),
                        false => (Group::Compatible, "may be given"),
                    };
                    let what = format!("`{}` is new and {how}", added.name);
                    (group, added.name.clone(), what)
                }
                (None, None) => continue,
            };
            self.claim(format!("/graphs/{graph}/context/{path}"));
            let message = format!("context of graph `{graph}`: {what}");
            self.say(group, Side::Callers, "context-changed", at, message);
        }
    }
}
