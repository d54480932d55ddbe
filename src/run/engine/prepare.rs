//! Before a run: whether the thread is one of this flow, and whether the input fits.

use serde_json::Value as Json;

use crate::expr::accept::accept;
use crate::ir::node::Work;
use crate::ir::{Channel, FieldId, Graph, GraphId};
use crate::run::frame::Frame;
use crate::run::interrupt::Answer;
use crate::run::store::{EffectRecord, RunState, ThreadImage};
use crate::run::work::subgraph::{restore, restore_fields};
use crate::value::Value;

use super::fit::Held;
use super::left_behind::LeftBehind;
use super::take_over::TakenOver;
use super::{Engine, Gone, RunOptions, StartError, latest_step};

/// A run that begins.
pub(super) struct Begun {
    /// The run's own graph.
    pub frame: Frame,
    /// Its input.
    pub input: Vec<(FieldId, Value)>,
    /// What the thread has already; `None` of a new thread.
    pub taken: Option<TakenOver>,
    /// What of it the run leaves behind.
    pub left_behind: LeftBehind,
}

/// A run that goes on.
pub(super) struct Resumed {
    /// The run's own graph.
    pub graph: GraphId,
    /// It, as it was.
    pub frame: Frame,
    /// The thread.
    pub taken: TakenOver,
    /// The answers.
    pub answered: Vec<EffectRecord>,
}

impl Engine {
    /// The frame of a new run and its input, checked.
    pub(super) fn prepare(
        &self,
        graph: GraphId,
        image: Option<&ThreadImage>,
        input: &Json,
        options: &RunOptions,
    ) -> Result<Begun, StartError> {
        self.check_externs()?;
        let plan = &self.plan.graphs[graph];
        let flow_graph = &self.plan.flow.graphs[graph];
        if !flow_graph.leaves.is_empty() && !options.may_leave {
            let names = crate::base::name::list(flow_graph.leaves.iter().map(String::as_str));
            let message = format!(
                "graph `{}` leaves for {names} of its caller, so that it can only be called",
                plan.name
            );
            return Err(StartError::refused(message));
        }
        self.check_stops(graph, options)?;
        let context = self.context_given(flow_graph, &options.context)?;
        let mut frame = Frame::new(graph, plan, "".into(), String::new(), &context);
        let mut taken = None;
        let mut left_behind = LeftBehind::default();
        if let Some(image) = image {
            self.check_graph(&plan.name, image)?;
            let mut of_now = self.take_over(graph, image, options.migrate, Held::State)?;
            if let Some(root) = of_now.image.frames.first_mut() {
                // What the last run left undone is dropped, also what the graph has no more.
                left_behind = LeftBehind::of(flow_graph, root);
                restore_fields(&mut frame, plan, root).map_err(StartError::from_run)?;
                frame.step = latest_step(image) + 1;
            }
            taken = Some(of_now);
        }
        let input = self.input(flow_graph, &frame, input)?;
        left_behind.reverts(&mut frame, plan, &input);
        Ok(Begun {
            frame,
            input,
            taken,
            left_behind,
        })
    }

    /// Every `extern` node must be there before anything runs.
    fn check_externs(&self) -> Result<(), StartError> {
        let nodes = self.plan.flow.graphs.iter().flat_map(|graph| &graph.nodes);
        for node in nodes {
            let Work::Extern { name, .. } = &node.work else {
                continue;
            };
            if !self.backends.externs.contains_key(name) {
                let message = format!(
                    "node `{}` is `extern {name}`: a program that embeds the runtime must provide `{name}`, and this one does not",
                    node.name
                );
                return Err(StartError::refused(message));
            }
        }
        Ok(())
    }

    pub(super) fn check_graph(&self, graph: &str, image: &ThreadImage) -> Result<(), StartError> {
        if image.status.graph == graph {
            return Ok(());
        }
        let message = format!(
            "the thread belongs to graph `{}`, not `{graph}`",
            image.status.graph
        );
        Err(StartError::refused(message))
    }

