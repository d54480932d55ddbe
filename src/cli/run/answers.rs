//! Where the answers to a run's interrupts come from.

use std::collections::{BTreeMap, VecDeque};
use std::io::stdin;

use serde_json::Value as Json;

use crate::backend::scenario;
use crate::expr::TypeTable;
use crate::run::interrupt::{Answer, OpenInterrupt};
use crate::run::step::BEFORE;

use super::ask::{self, Asked};

/// Sources of answers, in this order: `--answer`, the scenario, a person. Each `--answer` stands in place of the one
/// that the scenario has for the same question.
#[derive(Debug, Default)]
pub struct Answers {
    /// Those of `--answer`, to interrupts in the order in which they open.
    pub given: VecDeque<Json>,
    /// Those of a scenario, in that order.
    pub scripted: VecDeque<Json>,
    /// The same, by path or name of the node.
    pub by_node: BTreeMap<String, VecDeque<Json>>,
    /// Whether a person can be asked.
    pub person: bool,
}

/// What is to be done about open interrupts.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The run goes on with these; stops before a node are passed.
    GoOn(Vec<Answer>),
    /// They stay open.
    Leave,
}

impl Answers {
    /// Adds those of a scenario.
    pub fn script(&mut self, answers: &scenario::Answers) {
        match answers {
            scenario::Answers::InOrder(list) => {
                self.scripted
                    .extend(list.iter().map(|answer| answer.value.clone()));
            }
            scenario::Answers::ByNode(nodes) => {
                for (node, list) in nodes {
                    let list = list.iter().map(|answer| answer.value.clone());
                    self.by_node.entry(node.clone()).or_default().extend(list);
                }
            }
        }
    }

    /// The answers to open interrupts.
    pub fn to(&mut self, open: &[OpenInterrupt], types: &TypeTable) -> Reply {
        let mut answers = Vec::new();
        for interrupt in open.iter().filter(|open| open.effect != BEFORE) {
            let named = self.by_node.get_mut(&interrupt.path);
            let scripted = named.and_then(VecDeque::pop_front);
            let scripted = scripted.or_else(|| self.scripted.pop_front());
            if let Some(value) = self.given.pop_front().or(scripted) {
                answers.push(answer(interrupt, value));
            }
        }
        match answers.is_empty() && self.person {
            false if answers.is_empty() => Reply::Leave,
            false => Reply::GoOn(answers),
            true => self.asked(open, types),
        }
    }

    /// What to say of the `--answer`s that no interrupt has asked for.
    pub fn unused(&self) -> Option<String> {
        let what = match self.given.len() {
            0 => return None,
            1 => "an `--answer` was".to_owned(),
            left => format!("{left} `--answer`s were"),
        };
        Some(format!(
            "warning: {what} not used: the run asked for no more"
        ))
    }

    /// What a person says. One who says nothing is not asked again.
    fn asked(&mut self, open: &[OpenInterrupt], types: &TypeTable) -> Reply {
        let mut answers = Vec::new();
        let mut stops = 0;
        for interrupt in open {
            let mut input = stdin().lock();
            let asked = match interrupt.effect == BEFORE {
                true => ask::pass(interrupt, &mut input, &mut ask::stderr),
                false => ask::ask(interrupt, types, &mut input, &mut ask::stderr),
            };
            match asked {
                Asked::Answer(value) => answers.push(answer(interrupt, value)),
                Asked::Pass => stops += 1,
                Asked::Nothing => self.person = false,
            }
            if !self.person {
                break;
            }
        }
        match answers.is_empty() && (stops == 0 || stops < open.len()) {
            true => Reply::Leave,
            false => Reply::GoOn(answers),
        }
    }
}

fn answer(interrupt: &OpenInterrupt, value: Json) -> Answer {
    Answer {
        interrupt: Some(interrupt.id.clone()),
        value,
    }
}
