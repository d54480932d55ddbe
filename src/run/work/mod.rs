//! The kinds' own work, one file each. What all share: the order around the work, and errors that
//! the flow handles.

mod agent;
pub mod approve;
mod body;
mod call;
pub mod doubt;
mod interrupt;
mod llm;
mod model_call;
mod narrow;
mod retry;
pub mod subgraph;
mod tool_call;
mod tools;

use crate::ir::ErrorKind;
use crate::value::Value;

use super::effect::EffectScope;
use super::error::RunError;
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
    if run.begin(node)? {
        match &node.work {
            WorkPlan::Llm(call) => llm::work(&mut run, node, call).await?,
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
                agent::work(&mut run, node, call, limits).await?;
            }
            WorkPlan::Tools {
                messages,
                tools,
                parallel,
            } => {
                tools::work(&mut run, node, messages, tools, *parallel).await?;
            }
            WorkPlan::Call { tool, args } => call::work(&mut run, node, *tool, args).await?,
            WorkPlan::Interrupt {
                ask,
                expect,
                timeout,
            } => {
                if !interrupt::work(&mut run, ask, expect, timeout.as_ref())? {
                    return Ok(run.into_output(&node.joins));
                }
            }
            WorkPlan::Subgraph { graph, with, into } => {
                if !subgraph::work(&mut run, frame, *graph, with, into).await? {
                    return Ok(run.into_output(&node.joins));
                }
            }
            WorkPlan::Update | WorkPlan::Branch => {}
        }
        run.finish(node)?;
    }
    Ok(run.into_output(&node.joins))
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
    run.put_slot(slots::ERROR, Value::from_json(&error.to_record()));
    run.jumped = true;
    run.handles = Some(error.clone());
    match run.route(route, true) {
        Ok(()) => {
            // What a pure node computes is the same again.
            if !node.pure && !known {
                effects.keep_handled(around.cx, &run.path(), &error);
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