    pub(super) fn input(
        &self,
        graph: &Graph,
        frame: &Frame,
        input: &Json,
    ) -> Result<Vec<(FieldId, Value)>, StartError> {
        let Json::Object(entries) = input else {
            return Err(StartError::refused(
                "the input must be a JSON object of the graph's `in` fields",
            ));
        };
        let names = || {
            graph
                .fields
                .iter()
                .filter(|field| field.mode.is_in())
                .map(|field| field.name.as_str())
        };
        let mut problems = Vec::new();
        // Inputs that are there, misspelt: they are not missing as well.
        let mut meant = Vec::new();
        for name in entries
            .keys()
            .filter(|name| !names().any(|known| known == name.as_str()))
        {
            let open = names().filter(|known| !entries.contains_key(*known));
            let hint = match crate::base::name::closest(name, open) {
                Some(close) => {
                    meant.push(close);
                    format!("; did you mean `{close}`?")
                }
                None => format!("; it takes {}", crate::base::name::list(names())),
            };
            problems.push(format!(
                "graph `{}` takes no input `{name}`{hint}",
                graph.name
            ));
        }
        let mut values = Vec::new();
        for (id, field) in graph
            .fields
            .entries()
            .filter(|(_, field)| field.mode.is_in())
        {
            match entries.get(&field.name) {
                Some(json) => match accept(
                    json,
                    self.plan.flow.write_type(field),
                    &self.plan.flow.types,
                ) {
                    Ok(value) => {
                        let whole = matches!(field.channel, Channel::Last | Channel::AnyLast);
                        let broken = match whole {
                            true => field.constraints.broken_by(&value),
                            false => Vec::new(),
                        };
                        let said = broken.iter();
                        problems.extend(said.map(|b| format!("input `{}`: {b}", field.name)));
                        values.push((id, value));
                    }
                    Err(wrong) => problems.extend(
                        wrong
                            .lines()
                            .map(|m| format!("input `{}`: {m}", field.name)),
                    ),
                },
                None if meant.contains(&field.name.as_str()) => {}
                None if frame.fields.get(id.0 as usize).is_none_or(Option::is_none) => {
                    problems.push(format!("input `{}` is missing", field.name));
                }
                None => {}
            }
        }
        if problems.is_empty() {
            Ok(values)
        } else {
            Err(StartError::refused(problems.join("\n")))
        }
    }

    /// The graph that a thread belongs to.
    pub(super) fn graph_of(&self, image: &ThreadImage) -> Result<GraphId, StartError> {
        let name = &image.status.graph;
        self.plan.flow.graph(name).ok_or_else(|| {
            let message = format!(
                "the thread belongs to graph `{name}`, which the flow does not have any more"
            );
            let gone = Gone::Graph;
            StartError::Version { message, gone }
        })
    }

    /// The frame of a run that goes on, with the answers as effects.
    pub(super) fn prepare_resume(
        &self,
        thread_id: &str,
        image: Option<&ThreadImage>,
        (answers, by): (&[Answer], Option<&str>),
        migrates: bool,
    ) -> Result<Resumed, StartError> {
        self.check_externs()?;
        let Some(image) = image else {
            return Err(StartError::refused(format!(
                "there is no thread `{thread_id}`"
            )));
        };
        if image.status.state == RunState::Done {
            return Err(StartError::refused(format!(
                "thread `{thread_id}` is done: there is nothing to resume"
            )));
        }
        let graph = self.graph_of(image)?;
        if image.frames.is_empty() {
            let message = format!(
                "thread `{thread_id}` has no checkpoint to go on from; run it again with its input"
            );
            return Err(StartError::refused(message));
        }
        let plan = &self.plan.graphs[graph];
        let context = self.context_kept(&self.plan.flow.graphs[graph], image)?;
        let taken = self.take_over(graph, image, migrates, Held::Frame)?;
        let mut frame = Frame::new(graph, plan, "".into(), String::new(), &context);
        if let Some(root) = taken.image.frames.first() {
            restore(&mut frame, plan, root).map_err(StartError::from_run)?;
        }
        let answered = self.answers(graph, &taken.image, (answers, by))?;
        Ok(Resumed {
            graph,
            frame,
            taken,
            answered,
        })
    }
}
