//! Two writers of a field without a reducer that may run in one super-step.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::bit_set::ChunkedBitSet;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::NodeId;

use super::duplicate_activation::Twice;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, Write};
use super::step_writes::{FieldWriters, by_field, collides, help};
use super::witness::Witness;

/// Most further writers that a message points at.
const SHOWN: usize = 6;

/// Two writes that collide.
struct Clash {
    first: (NodeId, Write),
    second: (NodeId, Write),
    others: Vec<(NodeId, Write)>,
    /// Every node among them.
    nodes: BTreeSet<NodeId>,
}

/// Reports each field that two tasks of one super-step may write, once, with all its writers.
///
/// Where one of them runs twice, that is what is to be mended; gives back these nodes.
pub fn races(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    twice: &[Twice],
    diags: &mut Diagnostics,
) -> BTreeSet<NodeId> {
    let mut reported = BTreeSet::new();
    let accompanied = |id: &NodeId| !mhp.partners(*id).is_empty();
    for (field, writers) in by_field(cfg, mhp, cfg.nodes.ids().filter(accompanied)) {
        let (Some(clash), Some(name)) = (clash(&writers, mhp), collides(cfg, field)) else {
            continue;
        };
        let again = twice.iter().find(|twice| clash.nodes.contains(&twice.node));
        reported.extend(again.map(|twice| twice.node));
        let found = clash.report(cfg, mhp, name);
        diags.push(match again {
            Some(twice) => found.help(twice.help_beside(cfg)),
            None => found,
        });
    }
    reported
}

/// The first two of the writers that may run together, and as many of the others as are shown.
fn clash(writers: &BTreeMap<NodeId, FieldWriters>, mhp: &MayHappenInParallel) -> Option<Clash> {
    let all: ChunkedBitSet = writers.keys().map(|id| id.0).collect();
    let mut clash: Option<Clash> = None;
    for (a, first) in writers {
        let partners = mhp.partners(*a);
        let both = &*partners & &all;
        let beside = both.iter().map(NodeId).filter(|b| b >= a);
        let beside = beside.filter_map(|b| Some((b, first.collide(writers.get(&b)?)?)));
        let own = first.with_join().map(|both| (*a, both));
        for (b, (first, second)) in own.into_iter().chain(beside) {
            match &mut clash {
                Some(clash) => clash.also([(*a, first), (b, second)]),
                None => {
                    clash = Some(Clash {
                        first: (*a, first),
                        second: (b, second),
                        others: Vec::new(),
                        nodes: [*a, b].into(),
                    });
                }
            }
            if clash
                .as_ref()
                .is_some_and(|clash| clash.others.len() >= SHOWN)
            {
                return clash;
            }
        }
    }
    clash
}

impl Clash {
    fn also(&mut self, writers: [(NodeId, Write); 2]) {
        for writer in writers {
            if self.nodes.insert(writer.0) {
                self.others.push(writer);
            }
        }
    }

    fn report(&self, cfg: &ControlFlowGraph, mhp: &MayHappenInParallel, field: &str) -> Diagnostic {
        let name = |node: NodeId| cfg.name(BlockId::Node(node)).to_owned();
        let (a, b) = (self.first, self.second);
        let several = mhp.partners(a.0).contains(b.0.0);
        let at_once = a.0 == b.0 && !several;
        let witness = mhp.witness(a.0, b.0).filter(|_| !at_once);
        let message = match a.0 == b.0 {
            true if at_once => format!(
                "`{field}` may be written twice in one super-step, where `{}` comes to a join last",
                name(a.0)
            ),
            true => format!(
                "tasks of `{}` that run in the same super-step all write `{field}`",
                name(a.0)
            ),
            false => format!(
                "`{}` and `{}` may write `{field}` in the same super-step",
                name(a.0),
                name(b.0)
            ),
        };
        let mut found =
            Diagnostic::new(&codes::WRITE_CONFLICT, message, b.1.span).help(help(field));
        if at_once {
            found = found
                .here("written when the join leads on")
                .label(a.1.span, "written in the same super-step");
        }
        if let Some(Witness {
            fork,
            first,
            second,
        }) = witness
        {
            found = match a.0 == b.0 {
                true => found.here(format!("written on the way `{second}`")),
                false => found
                    .here(format!("written on the way `{second}`"))
                    .label(a.1.span, format!("written on the way `{first}`")),
            };
            let begin = match first == second {
                true => "several tasks begin here",
                false => "both ways begin here",
            };
            found = found.label(fork, begin);
        }
        for (node, write) in self.others.iter().take(SHOWN) {
            found = found.label(
                write.span,
                format!("`{}` may write it then too", name(*node)),
            );
        }
        found
    }
}
