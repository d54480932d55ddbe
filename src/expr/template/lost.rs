//! `set` within a loop of a name that is there outside of it: each round begins with the value from outside.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::{Span as Range, ast};

use crate::base::Span;
use crate::diag::{Diagnostic, Level, codes};

use super::check::Check;

/// What is followed of the loops around a place.
#[derive(Default)]
pub(super) struct Rounds {
    /// The loops around this place, the inner one last.
    open: Vec<Round>,
    /// Names that a loop which has ended gave a value.
    lost: BTreeMap<String, Given>,
    /// The name whose new value is being read, and what that reads.
    value: Option<Value>,
}

struct Round {
    /// How many names there were before it.
    outside: usize,
    /// Names from outside that were read in it so far, but in their own new value.
    read: BTreeSet<String>,
    /// Names from outside that were set in it.
    set: BTreeMap<String, Given>,
}

/// A value that a name from outside was given in a round.
#[derive(Clone, Copy)]
struct Given {
    /// Where.
    at: Span,
    /// Whether the round has read it since, so that it is of use there.
    used: bool,
    /// Whether what the name was before has been read in the round: this one was to be there in the next.
    goes_on: bool,
    /// Whether it is the same one in each round: what it was outside, and nothing of the round, makes it.
    same: bool,
}

/// What the new value of a name reads.
struct Value {
    name: String,
    /// Whether that is the name itself.
    own: bool,
    /// Whether something differs from round to round.
    varies: bool,
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
        let Some(round) = self.rounds.open.pop() else {
            return;
        };
        for (name, given) in round.set {
            match given.goes_on {
                true => self.lost(&name, given, None),
                false => _ = self.rounds.lost.insert(name, given),
            }
        }
    }

    /// Notes that a name is read.
    pub(super) fn reads_name(&mut self, name: &str, range: Range) {
        if let Some(given) = self.rounds.lost.remove(name) {
            let read = self.span(range);
            self.lost(name, given, Some(read));
        }
        let depth = self.locals.iter().rposition(|(known, _)| known == name);
        let innermost = self.rounds.open.last().map_or(0, |round| round.outside);
        let own = match &mut self.rounds.value {
            Some(value) if value.name == name => {
                value.own = true;
                true
            }
            Some(value) => {
                value.varies |= depth.is_some_and(|depth| depth >= innermost);
                false
            }
            None => false,
        };
        for round in &mut self.rounds.open {
            if let Some(given) = round.set.get_mut(name) {
                given.used = true;
            } else if !own && depth.is_some_and(|depth| depth < round.outside) {
                round.read.insert(name.to_owned());
            }
        }
    }

    /// Notes that the new value of a name is read from here on, up to [`sets_name`](Self::sets_name).
    pub(super) fn begins_value(&mut self, target: &ast::Expr) {
        if let ast::Expr::Var(var) = target {
            self.rounds.value = Some(Value {
                name: var.id.to_owned(),
                own: false,
                varies: false,
            });
        }
    }

    /// Notes that a name is set, behind its value.
    pub(super) fn sets_name(&mut self, target: &ast::Expr) {
        let value = self.rounds.value.take();
        let ast::Expr::Var(var) = target else {
            return;
        };
        let name = var.id;
        let at = self.span(var.span());
        let depth = self.locals.iter().rposition(|(known, _)| known == name);
        let Some(round) = self.rounds.open.last_mut() else {
            // A new value outside of all loops is what is read from here on.
            self.rounds.lost.remove(name);
            return;
        };
        let before = round.set.get(name).copied();
        if before.is_none() && depth.is_none_or(|depth| depth >= round.outside) {
            return;
        }
        let (own, varies) = value.map_or((false, true), |value| (value.own, value.varies));
        let goes_on = own || round.read.contains(name);
        let given = Given {
            at: before
                .filter(|first| first.goes_on)
                .map_or(at, |first| first.at),
            used: false,
            goes_on: goes_on || before.is_some_and(|first| first.goes_on),
            same: own && !varies,
        };
        round.set.insert(name.to_owned(), given);
    }

    /// Reports it: an error where the value is of no use at all, or would be the same in each round; else a doubt.
    fn lost(&mut self, name: &str, given: Given, read: Option<Span>) {
        let message =
            format!("`{name}` has its value from outside again in each round and behind the loop");
        let mut found = Diagnostic::new(&codes::LOST_SET, message, given.at)
            .here("this value is gone at the end of the round")
            .help(format!(
                "keep it in a namespace, `{{% set n = namespace({name}=..) %}}` and `{{% set n.{name} = .. %}}`, or use `loop.index`, `| length`, `| sum`"
            ));
        if given.used && !given.same {
            found.level = Level::Warning;
        }
        self.report(match read {
            Some(read) => found.label(read, "read here"),
            None => found,
        });
    }
}
