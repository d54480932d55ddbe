//! Nodes, ready to run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::expr::schema::json_schema;
use crate::expr::scope::StateFields;
use crate::expr::ty::{RecordField, TypeTable};
use crate::expr::{Scope, Slot, Type};
use crate::ir::node::{Ask, CHUNK, ModelCall, Pass, Persist, Work};
use crate::ir::{Emit, FieldId, GraphId, JoinId, ModelId, Node, Retry, ToolId};
use crate::run::error::Passage;
use crate::run::model::ToolChoice;
use crate::value::{Map, Value};

use super::code::{Builder, Code, PlanError, Text};

use super::jump::{self, EmitPlan, JumpPlan, Preparation, RoutePlan, SetPlan, TargetTable};
use super::narrow::{self, NarrowPlans};
use super::permit::{self, PermitPlan};

/// Slots that every node's scope has, whether its kind fills them or not.
pub mod slots {
    use crate::expr::Slot;

    /// Names of the slots in order.
    pub const NAMES: [&str; 12] = [
        "input",
        "run",
        "reply",
        "output",
        "transcript",
        "results",
        "result",
        "answer",
        "error",
        "context",
        "params",
        "answered",
    ];
    /// What a send passed in.
    pub const INPUT: Slot = Slot(0);
    /// Facts of the run.
    pub const RUN: Slot = Slot(1);
    /// The assistant message of an `llm` or `agent`.
    pub const REPLY: Slot = Slot(2);
    /// Its structured output.
    pub const OUTPUT: Slot = Slot(3);
    /// Messages that an `agent` made.
    pub const TRANSCRIPT: Slot = Slot(4);
    /// Tool messages of a `tools` node.
    pub const RESULTS: Slot = Slot(5);
    /// Result of a tool or subgraph call.
    pub const RESULT: Slot = Slot(6);
    /// Answer to an interrupt.
    pub const ANSWER: Slot = Slot(7);
    /// Error that a handler sees.
    pub const ERROR: Slot = Slot(8);
    /// Constants of the run.
    pub const CONTEXT: Slot = Slot(9);
    /// Parameters of the graph, the same in all its nodes: they are in the graph's plan.
    pub const PARAMS: Slot = Slot(10);
    /// Who answered the last question of the node, and when.
    pub const ANSWERED: Slot = Slot(11);
}

/// A node.
pub struct NodePlan {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is declared.
    pub place: Passage,
    /// What it does.
    pub work: WorkPlan,
    /// Questions ahead of all that it does.
    pub before: Vec<StopPlan>,
    /// Questions ahead of its way on.
    pub after: Vec<StopPlan>,
    /// How many slots its scope has.
    pub slots: usize,
    /// Defaults of its `input`, which whoever comes without one gets; `None` where it declares none.
    pub input: Option<Map>,
    /// When it does nothing.
    pub skips: Vec<(Code, Option<JumpPlan>)>,
    /// `let`s and `require`s, in the order in which they are computed and asked.
    pub prepare: Vec<Preparation>,
    /// `let`s that are computed with each reply or answer.
    pub lets_within: Vec<(Slot, Code)>,
    /// `let`s that are computed behind the work.
    pub lets_behind: Vec<(Slot, Code)>,
    /// Writes after the work.
    pub set: Vec<SetPlan>,
    /// Events.
    pub emits: Vec<EmitPlan>,
    /// Where it goes when nothing jumped.
    pub next: Option<RoutePlan>,
    /// Joins that it arrives at when nothing jumped.
    pub joins: Vec<JoinId>,
    /// What names lead to, for jumps of tools and of subgraphs that leave.
    pub ends: TargetTable,
    /// Tools that it may call with some arguments alone.
    pub narrowed: NarrowPlans,
    /// Tools that it may call, itself or in a graph that it calls, with a `permit once` somewhere in the flow.
    pub once: Vec<ToolId>,
    /// What is tried again.
    pub retry: Option<Retry>,
    /// Longest time of one visit.
    pub timeout: Option<Duration>,
    /// Whether the result of its work is used again.
    pub cache: Option<CachePlan>,
    /// Where an error leads.
    pub on_error: Option<RoutePlan>,
    /// Entries in one run, and where the next one goes.
    pub max_visits: Option<(u32, JumpPlan)>,
    /// Whether it waits until nothing else is left.
    pub defer: bool,
    /// Whether its work is pure, so that it needs no future.
    pub pure: bool,
}

