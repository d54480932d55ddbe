//! `then` of an `each`: an arrow of the fan-out as a whole.

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::target::{Jump, Target as Written, TargetKind as WrittenKind};
use crate::diag::{Diagnostic, codes};

use super::Resolver;
use super::body::jump::At;
use super::target::{Target, TargetKind, Then};

/// What `then` may lead to, for messages.
const FORMS: &str = "a node, a branch, `end` or a list of these";

impl Resolver<'_> {
    /// What stands behind `then`. What can't stand there is reported.
    pub fn then(&mut self, at: At, written: &Written) -> Then {
        let members = match &written.kind {
            WrittenKind::All(members) => members.as_slice(),
            _ => std::slice::from_ref(written),
        };
        if members.is_empty() {
            self.bad_value(
                format!("`then` leads nowhere, expected {FORMS}"),
                written.span,
            );
        }
        let mut to: ThinVec<Target> = ThinVec::with_capacity(members.len());
        for member in members {
            let kind = match &member.kind {
                WrittenKind::Node(name) => {
                    self.target_named(at, &Name::new(name.clone(), member.span))
                }
                WrittenKind::End => TargetKind::End,
                other => {
                    self.not_behind_then(other, member);
                    TargetKind::Unknown
                }
            };
            to.push(Target {
                kind,
                span: member.span,
            });
        }
        Then {
            to,
            span: written.span,
        }
    }

    fn not_behind_then(&mut self, kind: &WrittenKind, member: &Written) {
        let (found, help) = match kind {
            WrittenKind::Fail(_) => ("`fail`", "go to a node or a branch that goes to `fail`"),
            WrittenKind::Parent(_) => (
                "a jump out of the graph",
                "go to a branch that leaves: `node out: branch { goto parent.NAME }`",
            ),
            WrittenKind::Computed(_) => (
                "a computed target",
                "go to a branch: it is decided on the state behind the tasks",
            ),
            WrittenKind::Each(_) => (
                "another `each`",
                "go to a branch that sends: `node more: branch { goto each .. }`",
            ),
            WrittenKind::All(_) => ("a list in a list", "write one list"),
            WrittenKind::Node(_) | WrittenKind::End => return,
        };
        let message = format!("`then` leads to {FORMS}, found {found}");
        self.report(&codes::BAD_VALUE, message, member.span, help);
    }

    /// Reports an update that stands behind `then`, which has none: it would be read as made with `then`, and be made with
    /// the sends.
    pub fn no_update_behind_then(&mut self, jump: &Jump) {
        let WrittenKind::Each(each) = &jump.target.kind else {
            return;
        };
        let Some(then) = &each.then else { return };
        let set = jump.set.iter().map(|item| item.field.span);
        let emits = jump.emits.iter().map(|emit| emit.span);
        let Some(first) = set.chain(emits).next() else {
            return;
        };
        let message = "`then` takes no update".to_owned();
        let found = Diagnostic::new(&codes::BAD_VALUE, message, first)
            .label(then.span, "behind this `then`")
            .help("what is written behind the tasks stands in the node that `then` leads to; with the sends, in a list: `[each .. then ..] { .. }`");
        self.diags.push(found);
    }
}
