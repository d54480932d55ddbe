//! Where the answers to a run's interrupts come from.

use std::collections::VecDeque;
use std::io::stdin;

use serde_json::Value as Json;

use crate::expr::TypeTable;
use crate::run::interrupt::{Answer, OpenInterrupt};
use crate::scenario::answers::Pending;

use super::ask::{self, Asked};

/// Sources of answers, in this order: `--answer`, the scenario, a person. Each `--answer` stands in place of the one
/// that the scenario has for the same question.
#[derive(Debug, Default)]
pub struct Answers {
    /// Those of `--answer`, to interrupts in the order in which they open.
    pub given: VecDeque<Json>,
    /// Those of a scenario.
    pub scripted: Pending,
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
    /// The answers to open interrupts.
    pub fn to(&mut self, open: &[OpenInterrupt], types: &TypeTable) -> Reply {
        let mut answers = Vec::new();
        let questions = open.iter().filter(|open| !open.is_stop());
        let questions: Vec<OpenInterrupt> = questions.cloned().collect();
        let scripted = self.scripted.next(&questions);
        for interrupt in &questions {
            let own = scripted.iter().find(|own| own.interrupt == interrupt.id);
            let scripted = || own.map(|own| own.answer.value.clone());
            if let Some(value) = self.given.pop_front().or_else(scripted) {
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
            let asked = match interrupt.is_stop() {
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
