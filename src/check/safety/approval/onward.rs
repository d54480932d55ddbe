//! Where a run goes on from a node, and what it has done there.

use crate::base::Span;
use crate::ir::NodeId;
use crate::resolve::program::Work;

use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind};
use super::destroys;
use super::walk::{Asked, At, Bypass, Found, Here, Hop, Walk};

impl<'a> Walk<'a> {
    pub(super) fn node(&mut self, at: At, id: NodeId) {
        let (Some(graph), Some(cfg)) = (self.program.graphs.get(at.graph), self.cfgs.get(at.graph))
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
            self.transitions(at, here, cfg, None);
            return;
        };
        let own = turned.or(stop.map(|stop| (Bypass::Ignored, stop.name.span)));
        let uses = asked == Asked::Open && self.looks_at_answer(here);
        let runs_one = !destroys(self.program, graph, node).is_empty();
        if runs_one && !uses && self.seen.insert((at.graph, at.block)) {
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
            for block in [BlockId::End, BlockId::Leave] {
                for asked in [Asked::No, Asked::Open] {
                    let inner = At {
                        graph: *child,
                        block,
                        asked,
                    };
                    if self.came(inner).is_some() {
                        self.on_from_call(at, id, inner);
                    }
                }
            }
        }
        self.transitions(at, here, cfg, Some((asked, turned)));
    }

    /// Follows the ways out of a node; `behind` is what is known behind its guards, `None` where they ask a person.
    fn transitions(
        &mut self,
        at: At,
        here: Here<'a>,
        cfg: &'a ControlFlowGraph,
        behind: Option<(Asked, Option<(Bypass, Span)>)>,
    ) {
        let node = here.node;
        let (behind, turned) = behind.unzip();
        let turned = turned.flatten();
        let interrupt = matches!(node.work, Work::Interrupt { .. });
        let calls = matches!(node.work, Work::Subgraph { graph: Some(_), .. });
        let said = self.said(here, behind.unwrap_or(at.asked));
        for transition in cfg.transitions(at.block) {
            if !interrupt && !calls && matches!(transition.kind, EdgeKind::Edge | EdgeKind::Goto) {
                self.past_refusing_skips(at, here, transition);
            }
            let past = |bypass| match interrupt {
                true => Hop::Past(bypass, transition.span),
                false => Hop::On,
            };
            let on = match transition.kind {
                EdgeKind::Visits => Some((at.asked, past(Bypass::Visits))),
                EdgeKind::Timeout => Some((at.asked, past(Bypass::TimedOut))),
                EdgeKind::Error => Some((at.asked, past(Bypass::Failed))),
                EdgeKind::Skip => self.skip(at, here, transition, interrupt),
                EdgeKind::Edge | EdgeKind::Goto if interrupt => {
                    for skip in node.skips.iter().filter(|skip| skip.to.is_none()) {
                        let hop = Hop::Past(Bypass::Skipped, skip.span);
                        self.take(at, transition, at.asked, hop);
                    }
                    behind.and_then(|asked| self.arm(&said, node, transition, asked))
                }
                // A called graph leads on from its own end.
                EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Child if calls => {
                    for _ in node.skips.iter().filter(|skip| skip.to.is_none()) {
                        if transition.kind != EdgeKind::Child {
                            self.take(at, transition, at.asked, Hop::On);
                        }
                    }
                    None
                }
                _ => behind.and_then(|asked| self.arm(&said, node, transition, asked)),
            };
            let own = matches!(
                transition.kind,
                EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Tool | EdgeKind::Child
            );
            if let Some((asked, hop)) = on {
                let hop = match (hop, turned) {
                    // The node goes on only where the answer is no.
                    (Hop::On, Some((bypass, span))) if own => Hop::Past(bypass, span),
                    (hop, _) => hop,
                };
                self.take(at, transition, asked, hop);
            }
        }
    }
}