/// A node's work.
pub enum WorkPlan {
    /// One model call.
    Llm(Box<ModelCallPlan>),
    /// Model and tools in a loop.
    Agent {
        /// The call.
        call: Box<ModelCallPlan>,
        /// Most turns.
        max_turns: u32,
        /// Ends the loop.
        until: Option<Code>,
        /// Whether tools of one turn run at the same time.
        parallel: bool,
    },
    /// Tool calls of the last assistant message.
    Tools {
        /// Messages.
        messages: Code,
        /// Tools.
        tools: Vec<ToolId>,
        /// Whether they run at the same time.
        parallel: bool,
    },
    /// One tool call.
    Call {
        /// Which.
        tool: ToolId,
        /// Arguments.
        args: Vec<(Arc<str>, Code)>,
    },
    /// Nothing.
    Update,
    /// Followed by whoever goes to it.
    Branch,
    /// Waits for a person.
    Interrupt {
        /// What is shown.
        ask: AskPlan,
        /// Type of the answer.
        expect: Type,
        /// Which calls the answer permits.
        permits: Vec<PermitPlan>,
        /// Gives up.
        timeout: Option<(Duration, JumpPlan)>,
    },
    /// Runs a graph.
    Subgraph {
        /// Which.
        graph: GraphId,
        /// Its `in` fields.
        with: Vec<PassPlan>,
        /// Child's field and caller's field.
        into: Vec<(FieldId, FieldId)>,
        /// How long its state is kept.
        persist: Persist,
    },
    /// Runs what the embedding program has registered.
    Extern {
        /// Under this name.
        name: Arc<str>,
        /// Fields that it is given.
        reads: Vec<FieldId>,
        /// Fields that it may write.
        writes: Vec<FieldId>,
    },
}

/// Whether the result of a node's work is used again.
pub struct CachePlan {
    /// What it is looked up by; the state and the node's input where there is none.
    pub key: Option<Code>,
    /// How long it holds.
    pub ttl: Option<Duration>,
}

/// A question around a node.
pub struct StopPlan {
    /// Its name.
    pub name: Arc<str>,
    /// Where its answer goes.
    pub slot: Slot,
    /// What is shown.
    pub ask: AskPlan,
    /// Type of the answer.
    pub expect: Type,
    /// Which calls the answer permits.
    pub permits: Vec<PermitPlan>,
}

/// What an interrupt shows.
pub enum AskPlan {
    /// An object.
    Fields(Vec<(Arc<str>, Code)>),
    /// A text.
    Text(Box<Text>),
}

/// How an `in` field gets its value.
pub enum PassPlan {
    /// Shared with the caller's field.
    Field {
        /// Of the called graph.
        to: FieldId,
        /// Of the caller.
        from: FieldId,
    },
    /// Computed.
    Value {
        /// Of the called graph.
        to: FieldId,
        /// Its value.
        value: Code,
    },
    /// What a send gives under the field's name.
    Sent {
        /// Of the called graph.
        to: FieldId,
    },
}

/// What a model is asked.
pub struct ModelCallPlan {
    /// Which model.
    pub model: ModelId,
    /// System message.
    pub system: Option<Text>,
    /// User message at the end.
    pub prompt: Option<Text>,
    /// Messages between.
    pub messages: Option<Code>,
    /// Type, name and schema of the structured output.
    pub output: Option<(Type, String, Json)>,
    /// What a reply must meet, with the message.
    pub ensures: Vec<(Code, Option<Code>)>,
    /// Tools that it is shown.
    pub tools: Vec<ToolId>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    /// Whether tokens are streamed.
    pub stream: bool,
    /// The event that each piece of a reply is sent as.
    pub stream_as: Option<StreamPlan>,
}

/// `stream as EVENT { .. }`
pub struct StreamPlan {
    /// The event.
    pub emit: EmitPlan,
    /// The piece, in its expressions alone.
    pub chunk: Slot,
}

/// Defaults of a node's `input`; a field that may be null begins as null.
fn defaults(input: &[RecordField], types: &TypeTable) -> Option<Map> {
    let known = input.iter().filter_map(|field| {
        let value = match &field.default {
            Some(default) => super::graph::default_value(default, &field.ty, types),
            None if field.ty.admits_null() => Value::Null,
            None => return None,
        };
        Some((field.name.as_str(), value))
    });
    (!input.is_empty()).then(|| known.collect())
}

