//! What may be written in a super-step, and by whom: by a task or a join that leads on, or in place of a node that has been
//! visited often enough.
//!
//! A task and what it leads to through branches are one after the other, and so is what stands in for a full node behind
//! all that leads to it. Whatever several arrows find it full, it is left once.

use std::collections::{BTreeMap, HashMap};

use crate::ir::{FieldId, NodeId};

use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition, Write};

/// A write.
#[derive(Debug, Clone, Copy)]
pub struct StepWrite {
    /// Which.
    pub write: Write,
    /// The node for which the way stands in that makes it; `None` where the task or the join itself does, or a branch.
    pub full: Option<NodeId>,
}

/// Who writes one field behind a task, a join or a goal.
#[derive(Debug, Clone, Copy, Default)]
pub struct FieldWriters {
    /// The first write that is made by no stand-in.
    own: Option<Write>,
    /// The first ones by those of two nodes. More make no difference.
    full: [Option<(NodeId, Write)>; 2],
}

impl FieldWriters {
    /// Takes in a write.
    pub fn add(&mut self, made: StepWrite) {
        let Some(node) = made.full else {
            self.own.get_or_insert(made.write);
            return;
        };
        let known = self.full.iter().flatten().any(|(of, _)| *of == node);
        if let Some(free) = self.full.iter_mut().find(|slot| slot.is_none())
            && !known
        {
            *free = Some((node, made.write));
        }
    }

    /// Two writes of the field that may both be made where both of these are in one super-step. None where there is but one
    /// full node that both lead to.
    pub fn collide(&self, other: &FieldWriters) -> Option<(Write, Write)> {
        let full = |of: &FieldWriters| of.full.iter().flatten().next().map(|(_, write)| *write);
        if let Some(own) = self.own {
            return Some((own, other.own.or_else(|| full(other))?));
        }
        if let Some(own) = other.own {
            return Some((full(self)?, own));
        }
        let pairs = self.full.iter().flatten();
        let mut pairs = pairs.flat_map(|a| other.full.iter().flatten().map(move |b| (a, b)));
        let (a, b) = pairs.find(|(a, b)| a.0 != b.0)?;
        Some((a.1, b.1))
    }

    /// What a stand-in writes.
    pub fn stand_in(&self) -> Option<Write> {
        self.full.iter().flatten().next().map(|(_, write)| *write)
    }
}

/// All that a task of a node may write that leaves by ways that are `taken`: its work, its `set`, its jumps, and what these
/// lead on through.
pub fn by_task(
    cfg: &ControlFlowGraph,
    id: NodeId,
    taken: impl Fn(&Transition) -> bool,
) -> Vec<StepWrite> {
    let Some(node) = cfg.nodes.get(id) else {
        return Vec::new();
    };
    let own = node.writes.iter().map(|write| StepWrite {
        write: *write,
        full: None,
    });
    let transitions = node
        .transitions
        .iter()
        .filter(|transition| transition.kind != EdgeKind::Visits);
    let on = on_ways(cfg, transitions.filter(|transition| taken(transition)));
    own.chain(on).collect()
}

/// What is written with ways, by the branches that they lead on through, and in place of nodes that they find full.
pub fn on_ways<'f>(
    cfg: &'f ControlFlowGraph,
    transitions: impl Iterator<Item = &'f Transition>,
) -> Vec<StepWrite> {
    let mut passing = Passing::new(cfg);
    passing
        .open
        .extend(transitions.map(|transition| (transition, None)));
    passing.follow()
}

/// All that a task of a node may write: its work, its `set`, its jumps, and what these lead on through.
pub fn writes_of(cfg: &ControlFlowGraph, id: NodeId) -> Vec<Write> {
    let made = by_task(cfg, id, |_| true).into_iter();
    made.map(|made| made.write).collect()
}

/// What is written at once where a goal leads to a branch or finds a node full. The branches and full nodes passed are taken
/// off the `steps` that are left; where none is, nothing is followed.
pub fn at_goal(cfg: &ControlFlowGraph, successor: &Successor, steps: &mut usize) -> Vec<StepWrite> {
    if *steps == 0 {
        return Vec::new();
    }
    let mut passing = Passing::new(cfg);
    passing.come(successor, None);
    passing.run();
    *steps = steps.saturating_sub(passing.seen.len());
    passing.made
}

