//! `set` within a loop of a name that is there outside of it: each round begins with the value from outside.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::{self, Block, Event, LOOP, Statement, Target};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};

/// Warns of what a loop sets and loses.
pub(super) fn check(statements: &[Statement], diags: &mut Diagnostics) {
    let mut walk = Walk {
        names: Vec::new(),
        frames: Vec::new(),
        open: Vec::new(),
        lost: BTreeMap::new(),
        diags,
    };
    template::walk(statements, &mut |event| walk.event(event));
}

struct Walk<'a> {
    /// Names that the template has set, the latest last.
    names: Vec<String>,
    /// How many names there were before each frame around this place.
    frames: Vec<usize>,
    /// The loops around this place, the inner one last.
    open: Vec<Loop>,
    /// Names that a loop which has ended has set, each with the place.
    lost: BTreeMap<String, Span>,
    diags: &'a mut Diagnostics,
}

struct Loop {
    /// How many names there were before it.
    outside: usize,
    /// Names from outside that were read in it before it has set them.
    read: BTreeSet<String>,
    /// Names from outside that it has set, each with the place.
    set: BTreeMap<String, Span>,
}

impl Walk<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Text(..) => {}
            Event::Output(expr) | Event::Expr(expr) => self.reads(expr),
            Event::Set(target, _) => {
                if let Target::Name(name) = target {
                    self.sets(name);
                }
                self.declare(target);
            }
            Event::Open(Block::Way) | Event::Close(Block::Way) => {}
            Event::Open(block) => {
                let outside = self.names.len();
                self.frames.push(outside);
                if let Block::Loop(each) = block {
                    self.declare(&each.target);
                    self.names.push(LOOP.to_owned());
                    self.open.push(Loop {
                        outside,
                        read: BTreeSet::new(),
                        set: BTreeMap::new(),
                    });
                }
            }
            Event::Close(block) => {
                if let Block::Loop(_) = block {
                    self.ends();
                }
                self.names.truncate(self.frames.pop().unwrap_or(0));
            }
        }
    }

    fn declare(&mut self, target: &Target) {
        match target {
            Target::Field(of, _) => self.read(of, of.span),
            target => {
                let names = target.names().into_iter();
                self.names.extend(names.map(|name| name.node.clone()));
            }
        }
    }

    fn reads(&mut self, expr: &Expr) {
        if let ExprKind::Ident(name) = &expr.kind {
            self.read(name, expr.span);
        }
        expr.each_part(|part| self.reads(part));
    }

    fn read(&mut self, name: &str, place: Span) {
        let Some(depth) = self.names.iter().rposition(|known| known == name) else {
            return;
        };
        if let Some(at) = self.lost.remove(name) {
            self.report(name, at, Some(place));
        }
        for around in &mut self.open {
            if !around.set.contains_key(name) && depth < around.outside {
                around.read.insert(name.to_owned());
            }
        }
    }

    /// A name is set, behind its value.
    fn sets(&mut self, name: &Name) {
        let depth = self.names.iter().rposition(|known| *known == name.node);
        match self.open.last_mut() {
            // A new value outside of all loops is what is read from here on.
            None => _ = self.lost.remove(&name.node),
            Some(around) if depth.is_some_and(|depth| depth < around.outside) => {
                around.set.entry(name.node.clone()).or_insert(name.span);
            }
            Some(_) => {}
        }
    }

    /// A loop ends.
    fn ends(&mut self) {
        let Some(ended) = self.open.pop() else {
            return;
        };
        for (name, at) in ended.set {
            match ended.read.contains(&name) {
                true => self.report(&name, at, None),
                false => _ = self.lost.insert(name, at),
            }
        }
    }

    fn report(&mut self, name: &str, at: Span, read: Option<Span>) {
        let message =
            format!("`{name}` has its value from outside again in each round and behind the loop");
        let found = Diagnostic::new(&codes::LOST_SET, message, at)
            .here("this value is gone at the end of the round")
            .help(format!(
                "keep it in a namespace, `{{% set n = namespace({name}=..) %}}` and `{{% set n.{name} = .. %}}`, or use `loop.index`, `| length`, `| sum`"
            ));
        self.diags.push(match read {
            Some(read) => found.label(read, "read here"),
            None => found,
        });
    }
}
