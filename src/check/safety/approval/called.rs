//! Back from a called graph: its end leads on in all callers that were come to.

use crate::ir::NodeId;

use super::super::super::cfg::{BlockId, EdgeKind};
use super::walk::{Asked, At, Here, Hop, Walk};

impl<'a> Walk<'a> {
    /// The end of a called graph leads on in all callers that were come to.
    pub(super) fn back(&mut self, at: At) {
        let callers = self.callers.get(at.graph).cloned().unwrap_or_default();
        for (graph, node) in callers {
            for asked in [Asked::No, Asked::Open] {
                let caller = At {
                    graph,
                    block: BlockId::Node(node),
                    asked,
                };
                if self.came(caller).is_some() {
                    self.on_from_call(caller, node, at);
                }
            }
        }
    }

    pub(super) fn on_from_call(&mut self, caller: At, node: NodeId, inner: At) {
        let (Some(graph), Some(cfg)) = (
            self.program.graphs.get(caller.graph),
            self.cfgs.get(caller.graph),
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
        for transition in cfg.transitions(caller.block) {
            let fits = match transition.kind {
                EdgeKind::Child => inner.block == BlockId::Leave,
                EdgeKind::Edge | EdgeKind::Goto => inner.block == BlockId::End,
                _ => false,
            };
            if !fits {
                continue;
            }
            let on = self.arm(&said, declared, transition, inner.asked);
            if let Some((asked, hop)) = on {
                let hop = match hop {
                    Hop::On => Hop::Call,
                    hop => hop,
                };
                // The way back is told as one from the inner graph.
                for successor in &transition.successors {
                    let at = At {
                        graph: caller.graph,
                        block: successor.to,
                        asked,
                    };
                    match successor.to {
                        BlockId::Join(join) => self.arrive(at, join, caller, hop),
                        _ => self.come(at, Some(from), hop),
                    }
                }
            }
        }
    }
}
