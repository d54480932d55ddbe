//! Models of a chain that were passed over: what people are told of it, and what the error of the last one says of them.

use crate::base::size::excerpt;
use crate::ir::ModelId;
use crate::run::error::RunError;
use crate::run::event::EventKind;
use crate::run::task::{TaskRun, brief};

/// Models that have failed, in the order in which they were asked, each with why.
#[derive(Default)]
pub struct PassedOver(Vec<(String, String)>);

impl PassedOver {
    /// Notes one.
    pub fn add(&mut self, model: &str, error: &RunError) {
        let why = format!("{}: {}", error.kind.word(), excerpt(&error.message));
        self.0.push((model.to_owned(), why));
    }

    /// The error of the model asked last, with those of the models before it.
    pub fn with_error(&self, mut error: RunError) -> RunError {
        for (model, why) in &self.0 {
            let before = format!("; before that, model `{model}` failed: {why}");
            error.message.push_str(&before);
        }
        error
    }
}

/// Tells that a model is asked in place of one that has failed: by an event of that id, and in the result's warnings.
pub fn tell(run: &TaskRun<'_>, id: String, (failed, next): (ModelId, ModelId), error: &RunError) {
    let cx = run.around.cx;
    let name = |model: ModelId| cx.plan.flow.models[model].name.clone();
    let (model, fallback) = (name(failed), name(next));
    cx.count_fallback(&model, &fallback, error);
    let (error, by) = (brief(error), run.speaker());
    run.send(
        id,
        EventKind::Fallback {
            model,
            fallback,
            error,
            by,
        },
    );
}
