//! A call that asks: of a tool that is `@approve`, or `@effect(destructive)` and not `@unattended`. A person is asked before it, unless
//! one has permitted it ([`permission`](crate::run::permission)). The call is made, made with other arguments, or refused.
//!
//! The question is an interrupt of the node that makes the call. Its answer is kept in the journal under an id of its own in the
//! call's scope with [`APPROVAL`] behind it, so that no later process asks again for the same call.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::accept::accept_fields;
use crate::ir::{ErrorKind, Flow, Tool, ToolId};
use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::interrupt::OpenInterrupt;
use crate::run::ordinal::Of;
use crate::run::permission::{Change, Claim, digest};
use crate::run::plan::NodePlan;
use crate::run::task::TaskRun;
use crate::value::Map;

use super::Stop;
use super::answered::Answered;
use super::narrow;
use super::tool_call::Errors;
use super::tool_outside::kept_as;

/// What stands behind the id of an approval.
const APPROVAL: char = '&';

/// What stands behind the id of the use of a permission for one call.
const USE: char = '%';

/// What a call may be made with.
pub struct Settled {
    /// Its arguments.
    pub args: Map,
    /// The same by the names that the outside knows them by, where a person has changed them.
    pub changed: Option<Json>,
    /// Whether the call uses up a permission: that is to be kept before it is made.
    pub claims: bool,
}

impl From<Map> for Settled {
    fn from(args: Map) -> Self {
        Self {
            args,
            changed: None,
            claims: false,
        }
    }
}

/// A call that may have to be asked for.
struct Asking<'r, 'a> {
    run: &'r TaskRun<'a>,
    node: &'r NodePlan,
    id: ToolId,
    tool: &'r Tool,
    args: Map,
    errors: Errors,
    scope: &'r EffectScope,
    /// What the person is shown.
    question: Json,
    /// What its answer and the use of a permission are kept under, but for the sign.
    asked: String,
}

/// The arguments that a call may be made with: those that it came with, where nobody has to be asked.
///
/// What a person has answered holds also where a later version of the flow would not ask any more: a call that was refused
/// is not made. Nobody is asked where the journal has the result of this very call: that is answered from there.
///
/// # Errors
/// [`Stop::Interrupted`] while nobody has answered; kind `unapproved` where the call is refused, `tool_error` where the
/// arguments that a person gave are not let through here.
pub fn settle(
    run: &TaskRun<'_>,
    node: &NodePlan,
    id: ToolId,
    (args, errors): (Map, Errors),
    scope: &EffectScope,
) -> Result<Settled, Stop> {
    let cx = run.around.cx;
    let tool = &cx.plan.flow.tools[id];
    let may_know = cx.journal.is_resumed() && !cx.journal.numbers_effects();
    if !tool.asks() && !may_know {
        return Ok(args.into());
    }
    let of = Of::node("approve", &tool.name);
    let asking = Asking {
        run,
        node,
        id,
        tool,
        errors,
        scope,
        question: question(tool, &args),
        args,
        // One that is only looked for counts as no part of the call: what comes behind it has the same ids in every process.
        asked: match tool.asks() {
            true => scope.next(cx, of),
            false => scope.first(of),
        },
    };
    let effect = format!("{}{APPROVAL}", asking.asked);
    let effect = scope.usable(cx, &effect, &run.path(), |kept| asking.is_usable(kept));
    match cx.journal.finished(scope.task(), &effect) {
        Some(kept) => asking.answered(Answered::of(kept).answer),
        None if !tool.asks() || (may_know && asking.is_made(&asking.args)) => {
            Ok(asking.args.into())
        }
        None => match asking.permitted() {
            Some(claims) => Ok(Settled {
                claims,
                ..asking.args.into()
            }),
            None => Err(asking.ask(effect)),
        },
    }
}

