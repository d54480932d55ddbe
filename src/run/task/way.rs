//! Where a task goes: routes, jumps and their targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::expr::Slot;
use crate::ir::{ErrorKind, FieldId, NodeId};
use crate::run::clash::both_wrote;
use crate::run::error::RunError;
use crate::run::event::{EventKind, Mode, RouteKind};
use crate::run::plan::node::slots;
use crate::run::plan::{Code, JumpPlan, RoutePlan, TargetPlan, Then, WorkPlan};
use crate::value::{Map, Value};

use super::{Next, TaskRun, fill, join_path, show};

impl<'a> TaskRun<'a> {
    /// Takes the first arm that holds of a route of that kind.
    ///
    /// # Errors
    /// Where an expression fails, no arm holds, or the target is `fail`.
    pub fn route(&mut self, route: &'a RoutePlan, kind: RouteKind) -> Result<(), RunError> {
        match route {
            RoutePlan::Always(jump) => {
                self.note_route(kind, 0);
                self.take(jump)
            }
            RoutePlan::Arms(arms) => {
                for (arm, (when, jump)) in arms.iter().enumerate() {
                    let holds = match when {
                        Some(when) => when.holds(&self.env())?,
                        None => true,
                    };
                    if holds {
                        self.note_route(kind, arm);
                        return self.take(jump);
                    }
                }
                let message = format!("no arm of the route of `{}` holds", self.name);
                let first = arms.iter().find_map(|(when, _)| when.as_ref());
                Err(RunError {
                    place: first.map(|code| Box::new(code.place())),
                    ..RunError::new(ErrorKind::Expression, message)
                })
            }
        }
    }

    /// Tells of the route that it takes.
    pub fn note_route(&self, route: RouteKind, arm: usize) {
        let around = self.around;
        if around.cx.wants(Mode::Debug) {
            let node = Some(self.name).filter(|name| !name.is_empty());
            let kind = EventKind::Routed { route, arm };
            let id = format!("{}/{}", self.effects.mark(), self.name);
            around.cx.send(around.path, around.step, node, id, kind);
        }
    }

    /// Makes a jump: its writes, its events, its targets.
    ///
    /// # Errors
    /// As [`TaskRun::route`].
    pub fn take(&mut self, jump: &'a JumpPlan) -> Result<(), RunError> {
        self.set_all(&jump.set)?;
        self.emit_all(&jump.emits, false)?;
        let mut writers: BTreeMap<FieldId, &TargetPlan> = BTreeMap::new();
        for target in &jump.to {
            let before = self.view.writes.len();
            self.go(target)?;
            if jump.to.len() > 1 && self.view.writes.len() > before {
                self.beside(&mut writers, target, before)?;
            }
        }
        Ok(())
    }

    /// Notes what branches behind one of several targets have written, behind the first `before` writes.
    ///
    /// # Errors
    /// Where those behind another target have written the same field, and it takes one write.
    fn beside(
        &self,
        writers: &mut BTreeMap<FieldId, &'a TargetPlan>,
        target: &'a TargetPlan,
        before: usize,
    ) -> Result<(), RunError> {
        let graph = self.around.graph;
        for write in self.view.writes.iter().skip(before) {
            if graph.channels[write.field].gathers() {
                continue;
            }
            if let Some(other) = writers.insert(write.field, target)
                && !std::ptr::eq(other, target)
            {
                let name = |target: &TargetPlan| match target {
                    TargetPlan::Node(node) => format!("`{}`", graph.nodes[*node].name),
                    _ => "a computed target".to_owned(),
                };
                let field = &graph.fields[write.field];
                let message = both_wrote(&name(other), &name(target), field);
                return Err(RunError::new(ErrorKind::Expression, message));
            }
        }
        Ok(())
    }

    /// Goes to a target.
    ///
    /// # Errors
    /// As [`TaskRun::route`].
    pub fn go(&mut self, target: &'a TargetPlan) -> Result<(), RunError> {
        match target {
            TargetPlan::Node(node) => self.enter(*node),
            TargetPlan::End => Ok(()),
            TargetPlan::Fail { message, place } => {
                if let (None, Some(error)) = (message, &self.handles) {
                    return Err(error.clone());
                }
                let message = match message {
                    Some(message) => show(&self.eval(message)?),
                    None => format!("node `{}` went to `fail`", self.name),
                };
                Err(RunError::new(ErrorKind::Fail, message).at(place.clone()))
            }
            TargetPlan::Computed { name, table } => {
                let value = self.eval(name)?;
                let found = value.as_str().and_then(|name| table.get(name));
                match found {
                    Some(target) => self.go(target),
                    None => Err(name.error(format!("{} is no place to go to", value.to_json()))),
                }
            }
            TargetPlan::Each {
                var,
                items,
                worker,
                with,
                then,
            } => self.send_each((*var, items), *worker, with, then),
            TargetPlan::Parent(name) => {
                self.leaves.push(name.clone());
                Ok(())
            }
            TargetPlan::Named(name) => self.go_named(name),
            // Only tools' bodies have it.
            TargetPlan::NamedEach { worker, .. } => self.go_named(worker),
        }
    }

