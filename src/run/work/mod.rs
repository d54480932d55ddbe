//! The kinds' own work, one file each. What all share: the order around the work, and errors that
//! the flow handles.

pub mod acceptance;
mod agent;
pub mod answered;
pub mod approve;
mod body;
pub mod cached;
mod call;
mod extern_node;
mod fallback;
pub mod in_doubt;
mod interrupt;
mod llm;
pub mod model_call;
pub mod narrow;
mod permit;
mod pieces;
pub mod progress;
pub mod retry;
pub mod subgraph;
mod tool_call;
mod tool_outside;
mod tools;

use crate::ir::ErrorKind;
use crate::value::Value;

use super::effect::EffectScope;
use super::error::RunError;
use super::event::RouteKind;
use super::frame::Frame;
use super::interrupt::OpenInterrupt;
use super::plan::node::slots;
use super::plan::{NodePlan, WorkPlan};
use super::task::{Outcome, Output, Surroundings, Task, TaskRun};

/// Why work came to no output.
#[derive(Debug)]
pub enum Stop {
    /// It waits for answers.
    Interrupted(Vec<OpenInterrupt>),
    /// It failed.
    Failed(RunError),
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        Stop::Failed(error)
    }
}

/// A whole visit of a node with effects.
///
/// # Errors
/// [`Stop`].
pub async fn run(
    around: &Surroundings<'_>,
    frame: &Frame,
    node: &NodePlan,
    task: &Task,
    effects: &EffectScope,
) -> Result<Output, Stop> {
    let mut run = TaskRun::new(
        around,
        node,
        task.send.as_ref().map(|(_, input)| input),
        effects,
    );
    interrupt::ask_all(&mut run, &node.before)?;
    if run.begin(node)? {
        let done = match &node.cache {
            Some(cache) => cached::work(&mut run, frame, node, cache).await?,
            None => own_work(&mut run, frame, node).await?,
        };
        if !done {
            return Ok(run.into_output(&node.joins));
        }
        run.write(node)?;
        interrupt::ask_all(&mut run, &node.after)?;
        run.leave(node)?;
    }
    Ok(run.into_output(&node.joins))
}

/// What the node's kind does. `false` where it has gone elsewhere already, and what would follow is left out.
///
/// # Errors
/// [`Stop`].
async fn own_work<'a>(
    run: &mut TaskRun<'a>,
    frame: &Frame,
    node: &'a NodePlan,
) -> Result<bool, Stop> {
    narrow::fix(run, node)?;
    match &node.work {
        WorkPlan::Llm(call) => Box::pin(llm::work(run, node, call)).await?,
        WorkPlan::Agent {
            call,
            max_turns,
            until,
            parallel,
        } => {
            let limits = agent::Limits {
                max_turns: *max_turns,
                until: until.as_ref(),
                parallel: *parallel,
            };
            Box::pin(agent::work(run, node, call, limits)).await?;
        }
        WorkPlan::Tools {
            messages,
            tools,
            parallel,
        } => Box::pin(tools::work(run, node, messages, tools, *parallel)).await?,
        WorkPlan::Call { tool, args } => call::work(run, node, *tool, args).await?,
        WorkPlan::Extern {
            name,
            reads,
            writes,
        } => extern_node::work(run, node, name, (reads, writes)).await?,
        WorkPlan::Interrupt {
            ask,
            expect,
            permits,
            timeout,
        } => {
            let question = interrupt::Question {
                name: &node.name,
                slot: slots::ANSWER,
                ask,
                expect,
                permits,
                lets: &node.lets_within,
            };
            return interrupt::work(run, question, timeout.as_ref());
        }
        WorkPlan::Subgraph {
            graph,
            with,
            into,
            persist,
        } => return subgraph::work(run, frame, (*graph, *persist), with, into).await,
        WorkPlan::Update | WorkPlan::Branch => {}
    }
    Ok(true)
}

/// What becomes of a failed task: where the node's `on_error` leads, as if the node had done nothing
/// else; the failure itself where nothing handles it. `known`: an earlier process has handled it.
pub fn handle(
    around: &Surroundings<'_>,
    node: &NodePlan,
    task: &Task,
    effects: &EffectScope,
    error: RunError,
    known: bool,
) -> Outcome {
    let Some(route) = node
        .on_error
        .as_ref()
        .filter(|_| can_be_handled(error.kind))
    else {
        return Outcome::Failed(error);
    };
    let handler = effects.of_handler();
    let mut run = TaskRun::new(
        around,
        node,
        task.send.as_ref().map(|(_, input)| input),
        &handler,
    );
    // It leaves no permission, but what it was answered takes earlier ones back.
    run.permit(around.cx.permitting.taken_back(effects.task()));
    run.put_slot(slots::ERROR, Value::from_json(&error.to_record()));
    run.jumped = true;
    run.handles = Some(error.clone());
    match run.route(route, RouteKind::OnError) {
        Ok(()) => {
            // What a pure node computes is the same again.
            if !node.pure && !known {
                effects.keep_handled((around, task), &run.path(), &error);
            }
            Outcome::Done(run.into_output(&[]))
        }
        // `else -> fail` passes the error on as it is.
        Err(failed) if failed == error => Outcome::Failed(error),
        Err(failed) => {
            let path = run.path();
            Outcome::Failed(RunError {
                cause: Some(Box::new(error)),
                ..failed.in_node(&node.name, &path)
            })
        }
    }
}

/// Errors of the run rather than of the node are not the flow's to handle.
fn can_be_handled(kind: ErrorKind) -> bool {
    use ErrorKind::{Budget, Cancelled, RecursionLimit, Store, Version};
    !matches!(kind, Cancelled | RecursionLimit | Store | Version | Budget)
}
