//! Routes, jumps and their updates, ready to be taken.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::expr::eval::Env;
use crate::expr::{Scope, Slot, Type};
use crate::ir::graph::End;
use crate::ir::node::Require;
use crate::ir::text::Named;
use crate::ir::{Emit, EventId, FieldId, Jump, NodeId, Route, SetItem, Target};

use crate::run::error::{Passage, RunError};

use super::code::{Builder, Code, PlanError};

/// A route.
pub enum RoutePlan {
    /// Without a condition.
    Always(JumpPlan),
    /// The first whose condition holds.
    Arms(Vec<(Option<Code>, JumpPlan)>),
}

/// Targets with an update.
pub struct JumpPlan {
    /// Where to.
    pub to: Vec<TargetPlan>,
    /// Writes.
    pub set: Vec<SetPlan>,
    /// Events.
    pub emits: Vec<EmitPlan>,
}

/// A place to go to.
pub enum TargetPlan {
    /// A node.
    Node(NodeId),
    /// This path ends.
    End,
    /// The run fails.
    Fail {
        /// Its message.
        message: Option<Code>,
        /// Where it is written.
        place: Passage,
    },
    /// One of the table, by name.
    Computed {
        /// Gives the name.
        name: Code,
        /// What each leads to.
        table: TargetTable,
    },
    /// One task an element.
    Each {
        /// Slot of the loop name.
        var: Slot,
        /// A list.
        items: Code,
        /// Who gets the tasks.
        worker: NodeId,
        /// Its input.
        with: Vec<(Arc<str>, Code)>,
        /// Where the fan-out as a whole leads.
        then: Then,
    },
    /// Leaves the graph.
    Parent(Arc<str>),
    /// In a tool's body: the calling node's `ends` resolve it.
    Named(Arc<str>),
    /// In a tool's body: one task an element, to a node that the calling node's `ends` resolve.
    NamedEach {
        /// Slot of the loop name.
        var: Slot,
        /// A list.
        items: Code,
        /// Who gets the tasks.
        worker: Arc<str>,
        /// Its input.
        with: Vec<(Arc<str>, Code)>,
        /// Where the fan-out as a whole leads: names that the calling node's `ends` resolve.
        then: Vec<Arc<str>>,
    },
}

/// Names and what they lead to, in the order of the names.
pub struct TargetTable(Box<[(Arc<str>, TargetPlan)]>);

impl TargetTable {
    /// What a name leads to.
    pub fn get(&self, name: &str) -> Option<&TargetPlan> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(name));
        at.ok().and_then(|at| self.0.get(at)).map(|(_, to)| to)
    }
}

/// Nodes that a fan-out as a whole leads to, behind all of its tasks (`then`). Empty where it leads nowhere.
pub type Then = Arc<[NodeId]>;

/// A write.
pub struct SetPlan {
    /// The field; in a tool's body, an index into its `set` names.
    pub field: FieldId,
    /// `:=`
    pub replace: bool,
    /// The value.
    pub value: Code,
}

impl SetPlan {
    /// The error of a field that doesn't take the write. Where a reducer of the flow failed, its own place stays, and the message
    /// says who wrote.
    pub fn refused(&self, error: RunError) -> RunError {
        let at = self.value.place();
        match error.place {
            Some(_) => RunError {
                message: format!("{} (written at {at})", error.message),
                ..error
            },
            None => error.at(at),
        }
    }
}

/// An event.
pub struct EmitPlan {
    /// Which.
    pub event: EventId,
    /// Payload.
    pub fields: Vec<(Arc<str>, Code)>,
    /// Before the work.
    pub on_start: bool,
    /// Only where it holds.
    pub when: Option<Code>,
}

impl EmitPlan {
    /// Its payload; `None` where it is not sent.
    ///
    /// # Errors
    /// Where an expression fails.
    pub fn payload(&self, env: &dyn Env) -> Result<Option<JsonMap<String, Json>>, RunError> {
        if let Some(when) = &self.when
            && !when.holds(env)?
        {
            return Ok(None);
        }
        let fields = self.fields.iter();
        let fields = fields.map(|(name, code)| Ok((name.to_string(), code.eval(env)?.to_json())));
        fields.collect::<Result<_, RunError>>().map(Some)
    }
}

/// A route in a scope, which gains the loop names of its `each` targets.
pub fn route(
    builder: &Builder<'_>,
    route: &Route,
    scope: &mut Scope,
) -> Result<RoutePlan, PlanError> {
    Ok(match route {
        Route::Always(to) => RoutePlan::Always(jump(builder, to, scope)?),
        Route::Arms(arms) => {
            let mut plans = Vec::with_capacity(arms.len());
            for arm in arms {
                let when = arm
                    .when
                    .as_ref()
                    .map(|when| builder.code(when, scope))
                    .transpose()?;
                plans.push((when, jump(builder, &arm.jump, scope)?));
            }
            RoutePlan::Arms(plans)
        }
    })
}

/// A jump in a scope.
pub fn jump(builder: &Builder<'_>, jump: &Jump, scope: &mut Scope) -> Result<JumpPlan, PlanError> {
    let to = jump
        .to
        .iter()
        .map(|to| target(builder, to, scope))
        .collect::<Result<_, _>>()?;
    let set = sets(builder, &jump.set, scope)?;
    Ok(JumpPlan {
        to,
        set,
        emits: emits(builder, &jump.emits, scope)?,
    })
}

