//! A tool with a body: `let`, `require`, `set`, `emit`, `goto`, `return`, on the calling node's state.

use serde_json::Map as JsonMap;

use crate::expr::Slot;
use crate::expr::eval::{Effect, Env};
use crate::ir::{ErrorKind, ToolId};
use crate::run::channel::Incoming;
use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::plan::graph::ToolFields;
use crate::run::plan::node::slots as node_slots;
use crate::run::plan::tool::BodyPlan;
use crate::run::plan::{Code, RoutePlan, TargetPlan};
use crate::run::task::{TaskRun, show};
use crate::value::{Map, Value};

/// Runs a tool's body. Its writes are the node's own, and seen by what follows in the node; its jump
/// replaces the node's way on. Nothing is written where it fails.
///
/// # Errors
/// Kind `tool_error`: what it requires, what it computes, and a second jump in one node.
pub fn interpret(
    run: &mut TaskRun<'_>,
    tool: ToolId,
    args: &Map,
    scope: &EffectScope,
) -> Result<Value, RunError> {
    let cx = run.around.cx;
    let plan = cx.plan.clone();
    let refuse = |error: RunError| RunError {
        kind: ErrorKind::ToolError,
        ..error
    };
    let (Some(body), Some(fields)) = (
        &plan.tools[tool].body,
        run.around.graph.tool_fields.get(&tool),
    ) else {
        return Err(RunError::new(
            ErrorKind::ToolError,
            "the tool has no body here",
        ));
    };
    let mut slots = vec![None; body.slots];
    let params = plan.flow.tools[tool].params.iter();
    let given = params.map(|param| Some(args.get(&param.name).cloned().unwrap_or_default()));
    let read = fields
        .reads
        .iter()
        .map(|field| run.view.get(*field).cloned());
    for (place, value) in slots.iter_mut().zip(given.chain(read)) {
        *place = value;
    }
    let facts = run.slots.get(node_slots::RUN.0 as usize).cloned().flatten();
    put(&mut slots, body.run, facts);
    for (slot, code) in &body.lets {
        let value = code
            .eval(&BodyEnv {
                run,
                slots: &slots,
                scope,
            })
            .map_err(refuse)?;
        put(&mut slots, *slot, Some(value));
    }
    let done = Done::compute(
        run,
        body,
        &BodyEnv {
            run,
            slots: &slots,
            scope,
        },
    )
    .map_err(refuse)?;
    let before = run.mark();
    done.apply(run, body, fields, scope).map_err(|error| {
        run.back_to(before);
        refuse(error)
    })
}

fn put(slots: &mut [Option<Value>], slot: Slot, value: Option<Value>) {
    if let Some(place) = slots.get_mut(slot.0 as usize) {
        *place = value;
    }
}

/// All that a body computes, before any of it has an effect.
struct Done {
    writes: Vec<Incoming>,
    events: Vec<(usize, JsonMap<String, serde_json::Value>)>,
    goto: Option<Goto>,
    result: Value,
}

/// Where a body jumps.
enum Goto {
    End,
    Named(Vec<String>),
}

impl Done {
    fn compute(
        run: &TaskRun<'_>,
        body: &BodyPlan,
        env: &BodyEnv<'_, '_>,
    ) -> Result<Done, RunError> {
        for (condition, message) in &body.requires {
            require(condition, message.as_ref(), env)?;
        }
        let writes = body.set.iter().map(|item| {
            Ok(Incoming {
                value: item.value.eval(env)?,
                replace: item.replace,
            })
        });
        let writes = writes.collect::<Result<Vec<_>, RunError>>()?;
        let mut events = Vec::new();
        for (index, emit) in body.emits.iter().enumerate() {
            if match &emit.when {
                Some(when) => when.holds(env)?,
                None => true,
            } {
                let payload = emit
                    .fields
                    .iter()
                    .map(|(name, code)| Ok((name.to_string(), code.eval(env)?.to_json())));
                events.push((index, payload.collect::<Result<_, RunError>>()?));
            }
        }
        let goto = body
            .goto
            .as_ref()
            .map(|route| chosen(route, env))
            .transpose()?;
        if goto.is_some() && run.jumped {
            let message =
                "another tool has already ended this turn with a jump; this call was not made";
            return Err(RunError::new(ErrorKind::ToolError, message));
        }
        let result = match &body.returns {
            Some(code) => code.eval(env)?,
            None => Value::Null,
        };
        Ok(Done {
            writes,
            events,
            goto,
            result,
        })
    }

    fn apply(
        self,
        run: &mut TaskRun<'_>,
        body: &BodyPlan,
        fields: &ToolFields,
        scope: &EffectScope,
    ) -> Result<Value, RunError> {
        for (field, incoming) in fields.writes.iter().zip(self.writes) {
            run.view.put(*field, incoming)?;
        }
        match self.goto {
            None => {}
            Some(Goto::End) => run.jumped = true,
            Some(Goto::Named(names)) => {
                run.jumped = true;
                for name in names {
                    run.go_named(&name)?;
                }
            }
        }
        // Last, for they can't be taken back.
        for (index, payload) in self.events {
            if let Some(emit) = body.emits.get(index) {
                run.send_custom(&scope.next(), emit, payload);
            }
        }
        Ok(self.result)
    }
}

fn require(condition: &Code, message: Option<&Code>, env: &dyn Env) -> Result<(), RunError> {
    if condition.holds(env)? {
        return Ok(());
    }
    let message = match message {
        Some(message) => show(&message.eval(env)?),
        None => format!("`{}` does not hold", condition.text()),
    };
    Err(RunError::new(ErrorKind::ToolError, message).at(condition.place()))
}

/// The targets of the first arm that holds. A tool's targets are names, `end` or `fail`.
fn chosen(route: &RoutePlan, env: &dyn Env) -> Result<Goto, RunError> {
    let jump = match route {
        RoutePlan::Always(jump) => Some(jump),
        RoutePlan::Arms(arms) => {
            let mut found = None;
            for (when, jump) in arms {
                let holds = match when {
                    Some(when) => when.holds(env)?,
                    None => true,
                };
                if holds {
                    found = Some(jump);
                    break;
                }
            }
            found
        }
    };
    let mut names = Vec::new();
    for target in jump.map(|jump| jump.to.as_slice()).unwrap_or_default() {
        match target {
            TargetPlan::Named(name) => names.push(name.to_string()),
            TargetPlan::Computed { name, .. } => match name.eval(env)? {
                Value::String(text) if &*text == "end" => {}
                Value::String(text) => names.push(text.to_string()),
                other => {
                    return Err(name.error(format!("{} is no place to go to", other.to_json())));
                }
            },
            TargetPlan::Fail { message, place } => {
                let message = match message {
                    Some(message) => show(&message.eval(env)?),
                    None => "the tool went to `fail`".to_owned(),
                };
                return Err(RunError::new(ErrorKind::Fail, message).at(place.clone()));
            }
            TargetPlan::End
            | TargetPlan::Node(_)
            | TargetPlan::Each { .. }
            | TargetPlan::Parent(_) => {}
        }
    }
    Ok(if names.is_empty() {
        Goto::End
    } else {
        Goto::Named(names)
    })
}

struct BodyEnv<'r, 'a> {
    run: &'r TaskRun<'a>,
    slots: &'r [Option<Value>],
    scope: &'r EffectScope,
}

impl Env for BodyEnv<'_, '_> {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.slots.get(slot.0 as usize).cloned().flatten()
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, effect: Effect) -> Result<Value, String> {
        Ok(self.scope.ambient(self.run.around.cx, effect))
    }
}
