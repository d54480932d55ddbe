//! Whether the arms of a route cover all cases, and whether each can be taken.

use std::rc::Rc;

use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::fold::inline::Inliner;
use crate::resolve::program::{Arm, Node, Route};

use super::condition::formula::Formula;
use super::condition::read::{Asked, ConditionReader};
use super::condition::solve::{Solution, Solver};
use super::condition::words;
use super::constant::Verdict;
use super::cx::Cx;

/// What the conditions of a route say.
pub struct Cases {
    asked: Asked,
    arms: Vec<Case>,
    verdicts: Vec<Option<Verdict>>,
}

/// What the condition of an arm says.
struct Case {
    /// What it asks where it holds.
    holds: Rc<Formula>,
    /// What it asks where it doesn't.
    fails: Rc<Formula>,
}

impl Cases {
    /// Reads the conditions in the scope of a place.
    pub fn of(cx: &Cx, arms: &[Arm]) -> Self {
        let mut cases = Self::read(cx, arms, false);
        let verdicts = arms.iter().map(|arm| Verdict::of(cx, arm.when.as_ref()?));
        cases.verdicts = verdicts.collect();
        cases
    }

    /// Reads conditions, `exact` or not: see [`ConditionReader`].
    fn read(cx: &Cx, arms: &[Arm], exact: bool) -> Self {
        let mut lets = Inliner::new(&cx.lets);
        let conditions = arms.iter().map(|arm| arm.when.as_ref());
        let conditions: Vec<_> = conditions
            .map(|when| when.map(|when| lets.read(when)))
            .collect();
        let asked = conditions.iter().filter_map(Option::as_deref);
        let mut questions = ConditionReader::of(cx, asked, exact);
        let arms = conditions.iter().map(|when| {
            let mut formula = |truth| {
                let when = when.as_deref();
                Rc::new(when.map_or(Formula::Is(truth), |when| questions.read(when, truth)))
            };
            Case {
                holds: formula(true),
                fails: formula(false),
            }
        });
        Self {
            arms: arms.collect(),
            asked: questions.asked,
            verdicts: Vec::new(),
        }
    }

    /// What is found out about the condition of an arm by itself, by position.
    pub fn verdict(&self, arm: usize) -> Option<&Verdict> {
        self.verdicts.get(arm)?.as_ref()
    }

    fn solver(&self) -> Solver<'_> {
        let parts = self.arms.iter().map(|case| case.fails.size()).sum();
        Solver::new(&self.asked, parts)
    }

    /// Reports arms that can't be taken and, where all conditions are `sound`, a case that no arm takes.
    pub fn report(&self, arms: &[Arm], span: Span, sound: bool, cx: &mut Cx) {
        let mut solver = self.solver();
        let mut left = Some(solver.begin());
        let mut last: Option<Span> = None;
        for (at, (arm, case)) in arms.iter().zip(&self.arms).enumerate() {
            match self.verdict(at) {
                // One that never holds is reported as such, and one that always does with what stands behind it.
                Some(Verdict { value: false, .. }) => continue,
                Some(Verdict { value: true, .. }) => return,
                None => {}
            }
            let place = arm.when.as_ref().map_or(arm.span, |when| when.span);
            let state = left.clone();
            let state = state.and_then(|state| solver.with(state, &case.holds));
            if let Some(before) = last.filter(|_| solver.never(state)) {
                let all = solver.never(left.clone());
                let (before, why) = match all {
                    true => (before, "the arms up to here take every case"),
                    false => {
                        let taker = self.taker(&mut solver, at).and_then(|at| arms.get(at));
                        let taker = taker.and_then(|arm| arm.when.as_ref());
                        let taker = taker.map_or(before, |when| when.span);
                        (taker, "taken here already")
                    }
                };
                cx.report(never_taken(&cx.leads_to(&arm.jump), place, before, why));
                // It is one mistake, however many arms stand behind.
                if all {
                    return;
                }
            }
            left = left.and_then(|state| solver.with(state, &case.fails));
            last = Some(place);
        }
        if sound
            && left.is_some()
            && let Some(found) = open(cx, arms, span)
        {
            cx.report(found);
        }
    }

    /// The first arm that takes all that one behind it could take.
    fn taker(&self, solver: &mut Solver, arm: usize) -> Option<usize> {
        let holds = &self.arms.get(arm)?.holds;
        let mut before = self.arms.iter().take(arm);
        before.position(|case| {
            let begin = solver.begin();
            let state = solver.with(begin, &case.fails);
            let state = state.and_then(|state| solver.with(state, holds));
            solver.never(state)
        })
    }
}

/// A case that no arm takes.
fn open(cx: &Cx, arms: &[Arm], span: Span) -> Option<Diagnostic> {
    let cases = Cases::read(cx, arms, true);
    if cases.asked.unknown {
        return None;
    }
    let mut solver = cases.solver();
    let mut left = Some(solver.begin());
    for case in &cases.arms {
        left = left.and_then(|state| solver.with(state, &case.fails));
    }
    let case = match solver.solve(left) {
        Solution::Nothing => return None,
        Solution::TooMuch => None,
        Solution::Something(answers) => Some(words::case(&cases.asked, &answers)),
    };
    let route = cx.route_of(span);
    let message = match case {
        None => format!(
            "whether the conditions of {route} cover all can't be told: there are too many cases, and no `else`"
        ),
        Some(Some((case, true))) => format!("no arm of {route} is taken where {case}"),
        Some(Some((case, false))) => format!("no arm of {route} is sure to be taken where {case}"),
        Some(None) => {
            format!("the conditions of {route} may all be false, and there is no `else`")
        }
    };
    let found = Diagnostic::new(&codes::ROUTE_NOT_EXHAUSTIVE, message, span);
    Some(found.help("add an arm for what is left: `else -> TARGET`"))
}

impl Cx<'_> {
    /// What a route belongs to, for messages.
    fn route_of(&self, span: Span) -> String {
        let Some(graph) = self.graph else {
            return match &self.tool {
                Some(tool) => format!("the `goto` of tool `{tool}`"),
                None => "the `goto`".to_owned(),
            };
        };
        let holds = |route: &Route| matches!(route, Route::Arms(_, own) if *own == span);
        let goto = |node: &&Node| node.goto.as_ref().is_some_and(|goto| holds(&goto.node));
        let handles = |node: &&Node| node.on_error.as_deref().is_some_and(holds);
        if let Some(node) = graph.nodes.iter().find(goto) {
            return format!("the `goto` of `{}`", node.name.node);
        }
        match graph.nodes.iter().find(handles) {
            Some(node) => format!("`on_error` of `{}`", node.name.node),
            None if graph.start.as_ref().is_some_and(holds) => {
                format!("`start` of `{}`", graph.name.node)
            }
            None => format!("`on_error` of graph `{}`", graph.name.node),
        }
    }
}

fn never_taken(to: &str, place: Span, before: Span, why: &str) -> Diagnostic {
    let message = format!("this arm to {to} can never be taken");
    Diagnostic::new(&codes::UNREACHABLE_ARM, message, place)
        .label(before, why)
        .help("take the arm out, or put it before the one that takes its cases")
}
