//! Where runs come without anybody having agreed, through all graphs.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, JoinId, NodeId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, Node, Program, Route, Skip, Stop, Work};

use super::super::super::calls::callers;
use super::super::super::flow::{Cause, Flow, Spot, Way};
use super::super::roots;
use super::answer::Says;
use super::decided::{Decided, Place};
use super::decision::keeps_answer;
use super::destroys;
use super::overwritten::Overwritten;

/// What has been asked on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nobody was asked, or somebody refused.
    No,
    /// Somebody was asked and nothing has looked at the answer yet.
    Open,
}

/// What made a run go on without an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// The entry of a graph that nobody calls.
    Start,
    /// Nothing special.
    On,
    /// Into a called graph, or back from it.
    Call,
    /// Past an interrupt, or where its answer was looked at.
    Past(Bypass, Span),
}

/// How an interrupt did not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bypass {
    /// `skip`
    Skipped,
    /// `timeout`
    TimedOut,
    /// `on_error`
    Failed,
    /// `max_visits`
    Visits,
    /// The answer says no.
    Refused,
    /// The answer is not looked at.
    Ignored,
    /// The field that held the answer was written by something else.
    Overwritten,
}

/// What the arms of a `goto` say, by the place of their jumps, and the write that took the place of an answer which an
/// arm would speak of.
pub(super) type Said = HashMap<Span, (Says, Option<Span>)>;

/// A node, with where it stands.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) graph_id: GraphId,
    pub(super) graph: &'a Graph,
    pub(super) id: NodeId,
    pub(super) node: &'a Node,
}

/// A place of the walk, by graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// The graph.
    pub graph: GraphId,
    /// The node, join or exit in it.
    pub spot: Spot,
    /// What has been asked before.
    pub asked: Asked,
}

/// The walk and what it has come to.
pub struct Walk<'a> {
    /// The program.
    pub program: &'a Program,
    flows: &'a IdVec<GraphId, Flow>,
    pub(super) decided: &'a Decided<'a>,
    /// Where they are no person's any more.
    pub overwritten: &'a Overwritten,
    /// Fields that only a person's answer makes say yes.
    pub(super) sure: BTreeSet<Place>,
    /// First number of each graph's places.
    first: Vec<usize>,
    callers: IdVec<GraphId, Vec<(GraphId, NodeId)>>,
    /// For each place how it was first come to: from where, and by what.
    came: Vec<Option<(Option<At>, Hop)>>,
    /// Members of joins that have come, by number of the join and what was asked.
    joined: Vec<BTreeSet<NodeId>>,
    /// Joins that a member has come to with an answer still open.
    asked: BTreeSet<(GraphId, JoinId)>,
    /// How many members each join waits for, where it was asked.
    waits: HashMap<(GraphId, JoinId), usize>,
    open: VecDeque<At>,
    seen: BTreeSet<(GraphId, Spot)>,
    /// Nodes come to that run a destructive tool, with the first way to each.
    pub found: Vec<Found>,
}

