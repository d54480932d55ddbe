//! One model call: its request, its attempts, its fallbacks, its reply. What the reply is held to is in [`super::acceptance`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::expr::function::message::record;
use crate::ir::{ErrorKind, Model, ModelId, Retry, ToolId};
use crate::run::decode::decode_json;
use crate::run::effect::cancelled;
use crate::run::error::RunError;
use crate::run::event::{EventKind, Mode};
use crate::run::exchange::Exchange;
use crate::run::model::{
    CallContext, ChatDelta, ChatReply, ChatRequest, FinishReason, ModelError, Opaque, OutputSpec,
    ToolCallRequest, ToolSpec, Usage, pieces,
};
use crate::run::observe::{Asked, CallEnd, CallUnderWay};
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::plan::node::ModelCallPlan;
use crate::run::request::{Request, stored};
use crate::run::task::TaskRun;
use crate::value::{List, Value};

use super::fallback::{self, PassedOver};
use super::pieces::Pieces;
use super::retry::{self, Attempted, Failure, Series};

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// What its provider needs back, in the order in which it came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
    /// Calls that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// Tokens.
    pub usage: Usage,
    /// Tokens of attempts before it, which failed.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub spent: Usage,
    /// Why it ended.
    pub finish: Option<FinishReason>,
    /// Which of [`models`] has given it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub model: usize,
}

fn is_first(model: &usize) -> bool {
    *model == 0
}

fn is_nothing(usage: &Usage) -> bool {
    *usage == Usage::default()
}

impl From<ChatReply> for Reply {
    fn from(reply: ChatReply) -> Self {
        Self {
            text: reply.text,
            opaque: reply.opaque,
            tool_calls: reply.tool_calls,
            usage: reply.usage,
            spent: Usage::default(),
            finish: reply.finish,
            model: 0,
        }
    }
}

impl Reply {
    /// Whether it was cut off at `max_tokens`.
    pub fn is_cut(&self) -> bool {
        self.finish == Some(FinishReason::Length)
    }

    /// Its text, or a list of parts where the provider needs some back.
    fn content(&self) -> Value {
        if self.opaque.is_empty() {
            return Value::text(self.text.as_str());
        }
        let parts = pieces(&self.text, &self.opaque).map(|piece| match piece {
            Ok(text) => Value::text(text),
            Err(Opaque { provider, data, .. }) => {
                let part = [
                    ("type", Value::from("opaque")),
                    ("provider", Value::text(provider.as_str())),
                    ("data", Value::from_json(data)),
                ];
                Value::Map(part.into_iter().collect())
            }
        });
        Value::List(parts.collect())
    }

    /// The assistant message, a record `message`.
    pub fn to_message(&self) -> Value {
        let calls = self.tool_calls.iter().map(|call| {
            let args = decode_json(&call.arguments)
                .map_or_else(|_| Json::String(call.arguments.clone()), |json| json.value);
            let entries = [
                ("id", Value::text(call.id.as_str())),
                ("name", Value::text(call.name.as_str())),
                ("args", Value::from_json(&args)),
            ];
            Value::Map(entries.into_iter().collect())
        });
        let tokens = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let usage = [
            ("input_tokens", tokens(self.usage.input_tokens)),
            ("output_tokens", tokens(self.usage.output_tokens)),
        ];
        let finish = self.finish.map(FinishReason::word);
        record(
            "assistant",
            self.content(),
            [
                ("tool_calls", Value::List(calls.collect())),
                ("usage", Value::Map(usage.into_iter().collect())),
                ("finish", finish.map_or(Value::Null, Value::from)),
            ],
        )
    }
}

/// The messages of a call: system, `messages`, prompt.
///
/// # Errors
/// Where a template or an expression fails.
pub fn conversation(run: &TaskRun<'_>, call: &ModelCallPlan) -> Result<List, RunError> {
    let mut list = List::new();
    if let Some(system) = &call.system {
        list.push(record(
            "system",
            Value::text(system.render(&run.env())?),
            [],
        ));
    }
    if let Some(messages) = &call.messages {
        match run.eval(messages)? {
            Value::List(items) => items.iter().for_each(|item| list.push(item.clone())),
            single @ Value::Map(_) => list.push(single),
            other => {
                return Err(messages.error(format!(
                    "`messages` is {}, expected a list of messages",
                    other.to_json()
                )));
            }
        }
    }
    if let Some(prompt) = &call.prompt {
        list.push(record("user", Value::text(prompt.render(&run.env())?), []));
    }
    Ok(list)
}

