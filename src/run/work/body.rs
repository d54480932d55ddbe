//! A tool with a body: `let`, `require`, `set`, `emit`, `goto`, `return`, on the calling node's state.

use std::sync::Arc;

use serde_json::Map as JsonMap;

use crate::expr::Slot;
use crate::expr::eval::{Effect, Env};
use crate::ir::{ErrorKind, ToolId};
use crate::run::channel::Incoming;
use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::plan::graph::ToolFields;
use crate::run::plan::jump::Preparation;
use crate::run::plan::tool::BodyPlan;
use crate::run::plan::{Code, EmitPlan, JumpPlan, RoutePlan, SetPlan, TargetPlan};
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
    put(&mut slots, body.run, Some(run.around.facts().clone()));
    for step in &body.prepare {
        let env = BodyEnv {
            run,
            slots: &slots,
            scope,
        };
        match step {
            Preparation::Let(slot, code) => {
                let value = code.intermediate(&env).map_err(refuse)?;
                put(&mut slots, *slot, Some(value));
            }
            Preparation::Require(condition, message) => {
                require(condition, message.as_ref(), &env).map_err(refuse)?;
            }
        }
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
    done.apply(run, fields, scope).map_err(|error| {
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
struct Done<'p> {
    writes: Vec<(&'p SetPlan, Incoming)>,
    events: Vec<Sending<'p>>,
    goto: Option<Goto<'p>>,
    result: Value,
}

/// An event with its payload.
type Sending<'p> = (&'p EmitPlan, JsonMap<String, serde_json::Value>);

/// A jump of a body.
struct Goto<'p> {
    /// Fields by the index that the body's jumps know them by.
    writes: Vec<(&'p SetPlan, Incoming)>,
    /// Where to; nowhere for `end`.
    to: Vec<Going<'p>>,
}

/// A place that a body goes to, by the name that the calling node's `ends` have.
enum Going<'p> {
    To(String),
    Each {
        worker: &'p str,
        inputs: Vec<Value>,
        then: &'p [Arc<str>],
    },
}

impl<'p> Done<'p> {
    fn compute(
        run: &TaskRun<'_>,
        body: &'p BodyPlan,
        env: &BodyEnv<'_, '_>,
    ) -> Result<Done<'p>, RunError> {
        let writes = body.set.iter();
        let writes = writes.map(|item| Ok((item, incoming(item, env)?)));
        let writes = writes.collect::<Result<Vec<_>, RunError>>()?;
        let mut events = events(&body.emits, env)?;
        let jump = match &body.goto {
            Some(route) => chosen(route, env)?,
            None => None,
        };
        let goto = jump.map(|jump| jumped(jump, env)).transpose()?;
        events.extend(jump.map_or(Ok(Vec::new()), |jump| self::events(&jump.emits, env))?);
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
        fields: &ToolFields,
        scope: &EffectScope,
    ) -> Result<Value, RunError> {
        for (field, (item, incoming)) in fields.writes.iter().zip(self.writes) {
            let put = run.view.put(*field, incoming);
            put.map_err(|error| item.refused(error))?;
        }
        if let Some(goto) = self.goto {
            for (item, incoming) in goto.writes {
                if let Some(field) = fields.jump_writes.get(item.field.0 as usize) {
                    let put = run.view.put(*field, incoming);
                    put.map_err(|error| item.refused(error))?;
                }
            }
            run.jumped = true;
            for place in goto.to {
                match place {
                    Going::To(name) => run.go_named(&name)?,
                    Going::Each {
                        worker,
                        inputs,
                        then,
                    } => run.send_named(worker, inputs, then)?,
                }
            }
        }
        // Last, for they can't be taken back.
        for (emit, payload) in self.events {
            run.send_custom(scope, emit, payload);
        }
        Ok(self.result)
    }
}

fn incoming(item: &SetPlan, env: &dyn Env) -> Result<Incoming, RunError> {
    Ok(Incoming {
        value: item.value.eval(env)?,
        replace: item.replace,
    })
}

fn events<'p>(emits: &'p [EmitPlan], env: &dyn Env) -> Result<Vec<Sending<'p>>, RunError> {
    let mut events = Vec::new();
    for emit in emits {
        events.extend(emit.payload(env)?.map(|payload| (emit, payload)));
    }
    Ok(events)
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

/// The first jump whose condition holds.
fn chosen<'p>(route: &'p RoutePlan, env: &dyn Env) -> Result<Option<&'p JumpPlan>, RunError> {
    match route {
        RoutePlan::Always(jump) => Ok(Some(jump)),
        RoutePlan::Arms(arms) => {
            for (when, jump) in arms {
                let holds = match when {
                    Some(when) => when.holds(env)?,
                    None => true,
                };
                if holds {
                    return Ok(Some(jump));
                }
            }
            Ok(None)
        }
    }
}

/// What a jump writes, and where it leads: to names, for nodes are those of whichever graph calls the tool.
fn jumped<'p>(jump: &'p JumpPlan, env: &BodyEnv<'_, '_>) -> Result<Goto<'p>, RunError> {
    let writes = jump.set.iter();
    let writes = writes.map(|item| Ok((item, incoming(item, env)?)));
    let mut goto = Goto {
        writes: writes.collect::<Result<_, RunError>>()?,
        to: Vec::new(),
    };
    for target in &jump.to {
        match target {
            TargetPlan::Named(name) | TargetPlan::Parent(name) => {
                goto.to.push(Going::To(name.to_string()));
            }
            TargetPlan::Computed { name, .. } => match name.eval(env)? {
                Value::String(text) if &*text == "end" => {}
                Value::String(text) => goto.to.push(Going::To(text.to_string())),
                other => {
                    return Err(name.error(format!("{} is no place to go to", other.to_json())));
                }
            },
            TargetPlan::NamedEach {
                var,
                items,
                worker,
                with,
                then,
            } => {
                let list = items.eval(env)?;
                let Some(list) = list.as_list() else {
                    return Err(items.error("`each` needs a list".to_owned()));
                };
                let inputs = list.iter().map(|item| input(env, (*var, item), with));
                goto.to.push(Going::Each {
                    worker,
                    inputs: inputs.collect::<Result<_, RunError>>()?,
                    then,
                });
            }
            TargetPlan::Fail { message, place } => {
                let message = match message {
                    Some(message) => show(&message.eval(env)?),
                    None => "the tool went to `fail`".to_owned(),
                };
                return Err(RunError::new(ErrorKind::Fail, message).at(place.clone()));
            }
            TargetPlan::End | TargetPlan::Node(_) | TargetPlan::Each { .. } => {}
        }
    }
    Ok(goto)
}

/// The input of one task of an `each`.
fn input(
    env: &BodyEnv<'_, '_>,
    (var, item): (Slot, &Value),
    with: &[(Arc<str>, Code)],
) -> Result<Value, RunError> {
    let mut slots = env.slots.to_vec();
    put(&mut slots, var, Some(item.clone()));
    let env = BodyEnv {
        slots: &slots,
        ..*env
    };
    let mut input = Map::new();
    for (name, code) in with {
        input.insert(&**name, code.eval(&env)?);
    }
    Ok(Value::Map(input))
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
