//! What the compiler says can run in one super-step, against a search of all states of small random flows:
//! every two tasks that some run has side by side must be known to it.

use std::collections::{BTreeMap, BTreeSet};

use graphc::base::Span;
use graphc::check::cfg::mhp::MayHappenInParallel;
use graphc::check::cfg::model::{
    Block, BlockId, ControlFlowGraph, EdgeKind, JoinBlock, Successor, Transition,
};
use graphc::ir::{JoinId, NodeId};

use crate::dice::Dice;
use thin_vec::{ThinVec, thin_vec};

fn successor(to: BlockId, many: bool) -> Successor {
    Successor {
        to,
        many,
        span: Span::default(),
    }
}

fn transition(successors: Vec<Successor>) -> Transition {
    Transition {
        kind: EdgeKind::Edge,
        successors: successors.into(),
        writes: ThinVec::new(),
        span: Span::default(),
    }
}

/// A flow of a few nodes with forks, loops, sends, branches, deferred nodes and joins.
fn cfg(dice: &mut Dice) -> ControlFlowGraph {
    let count = 3 + dice.below(5);
    let branch: Vec<bool> = (0..count)
        .map(|i| i + 1 < count && dice.one_in(6))
        .collect();
    let mut nodes: Vec<Block> = Vec::new();
    for from in 0..count {
        let mut transitions = Vec::new();
        for _ in 0..1 + dice.below(2) {
            let successors = (0..1 + dice.below(2)).map(|_| {
                let to = match branch[from] {
                    // A branch leads on, so that no circle is made of branches alone.
                    true => from + 1 + dice.below(count - from - 1),
                    false => dice.below(count + 1),
                };
                match to < count {
                    true => successor(
                        BlockId::Node(NodeId(to as u32)),
                        !branch[to] && dice.one_in(8),
                    ),
                    false => successor(BlockId::End, false),
                }
            });
            transitions.push(transition(successors.collect()));
        }
        nodes.push(Block {
            name: format!("n{from}"),
            span: Span::default(),
            branch: branch[from],
            synthetic: None,
            defer: !branch[from] && dice.one_in(8),
            transitions: transitions.into(),
            writes: ThinVec::new(),
        });
    }
    let mut joins = Vec::new();
    for _ in 0..dice.below(4) {
        let id = BlockId::Join(JoinId(joins.len() as u32));
        let mut members = BTreeSet::new();
        for _ in 0..2 + dice.below(2) {
            members.insert(dice.below(count));
        }
        // A branch goes on by its `goto` alone.
        members.retain(|member| !branch[*member]);
        if members.is_empty() {
            continue;
        }
        for member in &members {
            let first = &mut nodes[*member].transitions[0];
            if dice.one_in(2) {
                first.successors.clear();
            }
            first.successors.push(successor(id, false));
        }
        joins.push(JoinBlock {
            members: members
                .iter()
                .map(|m| (NodeId(*m as u32), Span::default()))
                .collect(),
            transitions: thin_vec![transition(vec![successor(
                BlockId::Node(NodeId(dice.below(count) as u32)),
                false,
            )])],
            span: Span::default(),
        });
    }
    let start = (0..1 + dice.below(3))
        .map(|_| successor(BlockId::Node(NodeId(dice.below(count) as u32)), false));
    ControlFlowGraph::new(
        vec![transition(start.collect())],
        nodes.into_iter().collect(),
        joins.into_iter().collect(),
    )
}

/// Between two super-steps: tasks (a node twice where it was sent several), members at joins, deferred nodes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct State {
    tasks: Vec<u32>,
    arrived: BTreeMap<u32, BTreeSet<u32>>,
    deferred: Vec<u32>,
}

/// Where tasks arrive: at nodes by an arrow, by sends, and at joins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Arrivals {
    plain: BTreeSet<u32>,
    sent: Vec<u32>,
    joins: BTreeSet<(u32, u32)>,
}

/// All that following some goals can come to, branches followed at once.
fn follow(cfg: &ControlFlowGraph, successors: &[(Successor, Option<u32>)]) -> BTreeSet<Arrivals> {
    let Some(((first, via), rest)) = successors.split_first() else {
        return BTreeSet::from([Arrivals::default()]);
    };
    let mut all = BTreeSet::new();
    match first.to {
        BlockId::Node(id) if cfg.nodes[id].branch => {
            for transition in &cfg.nodes[id].transitions {
                let on = transition
                    .successors
                    .iter()
                    .map(|g| (g.clone(), Some(id.0)));
                let successors: Vec<_> = on.chain(rest.iter().cloned()).collect();
                all.extend(follow(cfg, &successors));
            }
        }
        to => {
            for mut arrivals in follow(cfg, rest) {
                match to {
                    BlockId::Node(id) if first.many => arrivals.sent.extend([id.0, id.0]),
                    BlockId::Node(id) => {
                        arrivals.plain.insert(id.0);
                    }
                    BlockId::Join(join) => {
                        arrivals.joins.insert((join.0, via.unwrap()));
                    }
                    _ => {}
                }
                arrivals.sent.sort();
                all.insert(arrivals);
            }
        }
    }
    all
}

fn merge(a: &Arrivals, b: &Arrivals) -> Arrivals {
    let mut both = a.clone();
    both.plain.extend(&b.plain);
    both.sent.extend(&b.sent);
    both.sent.sort();
    both.joins.extend(&b.joins);
    both
}