/// Writes in a scope.
pub fn sets(
    builder: &Builder<'_>,
    items: &[SetItem],
    scope: &Scope,
) -> Result<Vec<SetPlan>, PlanError> {
    let plan = |item: &SetItem| {
        Ok(SetPlan {
            field: item.field,
            replace: item.replace,
            value: builder.code(&item.value, scope)?,
        })
    };
    items.iter().map(plan).collect()
}

/// Events in a scope.
pub fn emits(
    builder: &Builder<'_>,
    emits: &[Emit],
    scope: &Scope,
) -> Result<Vec<EmitPlan>, PlanError> {
    let emits = emits.iter();
    emits.map(|event| emit(builder, event, scope)).collect()
}

/// An event in a scope.
pub fn emit(builder: &Builder<'_>, emit: &Emit, scope: &Scope) -> Result<EmitPlan, PlanError> {
    let when = emit.when.as_ref();
    Ok(EmitPlan {
        event: emit.event,
        fields: named(builder, &emit.fields, scope)?,
        on_start: emit.on_start,
        when: when.map(|when| builder.code(when, scope)).transpose()?,
    })
}

/// `let` names, each declared in the scope behind those before it.
pub fn lets(
    builder: &Builder<'_>,
    items: &[Named],
    scope: &mut Scope,
) -> Result<Vec<(Slot, Code)>, PlanError> {
    let mut lets = Vec::with_capacity(items.len());
    for item in items {
        let value = builder.code(&item.value, scope)?;
        lets.push((scope.declare(item.name.as_str(), Type::Json), value));
    }
    Ok(lets)
}

/// What is computed and asked before a node's work, or a tool's body has an effect.
pub enum Preparation {
    /// A `let`.
    Let(Slot, Code),
    /// A `require`, with its message.
    Require(Code, Option<Code>),
}

/// `let`s, and each `require` behind those that it needs.
pub fn preparations(
    builder: &Builder<'_>,
    (items, requires): (&[Named], &[Require]),
    scope: &mut Scope,
) -> Result<Vec<Preparation>, PlanError> {
    let mut made = Vec::with_capacity(items.len() + requires.len());
    let require = |scope: &Scope, require: &Require| {
        let message = require.message.as_ref();
        let message = message.map(|message| builder.code(message, scope));
        let condition = builder.code(&require.condition, scope)?;
        Ok(Preparation::Require(condition, message.transpose()?))
    };
    let mut left = requires.iter().peekable();
    for (computed, item) in items.iter().enumerate() {
        while let Some(next) = left.next_if(|next| next.after_lets as usize <= computed) {
            made.push(require(scope, next)?);
        }
        let value = builder.code(&item.value, scope)?;
        let slot = scope.declare(item.name.as_str(), Type::Json);
        made.push(Preparation::Let(slot, value));
    }
    for next in left {
        made.push(require(scope, next)?);
    }
    Ok(made)
}

/// Names and values in a scope.
pub fn named(
    builder: &Builder<'_>,
    items: &[Named],
    scope: &Scope,
) -> Result<Vec<(Arc<str>, Code)>, PlanError> {
    items
        .iter()
        .map(|item| Ok((item.name.as_str().into(), builder.code(&item.value, scope)?)))
        .collect()
}

/// A table of names and what they lead to.
pub fn ends(
    builder: &Builder<'_>,
    ends: &[End],
    scope: &mut Scope,
) -> Result<TargetTable, PlanError> {
    let mut table = Vec::with_capacity(ends.len());
    for end in ends {
        table.push((end.name.as_str().into(), target(builder, &end.to, scope)?));
    }
    table.sort_by(|(one, _): &(Arc<str>, _), (other, _)| one.cmp(other));
    Ok(TargetTable(table.into()))
}

fn target(builder: &Builder<'_>, to: &Target, scope: &mut Scope) -> Result<TargetPlan, PlanError> {
    Ok(match to {
        Target::Node(node) => TargetPlan::Node(*node),
        Target::End => TargetPlan::End,
        Target::Fail { message, at } => TargetPlan::Fail {
            message: message
                .as_ref()
                .map(|message| builder.code(message, scope))
                .transpose()?,
            place: builder.place(*at),
        },
        Target::Computed { name, table } => TargetPlan::Computed {
            name: builder.code(name, scope)?,
            table: ends(builder, table, scope)?,
        },
        Target::Each {
            var,
            items,
            worker,
            with,
            then,
        } => {
            let items = builder.code(items, scope)?;
            let var = scope.declare(var.as_str(), Type::Json);
            let node = |target: &Target| match target {
                Target::Node(node) => Some(*node),
                _ => None,
            };
            let with = named(builder, with, scope)?;
            scope.forget(var);
            TargetPlan::Each {
                var,
                items,
                worker: *worker,
                with,
                then: then.iter().filter_map(node).collect(),
            }
        }
        Target::NamedEach {
            var,
            items,
            worker,
            with,
            then,
        } => {
            let items = builder.code(items, scope)?;
            let var = scope.declare(var.as_str(), Type::Json);
            let name = |target: &Target| match target {
                Target::Named(name) => Some(name.as_str().into()),
                _ => None,
            };
            let with = named(builder, with, scope)?;
            scope.forget(var);
            TargetPlan::NamedEach {
                var,
                items,
                worker: worker.as_str().into(),
                with,
                then: then.iter().filter_map(name).collect(),
            }
        }
        Target::Parent(name) => TargetPlan::Parent(name.as_str().into()),
        Target::Named(name) => TargetPlan::Named(name.as_str().into()),
    })
}
