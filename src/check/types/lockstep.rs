//! Whether some run surely comes to a read, or to its end, without a field: a run is followed in its super-steps, all of its
//! tasks at once.
//!
//! [`paths`](super::paths) follows one task at a time, and what the tasks beside it may write counts as in doubt. Here all
//! tasks of a moment go on together, so that the doubt is either shown to be real by a run, or found to be none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::base::Span;
use crate::ir::{FieldId, JoinId, NodeId};

use super::super::cfg::{BlockId, EdgeKind, Transition};
use super::known::{Known, behind_all};
use super::paths::{Counts, Paths, Step, Trail};

/// Most turns and tasks of moments that are followed for one question.
const MOST: usize = 4_000;

/// Most of them for all questions of a graph. Beyond, the answers are in doubt.
const BUDGET: usize = 150_000;

/// Most ways on together that are tried of one moment.
const TOGETHER: usize = 64;

/// So many places looked at cost as much as a turn.
const LOOKS: usize = 8;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sought {
    /// A read in a node or on a join's jump.
    Read(BlockId, Span),
    /// The end of the graph.
    End,
}

/// What came of it.
pub(super) enum Found<'a> {
    /// A run, as the arrows to what was looked for.
    Run(Vec<Step<'a>>),
    /// No run comes there without the field.
    Never,
    /// That can't be told.
    Unclear,
}

/// Who runs in a super-step, and who waits.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Tasks {
    running: BTreeSet<NodeId>,
    waiting: BTreeSet<(JoinId, NodeId)>,
    deferred: BTreeSet<NodeId>,
    /// Nodes with a `max_visits` that have been entered, and how often, as far as that is counted.
    visited: BTreeMap<NodeId, u32>,
    /// Of an `ephemeral` field: the step before has written it.
    live: bool,
}

/// A super-step of a run: where it came from, and by which arrows.
pub(super) struct Moment<'a> {
    tasks: Tasks,
    known: Known,
    pub(super) from: Option<usize>,
    pub(super) led: Vec<Step<'a>>,
}

/// What a super-step leads to, while it is found out.
#[derive(Clone)]
struct Turn<'a> {
    tasks: Tasks,
    known: Known,
    led: Vec<Step<'a>>,
    /// Arrows that are still to be followed.
    open: Vec<Step<'a>>,
    /// Of an `ephemeral` field: this step writes it.
    wrote: bool,
    /// Nodes that arrows have found full: what holds for one arrow into a node holds for several.
    full: BTreeSet<NodeId>,
}

/// A way that a task can take: what is known behind it, and of an `ephemeral` field whether it is written with it.
type Choice<'a> = (&'a Transition, Known, bool);

/// Up to so many visits of a node are counted. A higher `max_visits` may be met by each but the first.
const COUNTED: u32 = 2;

/// No field.
const NONE: FieldId = FieldId(u32::MAX);

impl Turn<'_> {
    /// Whether an arrow of the step has led to a node before, or it waits as deferred.
    fn has_met(&self, id: NodeId) -> bool {
        let mut known = [&self.tasks.running, &self.tasks.deferred, &self.full].into_iter();
        known.any(|nodes| nodes.contains(&id))
    }
}

/// The moments of all runs that are followed for one question.
pub(super) struct Lockstep<'q, 'p, 'a> {
    pub(super) paths: &'q Paths<'p, 'a>,
    pub(super) asked: (FieldId, Counts),
    sought: Sought,
    /// The field is `ephemeral`: it is followed beyond where it is written.
    fades: bool,
    pub(super) met: Vec<Moment<'a>>,
    by_tasks: HashMap<Tasks, Vec<usize>>,
    pub(super) spent: usize,
    /// All that a run can do was tried.
    whole: bool,
}

/// The arrows of a run, as they are told.
pub(super) fn trail(steps: &[Step]) -> Trail {
    let told = steps.iter();
    told.map(|(from, _, successor)| (successor.to, *from, successor.span))
        .collect()
}

