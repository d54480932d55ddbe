//! The words of a reply as an event of the flow (`stream as`): one for each piece, as it comes.
//!
//! A run never waits for words. While the reader is behind, what a model says is held back and becomes one piece: the event is built of
//! the whole text then, so that its values are of that text, whatever the flow computes of it.

use crate::expr::Slot;
use crate::run::error::RunError;
use crate::run::event::{DuringCall, EventKind};
use crate::run::plan::node::{ModelCallPlan, StreamPlan};
use crate::run::task::TaskRun;
use crate::value::Value;

/// The pieces of one attempt at a reply.
pub struct Pieces<'r, 'a> {
    run: &'r TaskRun<'a>,
    plan: &'r StreamPlan,
    /// What the node's expressions see, with room for the piece.
    slots: Vec<Option<Value>>,
    held: String,
    /// Whose the next one is.
    of: DuringCall,
}

impl<'r, 'a> Pieces<'r, 'a> {
    /// Of an attempt at an effect; `None` where the node sends none.
    pub fn of(
        run: &'r TaskRun<'a>,
        call: &'r ModelCallPlan,
        (effect, attempt): (&str, u32),
    ) -> Option<Self> {
        let plan = call.stream_as.as_ref()?;
        let mut slots = run.slots.clone();
        let Slot(last) = plan.chunk;
        slots.resize(slots.len().max(last as usize + 1), None);
        Some(Self {
            run,
            plan,
            slots,
            held: String::new(),
            of: DuringCall {
                tool: None,
                call: effect.to_owned(),
                attempt,
                index: 0,
                by: run.speaker(),
            },
        })
    }

    /// Takes in what the model has said.
    ///
    /// # Errors
    /// As [`Pieces::send`].
    pub async fn add(&mut self, text: &str) -> Result<(), RunError> {
        self.held.push_str(text);
        match self.run.around.cx.reader_keeps_up().await {
            true => self.send(),
            false => Ok(()),
        }
    }

    /// Sends what is held back.
    ///
    /// # Errors
    /// Where an expression of the event fails. It is computed also when nobody watches, so that nothing depends on that.
    pub fn send(&mut self) -> Result<(), RunError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let text = Value::text(std::mem::take(&mut self.held).as_str());
        if let Some(slot) = self.slots.get_mut(self.plan.chunk.0 as usize) {
            *slot = Some(text);
        }
        let env = self.run.env_of(&self.slots);
        if let Some(payload) = self.plan.emit.payload(&env)? {
            let name = self.run.event_name(&self.plan.emit);
            let during = Some(self.of.clone());
            self.of.index += 1;
            self.run.send(
                String::new(),
                EventKind::Custom {
                    name,
                    payload: payload.into(),
                    during,
                },
            );
        }
        Ok(())
    }
}