/// The model of a call and those that it falls back on, in the order in which they are asked.
pub fn models(run: &TaskRun<'_>, call: &ModelCallPlan) -> Vec<ModelId> {
    let first = &run.around.cx.plan.flow.models[call.model];
    let fallback = first.fallback.iter().copied();
    std::iter::once(call.model).chain(fallback).collect()
}

/// What is tried again of a node's questions to a model: by the node's own policy, or else the model's.
pub fn policy<'p>(run: &TaskRun<'p>, node: &'p NodePlan, model: ModelId) -> Option<&'p Retry> {
    let of_model = run.around.cx.plan.flow.models[model].retry.as_ref();
    node.retry.as_ref().or(of_model)
}

/// Asks for a reply; answered from the journal where it has been given before. `from` says how many of [`models`] are
/// not asked any more.
///
/// # Errors
/// The last attempt's, once the policy and the fallbacks are used up.
pub async fn ask(
    run: &TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
    from: usize,
    messages: &List,
) -> Result<Reply, RunError> {
    let cx = run.around.cx;
    let path = run.path();
    let asks = Request::new(&stored(messages.iter()));
    let subject = cx.former_name(&path);
    let id = run.effects.next(cx, Of::node("model", &subject));
    let id = run.effects.of_request(cx, &id, &asks);
    let make = async {
        let reply = with_fallbacks(run, node, (call, from, messages), &asks, &id, &path).await?;
        let reply = serde_json::to_value(reply);
        let reply = reply.map_err(|error| RunError::new(ErrorKind::Store, error.to_string()))?;
        Ok(asks.noted(reply))
    };
    let known = cx.journal.finished(run.effects.task(), &id).is_some();
    let outcome = run
        .effects
        .outside(cx, &id, "model", &subject, make)
        .await?;
    let reply: Reply = serde_json::from_value(outcome).map_err(|error| {
        RunError::new(
            ErrorKind::Store,
            format!("a recorded reply can't be read: {error}"),
        )
    })?;
    if !known || cx.was_killed {
        cx.add_usage(reply.usage);
        cx.add_usage(reply.spent);
    }
    if let (Some(calls), Some(model)) = (&cx.calls, models(run, call).get(reply.model)) {
        let model = &cx.plan.flow.models[*model];
        calls.see(Exchange {
            graph: Arc::clone(&run.around.graph.name),
            node: Arc::clone(&node.name),
            task: run.effects.task().to_owned(),
            request: request(run, node, call, model, messages),
            reply: reply.to_message(),
        });
    }
    Ok(reply)
}

async fn with_fallbacks(
    run: &TaskRun<'_>,
    node: &NodePlan,
    call: (&ModelCallPlan, usize, &List),
    asks: &Request,
    id: &str,
    path: &str,
) -> Result<Reply, RunError> {
    let mut spent = Usage::default();
    let reply = first_reply(run, node, call, (asks, id), path, &mut spent).await;
    match reply {
        Ok(reply) => Ok(Reply { spent, ..reply }),
        Err(error) => {
            run.around.cx.add_usage(spent);
            Err(error)
        }
    }
}

