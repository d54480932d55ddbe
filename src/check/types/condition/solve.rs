//! Looks for values for which all of some formulas hold.

use std::rc::Rc;

use super::formula::{Ask, Formula};
use super::read::Asked;
use super::values::Values;

/// Most parts of formulas that are looked at, and how many there are for each part of the conditions, whichever is more.
const STEPS: usize = 300_000;
const STEPS_A_PART: usize = 100;

/// From so many formulas on the atoms of a question are tried in halves: each half leaves some of the formulas.
const MANY: usize = 64;

/// What is known of each question.
pub type Answers = Vec<Rc<Values>>;

/// Takes away from the answers to a question what is not among some values. Whether there was such; `None` where nothing is left.
fn keep(answers: &mut Answers, question: usize, these: &Values) -> Option<bool> {
    let known = answers.get_mut(question)?;
    if known.is_within(these) {
        return Some(false);
    }
    Rc::make_mut(known).keep(these);
    (!known.is_empty()).then_some(true)
}

/// What was found.
pub enum Solution {
    /// No values for which all of them hold.
    Nothing,
    /// For these values they hold, by question.
    Something(Answers),
    /// There was too much to look at.
    TooMuch,
}

/// What is known, and what must still hold.
#[derive(Clone)]
pub struct State {
    answers: Answers,
    formulas: Vec<Rc<Formula>>,
}

/// Looks for values, within a number of steps.
pub struct Solver<'q> {
    asked: &'q Asked,
    steps: usize,
}

impl<'q> Solver<'q> {
    /// For conditions of so many parts.
    pub fn new(asked: &'q Asked, parts: usize) -> Self {
        let steps = STEPS.max(STEPS_A_PART * parts);
        Self { asked, steps }
    }

    /// Nothing is known but what there can be.
    pub fn begin(&self) -> State {
        let questions = self.asked.questions.iter();
        State {
            answers: questions.map(|question| question.domain.clone()).collect(),
            formulas: Vec::new(),
        }
    }

    /// What is left where a formula holds too; `None` where that can't be.
    pub fn with(&mut self, state: State, formula: &Rc<Formula>) -> Option<State> {
        self.settle(state, vec![formula.clone()])
    }

    /// Looks for values for which all that is left holds.
    pub fn solve(&mut self, state: Option<State>) -> Solution {
        let mut open: Vec<State> = state.into_iter().collect();
        while let Some(state) = open.pop() {
            if self.steps == 0 {
                return Solution::TooMuch;
            }
            let Some((of, these)) = choice(&state) else {
                return Solution::Something(state.answers);
            };
            for these in [these.not(), these] {
                let mut state = state.clone();
                if keep(&mut state.answers, of, &these).is_some() {
                    let all = std::mem::take(&mut state.formulas);
                    open.extend(self.settle(state, all));
                }
            }
        }
        Solution::Nothing
    }

    /// Whether no values are left for which all holds, as far as that is found out.
    pub fn never(&mut self, state: Option<State>) -> bool {
        matches!(self.solve(state), Solution::Nothing)
    }

    /// What is left when all that leaves no choice is followed, of formulas that have come and then of all; `None` where nothing is.
    fn settle(&mut self, mut state: State, mut open: Vec<Rc<Formula>>) -> Option<State> {
        loop {
            let mut again = false;
            open.reverse();
            while let Some(formula) = open.pop() {
                match self.simpler(&formula, &state.answers) {
                    Formula::Is(true) => {}
                    Formula::Is(false) => return None,
                    Formula::Ask(ask) => again |= keep(&mut state.answers, ask.of, &ask.these)?,
                    Formula::All(parts) => open.extend(parts.into_iter().rev().map(Rc::new)),
                    some => state.formulas.push(Rc::new(some)),
                }
            }
            if self.steps == 0 || !again {
                return Some(state);
            }
            open = std::mem::take(&mut state.formulas);
        }
    }

    /// A formula without what is known already.
    fn simpler(&mut self, formula: &Formula, answers: &Answers) -> Formula {
        match formula {
            Formula::Is(value) => Formula::Is(*value),
            Formula::Ask(ask) => self.asked(ask, answers),
            Formula::All(parts) => self.parts(parts, answers, true),
            Formula::Any(parts) => self.parts(parts, answers, false),
        }
    }

    fn asked(&mut self, ask: &Ask, answers: &Answers) -> Formula {
        self.steps = self.steps.saturating_sub(1);
        match answers.get(ask.of) {
            Some(known) if ask.these.is_apart(known) => Formula::Is(false),
            Some(known) if known.is_within(&ask.these) => Formula::Is(true),
            _ => Formula::Ask(ask.clone()),
        }
    }

    fn parts(&mut self, parts: &[Formula], answers: &Answers, all: bool) -> Formula {
        let mut left = Vec::new();
        for part in parts {
            match self.simpler(part, answers) {
                Formula::Is(value) if value == all => {}
                Formula::Is(value) => return Formula::Is(value),
                part => left.push(part),
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

/// What to try both ways: a part of what is left.
fn choice(state: &State) -> Option<(usize, Values)> {
    let mut formula = &**state.formulas.get(state.formulas.len() / 2)?;
    loop {
        match formula {
            Formula::Ask(ask) => {
                let many = state.formulas.len() > MANY;
                let known = state.answers.get(ask.of).filter(|_| many);
                let half = known.and_then(|known| known.half());
                return Some((ask.of, half.unwrap_or_else(|| (*ask.these).clone())));
            }
            Formula::All(parts) | Formula::Any(parts) => formula = parts.first()?,
            Formula::Is(_) => return None,
        }
    }
}
