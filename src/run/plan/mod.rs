//! The plan: an IR made ready to run in this process.
//!
//! Expressions are compiled to slots, templates parsed, schemas made; edges are tables. Nothing is
//! looked up by name while a flow runs. What is not here: anything of a run.
//!
//! Reading order: [`code`] (expressions), [`jump`] (routes), [`permit`], [`node`], [`tool`], [`narrow`], [`graph`];
//! `once` (who may use a permission for one call), `answer` (what the runtime itself asks a person).

mod answer;
pub mod code;
pub mod graph;
pub mod jump;
pub mod narrow;
pub mod node;
mod once;
pub mod permit;
pub mod tool;

use std::sync::Arc;

use crate::base::IdVec;
use crate::expr::{Scope, Type};
use crate::ir::{Flow, GraphId, ReducerId, ToolId};

pub use code::{Code, PlanError, Text};
pub use graph::GraphPlan;
pub use jump::{EmitPlan, JumpPlan, RoutePlan, SetPlan, TargetPlan, TargetTable, Then};
pub use node::{AskPlan, NodePlan, WorkPlan};
pub use permit::{PermitPlan, PinPlan};
pub use tool::ToolPlan;

use code::Builder;

/// A flow made ready to run.
pub struct Plan {
    /// The flow.
    pub flow: Arc<Flow>,
    /// Its version.
    pub version: String,
    /// Graphs.
    pub graphs: IdVec<GraphId, GraphPlan>,
    /// Bodies of declared reducers; their two parameters are slots 0 and 1.
    pub reducers: IdVec<ReducerId, Code>,
    /// Tools.
    pub tools: IdVec<ToolId, ToolPlan>,
    /// Type of the answer to whether a call has happened; `None` where no tool asks that.
    pub happened: Option<Type>,
    /// Type of the answer to whether a call may be made; `None` where no tool asks that.
    pub approval: Option<Type>,
}

/// Makes a plan of a flow.
///
/// # Errors
/// Where the IR does not hold together, which a flow that this version compiled never does.
pub fn plan(flow: Arc<Flow>) -> Result<Plan, PlanError> {
    let builder = Builder::new(&flow);
    if flow.format != crate::ir::flow::FORMAT {
        let message = format!(
            "the IR has format {}, this version runs format {}",
            flow.format,
            crate::ir::flow::FORMAT
        );
        return Err(PlanError::new(message));
    }
    crate::ir::valid::valid(&flow)
        .map_err(|broken| PlanError::new(format!("the IR does not hold together: {broken}")))?;
    let reducers = flow.reducers.iter().map(|reducer| {
        let mut scope = Scope {
            functions: builder.functions.clone(),
            ..Scope::default()
        };
        scope.declare(reducer.old.0.as_str(), Type::Json);
        scope.declare(reducer.new.0.as_str(), Type::Json);
        builder.code(&reducer.body, &scope)
    });
    let reducers = reducers.collect::<Result<_, _>>()?;
    let tools = flow
        .tools
        .iter()
        .map(|tool| tool::plan(&builder, tool))
        .collect::<Result<_, _>>()?;
    let mut graphs: IdVec<GraphId, GraphPlan> = flow
        .graphs
        .iter()
        .map(|graph| graph::plan(&builder, graph))
        .collect::<Result<_, _>>()?;
    once::mark(&flow, &mut graphs);
    let version = flow.version();
    let (flow, answers) = answer::with_answer_types(flow);
    Ok(Plan {
        version,
        graphs,
        reducers,
        tools,
        happened: answers.happened,
        approval: answers.approval,
        flow,
    })
}
