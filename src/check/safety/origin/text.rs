//! What a template shows, by the names in its scope.

use std::collections::HashMap;

use crate::ast::node::TemplateText;
use crate::expr::template::{Printed, printed};

use super::env::Env;
use super::leaf::{Leaf, Path, leaves};
use super::made::{Made, unique};
use super::value::made;

/// What a template is made from.
pub fn template_leaves(template: &TemplateText, env: Env) -> Vec<Leaf> {
    let steps = printed(template);
    let mut namespaces: HashMap<String, Vec<Leaf>> = HashMap::new();
    // What a round of a loop sets stands there in the next one.
    // Each round hands on what is set by one more of them.
    let sets = steps
        .iter()
        .filter(|step| matches!(step, Printed::Adds(..)));
    for _ in 0..=sets.count() {
        let mut reading = Reading::new(env.clone(), &namespaces);
        let shown = reading.all(&steps);
        let sizes = |all: &HashMap<String, Vec<Leaf>>| all.values().map(Vec::len).sum::<usize>();
        let more = sizes(&reading.found) > sizes(&namespaces);
        let found = reading.found;
        if !more {
            return shown;
        }
        namespaces = found;
    }
    Reading::new(env, &namespaces).all(&steps)
}

struct Reading<'a> {
    env: Env,
    /// What is set into namespaces, as far as is known.
    known: &'a HashMap<String, Vec<Leaf>>,
    /// The same with what this reading has found.
    found: HashMap<String, Vec<Leaf>>,
    /// For each open block the names that it has bound, with what they were before.
    blocks: Vec<Vec<(String, Option<Made>)>>,
}

impl<'a> Reading<'a> {
    fn new(env: Env, known: &'a HashMap<String, Vec<Leaf>>) -> Self {
        Self {
            env,
            known,
            found: known.clone(),
            blocks: Vec::new(),
        }
    }

    fn all(&mut self, steps: &[Printed]) -> Vec<Leaf> {
        let mut shown = Vec::new();
        for step in steps {
            match step {
                Printed::Bind(name, value) => {
                    let made_from = made(value, &self.env);
                    let set = self.known.get(name).cloned().map(Made::from_leaves);
                    let made_from = match set {
                        Some(set) => Made::any([made_from, set]).mixed(),
                        None => made_from,
                    };
                    self.bind(name, made_from);
                }
                Printed::Adds(name, value) => self.add(name, &made(value, &self.env)),
                Printed::Shows(value) => shown.extend(leaves(value, &self.env)),
                Printed::Open => self.blocks.push(Vec::new()),
                Printed::Close { scoped } => self.close(*scoped),
            }
        }
        unique(shown)
    }

    fn bind(&mut self, name: &str, value: Made) {
        let before = self.env.put(name.to_owned(), Some(value));
        if let Some(block) = self.blocks.last_mut() {
            block.push((name.to_owned(), before));
        }
    }

    /// A field of a namespace is set. It stays, wherever that is done.
    fn add(&mut self, name: &str, value: &Made) {
        let all = self.found.entry(name.to_owned()).or_default();
        all.extend(value.leaves());
        *all = unique(std::mem::take(all));
        let before = self.env.get(name).cloned();
        let value = before.into_iter().chain([value.clone()]);
        self.env.insert(name.to_owned(), Made::any(value).mixed());
    }

    /// Names of a scope are gone behind it. Behind one of several ways they are what they were, or what that made them.
    fn close(&mut self, scoped: bool) {
        let Some(bound) = self.blocks.pop() else {
            return;
        };
        for (name, before) in bound.into_iter().rev() {
            if scoped {
                self.env.put(name, before);
                continue;
            }
            let path = || Path(vec![name.clone()]);
            let outer = before.clone();
            let outer = outer.unwrap_or_else(|| Made::leaf(Leaf::unplaced(path())));
            let now = self.env.get(&name).cloned();
            let either = Made::any(now.into_iter().chain([outer])).loose();
            self.env.put(name.clone(), Some(either));
            if let Some(block) = self.blocks.last_mut() {
                block.push((name, before));
            }
        }
    }
}