/// The reply of the first model that gives one. `spent` are the tokens of attempts that failed.
async fn first_reply(
    run: &TaskRun<'_>,
    node: &NodePlan,
    (call, from, messages): (&ModelCallPlan, usize, &List),
    (asks, id): (&Request, &str),
    path: &str,
    spent: &mut Usage,
) -> Result<Reply, RunError> {
    let flow = &run.around.cx.plan.flow;
    // Each model's attempts have an id of their own, so that each has a record of its own.
    let models = models(run, call).into_iter().enumerate().skip(from);
    let models: Vec<_> = models
        .map(|(turn, model)| match turn {
            0 => (turn, model, id.to_owned(), policy(run, node, model)),
            _ => (
                turn,
                model,
                format!("{id}~{turn}"),
                policy(run, node, model),
            ),
        })
        .collect();
    let leads_on = |kind| leads_to_fallback(&flow.models[call.model], kind);
    // A process may have died at a fallback: the models before it have failed in this round already. Each other round
    // in which a model has passed on was ended by one behind it.
    let mut ended_behind = 0;
    let mut failed_before = 0;
    let mut last_errors = Vec::new();
    for (at, (_, _, id, policy)) in models.iter().enumerate().rev() {
        let Series { ends, last, .. } = Series::known(run, *policy, id, false);
        last_errors.push(last);
        let is_last = at + 1 == models.len();
        let (passed, ended): (Vec<_>, Vec<_>) = ends
            .into_iter()
            .partition(|kind| !is_last && leads_on(*kind));
        if passed.len() > ended_behind {
            failed_before = failed_before.max(at + 1);
        }
        ended_behind += ended.len();
    }
    let mut passed = PassedOver::default();
    let before = models.iter().take(failed_before);
    for ((_, model, ..), error) in before.zip(last_errors.into_iter().rev()) {
        passed.add(&flow.models[*model].name, &error.unwrap_or_else(missing));
    }
    for (at, choice) in models.iter().enumerate().skip(failed_before) {
        let (turn, model, id, policy) = choice;
        let model = *model;
        let effect = Attempted {
            id,
            kind: "model",
            subject: &run.around.cx.former_name(path),
            request: asks,
            fails_as_result: false,
            once: false,
        };
        let under_way = observed(run, node, call, model, id, messages);
        let used = Mutex::default();
        let used = &used;
        let asked = retry::attempts(run, *policy, effect, |attempt| {
            let asked = request(run, node, call, &flow.models[model], messages);
            async move { one_attempt(run, (model, call), asked, (id, path), attempt, used).await }
        });
        let asked = asked.await;
        let used = *used.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = asked.as_ref().ok();
        *spent += used - reply.map(|reply| reply.usage).unwrap_or_default();
        if let Some(under_way) = under_way {
            under_way.end(&CallEnd {
                error: asked.as_ref().err().map(|failure| &failure.error),
                reply,
                usage: used,
                ..CallEnd::default()
            });
        }
        match asked {
            Ok(reply) => {
                return Ok(Reply {
                    model: *turn,
                    ..reply
                });
            }
            Err(Failure { error, .. }) => {
                let next = models.get(at + 1).filter(|_| leads_on(error.kind));
                let Some((_, next, ..)) = next else {
                    return Err(passed.with_error(error));
                };
                let told = format!("{}#{id}!fallback", run.effects.task());
                fallback::tell(run, told, (model, *next), &error);
                passed.add(&flow.models[model].name, &error);
            }
        }
        run.around.cx.journal.barrier().await?;
    }
    Err(missing())
}

fn missing() -> RunError {
    RunError::new(ErrorKind::InvalidRequest, "the flow has no such model")
}

/// Tells an observer that a model is asked, where there is one.
fn observed(
    run: &TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
    id: ModelId,
    effect: &str,
    messages: &List,
) -> Option<CallUnderWay> {
    let cx = run.around.cx;
    cx.observed.as_ref()?;
    let model = &cx.plan.flow.models[id];
    let request = request(run, node, call, model, messages);
    let backend = cx.backends.models.get(id);
    let asked = Asked::Model {
        served_by: backend.and_then(|backend| backend.served_by(&request.model)),
        provider: &model.provider,
        request: &request,
    };
    cx.call_started((run.effects.task(), effect), &asked)
}

/// Whether the fallbacks of a model are asked after a failure of this kind.
fn leads_to_fallback(model: &Model, kind: ErrorKind) -> bool {
    let listed = model.fallback_on.as_ref();
    kind.leads_to_fallback() && listed.is_none_or(|kinds| kinds.contains(&kind))
}

