//! Conditions that are the same in every run: constant, or made of parts that exclude each other.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::base::AccessPath;
use crate::diag::{Diagnostic, Level, codes};
use crate::expr::fold::Folder;

use super::condition::formula::Formula;
use super::condition::read::ConditionReader;
use super::condition::solve::Solver;
use super::cx::Cx;
use super::written::Constant;

/// What a condition decides.
#[derive(Debug, Clone, Copy)]
pub enum Decides<'a> {
    /// An arm of a route, with where it leads.
    Arm(&'a str),
    /// `skip when` of that node
    Skip(&'a str),
    /// `until` of that agent
    Until(&'a str),
    /// `require`
    Require,
    /// `ensure`
    Ensure,
    /// `emit X .. when`
    Emit(&'a str),
    /// `exit when` of that graph
    Exit(&'a str),
}

impl Decides<'_> {
    /// What follows where the condition always has that value.
    fn follows(self, always: bool) -> (String, &'static str) {
        let what = match self {
            Decides::Arm(to) => format!("`when` of the arm to {to}"),
            Decides::Skip(node) => format!("`skip when` of `{node}`"),
            Decides::Until(node) => format!("`until` of `{node}`"),
            Decides::Require => "`require`".to_owned(),
            Decides::Ensure => "`ensure`".to_owned(),
            Decides::Emit(event) => format!("`when` of `emit {event}`"),
            Decides::Exit(graph) => format!("`exit when` of `{graph}`"),
        };
        let so = match (self, always) {
            (Decides::Arm(_), true) => "no arm behind it is ever taken",
            (Decides::Arm(_), false) => "this arm is never taken",
            (Decides::Skip(_), true) => "the node never does anything",
            (Decides::Skip(_), false) => "the node is never skipped",
            (Decides::Until(_), true) => "the agent stops after its first turn",
            (Decides::Until(_), false) => "it never stops the agent",
            (Decides::Require | Decides::Ensure, true) => "nothing is ever refused",
            (Decides::Require | Decides::Ensure, false) => "this always fails",
            (Decides::Emit(_), true) => "it is always sent",
            (Decides::Emit(_), false) => "it is never sent",
            (Decides::Exit(_), true) => "the graph ends after its first super-step",
            (Decides::Exit(_), false) => "it ends nothing",
        };
        (what, so)
    }
}

/// A condition that has one value, and what of it shows that.
pub struct Verdict {
    /// The value.
    pub value: bool,
    /// What of all values is ruled out, or taken, as it is shown; `None` where the condition is a constant, or it takes several
    /// things to say so.
    pub subject: Option<String>,
    /// The place whose value or size that is.
    pub place: Option<AccessPath>,
    /// Whether that place can have but one value.
    pub only_value: bool,
}

/// Places of a condition of which each may be the one that decides it.
const MOST_NAMED: usize = 64;

impl Cx<'_> {
    /// Types a condition, and reports one that is the same in every run. Whether it typed well.
    pub fn deciding(&mut self, expr: &Expr, decides: Decides) -> bool {
        let verdict = Verdict::of(self, expr);
        self.judged(expr, decides, verdict.as_ref())
    }

    /// The same where the verdict is known, should the condition type well.
    pub fn judged(&mut self, expr: &Expr, decides: Decides, verdict: Option<&Verdict>) -> bool {
        let before = self.diags.len();
        self.condition(expr);
        let mut said = self.diags.iter().skip(before);
        if said.any(|found| found.level == Level::Error) {
            return false;
        }
        // What is said of a part of it says enough.
        if let Some(Verdict {
            value,
            subject,
            place,
            ..
        }) = verdict.filter(|_| self.diags.len() == before)
        {
            let (what, so) = decides.follows(*value);
            let word = if *value { "always" } else { "never" };
            let subject = subject.as_deref();
            let constant = place.as_ref();
            let constant = constant.and_then(|place| Some((place, self.constants.get(place)?)));
            let written = constant.map(|(_, constant)| constant.span);
            let message = match (constant, subject) {
                (Some((place, Constant { shown, .. })), _) => {
                    format!("{what} is {word} true: `{place}` is `{shown}` here")
                }
                (None, Some(subject)) if *value => {
                    format!("{what} is always true: it takes every value of `{subject}`")
                }
                (None, Some(subject)) => {
                    format!("{what} is never true: no value of `{subject}` fits all of it")
                }
                (None, None) => format!("{what} is {word} true"),
            };
            let found = Diagnostic::new(&codes::CONSTANT_CONDITION, message, expr.span);
            let found = found
                .here(so)
                .help("compare something that differs from run to run, or take the condition out");
            self.report(match written {
                Some(written) => {
                    found.label(written, "written here, and the way on is chosen behind it")
                }
                None => found,
            });
        }
        true
    }
}

impl Verdict {
    /// The value of a condition that is the same in every run, whatever the parameters of the graph.
    pub fn of(cx: &Cx, expr: &Expr) -> Option<Verdict> {
        let (types, read) = (&cx.program.types, cx.inlined(expr));
        let expr = &*read;
        let folded = Folder::new(types, cx.scope.functions.clone(), Vec::new()).fold(expr);
        let constant = folded.bool().map(|value| Verdict {
            value,
            subject: None,
            place: None,
            only_value: false,
        });
        constant.or_else(|| Verdict::by_values(cx, expr))
    }

    /// By the values of what it asks.
    pub fn by_values(cx: &Cx, expr: &Expr) -> Option<Verdict> {
        let read = cx.inlined(expr);
        let expr = &*read;
        let mut questions = ConditionReader::of(cx, [expr], false);
        let formulas = [true, false].map(|truth| Rc::new(questions.read(expr, truth)));
        let asked = questions.asked;
        let mut solver = Solver::new(&asked, 0);
        let mut never = |formula: &Rc<Formula>| {
            let begin = solver.begin();
            let state = solver.with(begin, formula);
            solver.never(state)
        };
        let [holds, fails] = &formulas;
        let (value, denied) = match (never(holds), never(fails)) {
            (true, _) => (false, holds),
            (_, true) => (true, fails),
            _ => return None,
        };
        let mut named = BTreeSet::new();
        denied.each(&mut |ask| {
            named.insert(ask.of);
        });
        let few = named.into_iter().take(MOST_NAMED);
        let alone = few
            .filter_map(|of| Some((of, asked.questions.get(of)?)))
            .find(|(of, _)| never(&Rc::new(denied.only(*of))));
        let question = alone.map(|(_, question)| question);
        Some(Verdict {
            value,
            subject: question.and_then(|question| question.shown.clone()),
            place: question.and_then(|question| question.subject.access_path().cloned()),
            only_value: question.is_some_and(|question| question.domain.is_one()),
        })
    }
}
