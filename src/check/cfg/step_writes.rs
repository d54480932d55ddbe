//! What may be written in a super-step, and by whom: by a task, by a join that leads on as the task comes to it last, or in place
//! of a node that has been visited often enough.
//!
//! A task and what it leads to through branches are one after the other, and so is what stands in for a full node behind
//! all that leads to it. Whatever several arrows find it full, it is left once; and a join that several tasks come to leads on once.

use std::collections::{BTreeMap, HashMap};

use crate::ir::{FieldId, JoinId, NodeId};

use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition, Write};

/// A write.
#[derive(Debug, Clone, Copy)]
pub struct StepWrite {
    /// Which.
    pub write: Write,
    /// The full node or the join whose way makes it, once for all that come there; `None` where the task itself does, or a branch.
    pub once: Option<BlockId>,
}

/// Who writes one field behind a task or a goal.
#[derive(Debug, Clone, Copy, Default)]
pub struct FieldWriters {
    /// The first write that is made by the task itself.
    own: Option<Write>,
    /// The first ones by two full nodes or joins. More make no difference.
    once: [Option<(BlockId, Write)>; 2],
}

impl FieldWriters {
    /// Takes in a write.
    pub fn add(&mut self, made: StepWrite) {
        let Some(block) = made.once else {
            self.own.get_or_insert(made.write);
            return;
        };
        let known = self.once.iter().flatten().any(|(of, _)| *of == block);
        if let Some(free) = self.once.iter_mut().find(|slot| slot.is_none())
            && !known
        {
            *free = Some((block, made.write));
        }
    }

    /// Two writes of the field that may both be made where both of these are in one super-step. None where there is but one
    /// full node or join that both lead to.
    pub fn collide(&self, other: &FieldWriters) -> Option<(Write, Write)> {
        let once = |of: &FieldWriters| of.once.iter().flatten().next().map(|(_, write)| *write);
        if let Some(own) = self.own {
            return Some((own, other.own.or_else(|| once(other))?));
        }
        if let Some(own) = other.own {
            return Some((once(self)?, own));
        }
        let pairs = self.once.iter().flatten();
        let mut pairs = pairs.flat_map(|a| other.once.iter().flatten().map(move |b| (a, b)));
        let (a, b) = pairs.find(|(a, b)| a.0 != b.0)?;
        Some((a.1, b.1))
    }

    /// Two writes that may both be made as the task comes to a join last: another one behind it, and that of the join.
    pub fn with_join(&self) -> Option<(Write, Write)> {
        let mut once = self.once.iter().flatten();
        let (join, write) = once.rfind(|(block, _)| matches!(block, BlockId::Join(_)))?;
        let mut others = self
            .once
            .iter()
            .flatten()
            .filter(|(block, _)| block != join);
        let other = others.next().map(|(_, write)| *write);
        Some((self.own.or(other)?, *write))
    }

    /// What a stand-in writes.
    pub fn stand_in(&self) -> Option<Write> {
        self.once.iter().flatten().next().map(|(_, write)| *write)
    }
}

/// All that a task of a node may write: its work, its `set`, its jumps, and what these lead on through: branches, full nodes, and
/// the joins that `lead_on` as it comes.
fn by_task(cfg: &ControlFlowGraph, id: NodeId, lead_on: &dyn Fn(JoinId) -> bool) -> Vec<StepWrite> {
    let Some(node) = cfg.nodes.get(id) else {
        return Vec::new();
    };
    let own = node.writes.iter().map(|write| StepWrite {
        write: *write,
        once: None,
    });
    let ways = node.transitions.iter();
    let ways = ways.filter(|way| way.kind != EdgeKind::Visits);
    let mut passing = Passing::new(cfg, lead_on);
    passing.open.extend(ways.map(|way| (way, None)));
    passing.run();
    own.chain(passing.made).collect()
}

/// All that a task of a node may write: its work, its `set`, its jumps, and what these lead on through; not what joins write.
pub fn writes_of(cfg: &ControlFlowGraph, id: NodeId) -> Vec<Write> {
    let made = by_task(cfg, id, &|_| false).into_iter();
    made.map(|made| made.write).collect()
}

/// What is written at once where a goal leads to a branch or finds a node full. The branches and full nodes passed are taken
/// off the `steps` that are left; where none is, nothing is followed.
pub fn at_goal(cfg: &ControlFlowGraph, successor: &Successor, steps: &mut usize) -> Vec<StepWrite> {
    if *steps == 0 {
        return Vec::new();
    }
    let mut passing = Passing::new(cfg, &|_| false);
    passing.come(successor, None);
    passing.run();
    *steps = steps.saturating_sub(passing.seen.len());
    passing.made
}

/// Ways that are followed without a super-step.
struct Passing<'f> {
    cfg: &'f ControlFlowGraph,
    lead_on: &'f dyn Fn(JoinId) -> bool,
    open: Vec<(&'f Transition, Option<BlockId>)>,
    /// Branches and capped nodes that were come to: by a task itself, and behind which full nodes and joins.
    seen: HashMap<BlockId, (bool, [Option<BlockId>; 2])>,
    made: Vec<StepWrite>,
}

impl<'f> Passing<'f> {
    fn new(cfg: &'f ControlFlowGraph, lead_on: &'f dyn Fn(JoinId) -> bool) -> Self {
        Self {
            cfg,
            lead_on,
            open: Vec::new(),
            seen: HashMap::new(),
            made: Vec::new(),
        }
    }

    fn run(&mut self) {
        while let Some((transition, once)) = self.open.pop() {
            let writes = transition.writes.iter();
            self.made.extend(writes.map(|write| StepWrite {
                write: *write,
                once,
            }));
            transition
                .successors
                .iter()
                .for_each(|successor| self.come(successor, once));
        }
    }

    fn come(&mut self, successor: &Successor, once: Option<BlockId>) {
        let to = successor.to;
        let node = match to {
            BlockId::Node(id) => self.cfg.nodes.get(id),
            BlockId::Join(id) if (self.lead_on)(id) => None,
            _ => return,
        };
        let (branch, passed) = match node {
            Some(node) => (node.branch, node.branch || node.is_capped()),
            None => (false, true),
        };
        // What stands in for a node, or stands behind a join, is the same whoever comes there.
        let once = if branch { once } else { Some(to) };
        if !passed || !self.is_new(to, once) {
            return;
        }
        for write in node
            .into_iter()
            .filter(|_| branch)
            .flat_map(|of| &of.writes)
        {
            let write = *write;
            self.made.push(StepWrite { write, once });
        }
        let ways = self.cfg.transitions(to).iter();
        let on = ways.filter(|way| node.is_none() || branch || way.kind == EdgeKind::Visits);
        self.open.extend(on.map(|way| (way, once)));
    }

    fn is_new(&mut self, block: BlockId, once: Option<BlockId>) -> bool {
        let (own, behind) = self.seen.entry(block).or_default();
        match once {
            None => !std::mem::replace(own, true),
            Some(_) if behind.contains(&once) => false,
            Some(_) => match behind.iter_mut().find(|slot| slot.is_none()) {
                Some(free) => {
                    *free = once;
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
    mhp: &MayHappenInParallel,
    nodes: impl Iterator<Item = NodeId>,
) -> BTreeMap<FieldId, BTreeMap<NodeId, FieldWriters>> {
    let mut by_field: BTreeMap<FieldId, BTreeMap<NodeId, FieldWriters>> = BTreeMap::new();
    for id in nodes {
        let lead_on = |join| mhp.may_lead_on(join, id);
        for (field, makers) in makers(cfg, by_task(cfg, id, &lead_on)) {
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
