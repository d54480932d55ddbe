//! `call`: one tool call. Gives `result`; a tool's error is the node's.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::ir::ToolId;
use crate::run::plan::node::slots;
use crate::run::plan::{Code, NodePlan};
use crate::run::task::TaskRun;

use super::Stop;
use super::tool_call::{Call, Errors, call_one};

/// The work.
///
/// # Errors
/// Of the tool, or of an argument's expression; the tool's open interrupt.
pub async fn work<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    tool: ToolId,
    args: &[(Arc<str>, Code)],
) -> Result<(), Stop> {
    let mut json = JsonMap::new();
    for (name, code) in args {
        json.insert(name.to_string(), run.eval(code)?.to_json());
    }
    let scope = run.effects.child();
    let call = Call {
        tool,
        args: Json::Object(json),
        scope: &scope,
        errors: Errors::ToNode,
    };
    let result = call_one(run, node, call).await?;
    run.put_slot(slots::RESULT, result);
    Ok(())
}