/// A node that runs a destructive tool.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The node, and what was asked on the way to it.
    pub at: At,
    /// Its own interrupt, where it has one in front, and how that does not help.
    pub own: Option<(Bypass, Span)>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(
        program: &'a Program,
        flows: &'a IdVec<GraphId, Flow>,
        (decided, overwritten): (&'a Decided<'a>, &'a Overwritten),
        sure: BTreeSet<Place>,
    ) -> Self {
        let mut count = 0;
        let mut first = Vec::new();
        for flow in flows {
            first.push(count);
            // Its nodes, its joins, its end, its ways upward.
            count += 2 * (flow.stops.len() + flow.joins.len() + 2);
        }
        Self {
            program,
            flows,
            decided,
            overwritten,
            sure,
            first,
            callers: callers(program),
            came: vec![None; count],
            joined: vec![BTreeSet::new(); count],
            asked: BTreeSet::new(),
            waits: HashMap::new(),
            open: VecDeque::new(),
            seen: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Follows everything.
    pub fn run(mut self) -> Self {
        for graph in roots(self.program) {
            self.enter(graph, Asked::No, None, Hop::Start);
        }
        while let Some(at) = self.open.pop_front() {
            match at.spot {
                Spot::Node(id) => self.node(at, id),
                Spot::Join(_) => {
                    let flow = self.flows.get(at.graph);
                    for way in flow.into_iter().flat_map(|flow| flow.ways(at.spot)) {
                        self.take(at, way, at.asked, Hop::On);
                    }
                }
                Spot::End | Spot::Leave => self.back(at),
                Spot::Fail => {}
            }
        }
        self
    }

    /// Whether a destructive tool was come to.
    pub fn comes_to_one(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether a run may come to where the jump is made without an approval.
    pub fn visited(&self, graph: GraphId, by: Maker) -> bool {
        let came = |spot: Spot| {
            let at = |asked| At { graph, spot, asked };
            let mut all = [Asked::No, Asked::Open].into_iter();
            all.any(|asked| self.came(at(asked)).is_some())
        };
        match by {
            Maker::Node(node, _) => came(Spot::Node(node)),
            Maker::Join(join) => came(Spot::Join(join)),
            Maker::Handler => {
                let served = self.program.graphs.get(graph);
                let mut served = served.into_iter().flat_map(|graph| graph.served());
                served.any(|node| came(Spot::Node(node)))
            }
            Maker::Start => {
                let flow = self.flows.get(graph);
                let ways = flow.into_iter().flat_map(|flow| &flow.start);
                ways.flat_map(|way| &way.goals).any(|goal| came(goal.to))
            }
        }
    }

    /// From where and by what a place was come to.
    pub fn came(&self, at: At) -> Option<(Option<At>, Hop)> {
        self.came.get(self.number(at)?).copied().flatten()
    }

    fn number(&self, at: At) -> Option<usize> {
        let flow = self.flows.get(at.graph)?;
        let count = flow.stops.len() + flow.joins.len();
        let spot = match at.spot {
            Spot::End => count,
            Spot::Leave => count + 1,
            Spot::Fail => return None,
            spot => flow.number(spot)?,
        };
        let asked = usize::from(at.asked == Asked::Open);
        Some(self.first.get(at.graph.0 as usize)? + 2 * spot + asked)
    }

    fn enter(&mut self, graph: GraphId, asked: Asked, from: Option<At>, hop: Hop) {
        let flow = self.flows.get(graph);
        // Where an edge or a node is lost, what looks like a way past an approval may be none.
        let Some(flow) = flow.filter(|flow| !flow.broken) else {
            return;
        };
        for way in &flow.start {
            for goal in &way.goals {
                let at = At {
                    graph,
                    spot: goal.to,
                    asked,
                };
                self.come(at, from, hop);
            }
        }
    }

    fn take(&mut self, from: At, way: &Way, asked: Asked, hop: Hop) {
        for goal in &way.goals {
            let at = At {
                spot: goal.to,
                asked,
                ..from
            };
            match goal.to {
                Spot::Join(join) => self.arrive(at, join, from, hop),
                _ => self.come(at, Some(from), hop),
            }
        }
    }

    /// A join goes on when all members have come: one of them behind an approval is enough.
    fn arrive(&mut self, at: At, join: JoinId, from: At, hop: Hop) {
        let Spot::Node(member) = from.spot else {
            return self.come(at, Some(from), hop);
        };
        let flow = self.flows.get(at.graph);
        let all = *self.waits.entry((at.graph, join)).or_insert_with(|| {
            let join = flow.and_then(|flow| flow.joins.get(join));
            let members = join.into_iter().flat_map(|join| &join.members);
            let members: BTreeSet<NodeId> = members.map(|(id, _)| *id).collect();
            members.len()
        });
        // A member that comes with the answer still open makes it open behind the join.
        let open = At {
            asked: Asked::Open,
            ..at
        };
        if at.asked == Asked::Open {
            self.asked.insert((at.graph, join));
        }
        if at.asked == Asked::No && self.has_come(at, member, all) {
            self.come(at, Some(from), hop);
        }
        if self.has_come(open, member, all) && self.asked.contains(&(at.graph, join)) {
            self.come(open, Some(from), hop);
        }
    }

    /// Notes that a member has come to a join, and says whether all have.
    fn has_come(&mut self, at: At, member: NodeId, all: usize) -> bool {
        let arrived = self.number(at).and_then(|n| self.joined.get_mut(n));
        arrived.is_some_and(|arrived| {
            arrived.insert(member);
            arrived.len() >= all
        })
    }

    fn come(&mut self, at: At, from: Option<At>, hop: Hop) {
        let Some(slot) = self.number(at).and_then(|n| self.came.get_mut(n)) else {
            return;
        };
        if slot.is_none() {
            *slot = Some((from, hop));
            self.open.push_back(at);
        }
    }

    /// The end of a called graph leads on in all callers that were come to.
    fn back(&mut self, at: At) {
        let callers = self.callers.get(at.graph).cloned().unwrap_or_default();
        for (graph, node) in callers {
            for asked in [Asked::No, Asked::Open] {
                let caller = At {
                    graph,
                    spot: Spot::Node(node),
                    asked,
                };
                if self.came(caller).is_some() {
                    self.on_from_call(caller, node, at);
                }
            }
        }
    }

    fn on_from_call(&mut self, caller: At, node: NodeId, inner: At) {
        let (Some(graph), Some(flow)) = (
            self.program.graphs.get(caller.graph),
            self.flows.get(caller.graph),
        ) else {
            return;
        };
        let Some(declared) = graph.nodes.get(node) else {
            return;
        };
        let from = inner;
        let here = Here {
            graph_id: caller.graph,
            graph,
            id: node,
            node: declared,
        };
        let said = self.said(here, inner.asked);
        for way in flow.ways(caller.spot) {
            let fits = match way.cause {
                Cause::Child => inner.spot == Spot::Leave,
                Cause::Edge | Cause::Goto => inner.spot == Spot::End,
                _ => false,
            };
            if !fits {
                continue;
            }
            let on = self.arm(&said, declared, way, inner.asked);
            if let Some((asked, hop)) = on {
                let hop = match hop {
                    Hop::On => Hop::Call,
                    hop => hop,
                };
                // The way back is told as one from the inner graph.
                for goal in &way.goals {
                    let at = At {
                        graph: caller.graph,
                        spot: goal.to,
                        asked,
                    };
                    match goal.to {
                        Spot::Join(join) => self.arrive(at, join, caller, hop),
                        _ => self.come(at, Some(from), hop),
                    }
                }
            }
        }
    }

    fn node(&mut self, at: At, id: NodeId) {
        let (Some(graph), Some(flow)) =
            (self.program.graphs.get(at.graph), self.flows.get(at.graph))
        else {
            return;
        };
        let Some(node) = graph.nodes.get(id) else {
            return;
        };
        // A question in front of the node is one whose answer its guards, its work or its way on have to look at.
        let stop = node.stops.iter().find(|stop| !stop.after);
        let begun = match stop {
            Some(_) => Asked::Open,
            None => at.asked,
        };
        let here = Here {
            graph_id: at.graph,
            graph,
            id,
            node,
        };
        let Ok((asked, turned)) = self.behind_guards(here, begun) else {
            self.ways(at, here, flow, None);
            return;
        };
        let own = turned.or(stop.map(|stop| (Bypass::Ignored, stop.name.span)));
        let uses = asked == Asked::Open && self.looks_at_answer(here);
        let runs_one = !destroys(self.program, graph, node).is_empty();
        if runs_one && !uses && self.seen.insert((at.graph, at.spot)) {
            self.found.push(Found { at, own });
        }
        if let Work::Subgraph {
            graph: Some(child), ..
        } = &node.work
        {
            let (asked, hop) = match own {
                Some((bypass, span)) if !uses => (Asked::No, Hop::Past(bypass, span)),
                _ => (asked, Hop::Call),
            };
            self.enter(*child, asked, Some(at), hop);
            // What it may have come to before leads on here too.
            for spot in [Spot::End, Spot::Leave] {
                for asked in [Asked::No, Asked::Open] {
                    let inner = At {
                        graph: *child,
                        spot,
                        asked,
                    };
                    if self.came(inner).is_some() {
                        self.on_from_call(at, id, inner);
                    }
                }
            }
        }
        self.ways(at, here, flow, Some((asked, turned)));
    }

    /// Follows the ways out of a node; `behind` is what is known behind its guards, `None` where they ask a person.
    fn ways(
        &mut self,
        at: At,
        here: Here<'a>,
        flow: &'a Flow,
        behind: Option<(Asked, Option<(Bypass, Span)>)>,
    ) {
        let node = here.node;
        let (behind, turned) = behind.unzip();
        let turned = turned.flatten();
        let interrupt = matches!(node.work, Work::Interrupt { .. });
        let calls = matches!(node.work, Work::Subgraph { graph: Some(_), .. });
        let said = self.said(here, behind.unwrap_or(at.asked));
        for way in flow.ways(at.spot) {
            if !interrupt && !calls && matches!(way.cause, Cause::Edge | Cause::Goto) {
                self.past_refusing_skips(at, here, way);
            }
            let past = |bypass| match interrupt {
                true => Hop::Past(bypass, way.span),
                false => Hop::On,
            };
            let on = match way.cause {
                Cause::Visits => Some((at.asked, past(Bypass::Visits))),
                Cause::Timeout => Some((at.asked, past(Bypass::TimedOut))),
                Cause::Error => Some((at.asked, past(Bypass::Failed))),
                Cause::Skip => self.skip(at, here, way, interrupt),
                Cause::Edge | Cause::Goto if interrupt => {
                    for skip in node.skips.iter().filter(|skip| skip.to.is_none()) {
                        let hop = Hop::Past(Bypass::Skipped, skip.span);
                        self.take(at, way, at.asked, hop);
                    }
                    behind.and_then(|asked| self.arm(&said, node, way, asked))
                }
                // A called graph leads on from its own end.
                Cause::Edge | Cause::Goto | Cause::Child if calls => {
                    for _ in node.skips.iter().filter(|skip| skip.to.is_none()) {
                        if way.cause != Cause::Child {
                            self.take(at, way, at.asked, Hop::On);
                        }
                    }
                    None
                }
                _ => behind.and_then(|asked| self.arm(&said, node, way, asked)),
            };
            let own = matches!(
                way.cause,
                Cause::Edge | Cause::Goto | Cause::Tool | Cause::Child
            );
            if let Some((asked, hop)) = on {
                let hop = match (hop, turned) {
                    // The node goes on only where the answer is no.
                    (Hop::On, Some((bypass, span))) if own => Hop::Past(bypass, span),
                    (hop, _) => hop,
                };
                self.take(at, way, asked, hop);
            }
        }
    }

    /// A `skip` without a target leads on by the node's own way, also where it holds for a no.
    fn past_refusing_skips(&mut self, at: At, here: Here<'a>, way: &Way) {
        for skip in here.node.skips.iter().filter(|skip| skip.to.is_none()) {
            let stop = here.node.stops.iter().any(|stop| !stop.after);
            let asked = if stop { Asked::Open } else { at.asked };
            if self.says((here, false), asked, &skip.when, true) == Says::No {
                // What comes behind may still look at the answer.
                let hop = Hop::Past(Bypass::Refused, skip.when.span);
                self.take(at, way, Asked::Open, hop);
            }
        }
    }

    fn skip(&self, at: At, here: Here<'a>, way: &Way, interrupt: bool) -> Option<(Asked, Hop)> {
        let node = here.node;
        let own = |skip: &&Skip| skip.to.as_ref().is_some_and(|to| to.span == way.span);
        let skip = node.skips.iter().find(own)?;
        let says = self.says((here, false), at.asked, &skip.when, true);
        let (asked, hop) = decide(at.asked, says, skip.span)?;
        match (interrupt, hop) {
            (true, Hop::On) => Some((asked, Hop::Past(Bypass::Skipped, skip.span))),
            _ => Some((asked, hop)),
        }
    }

    /// What is known behind `skip` and `require`, and which of them holds for a no only, or for what something else
    /// wrote in an answer's place; an error where a person has agreed.
    fn behind_guards(
        &self,
        here: Here<'a>,
        asked: Asked,
    ) -> Result<(Asked, Option<(Bypass, Span)>), Agreed> {
        let node = here.node;
        let (mut asked, mut turned) = (asked, None);
        let skips = node.skips.iter().map(|skip| (&skip.when, true));
        let requires = node.requires.iter();
        let requires = requires.map(|require| (&require.condition, false));
        for (condition, negated) in skips.chain(requires) {
            let says = self.says((here, false), asked, condition, !negated);
            let lost = self.lost((here, false), says, asked, condition);
            let (now, hop) = decide(asked, says, condition.span).ok_or(Agreed)?;
            asked = now;
            if let Hop::Past(bypass, span) = hop {
                turned = Some((bypass, span));
            } else if let Some(span) = lost {
                turned = turned.or(Some((Bypass::Overwritten, span)));
            }
        }
        Ok((asked, turned))
    }

    /// What is known behind one of a node's own ways; `None` where a person has agreed.
    fn arm(&self, said: &Said, node: &Node, way: &Way, asked: Asked) -> Option<(Asked, Hop)> {
        let (says, lost) = match way.cause {
            Cause::Goto | Cause::Edge => said.get(&way.span).copied(),
            _ => None,
        }
        .unwrap_or((Says::Nothing, None));
        let asks = |stop: &&Stop| stop.after || asked == Asked::Open;
        let place = match (&node.work, node.stops.iter().find(asks)) {
            (_, Some(stop)) => stop.name.span,
            (Work::Interrupt { .. }, None) => node.name.span,
            _ => {
                let (asked, hop) = decide(asked, says, way.span)?;
                return Some(match (hop, lost) {
                    (Hop::On, Some(span)) => (asked, Hop::Past(Bypass::Overwritten, span)),
                    (hop, _) => (asked, hop),
                });
            }
        };
        match says {
            Says::Yes | Says::Something => None,
            Says::No => Some((Asked::No, Hop::Past(Bypass::Refused, way.span))),
            Says::Nothing => {
                let asked = match keeps_answer(self.program, node) {
                    true => Asked::Open,
                    false => Asked::No,
                };
                // An arm that asks for something else is what has to be mended.
                let arms = node.goto.as_ref().map(|goto| &goto.node);
                let place = match (way.cause, arms) {
                    (Cause::Goto, Some(Route::Arms(arms, _))) if asked == Asked::No => {
                        let mut own = arms.iter();
                        let own = own.find(|arm| arm.jump.span == way.span);
                        let when = own.and_then(|arm| arm.when.as_ref());
                        when.map_or(place, |when| when.span)
                    }
                    _ => place,
                };
                Some((asked, Hop::Past(Bypass::Ignored, place)))
            }
        }
    }
}

/// A person has agreed: nothing behind is followed.
struct Agreed;

/// What a condition comes to, given what has been asked; `None` where a person has agreed.
fn decide(asked: Asked, says: Says, span: Span) -> Option<(Asked, Hop)> {
    match (asked, says) {
        (_, Says::Yes) | (Asked::Open, Says::Something) => None,
        (Asked::Open, Says::No) => Some((Asked::No, Hop::Past(Bypass::Refused, span))),
        _ => Some((asked, Hop::On)),
    }
}
