//! Back from a called graph: its end leads on in all callers that were come to.

use crate::ir::NodeId;

use super::super::super::flow::{Cause, Spot};
use super::walk::{Asked, At, Here, Hop, Walk};

impl<'a> Walk<'a> {
    /// The end of a called graph leads on in all callers that were come to.
    pub(super) fn back(&mut self, at: At) {
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

    pub(super) fn on_from_call(&mut self, caller: At, node: NodeId, inner: At) {
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
}
