//! `where` on tools: that a condition speaks of the arguments and leaves some call, and what it leaves.
//!
//! A condition is any expression on the arguments. As far as it asks something of single arguments, what is left of each is
//! known ([`space`]): that is compared with the parameter's own type and attributes here, with the scope above in
//! [`scope`](super::scope), and becomes part of the schema that a model is shown.

pub mod space;
pub mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::base::name::list;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Fact, Home, Level, codes};
use crate::expr::Type;
use crate::expr::infer::{default_value, reads};
use crate::ir::ToolId;
use crate::ir::narrow::Argument;
use crate::resolve::program::{Narrowing, NarrowingId, Param, Program, Tool};

use super::types::condition::formula::Formula;
use super::types::condition::read::{ConditionReader, Subject};
use super::types::condition::values::Values;
use super::types::cx::Cx;
use space::Space;

/// Reports conditions that are wrong by themselves, each once, and gives them back.
pub fn narrowings(program: &Program, diags: &mut Diagnostics) -> BTreeSet<NarrowingId> {
    let mut wrong = BTreeSet::new();
    for (id, narrowing) in program.narrowings.entries() {
        for used in &narrowing.tools {
            let Some(tool) = program.tools.get(used.tool) else {
                continue;
            };
            let before = diags.len();
            let spaces = Spaces::after(program, tool, &used.narrowed);
            condition(program, narrowing, (tool, spaces), diags);
            // What is wrong for one tool of a toolset is seldom right for the next.
            let mut new = diags.iter().skip(before);
            if new.any(|found| found.level == Level::Error) {
                wrong.insert(id);
            }
            if diags.len() > before {
                break;
            }
        }
    }
    wrong
}

fn condition(
    program: &Program,
    narrowing: &Narrowing,
    (tool, mut spaces): (&Tool, Spaces<'_>),
    diags: &mut Diagnostics,
) {
    // What is wrong with the conditions before it is reported there.
    if spaces.empty().is_some() {
        return;
    }
    let condition = &narrowing.condition;
    let mut cx = arguments(program, tool, condition.span.file);
    cx.infer(condition, Some(&Type::Bool));
    if !cx.diags.is_empty() {
        for mut found in cx.diags {
            // What is in scope is what the tool takes.
            for fact in &mut found.facts {
                if let Fact::Unknown(unknown) = fact
                    && matches!(unknown.home, Home::Scope(_))
                    && !unknown.name.contains('.')
                {
                    unknown.home = Home::Takes(tool.name.span);
                }
            }
            let outside = found.code == &codes::UNKNOWN_NAME && found.help.is_none();
            diags.push(match outside {
                true => found.help(sees(tool)),
                false => found,
            });
        }
        return;
    }
    if reads(condition, &cx.scope).slots.is_empty() {
        let name = &tool.name.node;
        let message = format!("this `where` asks nothing of the arguments of `{name}`");
        diags.push(
            Diagnostic::new(&codes::IMPOSSIBLE_WHERE, message, condition.span).help(sees(tool)),
        );
        return;
    }
    let (found, _) = tests(&cx, tool, condition);
    for test in &found {
        if let Some(problem) = spaces.narrow(test) {
            diags.push(problem.report(tool, test));
            return;
        }
    }
}

fn sees(tool: &Tool) -> String {
    let name = &tool.name.node;
    match tool.params.is_empty() {
        true => format!("`where` sees the arguments of the tool, and `{name}` takes none"),
        false => format!(
            "`where` sees the arguments of `{name}` and nothing else: {}",
            list(tool.params.iter().map(|param| param.name.node.as_str()))
        ),
    }
}

/// The place where a condition on the arguments of a tool stands.
fn arguments<'a>(program: &'a Program, tool: &Tool, file: FileId) -> Cx<'a> {
    let mut cx = Cx::outside(program, file);
    for param in &tool.params {
        cx.declare(&param.name.node, param.ty.node.clone());
    }
    cx
}

/// One demand on one argument.
pub struct Test {
    /// The parameter.
    param: String,
    /// Whether its size is asked for.
    sized: bool,
    /// The values that are let through.
    these: Rc<Values>,
    /// The part of the condition that asks it.
    span: Span,
}

/// The tests that a condition comes to, all of which must hold; `false` where it asks for more than they say.
fn tests(cx: &Cx, tool: &Tool, condition: &Expr) -> (Vec<Test>, bool) {
    let mut questions = ConditionReader::of(cx, [], false);
    let (mut found, mut whole) = (Vec::new(), true);
    let mut open = vec![condition];
    while let Some(part) = open.pop() {
        if let ExprKind::Logical(LogicalOp::And, parts) = &part.kind {
            open.extend(parts.iter().rev());
            continue;
        }
        let Formula::Ask(ask) = questions.read(part, true) else {
            whole = false;
            continue;
        };
        let question = questions.asked.questions.get(ask.of);
        let subject = question.map(|question| &question.subject);
        let name = subject.and_then(|subject| subject.access_path()?.as_name());
        let params = tool.params.iter();
        let mut params = params.filter(|param| Some(param.name.as_str()) == name);
        match params.next() {
            Some(param) => found.push(Test {
                param: param.name.node.clone(),
                sized: matches!(subject, Some(Subject::Size(_))),
                these: ask.these,
                span: part.span,
            }),
            None => whole = false,
        }
    }
    (found, whole)
}

/// What is left of the arguments of a tool.
pub struct Spaces<'a> {
    tool: &'a Tool,
    cx: Cx<'a>,
    by_name: BTreeMap<&'a str, (Space, Option<Span>)>,
    /// Whether the conditions so far ask for nothing else.
    pub whole: bool,
}

