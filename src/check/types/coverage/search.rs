//! Looks for answers for which all of some formulas hold.
//!
//! What a formula leaves to a single question narrows its answers; where only choices are left, one of them is tried both
//! ways. What ties answers to each other is followed with each. The steps are counted: routes are small, and of one that is
//! beyond nothing is known.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::formula::Formula;
use super::set::Set;
use super::ties::{Answers, Ties};

/// Most steps of one search, and how many there are for each part of its conditions, whichever is more.
const STEPS: usize = 100_000;
const STEPS_A_PART: usize = 40;

/// From so many formulas on, the answers to a question are tried in halves: each half leaves some of the formulas.
const MANY: usize = 64;

/// Answers of so many ranges at most are narrowed as soon as a formula does so: the next one sees it.
const FEW: usize = 8;

/// Some answers to a question.
#[derive(Debug, Clone)]
pub struct Among {
    /// Number of the question.
    pub of: usize,
    /// The answers.
    pub these: Rc<Set>,
}

/// What was found.
#[derive(Debug)]
pub enum Found {
    /// No answers for which all of them hold.
    Nothing,
    /// For each of these answers they hold, by question.
    Something(Answers),
    /// The search was too long.
    TooMuch,
}

/// Answers that are still possible, and what must hold of them.
#[derive(Clone)]
struct State {
    answers: Answers,
    formulas: Vec<Rc<Formula<Among>>>,
}

/// How many parts a formula has.
fn size(formula: &Formula<Among>) -> usize {
    match formula {
        Formula::Is(_) | Formula::Ask(_) => 1,
        Formula::All(parts) | Formula::Any(parts) => parts.iter().map(size).sum(),
    }
}

/// Looks for answers for which all formulas hold. `answers` are all there are to each question, and how many there are numbers
/// for.
pub fn found(formulas: &[Formula<Among>], answers: &[(Set, u32)], ties: &Ties) -> Found {
    let ends = answers.iter().map(|(_, end)| *end).collect();
    let answers = answers.iter().map(|(all, _)| Rc::new(all.clone()));
    let answers: Answers = answers.collect();
    if answers.iter().any(|all| all.is_empty()) {
        return Found::Something(answers);
    }
    let parts: usize = formulas.iter().map(size).sum();
    let mut search = Search {
        ends,
        ties,
        steps: 0,
        most: STEPS.max(STEPS_A_PART * parts),
    };
    let mut open = vec![State {
        answers,
        formulas: formulas.iter().cloned().map(Rc::new).collect(),
    }];
    while let Some(state) = open.pop() {
        let settled = search.settle(state);
        if search.steps > search.most {
            return Found::TooMuch;
        }
        let Some(state) = settled else { continue };
        let choice = match state.formulas.is_empty() {
            true => ties.choice(&state.answers),
            false => state.choice(),
        };
        let Some(choice) = choice else {
            return Found::Something(state.answers);
        };
        open.extend(search.both(state, &choice));
    }
    Found::Nothing
}

impl State {
    /// What to try next of what the formulas leave.
    fn choice(&self) -> Option<Among> {
        let mut formula = &**self.formulas.first()?;
        loop {
            match formula {
                Formula::Ask(ask) => {
                    let half = self.formulas.len() > MANY;
                    let known = self.answers.get(ask.of).filter(|_| half);
                    let these =
                        known.map_or_else(|| ask.these.clone(), |known| known.half().into());
                    return Some(Among { of: ask.of, these });
                }
                Formula::All(parts) | Formula::Any(parts) => formula = parts.first()?,
                Formula::Is(_) => return None,
            }
        }
    }
}

struct Search<'t> {
    ends: Vec<u32>,
    ties: &'t Ties,
    steps: usize,
    most: usize,
}

