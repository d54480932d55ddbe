//! Answers to interrupts: which one each is for, and whether it fits.

use serde_json::{Value as Json, json};

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::GraphId;
use crate::run::interrupt::{Answer, OpenInterrupt};
use crate::run::plan::node::StopPlan;
use crate::run::plan::{GraphPlan, WorkPlan};
use crate::run::step::BEFORE;
use crate::run::store::{EffectRecord, RunState, ThreadImage, ThreadStatus};
use crate::run::task::show;
use crate::run::work::{approve, doubt};
use crate::value::Value;

use super::{Engine, Gone, StartError};

impl Engine {
    /// Answers as effects; a stop before a node is passed by any resume.
    pub(super) fn answers(
        &self,
        graph: GraphId,
        image: &ThreadImage,
        answers: &[Answer],
    ) -> Result<Vec<EffectRecord>, StartError> {
        let open = open_interrupts(&image.status);
        let root_step = image.frames.first().map_or(0, |frame| frame.step);
        let effect = |interrupt: &OpenInterrupt, outcome: Json| EffectRecord {
            task: interrupt.task.clone(),
            id: interrupt.effect.clone(),
            root_step,
            kind: "answer".to_owned(),
            subject: interrupt.path.clone(),
            outcome,
        };
        let stops = open.iter().filter(|interrupt| interrupt.effect == BEFORE);
        let mut effects: Vec<EffectRecord> = stops.map(|stop| effect(stop, json!(true))).collect();
        let questions: Vec<&OpenInterrupt> = open
            .iter()
            .filter(|interrupt| interrupt.effect != BEFORE)
            .collect();
        for answer in answers {
            let interrupt = find(&questions, answer.interrupt.as_deref())?;
            let ty = self.expected(graph, interrupt)?;
            if let Err(wrong) = accept(&answer.value, ty, &self.plan.flow.types) {
                let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
                let message = format!(
                    "the answer to `{}` ({}) is refused, the thread is as it was: {}\nexpected: {}",
                    interrupt.id,
                    interrupt.path,
                    problems.join("; "),
                    self.plan.flow.types.describe(ty),
                );
                return Err(StartError::refused(message));
            }
            doubt::check(&self.plan.flow, interrupt, &answer.value).map_err(StartError::refused)?;
            approve::check(&self.plan.flow, interrupt, &answer.value)
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
            effects.push(effect(interrupt, answer.value.clone()));
        }
        Ok(effects)
    }

    /// The type of an interrupt's answer in this version of the flow.
    pub(super) fn expected(
        &self,
        graph: GraphId,
        open: &OpenInterrupt,
    ) -> Result<&Type, StartError> {
        if doubt::is_doubt(open) {
            return Ok(self.plan.happened.as_ref().unwrap_or(&Type::Json));
        }
        if approve::is_approval(open) {
            return Ok(self.plan.approval.as_ref().unwrap_or(&Type::Json));
        }
        let mut graph = &self.plan.graphs[graph];
        for name in open.path.split('/') {
            let node = graph.nodes.iter().find(|node| *node.name == *name);
            match node.map(|node| &node.work) {
                Some(WorkPlan::Subgraph { graph: called, .. }) => {
                    graph = &self.plan.graphs[*called]
                }
                Some(WorkPlan::Interrupt { expect, .. }) => return Ok(expect),
                Some(_) => break,
                None => match stop(graph, name) {
                    Some(stop) => return Ok(&stop.expect),
                    None => break,
                },
            }
        }
        let message = format!(
            "the thread waits at `{}`, which is no interrupt of the flow any more",
            open.path
        );
        let gone = Gone::Node(open.node.clone());
        Err(StartError::Version { message, gone })
    }
}

/// The static interrupt of that name.
fn stop<'g>(graph: &'g GraphPlan, name: &str) -> Option<&'g StopPlan> {
    let nodes = graph.nodes.iter();
    let mut stops = nodes.flat_map(|node| node.before.iter().chain(&node.after));
    stops.find(|stop| *stop.name == *name)
}

/// The interrupts that a thread waits at.
pub fn open_interrupts(status: &ThreadStatus) -> Vec<OpenInterrupt> {
    if status.state != RunState::Interrupted {
        return Vec::new();
    }
    status
        .interrupts
        .iter()
        .filter_map(|open| serde_json::from_value(open.clone()).ok())
        .collect()
}

fn find<'o>(open: &[&'o OpenInterrupt], id: Option<&str>) -> Result<&'o OpenInterrupt, StartError> {
    let list = || {
        let lines = open.iter().map(|open| {
            format!(
                "\n  {}  {}  {}",
                open.id,
                open.path,
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
            list()
        ))),
        (Some(id), open) => {
            let named: Vec<&OpenInterrupt> = open
                .iter()
                .filter(|known| known.id == id || known.path == id)
                .copied()
                .collect();
            match named.as_slice() {
                [only] => Ok(only),
                [] => Err(StartError::refused(format!(
                    "no open interrupt has the id or path `{id}`; open is:{}",
                    list()
                ))),
                _ => Err(StartError::refused(format!(
                    "several interrupts are open at `{id}`; name one by its id:{}",
                    list()
                ))),
            }
        }
    }
}