/// What is wrong with a test.
enum Problem {
    /// Nothing is left; where an earlier test asks for something else.
    Empty(Option<Span>),
    /// All was let through already.
    Useless,
}

impl<'a> Spaces<'a> {
    /// All that the tool takes.
    pub fn new(program: &'a Program, tool: &'a Tool) -> Self {
        let cx = arguments(program, tool, tool.span.file);
        let params = tool.params.iter();
        let params = params.map(|param| (param.name.node.as_str(), (Space::of(param, &cx), None)));
        Self {
            tool,
            by_name: params.collect(),
            cx,
            whole: true,
        }
    }

    /// What all of these conditions leave.
    pub fn after(program: &'a Program, tool: &'a Tool, narrowed: &[NarrowingId]) -> Self {
        let mut spaces = Self::new(program, tool);
        for narrowing in narrowed.iter().filter_map(|id| program.narrowings.get(*id)) {
            spaces.take(narrowing);
        }
        spaces
    }

    /// Takes away what a condition doesn't let through. Whether its tests say all of it.
    pub fn take(&mut self, narrowing: &Narrowing) -> bool {
        let (found, whole) = tests(&self.cx, self.tool, &narrowing.condition);
        for test in &found {
            self.narrow(test);
        }
        self.whole &= whole;
        whole
    }

    /// A parameter of which nothing is left.
    pub fn empty(&self) -> Option<&str> {
        let mut spaces = self.by_name.iter();
        spaces
            .find(|(_, (space, _))| space.is_empty())
            .map(|(name, _)| *name)
    }

    fn narrow(&mut self, test: &Test) -> Option<Problem> {
        let mut params = self.tool.params.iter();
        let param = params.find(|param| param.name.node == test.param)?;
        let (space, last) = self.by_name.get_mut(test.param.as_str())?;
        let before = space.clone();
        space.apply(test, param);
        let earlier = last.replace(test.span);
        if space.is_empty() {
            Some(Problem::Empty(earlier))
        } else {
            (before == *space).then_some(Problem::Useless)
        }
    }

    /// A parameter of which `other` leaves more, in order; `None` where this lets all of it through, as
    /// far as that is known. What the flow fixes is known when it runs.
    pub fn narrower_than(&self, other: &Spaces<'_>, fixed: &[(Span, String)]) -> Option<&'a str> {
        let mut params = self.tool.params.iter();
        let found = params.find(|param| {
            let space = |spaces: &Spaces<'_>| {
                spaces
                    .by_name
                    .get(param.name.node.as_str())
                    .map(|(s, _)| s.clone())
            };
            match (space(self), space(other)) {
                (Some(own), Some(other))
                    if fixed.iter().all(|(_, name)| *name != param.name.node) =>
                {
                    !own.covers(&other, param)
                }
                _ => false,
            }
        });
        found.map(|param| param.name.node.as_str())
    }

    /// Whether a value of a parameter is not let through.
    pub fn refuses(&self, param: &Param, value: &serde_json::Value) -> bool {
        let space = self.by_name.get(param.name.node.as_str());
        space.is_some_and(|(space, _)| !space.has(value, param))
    }

    /// What a schema says of what is left.
    pub fn arguments(&self) -> (Vec<Argument>, bool) {
        let types = &self.cx.program.types;
        let mut whole = true;
        let mut arguments = Vec::new();
        for param in &self.tool.params {
            let Some((space, _)) = self.by_name.get(param.name.node.as_str()) else {
                continue;
            };
            let default = param.default.as_ref();
            let default = default.and_then(|value| default_value(value, &param.ty.node, types));
            let (argument, said) = space.argument(param, &self.cx, default.as_ref());
            whole &= said;
            arguments.extend(argument);
        }
        (arguments, whole)
    }
}

impl Problem {
    fn report(self, tool: &Tool, test: &Test) -> Diagnostic {
        let (name, param) = (&tool.name.node, &test.param);
        let declared = tool.params.iter().find(|known| known.name.node == *param);
        let place = declared.map_or(tool.span, |param| param.span);
        match self {
            Problem::Empty(None) => {
                let message = format!("no call of `{name}` can meet this: `{param}` is never so");
                Diagnostic::new(&codes::IMPOSSIBLE_WHERE, message, test.span)
                    .label(place, "what it may be")
                    .help(format!("ask what `{param}` can be, or take `{name}` out"))
            }
            Problem::Empty(Some(earlier)) => {
                let message = format!(
                    "no call of `{name}` can meet this and what is asked of `{param}` before"
                );
                Diagnostic::new(&codes::IMPOSSIBLE_WHERE, message, test.span)
                    .label(earlier, "asked before")
                    .help("write `||` where either will do")
            }
            Problem::Useless => {
                let message = format!("this narrows nothing: `{param}` of `{name}` is always so");
                Diagnostic::new(&codes::USELESS_WHERE, message, test.span)
                    .label(place, "what it may be")
                    .help("take it out")
            }
        }
    }
}

/// The conditions of a tool in a list as written, for messages.
pub fn written(
    program: &Program,
    narrowed: &[NarrowingId],
    text: impl Fn(Span) -> String,
) -> String {
    let conditions = narrowed.iter().filter_map(|id| program.narrowings.get(*id));
    let texts: Vec<String> = conditions
        .map(|narrowing| text(narrowing.condition.span))
        .collect();
    texts.join(" && ")
}

/// The tool and what it takes after these conditions.
pub fn left<'a>(
    program: &'a Program,
    tool: ToolId,
    narrowed: &[NarrowingId],
) -> Option<Spaces<'a>> {
    let tool = program.tools.get(tool)?;
    Some(Spaces::after(program, tool, narrowed))
}
