//! `set` within a loop of a name that is there outside of it: each round begins with the value from outside.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::machinery::{Span as Range, ast};

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::check::Check;

/// What is followed of the loops around a place.
#[derive(Default)]
pub(super) struct Loops {
    /// The loops around this place, the inner one last.
    open: Vec<Loop>,
    /// Names that a loop which has ended has set, each with the place.
    lost: BTreeMap<String, Span>,
}

struct Loop {
    /// How many names there were before it.
    outside: usize,
    /// Names from outside that were read in it before it has set them.
    read: BTreeSet<String>,
    /// Names from outside that it has set, each with the place.
    set: BTreeMap<String, Span>,
}

impl Check<'_> {
    /// Goes through the body of a loop. `outside` is how many names there are outside of it.
    pub(super) fn in_loop(&mut self, outside: usize, body: impl FnOnce(&mut Self)) {
        self.loops.open.push(Loop {
            outside,
            read: BTreeSet::new(),
            set: BTreeMap::new(),
        });
        body(self);
        let Some(ended) = self.loops.open.pop() else {
            return;
        };
        for (name, at) in ended.set {
            match ended.read.contains(&name) {
                true => self.lost_set(&name, at, None),
                false => _ = self.loops.lost.insert(name, at),
            }
        }
    }

    /// Notes that a name is read.
    pub(super) fn reads_name(&mut self, name: &str, range: Range) {
        if let Some(at) = self.loops.lost.remove(name) {
            let read = self.span(range);
            self.lost_set(name, at, Some(read));
        }
        let depth = self.locals.iter().rposition(|(known, _)| known == name);
        for around in &mut self.loops.open {
            if !around.set.contains_key(name) && depth.is_some_and(|at| at < around.outside) {
                around.read.insert(name.to_owned());
            }
        }
    }

    /// Notes that a name is set, behind its value.
    pub(super) fn sets_in_loop(&mut self, set: &ast::Set) {
        let ast::Expr::Var(var) = &set.target else {
            return;
        };
        let at = self.span(var.span());
        let depth = self.locals.iter().rposition(|(known, _)| known == var.id);
        match self.loops.open.last_mut() {
            // A new value outside of all loops is what is read from here on.
            None => _ = self.loops.lost.remove(var.id),
            Some(around) if depth.is_some_and(|depth| depth < around.outside) => {
                around.set.entry(var.id.to_owned()).or_insert(at);
            }
            Some(_) => {}
        }
    }

    fn lost_set(&mut self, name: &str, at: Span, read: Option<Span>) {
        let message =
            format!("`{name}` has its value from outside again in each round and behind the loop");
        let found = Diagnostic::new(&codes::LOST_SET, message, at)
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
