//! `call`: one tool call. Gives `result`; a tool's error is the node's.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::ir::ToolId;
use crate::run::ordinal::Of;
use crate::run::plan::node::slots;
use crate::run::plan::{Code, NodePlan};
use crate::run::task::TaskRun;
use crate::run::turns;

use super::Stop;
use super::approve;
use super::tool_call::{Call, Errors, accepted, call_one, prepare};

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
        // Arguments are read by the names that the outside knows them by.
        let params = &run.around.cx.plan.flow.tools[tool].params;
        let param = params.iter().find(|param| param.name == **name);
        let name = param.map_or(&**name, |param| param.outer_name());
        json.insert(name.to_owned(), run.eval(code)?.to_json());
    }
    let cx = run.around.cx;
    let scope = run
        .effects
        .child(cx, Of::named("tool", &cx.plan.tools[tool].name));
    let args = accepted(run, tool, &Json::Object(json))?;
    turns::wait_alone(run, (tool, &args)).await?;
    let settled = prepare(run, node, tool, (args, Errors::ToNode), &scope)?;
    approve::keep_uses(run, settled.claims).await?;
    let call = Call {
        tool,
        args: settled.args,
        scope: &scope,
        errors: Errors::ToNode,
        asked_as: None,
    };
    let result = call_one(run, node, call).await?;
    run.put_slot(slots::RESULT, result);
    Ok(())
}
