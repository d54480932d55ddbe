//! `permit` of a question: what is pinned is computed when the question is asked, and becomes a permission by the answer.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::accept::accept_fields;
use crate::expr::eval::Env;
use crate::ir::ErrorKind;
use crate::run::error::RunError;
use crate::run::permission::{Change, Permission, digest};
use crate::run::plan::{PermitPlan, PinPlan};
use crate::run::task::TaskRun;
use crate::value::Value;

use super::answered::Answered;
use super::approve::outer;

/// What decides, beside the answer, which permissions that gives: conditions and pins as they are written, and the values of names in them.
pub fn rules(run: &TaskRun<'_>, permits: &[PermitPlan]) -> Option<Json> {
    let rules = permits.iter().map(|permit| {
        let texts = permit.by_answer();
        let texts: Vec<Json> = texts.map(|(of, code)| json!([of, code.text()])).collect();
        let names = permit.reads.iter();
        let names = names.map(|slot| run.env().slot(*slot).map(|value| value.to_stored()));
        let lets: Vec<&str> = permit.lets.iter().map(|text| &**text).collect();
        json!([texts, lets, names.collect::<Vec<_>>()])
    });
    (!permits.is_empty()).then(|| json!(digest(&rules.collect())))
}

/// A permission as far as it is known ahead of the answer.
pub struct Shown<'p> {
    permit: &'p PermitPlan,
    /// The element of its `each`, where its list is known.
    element: Option<Value>,
    /// What the person is shown.
    pub json: Json,
}

/// What stands behind the id of an answer, for what that takes back.
const TAKEN_BACK: char = '%';

impl Shown<'_> {
    /// A digest of the tool and its pins. How the answer decides and how many calls it permits is no part of that: of the same pins a later
    /// answer counts.
    fn pins(&self) -> String {
        digest(&json!([self.json.get("tool"), self.json.get("args")]))
    }
}

/// What the answer to a question would permit, as far as that doesn't depend on the answer.
///
/// # Errors
/// Where an expression fails, or the tool does not take what is pinned.
pub fn shown<'p>(
    run: &mut TaskRun<'_>,
    permits: &'p [PermitPlan],
) -> Result<Vec<Shown<'p>>, RunError> {
    let mut found = Vec::new();
    for permit in permits {
        let elements = match &permit.each {
            Some(each) if !each.by_answer => elements(run, permit)?.into_iter().map(Some).collect(),
            _ => vec![None],
        };
        for element in elements {
            put_element(run, permit, element.as_ref());
            let json = early(run, permit, element.is_some())?;
            found.push(Shown {
                permit,
                element,
                json,
            });
        }
    }
    Ok(found)
}

fn elements(run: &TaskRun<'_>, permit: &PermitPlan) -> Result<Vec<Value>, RunError> {
    let Some(each) = &permit.each else {
        return Ok(Vec::new());
    };
    let items = run.eval(&each.items)?;
    match items.as_list() {
        Some(list) => Ok(list.iter().cloned().collect()),
        None => Err(each.items.error("`each` needs a list".to_owned())),
    }
}

fn put_element(run: &mut TaskRun<'_>, permit: &PermitPlan, element: Option<&Value>) {
    if let (Some(each), Some(element)) = (&permit.each, element) {
        run.put_slot(each.var, element.clone());
    }
}

/// The tool, and those of its arguments that are known.
fn early(run: &TaskRun<'_>, permit: &PermitPlan, has_element: bool) -> Result<Json, RunError> {
    let tool = &run.around.cx.plan.flow.tools[permit.tool];
    let mut shown = JsonMap::new();
    shown.insert("tool".to_owned(), json!(tool.name));
    if permit.once {
        shown.insert("once".to_owned(), json!(true));
    }
    if permit.each.is_some() && !has_element {
        shown.insert("each_by_answer".to_owned(), json!(true));
    }
    if let Some(when) = &permit.when {
        shown.insert("when".to_owned(), json!(when.text()));
    }
    let Some(pins) = &permit.pins else {
        return Ok(Json::Object(shown));
    };
    let (mut args, mut late) = (JsonMap::new(), Vec::new());
    for pin in pins {
        match pin.by_answer {
            true => late.push(&*pin.name),
            false => _ = args.insert(pin.name.to_string(), run.eval(&pin.value)?.to_json()),
        }
    }
    let args = match late.is_empty() {
        true => accepted(run, permit, &Json::Object(args))?,
        false => {
            shown.insert("by_answer".to_owned(), json!(late));
            Json::Object(args)
        }
    };
    shown.insert("args".to_owned(), args);
    Ok(Json::Object(shown))
}