/// A node of a graph with that state.
pub fn plan(
    builder: &Builder<'_>,
    state: &Arc<StateFields>,
    node: &Node,
) -> Result<NodePlan, PlanError> {
    let mut scope = builder.scope(state, true);
    for name in slots::NAMES {
        scope.declare(name, Type::Json);
    }
    let before = stops(builder, node, false, &mut scope)?;
    let skips = node.skips.iter().map(|skip| {
        let when = builder.code(&skip.when, &scope)?;
        Ok((
            when,
            skip.to
                .as_ref()
                .map(|to| jump::jump(builder, to, &mut scope))
                .transpose()?,
        ))
    });
    let skips = skips.collect::<Result<_, PlanError>>()?;
    let prepare = jump::preparations(builder, (&node.lets, &node.requires), &mut scope)?;
    let cache = node.cache.as_ref().map(|cache| {
        let key = cache.key.as_ref().map(|key| builder.code(key, &scope));
        Ok(CachePlan {
            key: key.transpose()?,
            ttl: cache.ttl_ms.map(Duration::from_millis),
        })
    });
    let cache = cache.transpose()?;
    let lets_within = jump::lets(builder, &node.lets_within, &mut scope)?;
    let narrowed = narrow::plan(builder, &node.narrowed, &scope)?;
    let work = work(builder, (&node.work, &lets_within), &mut scope)?;
    let lets_behind = jump::lets(builder, &node.lets_behind, &mut scope)?;
    let set = jump::sets(builder, &node.set, &scope)?;
    let emits = jump::emits(builder, &node.emits, &scope)?;
    let after = stops(builder, node, true, &mut scope)?;
    let next = node
        .next
        .as_ref()
        .map(|next| jump::route(builder, next, &mut scope))
        .transpose()?;
    let ends = jump::ends(builder, &node.ends, &mut scope)?;
    let on_error = node
        .on_error
        .as_ref()
        .map(|route| jump::route(builder, route, &mut scope))
        .transpose()?;
    let max_visits = node
        .max_visits
        .as_ref()
        .map(|max| Ok((max.limit, jump::jump(builder, &max.to, &mut scope)?)));
    Ok(NodePlan {
        name: node.name.as_str().into(),
        place: builder.place(node.at),
        pure: matches!(work, WorkPlan::Update | WorkPlan::Branch)
            && node.timeout_ms.is_none()
            && node.stops.is_empty(),
        work,
        before,
        after,
        input: defaults(&node.input, &builder.flow.types),
        skips,
        prepare,
        lets_within,
        lets_behind,
        set,
        emits,
        next,
        joins: node.joins.clone(),
        ends,
        narrowed,
        once: Vec::new(),
        retry: node.retry.clone(),
        timeout: node.timeout_ms.map(Duration::from_millis),
        cache,
        on_error,
        max_visits: max_visits.transpose()?,
        defer: node.defer,
        slots: scope.names.len(),
    })
}

/// The questions before or after a node, the answer of each in scope of what follows.
fn stops(
    builder: &Builder<'_>,
    node: &Node,
    after: bool,
    scope: &mut Scope,
) -> Result<Vec<StopPlan>, PlanError> {
    let mut stops = Vec::new();
    for stop in node.stops.iter().filter(|stop| stop.after == after) {
        let ask = question(builder, &stop.ask, scope)?;
        let slot = scope.declare(stop.name.as_str(), Type::Json);
        stops.push(StopPlan {
            name: stop.name.as_str().into(),
            slot,
            ask,
            expect: stop.expect.clone(),
            permits: permit::plan(builder, &stop.permits, (slot, &[]), scope)?,
        });
    }
    Ok(stops)
}

fn question(builder: &Builder<'_>, ask: &Ask, scope: &Scope) -> Result<AskPlan, PlanError> {
    Ok(match ask {
        Ask::Fields(fields) => AskPlan::Fields(jump::named(builder, fields, scope)?),
        Ask::Text(text) => AskPlan::Text(Box::new(builder.text(text, scope)?)),
    })
}