impl Asking<'_, '_> {
    /// Whether the journal has what the call with these arguments is answered with.
    fn is_made(&self, args: &Map) -> bool {
        let call = self.scope.first(Of::node("tool", &self.tool.name));
        let kept = kept_as(self.run, (self.id, self.errors), args, self.scope, &call);
        let journal = &self.run.around.cx.journal;
        journal.finished(self.scope.task(), &kept).is_some()
    }

    /// Whether an answer in the journal still counts for the call.
    fn is_usable(&self, kept: &Json) -> bool {
        let kept = Answered::of(kept);
        let decision = kept.answer.get("decision").and_then(Json::as_str);
        // An answer on other arguments, as an earlier version of the flow gave them, is none on these.
        let same = |asked| Some(asked) == self.question.get("args");
        if !kept.asked.is_none_or(same) {
            return false;
        }
        let given = match decision {
            Some("refuse") => return true,
            Some("edit") => edited(&self.run.around.cx.plan.flow, self.tool, kept.answer),
            _ => Ok(self.args.clone()),
        };
        if given.as_ref().is_ok_and(|given| self.is_made(given)) {
            return true;
        }
        // What was agreed to on the thread that this one was forked from lets no call be made here.
        if !kept.is_own(self.run.around.cx) {
            return false;
        }
        // Arguments that an earlier version of the flow took, and this one doesn't, would fail the call in each process: the person is
        // asked anew, where that may be.
        let fits = |given: Map| narrow::check(self.run, self.node, self.id, &given).is_ok();
        decision != Some("edit") || !self.tool.asks() || given.is_ok_and(fits)
    }

    fn answered(self, answer: &Json) -> Result<Settled, Stop> {
        match answer.get("decision").and_then(Json::as_str) {
            Some("approve") => Ok(self.args.into()),
            Some("edit") => {
                let given = edited(&self.run.around.cx.plan.flow, self.tool, answer)
                    .map_err(|problem| RunError::new(ErrorKind::ToolError, problem))?;
                if !self.is_made(&given) {
                    narrow::check(self.run, self.node, self.id, &given)?;
                }
                let changed = outer(self.tool, &given);
                let changed = (changed != outer(self.tool, &self.args)).then(|| {
                    let mut shown = changed;
                    narrow::hide(self.node, self.id, &mut shown);
                    shown
                });
                Ok(Settled {
                    args: given,
                    changed,
                    claims: false,
                })
            }
            _ => {
                let message = match answer.get("message").and_then(Json::as_str) {
                    Some(message) => format!("a person refused this call: {message}"),
                    None => "a person refused this call".to_owned(),
                };
                Err(RunError::new(ErrorKind::Unapproved, message).into())
            }
        }
    }

    /// Whether a permission covers the call, and if so, whether the call uses it up. The use is noted.
    ///
    /// One that is used already covers the same call once more: made again after a crash, or tried again.
    fn permitted(&self) -> Option<bool> {
        let cx = self.run.around.cx;
        let args = self.question.get("args").unwrap_or(&Json::Null);
        let fork = cx.forked_from.is_some().then_some(cx.life.as_deref());
        let covering = self.run.permissions.covering(&self.tool.name, args);
        let mut own = covering
            .into_iter()
            .filter(|(_, permission)| permission.is_of(fork));
        // By the names that nodes had when the run began: a call that goes on under another name is the same. One with other arguments is not.
        let use_id = format!("{}{USE}{}", self.asked, digest(args));
        let task = self.scope.task();
        let call = format!("{}#{use_id}", cx.former_name(task));
        let (id, permission) = own.find(|(id, permission)| {
            !permission.once || (permission.used.is_none() && cx.permitting.claim(id, &call))
        })?;
        if permission.once {
            let permission = id.clone();
            let used = Change::Used(Claim { permission, call });
            (cx.permitting).keep(&cx.journal, (task, use_id), vec![used]);
        }
        Some(permission.once)
    }