/// One attempt. What it uses is added to `used` as it comes.
async fn one_attempt(
    run: &TaskRun<'_>,
    (id, call): (ModelId, &ModelCallPlan),
    asked: ChatRequest,
    (effect, path): (&str, &str),
    attempt: u32,
    used: &Mutex<Usage>,
) -> Result<Reply, Failure> {
    let cx = run.around.cx;
    let model = &cx.plan.flow.models[id];
    let Some(backend) = cx.backends.models.get(id) else {
        let message = format!("model `{}` has no backend", model.name);
        return Err(RunError::new(ErrorKind::InvalidRequest, message).into());
    };
    let limit = model.timeout_ms.map(Duration::from_millis);
    let used_before = *used.lock().unwrap_or_else(PoisonError::into_inner);
    let context = CallContext {
        thread_id: cx.thread_id.to_string(),
        run_id: cx.run_id.to_string(),
        node: path.to_owned(),
        send: run.effects.send(),
        ordinal: cx.journal.count("model", &cx.former_name(path)),
        attempt,
        idempotency_key: run.effects.idempotency_key(cx, effect),
        rank: run.effects.rank(),
        timeout: limit,
        cancel: run.effects.stop.clone(),
        stop: run.effects.stop.clone(),
        memory: None,
        nested: None,
        reports: None,
        secrets: Arc::clone(&cx.secrets),
        waits: run.effects.waits.of_call(),
    };
    let asked = async {
        let mut reply = ChatReply::default();
        let mut pieces = Pieces::of(run, call, (effect, attempt));
        let mut stream = backend.stream(asked, &context).await?;
        while let Some(delta) = stream.next().await {
            let delta = delta?;
            if let ChatDelta::Text(text) = &delta {
                show(run, model, text, (effect, attempt));
                if let Some(pieces) = &mut pieces {
                    pieces.add(text).await?;
                }
            }
            reply.add(delta);
            let mut in_all = used_before;
            in_all += reply.usage;
            *used.lock().unwrap_or_else(PoisonError::into_inner) = in_all;
        }
        if let Some(pieces) = &mut pieces {
            pieces.send()?;
        }
        match reply.finish {
            Some(FinishReason::ContentFilter) => Err(Failure::from(ModelError::new(
                ErrorKind::ContentFilter,
                "the provider cut the reply off for its content",
            ))),
            Some(_) => Ok(Reply::from(reply)),
            None => Err(Failure::from(ModelError::new(
                ErrorKind::Network,
                "the reply broke off before its end",
            ))),
        }
    };
    let limited = async {
        match limit {
            None => asked.await,
            Some(limit) => match context.waits.limited(limit, Box::pin(asked)).await {
                Some(ended) => ended,
                None => {
                    let message = format!(
                        "model `{}` took longer than {}",
                        model.name,
                        crate::base::duration::show(limit)
                    );
                    Err(ModelError::new(ErrorKind::Timeout, message).into())
                }
            },
        }
    };
    // A model call has no effect but its reply, so a cancelled run need not wait for it.
    tokio::select! {
        // A reply that has come counts, even if the run is cancelled in the same moment.
        biased;
        result = limited => result,
        () = run.effects.stop.cancelled() => Err(cancelled().into()),
    }
}

/// Shows a piece of a reply's text to who watches.
fn show(run: &TaskRun<'_>, model: &Model, text: &str, (effect, attempt): (&str, u32)) {
    if run.around.cx.wants(Mode::Messages) {
        run.send(
            String::new(),
            EventKind::Token {
                text: text.to_owned(),
                model: model.name.clone(),
                call: effect.to_owned(),
                attempt,
                by: run.speaker(),
            },
        );
    }
}

fn request(
    run: &TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
    model: &Model,
    messages: &List,
) -> ChatRequest {
    let tools = &run.around.cx.plan.tools;
    let shown = |tool: &ToolId| match node.narrowed.get(tool) {
        Some(narrowed) => narrowed.spec.clone(),
        None => tools[*tool].spec.clone(),
    };
    let specs: Vec<ToolSpec> = call.tools.iter().map(shown).collect();
    ChatRequest {
        model_name: model.name.clone(),
        model: model.model.clone(),
        messages: messages.clone(),
        tools: specs,
        tool_choice: call.tool_choice.clone(),
        output: call.output.as_ref().map(|(_, name, schema)| OutputSpec {
            name: name.clone(),
            schema: schema.clone(),
        }),
        temperature: model.temperature,
        top_p: model.top_p,
        max_tokens: model.max_tokens,
        thinking_budget: model.thinking_budget,
        reasoning_effort: model.reasoning_effort.clone(),
        seed: model.seed,
        stream: call.stream,
    }
}