/// Arguments as a call of the tool has them.
fn accepted(run: &TaskRun<'_>, permit: &PermitPlan, args: &Json) -> Result<Json, RunError> {
    let flow = &run.around.cx.plan.flow;
    let tool = &flow.tools[permit.tool];
    let accepted = accept_fields(args, &tool.params, &flow.types).map_err(|wrong| {
        let message = format!("`permit {}` pins what the tool refuses: {wrong}", tool.name);
        let error = RunError::new(ErrorKind::Expression, message);
        let at = |pin: &&PinPlan| wrong.iter().any(|wrong| is_of(&wrong.path, &pin.name));
        match permit.pins.iter().flatten().find(at) {
            Some(pin) => error.at(pin.value.place()),
            None => error,
        }
    })?;
    Ok(outer(
        tool,
        accepted.as_map().unwrap_or(&Default::default()),
    ))
}

/// Whether a path in the arguments leads to a parameter, or into it: `$.to`, `$.to[0]`.
fn is_of(path: &str, param: &str) -> bool {
    let rest = path
        .strip_prefix("$.")
        .and_then(|path| path.strip_prefix(param));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What an answer changes: what the same question permitted with the same pins is taken back, and given again where its
/// condition holds. The answer is in scope.
///
/// # Errors
/// Where an expression fails, or the tool does not take what is pinned.
pub fn given(
    run: &mut TaskRun<'_>,
    shown: &[Shown<'_>],
    question: &str,
    answered: &Answered<'_>,
    (task, effect): (&str, &str),
) -> Result<(), RunError> {
    let cx = run.around.cx;
    let mut changes: Vec<Change> = shown
        .iter()
        .map(|shown| Change::Answered {
            question: question.to_owned(),
            pins: shown.pins(),
        })
        .collect();
    // Counts also where the task fails behind it.
    let id = format!("{effect}{TAKEN_BACK}");
    (cx.permitting).keep(&cx.journal, (task, id), changes.clone());
    // By the names that nodes had when the run began: under another name it is the same answer.
    let id = format!("{}#{effect}", cx.former_name(task));
    let mut index = 0;
    for shown in shown {
        let permit = shown.permit;
        let elements = match (&permit.each, &shown.element) {
            (Some(_), None) => elements(run, permit)?.into_iter().map(Some).collect(),
            (_, element) => vec![element.clone()],
        };
        for element in elements {
            put_element(run, permit, element.as_ref());
            let holds = match &permit.when {
                Some(when) => when.holds(&run.env())?,
                None => true,
            };
            if !holds {
                continue;
            }
            changes.push(Change::Given(Box::new(Permission {
                tool: cx.plan.flow.tools[permit.tool].name.clone(),
                args: args(run, shown)?,
                once: permit.once,
                question: question.to_owned(),
                pins: shown.pins(),
                answer: id.clone(),
                index,
                by: answered.by.to_owned(),
                at: answered.at.to_owned(),
                life: answered.life.map(str::to_owned),
                used: None,
                inherited: false,
            })));
            index += 1;
        }
    }
    run.permit(changes);
    Ok(())
}

/// All the arguments that a permission is for: those that were shown, as they were shown.
fn args(run: &TaskRun<'_>, shown: &Shown<'_>) -> Result<Option<Json>, RunError> {
    let Some(pins) = &shown.permit.pins else {
        return Ok(None);
    };
    let known = shown.json.get("args").and_then(Json::as_object);
    let mut args = known.cloned().unwrap_or_default();
    for pin in pins
        .iter()
        .filter(|_| shown.json.get("by_answer").is_some())
    {
        if !args.contains_key(&*pin.name) {
            args.insert(pin.name.to_string(), run.eval(&pin.value)?.to_json());
        }
    }
    accepted(run, shown.permit, &Json::Object(args)).map(Some)
}