impl Search<'_> {
    /// Both sides of a choice.
    fn both(&mut self, state: State, choice: &Among) -> Vec<State> {
        self.steps += state.answers.len();
        let end = self.ends.get(choice.of).copied().unwrap_or_default();
        let sides = [choice.these.others(end), (*choice.these).clone()];
        let states = sides.into_iter().map(|side| {
            let mut state = state.clone();
            if let Some(known) = state.answers.get_mut(choice.of) {
                *known = Rc::new(known.and(&side));
            }
            state
        });
        states.collect()
    }

    /// What is left when all that leaves no choice is followed; `None` where no answers are left.
    fn settle(&mut self, mut state: State) -> Option<State> {
        loop {
            let mut open = std::mem::take(&mut state.formulas);
            let mut single: BTreeMap<usize, Vec<Rc<Set>>> = BTreeMap::new();
            let mut again = false;
            open.reverse();
            while let Some(formula) = open.pop() {
                match self.simpler(&formula, &state.answers) {
                    Formula::Is(true) => {}
                    Formula::Is(false) => return None,
                    Formula::Ask(ask) => match state.answers.get_mut(ask.of) {
                        Some(known) if known.ranges() <= FEW => {
                            let left = known.and(&ask.these);
                            if left.is_empty() {
                                return None;
                            }
                            *known = Rc::new(left);
                            again = true;
                        }
                        _ => single.entry(ask.of).or_default().push(ask.these),
                    },
                    Formula::All(parts) => open.extend(parts.into_iter().map(Rc::new)),
                    some @ Formula::Any(_) => state.formulas.push(Rc::new(some)),
                }
            }
            if self.steps > self.most {
                return Some(state);
            }
            if single.is_empty() && !again {
                match self.ties.narrow(&mut state.answers, &mut self.steps)? {
                    true => continue,
                    false => return Some(state),
                }
            }
            for (of, sets) in single {
                let end = self.ends.get(of).copied().unwrap_or_default();
                let known = state.answers.get_mut(of)?;
                let left = Set::common(sets.iter().map(|set| &**set).chain([&**known]), end);
                if left.is_empty() {
                    return None;
                }
                *known = Rc::new(left);
            }
        }
    }

    /// A formula without what the answers decide already.
    fn simpler(&mut self, formula: &Formula<Among>, answers: &[Rc<Set>]) -> Formula<Among> {
        match formula {
            Formula::Is(value) => Formula::Is(*value),
            Formula::Ask(ask) => self.asked(ask.clone(), answers),
            Formula::All(parts) => self.together(parts, answers, true),
            Formula::Any(parts) => self.together(parts, answers, false),
        }
    }

    fn asked(&mut self, ask: Among, answers: &[Rc<Set>]) -> Formula<Among> {
        let Some(known) = answers.get(ask.of) else {
            return Formula::Ask(ask);
        };
        self.steps += 1 + ask.these.ranges().min(known.ranges());
        let both = ask.these.and(known);
        match both.is_empty() {
            true => Formula::Is(false),
            false if both == **known => Formula::Is(true),
            false => Formula::Ask(ask),
        }
    }

    /// Parts that must all hold, or of which one is enough; those that ask the same are one.
    fn together(
        &mut self,
        parts: &[Formula<Among>],
        answers: &[Rc<Set>],
        all: bool,
    ) -> Formula<Among> {
        let mut left = Vec::new();
        let mut asks: BTreeMap<usize, Vec<Rc<Set>>> = BTreeMap::new();
        for part in parts {
            match self.simpler(part, answers) {
                Formula::Is(value) if value == all => {}
                Formula::Is(value) => return Formula::Is(value),
                Formula::Ask(ask) => asks.entry(ask.of).or_default().push(ask.these),
                other => left.push(other),
            }
        }
        for (of, sets) in asks.into_iter().rev() {
            let end = self.ends.get(of).copied().unwrap_or_default();
            let sets = sets.iter().map(|set| &**set);
            let these = match all {
                true => Set::common(sets, end),
                false => Set::either(sets),
            };
            let these = Rc::new(these);
            match self.asked(Among { of, these }, answers) {
                Formula::Is(value) if value == all => {}
                Formula::Is(value) => return Formula::Is(value),
                ask => left.insert(0, ask),
            }
        }
        match (left.len(), all) {
            (0, _) => Formula::Is(all),
            (1, _) => left.remove(0),
            (_, true) => Formula::All(left),
            (_, false) => Formula::Any(left),
        }
    }
}
