//! Which answer goes to which interrupt.

use std::collections::BTreeMap;

use crate::project::scenario::{Answer, Answers};
use crate::project::yaml::Path;
use crate::run::interrupt::OpenInterrupt;

/// How many answers were used, by node; those that go in order are under `None`.
pub type Used = BTreeMap<Option<String>, usize>;

/// The answers of a scenario as they are used up.
#[derive(Debug, Default)]
pub struct Pending {
    answers: Answers,
    used: Used,
}

/// An answer to one interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Id of the interrupt.
    pub interrupt: String,
    /// The answer.
    pub answer: Answer,
    /// Its key in `answers`; `None` where they go in order.
    pub node: Option<String>,
}

impl Pending {
    /// The answers that are left after some were used.
    pub fn new(answers: &Answers, used: Used) -> Self {
        Self {
            answers: answers.clone(),
            used,
        }
    }

    /// An answer to each open interrupt that there is one for, in their order. Empty where none is
    /// left that fits.
    pub fn next(&mut self, open: &[OpenInterrupt]) -> Vec<Given> {
        let mut given = Vec::new();
        for interrupt in open {
            let (node, list) = match &self.answers {
                Answers::InOrder(list) => (None, list),
                Answers::ByNode(nodes) => {
                    let of = |name: &str| nodes.iter().find(|(node, _)| node == name);
                    match of(&interrupt.path).or_else(|| of(&interrupt.node)) {
                        Some((node, list)) => (Some(node.clone()), list),
                        None => continue,
                    }
                }
            };
            let used = self.used.entry(node.clone()).or_default();
            if let Some(answer) = list.get(*used) {
                *used += 1;
                given.push(Given {
                    interrupt: interrupt.id.clone(),
                    answer: answer.clone(),
                    node,
                });
            }
        }
        given
    }

    /// Where the answers are written that nothing asked for.
    pub fn left(&self) -> Vec<Path> {
        let after = |node: Option<&String>, list: &[Answer]| -> Vec<Path> {
            let used = self.used.get(&node.cloned()).copied().unwrap_or(0);
            list.iter()
                .skip(used)
                .map(|answer| answer.at.clone())
                .collect()
        };
        match &self.answers {
            Answers::InOrder(list) => after(None, list),
            Answers::ByNode(nodes) => nodes
                .iter()
                .flat_map(|(node, list)| after(Some(node), list))
                .collect(),
        }
    }
}
