//! `set` within a loop of a name that is there outside of it: each round begins with the value from outside.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::{Span as Range, ast};

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::check::Check;

/// What is followed of the loops around a place.
#[derive(Default)]
pub(super) struct Rounds {
    /// The loops around this place, the inner one last.
    open: Vec<Round>,
    /// Names that a loop which has ended gave a value, each with the place.
    lost: BTreeMap<String, Span>,
}

struct Round {
    /// How many names there were before it.
    outside: usize,
    /// Names from outside that were read in it so far.
    read: BTreeSet<String>,
    /// Names from outside that were set in it.
    set: BTreeMap<String, Span>,
}

impl Check<'_> {
    /// Goes through the body of a loop. `outside` is how many names there are outside of it.
    pub(super) fn round(&mut self, outside: usize, body: impl FnOnce(&mut Self)) {
        self.rounds.open.push(Round {
            outside,
            read: BTreeSet::new(),
            set: BTreeMap::new(),
        });
        body(self);
        if let Some(round) = self.rounds.open.pop() {
            self.rounds.lost.extend(round.set);
        }
    }

    /// Notes that a name is read.
    pub(super) fn reads_name(&mut self, name: &str, range: Range) {
        if let Some(set) = self.rounds.lost.remove(name) {
            let read = self.span(range);
            self.lost(name, set, Some(read));
        }
        let depth = self.locals.iter().rposition(|(known, _)| known == name);
        for round in &mut self.rounds.open {
            if depth.is_some_and(|depth| depth < round.outside) && !round.read.contains(name) {
                round.read.insert(name.to_owned());
            }
        }
    }

    /// Notes that a name is set, behind its value.
    pub(super) fn sets_name(&mut self, target: &ast::Expr) {
        let ast::Expr::Var(var) = target else {
            return;
        };
        let name = var.id;
        let span = self.span(var.span());
        let depth = self.locals.iter().rposition(|(known, _)| known == name);
        let Some(round) = self.rounds.open.last_mut() else {
            // A new value outside of all loops is what is read from here on.
            self.rounds.lost.remove(name);
            return;
        };
        if depth.is_none_or(|depth| depth >= round.outside) {
            return;
        }
        match round.read.contains(name) {
            true => self.lost(name, span, None),
            false => _ = round.set.insert(name.to_owned(), span),
        }
    }

    fn lost(&mut self, name: &str, set: Span, read: Option<Span>) {
        let message =
            format!("`{name}` has its value from outside again in each round and behind the loop");
        let found = Diagnostic::new(&codes::LOST_SET, message, set)
            .here("this value is gone at the end of the round")
            .help(format!(
                "keep it in a namespace, `{{% set n = namespace({name}=..) %}}` and `{{% set n.{name} = .. %}}`, or use `loop.index`, `| length`, `| sum`"
            ));
        self.report(match read {
            Some(read) => found.label(read, "read here"),
            None => found,
        });
    }
}
