//! Types of the answers that the runtime itself asks for. No text of a flow can name them, so they are
//! no part of the IR.

use std::sync::Arc;

use crate::expr::Type;
use crate::expr::constraint::Constraints;
use crate::expr::ty::{Record, RecordField};
use crate::ir::{Flow, Tool};

/// The types; `None` where no tool asks.
#[derive(Debug, Clone, Default)]
pub struct AnswerTypes {
    /// Whether a call has happened (`@idempotent(false)`).
    pub happened: Option<Type>,
    /// Whether a call may be made (`@approve`).
    pub approval: Option<Type>,
}

/// The flow with the records of the types that its tools need.
pub fn with_answer_types(flow: Arc<Flow>) -> (Arc<Flow>, AnswerTypes) {
    let asks = |tool: &Tool| tool.idempotent == Some(false) && tool.body.is_none();
    let (happened, approval) = (
        flow.tools.iter().any(asks),
        flow.tools.iter().any(Tool::asks),
    );
    if !happened && !approval {
        return (flow, AnswerTypes::default());
    }
    let mut flow = Arc::unwrap_or_clone(flow);
    let mut record = |name: &str, fields: &[(&str, Type)]| {
        let fields = fields.iter().map(|(name, ty)| RecordField {
            name: (*name).to_owned(),
            doc: String::new(),
            ty: ty.clone(),
            default: None,
            constraints: Constraints::default(),
        });
        Type::Record(flow.types.records.push(Record {
            index: Default::default(),
            name: name.to_owned(),
            doc: String::new(),
            fields: fields.collect(),
        }))
    };
    let types = AnswerTypes {
        happened: happened.then(|| {
            record(
                "happened",
                &[("happened", Type::Bool), ("result", Type::Json)],
            )
        }),
        approval: approval.then(|| {
            let decisions = ["approve", "edit", "refuse"];
            let decisions = decisions.map(|text| Type::Literal(text.into()));
            record(
                "approval",
                &[
                    ("decision", Type::Union(decisions.into())),
                    ("args", Type::Json),
                    ("message", Type::nullable(Type::String)),
                ],
            )
        }),
    };
    (Arc::new(flow), types)
}