/// Ways that are followed without a super-step.
struct Passing<'f> {
    cfg: &'f ControlFlowGraph,
    open: Vec<(&'f Transition, Option<NodeId>)>,
    /// Branches and capped nodes that were come to: by a task itself, and behind which full nodes.
    seen: HashMap<NodeId, (bool, [Option<NodeId>; 2])>,
    made: Vec<StepWrite>,
}

impl<'f> Passing<'f> {
    fn new(cfg: &'f ControlFlowGraph) -> Self {
        Self {
            cfg,
            open: Vec::new(),
            seen: HashMap::new(),
            made: Vec::new(),
        }
    }

    fn follow(mut self) -> Vec<StepWrite> {
        self.run();
        self.made
    }

    fn run(&mut self) {
        while let Some((transition, full)) = self.open.pop() {
            let writes = transition.writes.iter();
            self.made.extend(writes.map(|write| StepWrite {
                write: *write,
                full,
            }));
            transition
                .successors
                .iter()
                .for_each(|successor| self.come(successor, full));
        }
    }

    fn come(&mut self, successor: &Successor, full: Option<NodeId>) {
        let BlockId::Node(to) = successor.to else {
            return;
        };
        let Some(node) = self.cfg.nodes.get(to) else {
            return;
        };
        // What stands in for a node is the same whoever finds it full.
        let full = match node.branch {
            true => full,
            false => Some(to),
        };
        if !(node.branch || node.is_capped()) || !self.is_new(to, full) {
            return;
        }
        if node.branch {
            let writes = node.writes.iter();
            self.made.extend(writes.map(|write| StepWrite {
                write: *write,
                full,
            }));
        }
        let on = node
            .transitions
            .iter()
            .filter(|way| node.branch || way.kind == EdgeKind::Visits);
        self.open.extend(on.map(|transition| (transition, full)));
    }

    fn is_new(&mut self, node: NodeId, full: Option<NodeId>) -> bool {
        let (own, behind) = self.seen.entry(node).or_default();
        match full {
            None => !std::mem::replace(own, true),
            Some(_) if behind.contains(&full) => false,
            Some(_) => match behind.iter_mut().find(|slot| slot.is_none()) {
                Some(free) => {
                    *free = full;
                    true
                }
                None => false,
            },
        }
    }
}

/// By field who writes it. Only fields whose writes collide.
pub fn makers(cfg: &ControlFlowGraph, made: Vec<StepWrite>) -> HashMap<FieldId, FieldWriters> {
    let mut by_field: HashMap<FieldId, FieldWriters> = HashMap::new();
    for made in made {
        if collides(cfg, made.write.field).is_some() {
            by_field.entry(made.write.field).or_default().add(made);
        }
    }
    by_field
}

/// By field the nodes whose tasks may write it, and who of what they lead to does. Only fields whose writes collide.
pub fn by_field(
    cfg: &ControlFlowGraph,
    nodes: impl Iterator<Item = NodeId>,
) -> BTreeMap<FieldId, BTreeMap<NodeId, FieldWriters>> {
    let mut by_field: BTreeMap<FieldId, BTreeMap<NodeId, FieldWriters>> = BTreeMap::new();
    for id in nodes {
        for (field, makers) in makers(cfg, by_task(cfg, id, |_| true)) {
            by_field.entry(field).or_default().insert(id, makers);
        }
    }
    by_field
}

/// How a conflict of a field is mended.
pub fn help(field: &str) -> String {
    format!(
        "give `{field}` a reducer (`via append` gathers a list, `via any_last` keeps one of the values), or let one \
         run after the other"
    )
}

/// The name of a field whose writes in one super-step collide.
pub fn collides(cfg: &ControlFlowGraph, field: FieldId) -> Option<&str> {
    cfg.colliding.get(field.0 as usize)?.as_deref()
}
