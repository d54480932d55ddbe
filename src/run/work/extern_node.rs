//! `extern`: runs what the embedding program has registered. Its writes go through the fields' reducers.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::{Channel, ErrorKind, FieldId};
use crate::run::channel::Incoming;
use crate::run::effect::cancelled;
use crate::run::error::RunError;
use crate::run::extern_node::ExternCall;
use crate::run::grace::within_grace;
use crate::run::model::CallContext;
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::plan::node::slots;
use crate::run::request::{Request, is_note};
use crate::run::task::TaskRun;
use crate::value::Value;

use super::Stop;
use super::retry::{self, Attempted, Failure};

/// The work.
///
/// # Errors
/// What the program says; a write to a field that is not declared, or of another type (`invalid_output`).
pub async fn work(
    run: &mut TaskRun<'_>,
    node: &NodePlan,
    name: &Arc<str>,
    (reads, writes): (&[FieldId], &[FieldId]),
) -> Result<(), Stop> {
    let cx = run.around.cx;
    let fields = &run.around.graph.fields;
    let state = reads.iter().map(|field| {
        let value = run.view.get(*field).map(|value| value.to_json());
        (fields[*field].to_string(), value.unwrap_or_default())
    });
    let input = run.slots.get(slots::INPUT.0 as usize);
    let call = ExternCall {
        name: name.to_string(),
        state: state.collect(),
        input: input.and_then(Option::as_ref).map(|value| value.to_json()),
    };
    let id = run.effects.next(cx, Of::named("tool", name));
    let request = Request::new(&json!([call.state, call.input]));
    let shared: &TaskRun<'_> = run;
    let id = shared.effects.of_request(cx, &id, &request);
    let fits = |kept: &Json| values(shared, name, kept, writes).is_ok();
    let id = shared.effects.usable(cx, &id, name, fits);
    let made = retry::attempts(
        shared,
        node.retry.as_ref(),
        Attempted {
            id: &id,
            kind: "tool",
            subject: name,
            request: &request,
            fails_as_result: false,
            once: false,
        },
        |attempt| one_attempt(shared, &id, call.clone(), writes, attempt),
    );
    let made = async { Ok(request.noted(made.await?)) };
    let written = shared.effects.outside(cx, &id, "tool", name, made).await?;
    let values = values(shared, name, &written, writes)
        .map_err(|message| RunError::new(ErrorKind::InvalidOutput, message))?;
    for (field, value) in values {
        let incoming = Incoming {
            value,
            replace: false,
        };
        run.view.put(field, incoming)?;
    }
    Ok(())
}

async fn one_attempt(
    run: &TaskRun<'_>,
    id: &str,
    call: ExternCall,
    writes: &[FieldId],
    attempt: u32,
) -> Result<Json, Failure> {
    let cx = run.around.cx;
    let Some(backend) = cx.backends.externs.get(&call.name) else {
        let message = format!("`{}` is not registered", call.name);
        return Err(RunError::new(ErrorKind::ToolError, message).into());
    };
    if run.effects.stop.is_cancelled() {
        return Err(cancelled().into());
    }
    let context = CallContext {
        thread_id: cx.thread_id.to_string(),
        run_id: cx.run_id.to_string(),
        node: run.path(),
        send: run.effects.send(),
        ordinal: cx.journal.count("tool", &call.name),
        attempt,
        idempotency_key: run.effects.idempotency_key(cx, id),
        rank: run.effects.rank(),
        timeout: None,
        // It may have done its work already: a run that is cancelled waits for it, as long as its grace.
        cancel: CancellationToken::new(),
        stop: run.effects.stop.clone(),
        memory: None,
        nested: None,
        reports: None,
        secrets: Arc::clone(&cx.secrets),
        waits: run.effects.waits.clone(),
    };
    let name = call.name.clone();
    let under = (&*name, &context.cancel);
    let made = backend.run(call, &context);
    let made = within_grace(cx.cancel_grace, &run.effects.stop, under, made).await;
    let made = made.map(Json::Object).map_err(|error| Failure {
        retry_after: error.retry_after,
        ..RunError::from(error).into()
    })?;
    match values(run, &name, &made, writes) {
        Ok(_) => Ok(made),
        Err(message) => Err(Failure::unusable(message, made)),
    }
}

/// What was given, by field, in the order in which the node declares them; or in words why it can't be written.
fn values(
    run: &TaskRun<'_>,
    name: &str,
    given: &Json,
    writes: &[FieldId],
) -> Result<Vec<(FieldId, Value)>, String> {
    let Json::Object(written) = given else {
        return Err(format!(
            "`{name}` gave {given}, expected an object of fields"
        ));
    };
    let graph = run.around.graph;
    let declared = |field: &String| writes.iter().any(|id| *graph.fields[*id] == **field);
    let mut names = written.keys().filter(|key| !is_note(key));
    if let Some(other) = names.find(|field| !declared(field)) {
        return Err(format!(
            "`{name}` wrote `{other}`, which is not among its `writes`"
        ));
    }
    let flow = &run.around.cx.plan.flow;
    let mut values = Vec::new();
    for field in writes {
        let field_name = &graph.fields[*field];
        let Some(json) = written.get(&**field_name) else {
            if run.view.get(*field).is_none() {
                return Err(format!(
                    "`{name}` left `{field_name}`, which has no value yet, unwritten"
                ));
            }
            continue;
        };
        let ty: &Type = match &graph.channels[*field] {
            Channel::Own { reducer } => &flow.reducers[*reducer].new.1,
            _ => &graph.types[*field],
        };
        let value = accept(json, ty, &flow.types).map_err(|wrong| {
            let wrong: Vec<String> = wrong.iter().map(|mismatch| mismatch.to_string()).collect();
            format!("`{name}` wrote `{field_name}`: {}", wrong.join("; "))
        })?;
        values.push((*field, value));
    }
    Ok(values)
}