fn work(
    builder: &Builder<'_>,
    (work, lets): (&Work, &[(Slot, Code)]),
    scope: &mut Scope,
) -> Result<WorkPlan, PlanError> {
    Ok(match work {
        Work::Llm(call) => WorkPlan::Llm(model_call(builder, call, scope)?.into()),
        Work::Agent {
            call,
            max_turns,
            until,
            parallel,
        } => WorkPlan::Agent {
            call: model_call(builder, call, scope)?.into(),
            max_turns: *max_turns,
            until: until
                .as_ref()
                .map(|until| builder.code(until, scope))
                .transpose()?,
            parallel: *parallel,
        },
        Work::Tools {
            messages,
            tools,
            parallel,
        } => WorkPlan::Tools {
            messages: builder.code(messages, scope)?,
            tools: tools.clone(),
            parallel: *parallel,
        },
        Work::Call { tool, args } => WorkPlan::Call {
            tool: *tool,
            args: jump::named(builder, args, scope)?,
        },
        Work::Update => WorkPlan::Update,
        Work::Branch => WorkPlan::Branch,
        Work::Interrupt {
            ask,
            expect,
            permits,
            timeout,
        } => WorkPlan::Interrupt {
            ask: question(builder, ask, scope)?,
            permits: permit::plan(builder, permits, (slots::ANSWER, lets), scope)?,
            expect: expect.clone().unwrap_or(Type::Json),
            timeout: match timeout {
                Some(timeout) => Some((
                    Duration::from_millis(timeout.after_ms),
                    jump::jump(builder, &timeout.to, scope)?,
                )),
                None => None,
            },
        },
        Work::Extern {
            name,
            reads,
            writes,
        } => WorkPlan::Extern {
            name: name.as_str().into(),
            reads: reads.clone(),
            writes: writes.clone(),
        },
        Work::Subgraph {
            graph,
            with,
            into,
            persist,
        } => WorkPlan::Subgraph {
            persist: *persist,
            graph: *graph,
            with: with
                .iter()
                .map(|item| pass(builder, item, scope))
                .collect::<Result<_, _>>()?,
            into: into
                .iter()
                .map(|binding| (binding.from, binding.to))
                .collect(),
        },
    })
}

fn pass(builder: &Builder<'_>, pass: &Pass, scope: &Scope) -> Result<PassPlan, PlanError> {
    Ok(match pass {
        Pass::Field { to, from } => PassPlan::Field {
            to: *to,
            from: *from,
        },
        Pass::Value { to, value } => PassPlan::Value {
            to: *to,
            value: builder.code(value, scope)?,
        },
        Pass::Sent { to } => PassPlan::Sent { to: *to },
    })
}

fn model_call(
    builder: &Builder<'_>,
    call: &ModelCall,
    scope: &Scope,
) -> Result<ModelCallPlan, PlanError> {
    let text = |template: &Option<_>| {
        template
            .as_ref()
            .map(|t| builder.text(t, scope))
            .transpose()
    };
    let output = call.output.as_ref().map(|ty| {
        let name: String = builder.flow.types.show(ty).to_string();
        let name = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        (ty.clone(), name, json_schema(ty, &builder.flow.types))
    });
    let ensures = call.ensures.iter().map(|ensure| {
        let message = ensure.message.as_ref();
        let message = message.map(|message| builder.code(message, scope));
        Ok((
            builder.code(&ensure.condition, scope)?,
            message.transpose()?,
        ))
    });
    Ok(ModelCallPlan {
        model: call.model,
        system: text(&call.system)?,
        prompt: text(&call.prompt)?,
        messages: call
            .messages
            .as_ref()
            .map(|messages| builder.code(messages, scope))
            .transpose()?,
        output,
        ensures: ensures.collect::<Result<_, PlanError>>()?,
        tools: call.tools.clone(),
        tool_choice: match call.tool_choice.as_deref() {
            None | Some("auto") => ToolChoice::Auto,
            Some("none") => ToolChoice::None,
            Some("required") => ToolChoice::Required,
            Some(tool) => ToolChoice::Tool(tool.to_owned()),
        },
        stream: call.stream,
        stream_as: call
            .stream_as
            .as_ref()
            .map(|emit| stream_as(builder, emit, scope.clone()))
            .transpose()?,
    })
}

fn stream_as(
    builder: &Builder<'_>,
    emit: &Emit,
    mut scope: Scope,
) -> Result<StreamPlan, PlanError> {
    let chunk = scope.declare(CHUNK, Type::String);
    let emit = jump::emit(builder, emit, &scope)?;
    Ok(StreamPlan { emit, chunk })
}