    /// Goes where the node's `ends` say that a name leads.
    ///
    /// # Errors
    /// As [`TaskRun::route`]; where there is no such name.
    pub fn go_named(&mut self, name: &str) -> Result<(), RunError> {
        match self.ends.and_then(|ends| ends.get(name)) {
            Some(target) => self.go(target),
            None => {
                let message = format!("`{name}` is not among the `ends` of node `{}`", self.name);
                Err(RunError::new(ErrorKind::Fail, message))
            }
        }
    }

    /// Sends tasks to the node that the node's `ends` have under a name, and goes on behind them where those of `then` lead.
    ///
    /// # Errors
    /// Where there is no such name, or it leads to no node.
    pub fn send_named(
        &mut self,
        name: &str,
        inputs: Vec<Value>,
        then: &[Arc<str>],
    ) -> Result<(), RunError> {
        let targets = then
            .iter()
            .filter_map(|name| self.node_named(name).transpose());
        let then: Then = targets.collect::<Result<_, _>>()?;
        // An empty list asks for no worker.
        if !inputs.is_empty() {
            let Some(worker) = self.node_named(name)? else {
                return Err(self.no_node(name));
            };
            let sends = inputs.into_iter();
            let sends = sends.map(|input| Next::Send(worker, input, then.clone()));
            self.next.extend(sends);
        }
        self.next.extend(then.iter().copied().map(Next::Then));
        Ok(())
    }

    /// The node that the node's `ends` have under a name; `None` for the end.
    fn node_named(&self, name: &str) -> Result<Option<NodeId>, RunError> {
        match self.ends.and_then(|ends| ends.get(name)) {
            Some(TargetPlan::Node(node)) => Ok(Some(*node)),
            Some(TargetPlan::End) => Ok(None),
            _ => Err(self.no_node(name)),
        }
    }

    fn no_node(&self, name: &str) -> RunError {
        let message = format!("`{name}` is no node among the `ends` of `{}`", self.name);
        RunError::new(ErrorKind::Fail, message)
    }

    fn send_each(
        &mut self,
        (var, items): (Slot, &Code),
        worker: NodeId,
        with: &[(Arc<str>, Code)],
        then: &Then,
    ) -> Result<(), RunError> {
        let list = self.eval(items)?;
        let Some(list) = list.as_list() else {
            return Err(items.error("`each` needs a list".to_owned()));
        };
        let limit = self.around.cx.tasks;
        limit.hold_sent(self.next.len() + list.len(), self.name)?;
        for item in list.iter() {
            self.put_slot(var, item.clone());
            let mut input = Map::new();
            for (name, code) in with {
                input.insert(&**name, self.eval(code)?);
            }
            let send = Next::Send(worker, Value::Map(input), then.clone());
            self.next.push(send);
        }
        self.next.extend(then.iter().copied().map(Next::Then));
        Ok(())
    }

    /// Goes to a node; a `branch` is followed at once, seeing what this task wrote.
    ///
    /// # Errors
    /// As [`TaskRun::route`].
    pub fn enter(&mut self, node: NodeId) -> Result<(), RunError> {
        let plan = &self.around.graph.nodes[node];
        if !matches!(plan.work, WorkPlan::Branch) {
            self.next.push(Next::Node(node));
            return Ok(());
        }
        // The branch's own names hide those of the node that came here.
        let mut slots = vec![None; plan.slots];
        let input = self.slots.get(slots::INPUT.0 as usize).cloned().flatten();
        fill(&mut slots, slots::INPUT, input);
        let outer = (
            std::mem::replace(&mut self.slots, slots),
            self.name,
            self.ends,
            self.jumped,
        );
        (self.name, self.ends, self.jumped) = (&plan.name, Some(&plan.ends), false);
        let followed = self
            .begin(plan)
            .and_then(|on| if on { self.finish(plan) } else { Ok(()) });
        (self.slots, self.name, self.ends, self.jumped) = outer;
        followed
            .map_err(|error| error.in_node(&plan.name, &join_path(self.around.path, &plan.name)))
    }
}
