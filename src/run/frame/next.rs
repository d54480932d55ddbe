//! The tasks of the step that comes next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::ir::{ErrorKind, NodeId};
use crate::run::clash::{Claims, Who};
use crate::run::error::RunError;
use crate::run::event::RouteKind;
use crate::run::plan::JumpPlan;
use crate::run::task::{Next, Task, join_path};
use crate::run::view::View;
use crate::value::Value;

use super::Agenda;
use super::commit::{Commit, Led};
use super::then::FanOuts;

impl<'a> Commit<'a> {
    /// The next tasks, in the fixed order; a node entered too often leads elsewhere.
    pub(super) fn schedule<'v>(
        &'v self,
        mut view: View<'v>,
        next: Vec<Led>,
        agenda: &mut Agenda,
        claims: &mut Claims,
    ) -> Result<View<'v>, RunError> {
        let graph = self.around.graph;
        if let [(Next::Node(id), _)] = next.as_slice()
            && self.is_plain(*id)
        {
            let (node, send) = (*id, None);
            agenda.tasks = vec![Task { node, send }];
            self.hold(agenda)?;
            return Ok(view);
        }
        let leading = self.leading(&next);
        let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
        let mut sends: BTreeMap<NodeId, Vec<Value>> = BTreeMap::new();
        // Nodes that arrows have found full: what holds for one arrow into a node holds for several.
        let mut full: BTreeSet<NodeId> = BTreeSet::new();
        // Nodes whose `max_visits` has led elsewhere: sends that are turned away take one route.
        let mut routed: BTreeSet<NodeId> = BTreeSet::new();
        // Each with the full nodes that it was sent on by.
        let mut queue: VecDeque<(Led, Vec<NodeId>)> =
            next.into_iter().map(|item| (item, Vec::new())).collect();
        let mut fan_outs = FanOuts::default();
        loop {
            let Some(((item, from), by)) = queue.pop_front() else {
                let Some((node, by)) = fan_outs.in_place(graph) else {
                    break;
                };
                let more;
                (view, more) = self.lead_on(view, node, by, agenda, claims)?;
                queue.extend(more.into_iter().map(|item| (item, Vec::new())));
                continue;
            };
            let id = match &item {
                Next::Node(id) | Next::Send(id, ..) => *id,
                Next::Then(id) => {
                    fan_outs.lead(*id, from);
                    continue;
                }
            };
            if by.contains(&id) {
                return Err(self.circle(id, &by));
            }
            let arrow = matches!(item, Next::Node(_));
            if arrow && (nodes.contains(&id) || agenda.deferred.contains(&id) || full.contains(&id))
            {
                continue;
            }
            let node = &graph.nodes[id];
            if let Some((limit, jump)) = &node.max_visits {
                let before = || self.frame.visits.of(id);
                let visits = agenda.visits.entry(id).or_insert_with(before);
                if *visits >= *limit {
                    if arrow {
                        full.insert(id);
                    }
                    let before = view.writes.len();
                    let more;
                    let first = routed.insert(id);
                    (view, more) = self.leave_for(view, (id, first), jump, &mut agenda.leaves)?;
                    let others = leading.get(&id).filter(|_| arrow);
                    let behind = others.into_iter().flatten().copied();
                    let stand_in = claims.add(Who::Full(id), behind.chain([from]).collect());
                    self.claim(claims, stand_in, &view, before)?;
                    let by: Vec<NodeId> = by.into_iter().chain([id]).collect();
                    let more = more.into_iter().map(|item| (item, stand_in));
                    queue.extend(more.map(|item| (item, by.clone())));
                    continue;
                }
                *visits += 1;
            }
            match item {
                Next::Node(_) if node.defer => agenda.deferred.insert(id),
                Next::Node(_) => nodes.insert(id),
                Next::Send(_, input, then) => {
                    fan_outs.made(node.defer, &then);
                    let waiting = match node.defer {
                        true => &mut agenda.deferred_sends,
                        false => &mut sends,
                    };
                    waiting.entry(id).or_default().push(input);
                    true
                }
                Next::Then(_) => false,
            };
        }
        fan_outs.note(agenda);
        if nodes.is_empty() && sends.is_empty() {
            nodes = std::mem::take(&mut agenda.deferred);
            sends = std::mem::take(&mut agenda.deferred_sends);
            agenda.then.append(&mut agenda.deferred_then);
        }
        agenda.tasks = in_order(nodes, sends);
        self.hold(agenda)?;
        Ok(view)
    }

    /// Whether an arrow into a node makes a task of the next step, whatever else there is.
    fn is_plain(&self, id: NodeId) -> bool {
        let node = &self.around.graph.nodes[id];
        !node.defer && node.max_visits.is_none()
    }

    /// Refuses more tasks than a step may have.
    fn hold(&self, agenda: &Agenda) -> Result<(), RunError> {
        let waiting = agenda.deferred_sends.iter();
        let waiting = waiting.flat_map(|(node, sent)| std::iter::repeat_n(*node, sent.len()));
        let all = agenda.tasks.iter().map(|task| task.node).chain(waiting);
        let around = &self.around;
        around.cx.tasks.hold(around.graph, around.path, all)
    }

    /// Whose arrows lead to each of the nodes that bound their visits.
    fn leading(&self, next: &[Led]) -> BTreeMap<NodeId, Vec<usize>> {
        let mut leading: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (item, from) in next {
            if let Next::Node(id) = item
                && self.around.graph.nodes[*id].max_visits.is_some()
            {
                leading.entry(*id).or_default().push(*from);
            }
        }
        leading
    }

    /// Nodes that were all entered too often send on to each other: no super-step would end that.
    fn circle(&self, node: NodeId, by: &[NodeId]) -> RunError {
        let nodes = &self.around.graph.nodes;
        let from = by.iter().skip_while(|before| **before != node);
        let names: Vec<&str> = from
            .chain([&node])
            .map(|node| &*nodes[*node].name)
            .collect();
        let message = format!(
            "`max_visits` leads in a circle of nodes that were all visited as often as they may be: {}",
            names.join(" -> ")
        );
        let name = &nodes[node].name;
        RunError::new(ErrorKind::RecursionLimit, message)
            .in_node(name, &join_path(self.around.path, name))
    }

    fn leave_for<'v>(
        &'v self,
        view: View<'v>,
        (node, first): (NodeId, bool),
        jump: &'v JumpPlan,
        leaves: &mut Vec<Arc<str>>,
    ) -> Result<(View<'v>, Vec<Next>), RunError> {
        let node = &self.around.graph.nodes[node];
        let name = &node.name;
        let followed = self.follow(view, node.slots, leaves, |run| {
            run.name = name;
            if first {
                run.note_route(RouteKind::MaxVisits, 0);
            }
            run.take(jump)
        });
        followed.map_err(|error| error.in_node(name, &join_path(self.around.path, name)))
    }
}

fn in_order(nodes: BTreeSet<NodeId>, sends: BTreeMap<NodeId, Vec<Value>>) -> Vec<Task> {
    let mut tasks: Vec<Task> = nodes
        .into_iter()
        .map(|node| Task { node, send: None })
        .collect();
    for (node, inputs) in sends {
        let sent = inputs.into_iter().enumerate();
        tasks.extend(sent.map(|(index, input)| Task {
            node,
            send: Some((index as u32, input)),
        }));
    }
    // Stable: of one node, the arrow's task comes before the sends.
    tasks.sort_by_key(|task| task.node);
    tasks
}
