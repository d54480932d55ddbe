//! What a task tells those who watch.

use serde_json::{Map as JsonMap, Value as Json};

use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::event::{EventKind, Speaker};
use crate::run::ordinal::Of;
use crate::run::plan::EmitPlan;
use crate::value::Value;

use super::TaskRun;

impl<'a> TaskRun<'a> {
    pub(super) fn emit_all(&self, emits: &[EmitPlan], on_start: bool) -> Result<(), RunError> {
        for emit in emits.iter().filter(|emit| emit.on_start == on_start) {
            // Numbered and computed also when nobody watches, so that nothing depends on it.
            let Some(payload) = emit.payload(&self.env())? else {
                continue;
            };
            self.send_custom(self.effects, emit, payload);
        }
        Ok(())
    }

    /// Name of the event.
    pub fn event_name(&self, emit: &EmitPlan) -> String {
        self.around.cx.plan.flow.events[emit.event].name.clone()
    }

    /// Sends one of the flow's own events, as the next of its name in that part of the task.
    pub fn send_custom(&self, part: &EffectScope, emit: &EmitPlan, payload: JsonMap<String, Json>) {
        let name = self.event_name(emit);
        let id = part.next(self.around.cx, Of::named("emit", &name));
        let id = format!("{}#{id}", self.effects.task());
        self.send(
            id,
            EventKind::Custom {
                name,
                payload: Json::Object(payload),
                during: None,
            },
        );
    }

    /// Sends an event of this node.
    pub fn send(&self, id: String, kind: EventKind) {
        self.around.cx.send(
            self.around.path,
            self.around.step,
            Some(self.name),
            id,
            kind,
        );
    }

    /// Tells what was mended of something that a model wrote: of `output`, or of the arguments of a tool. `mark` is where the task stands.
    pub fn send_repairs(&self, mark: String, of: &str, repairs: Vec<String>) {
        if !repairs.is_empty() {
            let (of, by) = (of.to_owned(), self.speaker());
            self.send(
                format!("{mark}~repaired"),
                EventKind::Repaired { of, repairs, by },
            );
        }
    }

    /// Whose words this node's are.
    pub fn speaker(&self) -> Speaker {
        Speaker {
            task: self.effects.task().to_owned(),
            send: self.effects.send(),
        }
    }

    /// Sends a whole message.
    pub fn say(&self, id: String, message: &Value) {
        let (message, by) = (message.to_json(), self.speaker());
        self.send(id, EventKind::Message { message, by });
    }
}
