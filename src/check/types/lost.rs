//! A null that was shown not to be there on the way, and what may have written since: for a message.

use std::collections::{BTreeSet, VecDeque};

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::facts;
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::Route;

use super::super::cfg::{BlockId, writes_of};
use super::flow_state::FlowState;
use super::flow_typing::FlowTyping;

/// What may have written a field, and where.
type Writer<'a> = (&'a str, Span);

impl FlowTyping<'_> {
    /// Names the test and the writer where a null that nothing guards was shown not to be there on the way to a block.
    pub(super) fn with_lost_test(&self, at: BlockId, found: Diagnostic) -> Diagnostic {
        let null = found.code == &codes::NULL_NOT_HANDLED;
        let place = found.value().filter(|_| null);
        let Some((test, (name, written))) = place.and_then(|place| self.lost_test(at, place))
        else {
            return found;
        };
        found
            .label(test, "shown here not to be null")
            .label(written, format!("`{name}` may have written it since"))
    }

    fn lost_test(&self, at: BlockId, place: &str) -> Option<(Span, Writer<'_>)> {
        let name = place.strip_prefix("state.")?.split(['.', '[']).next()?;
        let field = self.graph.field(name)?;
        let mut seen = BTreeSet::new();
        let mut open = VecDeque::from([(at, None)]);
        while let Some((block, writer)) = open.pop_front() {
            for edge in self.cfg.in_edges(block) {
                let Some(before) = edge.from else {
                    let route = self.graph.start.as_ref();
                    let test = self.test_in(route.into_iter().flat_map(asked), place);
                    if let Some(found) = test.zip(writer) {
                        return Some(found);
                    }
                    continue;
                };
                if !seen.insert(before) {
                    continue;
                }
                let mut writer = writer;
                if let BlockId::Node(id) = before {
                    writer = writer.or_else(|| self.writer(id, field));
                    if let Some(test) = self.test_of(id, place) {
                        let beside = || {
                            self.mhp
                                .partners(id)
                                .iter()
                                .find_map(|other| self.writer(NodeId(other), field))
                        };
                        if let Some(writer) = writer.or_else(beside) {
                            return Some((test, writer));
                        }
                    }
                }
                open.push_back((before, writer));
            }
        }
        None
    }

    /// Where a node writes a field.
    fn writer(&self, id: NodeId, field: FieldId) -> Option<Writer<'_>> {
        let node = self.graph.nodes.get(id)?;
        let write = writes_of(self.cfg, id);
        let write = write.iter().find(|write| write.field == field)?;
        Some((node.name.node.as_str(), write.span))
    }

    /// The condition of a node that shows a place not to be null.
    fn test_of(&self, id: NodeId, place: &str) -> Option<Span> {
        let node = self.graph.nodes.get(id)?;
        let required = node.requires.iter().map(|require| &require.condition);
        let skipped = node.skips.iter().map(|skip| &skip.when);
        let routed = node.goto.iter().flat_map(|goto| asked(&goto.node));
        self.test_in(required.chain(skipped).chain(routed), place)
    }

    fn test_in<'e>(&self, conditions: impl Iterator<Item = &'e Expr>, place: &str) -> Option<Span> {
        let (scope, types) = (self.cx(FlowState::default()).scope, &self.program.types);
        let shows = |when: &&Expr| {
            let mut each = [true, false].into_iter();
            each.any(|truth| facts(when, &scope, types, truth).holds(place))
        };
        let mut conditions = conditions;
        conditions.find(shows).map(|when| when.span)
    }
}

/// The conditions of a route.
fn asked(route: &Route) -> impl Iterator<Item = &Expr> {
    let arms = match route {
        Route::Arms(arms, _) => arms.as_slice(),
        Route::Always(_) => &[],
    };
    arms.iter().filter_map(|arm| arm.when.as_ref())
}
