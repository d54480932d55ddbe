//! Answers to interrupts: which one each is for, and whether it fits.

use serde_json::{Value as Json, json};

use crate::expr::accept::accept;
use crate::ir::GraphId;
use crate::run::interrupt::{Answer, OpenInterrupt};
use crate::run::store::{EffectRecord, RunState, StoreError, ThreadImage, ThreadStatus};
use crate::run::task::show;
use crate::run::work::{answered, approve, in_doubt};
use crate::value::{Map, Value};

use super::{Engine, StartError};

impl Engine {
    /// Answers as effects; a stop before a node is passed by any resume.
    pub(super) fn answers(
        &self,
        graph: GraphId,
        image: &ThreadImage,
        (answers, by): (&[Answer], Option<&str>),
    ) -> Result<Vec<EffectRecord>, StartError> {
        let open = open_interrupts(&image.status)?;
        let root_step = image.frames.first().map_or(0, |frame| frame.step);
        let effect = |interrupt: &OpenInterrupt, outcome: Json| EffectRecord {
            task: interrupt.task.clone(),
            id: interrupt.effect.clone(),
            root_step,
            kind: "answer".to_owned(),
            subject: interrupt.path.clone(),
            outcome,
        };
        let stops = open.iter().filter(|interrupt| interrupt.is_stop());
        let mut effects: Vec<EffectRecord> = stops.map(|stop| effect(stop, json!(true))).collect();
        let questions: Vec<&OpenInterrupt> = open
            .iter()
            .filter(|interrupt| !interrupt.is_stop())
            .collect();
        let at = self.ambient.now().to_string();
        for answer in answers {
            let interrupt = find(&questions, answer.interrupt.as_deref())?;
            let ty = self.expected(graph, interrupt)?;
            if let Err(wrong) = accept(&answer.value, ty, &self.plan.flow.types) {
                let message = format!(
                    "the answer to `{}` ({}) is refused, the thread is as it was: {wrong}\nexpected: {}",
                    interrupt.id,
                    interrupt.place(),
                    self.plan.flow.types.describe(ty),
                );
                return Err(StartError::refused(message));
            }
            in_doubt::check(&self.plan.flow, interrupt, &answer.value)
                .map_err(StartError::refused)?;
            let let_through = |args: &Map| self.let_through(graph, interrupt, args);
            approve::check(&self.plan.flow, interrupt, &answer.value, let_through)
                .map_err(StartError::refused)?;
            if effects
                .iter()
                .any(|known| known.task == interrupt.task && known.id == interrupt.effect)
            {
                return Err(StartError::refused(format!(
                    "interrupt `{}` is answered twice",
                    interrupt.id
                )));
            }
            let life = image.status.life.as_deref();
            let kept = answered::to_keep(interrupt, &answer.value, (by, &at), life);
            effects.push(effect(interrupt, kept));
        }
        Ok(effects)
    }
}

/// The interrupts that a thread waits at.
///
/// # Errors
/// [`StoreError::Corrupt`] where one of them can't be read: without it the others are not what the thread waits for.
pub fn open_interrupts(status: &ThreadStatus) -> Result<Vec<OpenInterrupt>, StoreError> {
    if status.state != RunState::Interrupted {
        return Ok(Vec::new());
    }
    let open = status.interrupts.iter();
    let read = open.map(|open| serde_json::from_value(open.clone()));
    read.collect::<Result<_, _>>()
        .map_err(|error| StoreError::Corrupt {
            message: format!(
                "a question that the thread waits for can't be read: {error}; a later version of this program may have kept it"
            ),
        })
}

fn find<'o>(open: &[&'o OpenInterrupt], id: Option<&str>) -> Result<&'o OpenInterrupt, StartError> {
    let list = |open: &[&OpenInterrupt]| {
        let lines = open.iter().map(|open| {
            format!(
                "\n  {}  {}  {}",
                open.id,
                open.place(),
                show(&Value::from_json(&open.ask))
            )
        });
        lines.collect::<String>()
    };
    match (id, open) {
        (_, []) => Err(StartError::refused(
            "no interrupt is open on this thread: resume it without an answer",
        )),
        (None, [only]) => Ok(only),
        (None, _) => Err(StartError::refused(format!(
            "several interrupts are open; name one of:{}",
            list(open)
        ))),
        (Some(id), open) => {
            let all = |wanted: &dyn Fn(&OpenInterrupt) -> bool| -> Vec<&OpenInterrupt> {
                let found = open.iter().copied();
                found.filter(|known| wanted(known)).collect()
            };
            // Several questions of one task have one place; what names one exactly names no other.
            let ways: [&dyn Fn(&OpenInterrupt) -> bool; 3] = [
                &|known| known.id == id,
                &|known| known.place() == id,
                &|known| known.is_at(id),
            ];
            let named = ways.into_iter().map(|way| all(way));
            let named = named.into_iter().find(|found| !found.is_empty());
            let named = named.unwrap_or_default();
            match named.as_slice() {
                [only] => Ok(only),
                [] => Err(StartError::refused(format!(
                    "no open interrupt has the id or path `{id}`; open is:{}",
                    list(open)
                ))),
                [first, others @ ..] => {
                    let apart = others.iter().any(|other| other.place() != first.place());
                    let or = if apart { ", or with its index" } else { "" };
                    Err(StartError::refused(format!(
                        "several interrupts are open at `{id}`; name one by its id{or}:{}",
                        list(&named)
                    )))
                }
            }
        }
    }
}