    fn ask(self, effect: String) -> Stop {
        let cx = self.run.around.cx;
        // In a fork the answer was another thread's.
        let first = format!("{}{APPROVAL}", self.asked);
        let changed = cx.forked_from.is_none() && effect != first;
        Stop::Interrupted(vec![OpenInterrupt {
            id: self.scope.question_id(cx, &effect),
            node: self.run.name.to_owned(),
            path: self.run.path(),
            ask: self.question,
            permits: Vec::new(),
            changed,
            expect: cx.plan.approval.clone(),
            task: self.scope.task().to_owned(),
            effect,
        }])
    }
}

/// Keeps the uses of permissions that calls are about to make, whatever the durability: no crash may give one back.
///
/// # Errors
/// Of the store.
pub async fn keep_uses(run: &TaskRun<'_>, claims: bool) -> Result<(), RunError> {
    match claims {
        true => Ok(run.around.cx.journal.keep().await?),
        false => Ok(()),
    }
}

/// Arguments by the names that the outside knows them by.
pub fn outer(tool: &Tool, args: &Map) -> Json {
    let params = tool.params.iter();
    let args = params.filter_map(|param| {
        let value = args.get(&param.name)?;
        Some((param.outer_name().to_owned(), value.to_json()))
    });
    Json::Object(args.collect::<JsonMap<String, Json>>())
}

/// What the person is shown. Arguments have the names by which an answer gives them.
fn question(tool: &Tool, args: &Map) -> Json {
    let args = outer(tool, args);
    let name = &tool.name;
    let question = format!("may `{name}` be called with these arguments?");
    json!({ "tool": name, "args": args, "question": question })
}

fn edited(flow: &Flow, tool: &Tool, answer: &Json) -> Result<Map, String> {
    let args = answer.get("args").unwrap_or(&Json::Null);
    let accepted = accept_fields(args, &tool.params, &flow.types)
        .map_err(|wrong| format!("`args` are not what `{}` takes: {wrong}", tool.name))?;
    Ok(accepted.as_map().cloned().unwrap_or_default())
}

/// Whether an interrupt asks if a call may be made, rather than being a node's own.
pub fn is_approval(open: &OpenInterrupt) -> bool {
    open.effect.contains(APPROVAL)
}

/// Whether the answer to an approval, already of its type, goes with the tool. `let_through` says of arguments whether the node that
/// asks may call it with them.
///
/// # Errors
/// In words, where arguments are given that nobody asked for, or that are not of the tool's types or not let through; where a message
/// is, that nobody would read.
pub fn check(
    flow: &Flow,
    open: &OpenInterrupt,
    answer: &Json,
    let_through: impl FnOnce(&Map) -> Result<(), RunError>,
) -> Result<(), String> {
    if !is_approval(open) {
        return Ok(());
    }
    let refused = |problem: String| {
        Err(format!(
            "the answer to `{}` ({}) is refused, the thread is as it was: {problem}",
            open.id,
            open.place()
        ))
    };
    let given = |key: &str| answer.get(key).is_some_and(|value| !value.is_null());
    let decision = answer.get("decision").and_then(Json::as_str);
    // A word that nobody would read.
    let message = answer.get("message").and_then(Json::as_str);
    if message.is_some_and(|said| !said.is_empty()) && decision != Some("refuse") {
        return refused("`message` goes with the decision \"refuse\"".to_owned());
    }
    if decision != Some("edit") {
        return match given("args") {
            true => refused("`args` go with the decision \"edit\"".to_owned()),
            false => Ok(()),
        };
    }
    let name = open.ask.get("tool").and_then(Json::as_str);
    let tool = flow
        .tools
        .iter()
        .find(|tool| Some(tool.name.as_str()) == name);
    let Some(tool) = tool else { return Ok(()) };
    match edited(flow, tool, answer) {
        Ok(given) => let_through(&given).or_else(|error| refused(error.message)),
        Err(problem) => refused(problem),
    }
}