/// The state after arrivals: joins that are full lead on, deferred nodes run where nothing else does.
fn settle(cfg: &ControlFlowGraph, before: &State, arrivals: &Arrivals) -> Vec<State> {
    let mut state = State {
        tasks: Vec::new(),
        ..before.clone()
    };
    for (join, member) in &arrivals.joins {
        state.arrived.entry(*join).or_default().insert(*member);
    }
    let mut successors = Vec::new();
    for (id, join) in cfg.joins.entries() {
        let here = state.arrived.get(&id.0).map_or(0, BTreeSet::len);
        if here == join.members.len() {
            state.arrived.remove(&id.0);
            successors.extend(
                join.transitions[0]
                    .successors
                    .iter()
                    .map(|g| (g.clone(), None)),
            );
        }
    }
    let mut states = Vec::new();
    for led in follow(cfg, &successors) {
        let all = merge(arrivals, &led);
        let mut state = state.clone();
        // A plain arrow finds a deferred node waiting already; each send is a task of its own.
        for node in &all.plain {
            match cfg.nodes[NodeId(*node)].defer {
                true if state.deferred.contains(node) => {}
                true => state.deferred.push(*node),
                false => state.tasks.push(*node),
            }
        }
        for node in &all.sent {
            match cfg.nodes[NodeId(*node)].defer {
                true => state.deferred.push(*node),
                false => state.tasks.push(*node),
            }
        }
        state.deferred.sort();
        if state.tasks.is_empty() {
            state.tasks = std::mem::take(&mut state.deferred);
        }
        state.tasks.sort();
        states.push(state);
    }
    states
}

/// All pairs of nodes that some run has side by side, up to a number of states.
fn search(cfg: &ControlFlowGraph) -> BTreeSet<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    let mut seen: BTreeSet<State> = BTreeSet::new();
    let begin: Vec<_> = cfg.start[0]
        .successors
        .iter()
        .map(|g| (g.clone(), None))
        .collect();
    let mut open: Vec<State> = follow(cfg, &begin)
        .iter()
        .flat_map(|arrivals| settle(cfg, &State::default(), arrivals))
        .collect();
    while let Some(state) = open.pop() {
        if state.tasks.len() + state.deferred.len() > 5
            || seen.len() > 2_000
            || !seen.insert(state.clone())
        {
            continue;
        }
        for (i, a) in state.tasks.iter().enumerate() {
            pairs.extend(state.tasks.iter().skip(i + 1).map(|b| (*a, *b)));
        }
        let mut next = BTreeSet::from([Arrivals::default()]);
        for task in &state.tasks {
            let mut grown = BTreeSet::new();
            for transition in &cfg.nodes[NodeId(*task)].transitions {
                let successors: Vec<_> = transition
                    .successors
                    .iter()
                    .map(|g| (g.clone(), Some(*task)))
                    .collect();
                for arrivals in follow(cfg, &successors) {
                    grown.extend(next.iter().map(|known| merge(known, &arrivals)));
                }
            }
            next = grown;
        }
        for arrivals in &next {
            open.extend(settle(cfg, &state, arrivals));
        }
    }
    pairs
}

/// The flow in short, for a failure.
fn show(cfg: &ControlFlowGraph) -> String {
    let name = |successor: &Successor| {
        let to = match successor.to {
            BlockId::Node(id) => cfg.nodes[id].name.clone(),
            BlockId::Join(id) => format!("join{}", id.0),
            _ => "end".to_owned(),
        };
        if successor.many {
            format!("each {to}")
        } else {
            to
        }
    };
    let transitions = |transitions: &[Transition]| {
        let transitions = transitions
            .iter()
            .map(|w| w.successors.iter().map(name).collect::<Vec<_>>().join(", "));
        transitions.collect::<Vec<_>>().join(" | ")
    };
    let mut text = format!("start -> {}\n", transitions(&cfg.start));
    for node in &cfg.nodes {
        let kind = match (node.branch, node.defer) {
            (true, _) => " (branch)",
            (_, true) => " (defer)",
            _ => "",
        };
        text += &format!(
            "{}{kind} -> {}\n",
            node.name,
            transitions(&node.transitions)
        );
    }
    for (id, join) in cfg.joins.entries() {
        let members: Vec<_> = join
            .members
            .iter()
            .map(|(m, _)| format!("n{}", m.0))
            .collect();
        text += &format!(
            "join{} [{}] -> {}\n",
            id.0,
            members.join(", "),
            transitions(&join.transitions)
        );
    }
    text
}

#[test]
fn all_that_runs_side_by_side_is_known() {
    let mut dice = Dice(7);
    let (mut shown, mut claimed) = (0, 0);
    for round in 0..2_000 {
        let cfg = cfg(&mut dice);
        let mhp = MayHappenInParallel::new(&cfg);
        let count = cfg.nodes.len() as u32;
        let known = (0..count).flat_map(|a| {
            let partners = mhp.partners(NodeId(a));
            let later = partners.iter().filter(|b| (a..count).contains(b));
            let later: Vec<u32> = later.collect();
            later.into_iter().map(move |b| (a, b))
        });
        let known: BTreeSet<(u32, u32)> = known.collect();
        let seen = search(&cfg);
        let missed: Vec<_> = seen.difference(&known).collect();
        assert!(
            missed.is_empty(),
            "round {round}: {missed:?} run side by side in\n{}",
            show(&cfg)
        );
        shown += seen.len();
        claimed += known.len();
    }
    // The other side: not everything is claimed to run beside everything.
    assert!(
        claimed * 10 < shown * 13,
        "{claimed} claimed, {shown} shown"
    );
}
