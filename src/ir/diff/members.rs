//! Values that are given together by their names: inputs and outputs of a graph, its constants and parameters, arguments
//! of a tool, an event's payload, a node's input.

use super::assignable::{Use, assignable, tighter};
use super::finding::Group::{self, Breaking, Compatible};
use super::finding::Side;
use super::stored::begins;
use super::{Places, Versions, renamed};
use crate::expr::constraint::Constraints;
use crate::expr::ty::{RecordField, Type};
use crate::ir::flow::Flow;
use crate::ir::graph::Field;
use crate::ir::text::Place;

/// One of them.
pub(super) struct Member<'f> {
    name: &'f str,
    /// The name by which it is given.
    outer: &'f str,
    ty: &'f Type,
    constraints: &'f Constraints,
    /// Whether who gives the others must give it too.
    required: bool,
    at: Option<Place>,
}

/// All of them.
pub(super) struct Members<'n> {
    /// In messages.
    pub what: String,
    /// Where they are in the flow.
    pub path: String,
    pub at: Places,
    pub side: Side,
    /// Of one that is gone, that is new, that must be given from now on, and that is another.
    pub codes: [&'static str; 4],
    pub used: Use,
    /// The part of one that says whether it is one of them; empty where all of it does.
    pub part: &'static str,
    /// What one is that is new, by whether it is required.
    pub added: &'n dyn Fn(bool) -> Option<(Group, &'static str)>,
}

impl Versions<'_> {
    /// Says what changes for who gives or takes them.
    pub(super) fn members(&mut self, of: &Members<'_>, (old, new): (&[Member<'_>], &[Member<'_>])) {
        let [code_gone, code_added, code_required, code_changed] = of.codes;
        let pairs = renamed(
            old.iter(),
            new.iter(),
            |member| member.name,
            &Default::default(),
        );
        for (old, new) in pairs {
            let at = (
                old.map_or(of.at.0, |old| old.at.or(of.at.0)),
                new.map_or(of.at.1, |new| new.at.or(of.at.1)),
            );
            let (group, code, path, what) = match (old, new) {
                (Some(old), Some(new)) => match self.member(of.used, old, new) {
                    Some((part, what)) => {
                        let code = match part {
                            "default" => code_required,
                            _ => code_changed,
                        };
                        (Breaking, code, format!("{}/{part}", new.name), what)
                    }
                    None => continue,
                },
                (Some(gone), None) => {
                    let then = match of.used {
                        Use::Stored => "; tasks that wait have it, and it is lost",
                        Use::Given | Use::Taken => "",
                    };
                    let what = format!("`{}` is gone{then}", gone.name);
                    (
                        Breaking,
                        code_gone,
                        format!("{}{}", gone.name, of.part),
                        what,
                    )
                }
                (None, Some(new)) => match (of.added)(new.required) {
                    Some((group, how)) => {
                        let what = format!("`{}` is new{how}", new.name);
                        (group, code_added, format!("{}{}", new.name, of.part), what)
                    }
                    None => continue,
                },
                (None, None) => continue,
            };
            self.claim(format!("{}/{path}", of.path));
            self.say(group, of.side, code, at, format!("{}: {what}", of.what));
        }
    }

    /// What breaks of one that both versions have, and of which part of it.
    fn member(
        &self,
        used: Use,
        old: &Member<'_>,
        new: &Member<'_>,
    ) -> Option<(&'static str, String)> {
        let (was, is) = ((&self.old.types, old.ty), (&self.new.types, new.ty));
        let (from, to, how) = match used {
            Use::Taken => ((is, new), (was, old), "allows"),
            Use::Given | Use::Stored => ((was, old), (is, new), "refuses"),
        };
        let name = new.name;
        if let Err(why) = assignable(from.0, to.0, used) {
            return Some(("ty", format!("`{name}` is of another type: {why}")));
        }
        if used == Use::Stored {
            return None;
        }
        if used == Use::Given && new.required && !old.required {
            return Some(("default", format!("`{name}` must be given")));
        }
        if old.outer != new.outer {
            let (was, is) = (old.outer, new.outer);
            let what = format!("`{name}` was given as `{was}`, is as `{is}`");
            return Some(("alias", what));
        }
        let which = tighter(from.1.constraints, to.1.constraints)
            .first()
            .copied()?;
        let what = format!("`@{which}` of `{name}` {how} more than before");
        Some((which, what))
    }
}

/// A value that whoever gives the others must give too, or may.
pub(super) fn asked_for(required: bool) -> Option<(Group, &'static str)> {
    Some(match required {
        true => (Breaking, " and must be given"),
        false => (Compatible, " and may be given"),
    })
}

/// Fields that something declares.
pub(super) fn declared(fields: &[RecordField]) -> Vec<Member<'_>> {
    let members = fields.iter().map(|field| Member {
        name: &field.name,
        outer: field.outer_name(),
        ty: &field.ty,
        constraints: &field.constraints,
        required: field.required(),
        at: None,
    });
    members.collect()
}

/// Fields of a state that callers give.
pub(super) fn inputs<'f>(
    flow: &'f Flow,
    fields: impl Iterator<Item = &'f Field>,
) -> Vec<Member<'f>> {
    let fields = fields.filter(|field| field.mode.is_in());
    fields
        .map(|field| state(field, flow.write_type(field)))
        .collect()
}

/// Fields of a state that callers get.
pub(super) fn outputs<'f>(fields: impl Iterator<Item = &'f Field>) -> Vec<Member<'f>> {
    let fields = fields.filter(|field| field.mode.is_out());
    fields.map(|field| state(field, &field.ty)).collect()
}

fn state<'f>(field: &'f Field, ty: &'f Type) -> Member<'f> {
    Member {
        name: &field.name,
        outer: &field.name,
        ty,
        constraints: &field.constraints,
        required: !begins(field),
        at: Some(field.at),
    }
}