impl<'a> Paths<'_, 'a> {
    /// Looks for a run that comes to what is sought without the field.
    pub(super) fn lockstep(
        &self,
        first: &Known,
        asked: (FieldId, Counts),
        sought: Sought,
    ) -> Found<'a> {
        // Where a graph may end behind any step is followed elsewhere.
        if !self.graph.exits.is_empty() || self.stepped.get() > BUDGET {
            return Found::Unclear;
        }
        let mut lockstep = Lockstep {
            paths: self,
            asked,
            sought,
            fades: self.passing.contains(&asked.0),
            met: Vec::new(),
            by_tasks: HashMap::new(),
            spent: 0,
            whole: true,
        };
        let found = lockstep.run(first);
        self.stepped.set(self.stepped.get() + lockstep.spent);
        match found {
            Some(steps) => Found::Run(steps),
            None if lockstep.whole && lockstep.spent <= MOST => Found::Never,
            None => Found::Unclear,
        }
    }
}

impl<'a> Lockstep<'_, '_, 'a> {
    fn run(&mut self, first: &Known) -> Option<Vec<Step<'a>>> {
        let paths = self.paths;
        for transition in &paths.cfg.start {
            let field = if self.fades { NONE } else { self.asked.0 };
            let along = paths.along(transition, first.clone(), &paths.start, field);
            if let Some(known) = along {
                let mut writes = transition.writes.iter();
                let turn = Turn {
                    tasks: Tasks::default(),
                    known,
                    led: Vec::new(),
                    open: predecessors(None, transition).collect(),
                    full: BTreeSet::new(),
                    wrote: self.fades && writes.any(|write| write.field == self.asked.0),
                };
                if let Some(found) = self.settle(turn, None) {
                    return Some(found);
                }
            }
        }
        let mut at = 0;
        while at < self.met.len() && self.spent <= MOST {
            if let Some(found) = self.step(at) {
                return Some(found);
            }
            at += 1;
        }
        None
    }

    /// One super-step.
    fn step(&mut self, at: usize) -> Option<Vec<Step<'a>>> {
        let paths = self.paths;
        let moment = self.met.get(at)?;
        let (mut tasks, known) = (moment.tasks.clone(), moment.known.clone());
        if tasks.running.is_empty() {
            tasks.running = std::mem::take(&mut tasks.deferred);
        }
        if tasks.running.is_empty() {
            let ends = self.sought == Sought::End;
            // More was known than there was room for.
            self.whole &= !known.is_vague();
            return (ends && !known.is_vague()).then(|| self.to_end(at));
        }
        if let Sought::Read(BlockId::Node(id), read) = self.sought
            && tasks.running.contains(&id)
            && !tasks.live
            && let Some(vague) = paths.reads_at(BlockId::Node(id), (read, self.asked.0), &known)
        {
            if !vague {
                return Some(self.trail(&moment.led, moment.from, BlockId::Node(id)));
            }
            self.whole = false;
        }
        let running: Vec<NodeId> = std::mem::take(&mut tasks.running).into_iter().collect();
        self.spent += running.len();
        let mut choices: Vec<Vec<Choice>> = Vec::new();
        for id in &running {
            let choice = self.transitions(*id, &known);
            // Whatever it does, it writes the field.
            if choice.is_empty() {
                return None;
            }
            choices.push(choice);
        }
        for picked in self.mhp(&choices) {
            // What is known behind each task is put together for each choice.
            self.spent += running.len();
            if self.spent > MOST {
                return None;
            }
            let chosen = picked.iter().zip(&choices);
            let chosen: Vec<&Choice> = chosen.filter_map(|(n, choice)| choice.get(*n)).collect();
            let Some(known) = self.behind(&running, &chosen) else {
                continue;
            };
            let open = running.iter().zip(&chosen);
            let open = open.flat_map(|(id, (transition, ..))| {
                predecessors(Some(BlockId::Node(*id)), transition)
            });
            let turn = Turn {
                tasks: tasks.clone(),
                known,
                led: Vec::new(),
                open: open.collect(),
                full: BTreeSet::new(),
                wrote: chosen.iter().any(|(.., wrote)| *wrote),
            };
            if let Some(found) = self.settle(turn, Some(at)) {
                return Some(found);
            }
        }
        None
    }

    /// What is known behind a way out of a block that doesn't write the field, once for each manner in which it may be taken; of
    /// an `ephemeral` field whether it does.
    fn taken(
        &self,
        block: BlockId,
        transition: (usize, &Transition),
        known: &Known,
    ) -> Vec<(Known, bool)> {
        let without = self.paths.taken(block, transition, known, self.asked);
        if !self.fades {
            return without.into_iter().map(|known| (known, false)).collect();
        }
        // Those that write it come first.
        let all = self
            .paths
            .taken(block, transition, known, (NONE, self.asked.1));
        let writing = all.len().saturating_sub(without.len());
        let all = all.into_iter().enumerate();
        all.map(|(at, known)| (known, at < writing)).collect()
    }

    /// The ways that a node can take without writing the field, those by errors last.
    fn transitions(&self, id: NodeId, known: &Known) -> Vec<Choice<'a>> {
        let block = BlockId::Node(id);
        let mut all = Vec::new();
        for (number, transition) in self.paths.cfg.transitions(block).iter().enumerate() {
            if transition.kind != EdgeKind::Visits {
                let taken = self.taken(block, (number, transition), known).into_iter();
                all.extend(taken.map(|(known, wrote)| (transition, known, wrote)));
            }
        }
        all.sort_by_key(|(transition, ..)| transition.kind == EdgeKind::Error);
        all
    }

    /// Which ways several tasks take at once. That two of them fail in one step is not tried.
    fn mhp(&mut self, choices: &[Vec<Choice>]) -> Vec<Vec<usize>> {
        let mut all: Vec<(Vec<usize>, bool)> = vec![(Vec::new(), false)];
        for choice in choices {
            let mut next = Vec::new();
            for (picked, failed) in &all {
                for (number, (transition, ..)) in choice.iter().enumerate() {
                    let fails = transition.kind == EdgeKind::Error;
                    if fails && *failed || next.len() >= TOGETHER {
                        self.whole = false;
                        continue;
                    }
                    let mut picked = picked.clone();
                    picked.push(number);
                    next.push((picked, fails || *failed));
                }
            }
            all = next;
        }
        all.into_iter().map(|(picked, _)| picked).collect()
    }

    /// What is known when all of them have taken their ways.
    fn behind(&mut self, running: &[NodeId], chosen: &[&Choice]) -> Option<Known> {
        if let [(_, known, _)] = chosen {
            return Some(known.clone());
        }
        let paths = self.paths;
        let tasks = running
            .iter()
            .zip(chosen)
            .map(|(id, (transition, known, _))| {
                let own = paths.cfg.nodes.get(*id).into_iter();
                let own = own.flat_map(|node| &node.writes);
                let works = !matches!(transition.kind, EdgeKind::Skip | EdgeKind::Error);
                let writes = own.filter(|_| works).chain(&transition.writes);
                let mut written: BTreeSet<FieldId> = writes.map(|write| write.field).collect();
                let fields = written.iter().filter_map(|id| paths.graph.fields.get(*id));
                let resets = fields.flat_map(|field| &field.resets);
                let resets = resets.filter_map(|name| paths.graph.field(name));
                let resets: Vec<FieldId> = resets.collect();
                written.extend(resets);
                (known.clone(), written)
            });
        let tasks: Vec<(Known, BTreeSet<FieldId>)> = tasks.collect();
        let mut looked = 0;
        let known = behind_all(&tasks, &paths.fields, &mut looked);
        self.spent += looked / LOOKS;
        known
    }

    /// Follows arrows through what takes no super-step: branches, joins whose members have all come, and nodes that have
    /// been visited often enough.
    fn settle(&mut self, turn: Turn<'a>, from: Option<usize>) -> Option<Vec<Step<'a>>> {
        let mut turns = vec![turn];
        while let Some(mut turn) = turns.pop() {
            self.spent += 1;
            if self.spent > MOST {
                return None;
            }
            let Some(step) = turn.open.pop() else {
                self.meet(turn, from);
                continue;
            };
            turn.led.push(step);
            match step.2.to {
                BlockId::End => turns.push(turn),
                // All else that runs ends with it, and nothing is given back.
                BlockId::Fail | BlockId::Leave => {}
                BlockId::Join(id) => {
                    let Some(BlockId::Node(member)) = step.0 else {
                        continue;
                    };
                    turn.tasks.waiting.insert((id, member));
                    let join = self.paths.cfg.joins.get(id);
                    let members = join.map_or(&[][..], |join| &join.members);
                    let come =
                        |(member, _): &(NodeId, Span)| turn.tasks.waiting.contains(&(id, *member));
                    if !members.iter().all(come) {
                        turns.push(turn);
                        continue;
                    }
                    turn.tasks.waiting.retain(|(of, _)| *of != id);
                    if matches!(self.sought, Sought::Read(block, _) if block == BlockId::Join(id))
                        && self.lacks(&turn, turn.known.is_vague())
                    {
                        return Some(self.trail(&turn.led, from, BlockId::Join(id)));
                    }
                    turns.extend(self.pass(&turn, BlockId::Join(id), |_| true));
                }
                BlockId::Node(id) => {
                    let Some(node) = self.paths.cfg.nodes.get(id) else {
                        continue;
                    };
                    let at = BlockId::Node(id);
                    if !step.2.many && turn.has_met(id) {
                        turns.push(turn);
                        continue;
                    }
                    let (enters, leaves) = self.visits(&mut turn, id);
                    if leaves {
                        let mut turn = turn.clone();
                        turn.full.insert(id);
                        turns.extend(
                            self.pass(&turn, at, |transition| transition.kind == EdgeKind::Visits),
                        );
                    }
                    if !enters {
                        continue;
                    }
                    // A list may have no elements, or several.
                    self.whole &= !step.2.many;
                    if node.branch {
                        if let Sought::Read(block, read) = self.sought
                            && block == at
                            && let of = (read, self.asked.0)
                            && let Some(vague) = self.paths.reads_at(at, of, &turn.known)
                            && self.lacks(&turn, vague)
                        {
                            return Some(self.trail(&turn.led, from, at));
                        }
                        turns.extend(
                            self.pass(&turn, at, |transition| transition.kind != EdgeKind::Visits),
                        );
                        continue;
                    }
                    match node.defer {
                        true => turn.tasks.deferred.insert(id),
                        false => turn.tasks.running.insert(id),
                    };
                    turns.push(turn);
                }
            }
        }
        None
    }

    /// Whether a node can be entered once more, which is counted, and whether it can be left for the target of its
    /// `max_visits` instead.
    fn visits(&self, turn: &mut Turn<'a>, id: NodeId) -> (bool, bool) {
        let node = self.paths.graph.nodes.get(id);
        let Some(max) = node.and_then(|node| node.max_visits.as_ref()) else {
            return (true, false);
        };
        let counted = max.limit <= COUNTED && max.limit_by.is_none();
        let most = if counted { max.limit } else { 1 };
        let count = turn.tasks.visited.entry(id).or_default();
        let full = *count >= most;
        *count = most.min(*count + 1);
        (!(counted && full), full)
    }

    /// Whether the field lacks a value in the middle of a step, where nothing is in doubt. What other tasks of the step have
    /// written to an `ephemeral` one is not seen by all there.
    fn lacks(&mut self, turn: &Turn<'a>, vague: bool) -> bool {
        if (turn.wrote || vague) && !turn.tasks.live {
            self.whole = false;
        }
        !turn.tasks.live && !turn.wrote && !vague
    }

    /// What follows at once behind a block by its ways of a kind.
    fn pass(
        &self,
        turn: &Turn<'a>,
        block: BlockId,
        take: impl Fn(&Transition) -> bool,
    ) -> Vec<Turn<'a>> {
        let transitions = self.paths.cfg.transitions(block).iter().enumerate();
        let mut on = Vec::new();
        for (number, transition) in transitions.filter(|(_, transition)| take(transition)) {
            for (known, wrote) in self.taken(block, (number, transition), &turn.known) {
                let mut next = turn.clone();
                next.known = known;
                next.wrote |= wrote;
                next.open.extend(predecessors(Some(block), transition));
                on.push(next);
            }
        }
        on
    }

    /// Notes where a super-step has led to, unless that is known.
    fn meet(&mut self, mut turn: Turn<'a>, from: Option<usize>) {
        turn.tasks.live = turn.wrote;
        let known = self.by_tasks.entry(turn.tasks.clone()).or_default();
        let mut same = known.iter().filter_map(|at| self.met.get(*at));
        if same.any(|moment| moment.known == turn.known) {
            return;
        }
        known.push(self.met.len());
        self.met.push(Moment {
            tasks: turn.tasks,
            known: turn.known,
            from,
            led: turn.led,
        });
    }
}

/// The arrows of a way.
fn predecessors<'a>(
    from: Option<BlockId>,
    transition: &'a Transition,
) -> impl Iterator<Item = Step<'a>> {
    transition
        .successors
        .iter()
        .map(move |successor| (from, transition, successor))
}
