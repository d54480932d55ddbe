//! A null that was shown not to be there on the way, and what may have written since: for a message.

use std::collections::{BTreeSet, VecDeque};

use crate::ast::expr::Expr;
use crate::base::{AccessPath, Span};
use crate::diag::{Diagnostic, codes};
use crate::expr::fold::inline::{inlined, let_values};
use crate::expr::infer::{access_path, facts};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::Route;

use super::super::cfg::{BlockId, writes_of};
use super::flow_state::FlowState;
use super::flow_typing::FlowTyping;

/// Most blocks on the way to a null that are looked through for the test.
const LOOKED: usize = 64;

/// What may have written a field, and where.
type Writer<'a> = (&'a str, Span);

impl FlowTyping<'_> {
    /// Names the test and the writer where a null that nothing guards was shown not to be there on the way to it.
    pub(super) fn with_lost_test(&self, at: NodeId, found: Diagnostic) -> Diagnostic {
        let null = found.code == &codes::NULL_NOT_HANDLED;
        let place = found.value().filter(|_| null);
        let lost = place.and_then(|place| self.lost_test(at, place, found.span()));
        let Some((test, (name, written))) = lost else {
            return found;
        };
        found
            .label(test, "shown here not to be null")
            .label(written, format!("`{name}` may have written it since"))
    }

    fn lost_test(&self, at: NodeId, found: &AccessPath, read: Span) -> Option<(Span, Writer<'_>)> {
        let lets = &self.graph.nodes.get(at)?.lets;
        let bound = lets
            .iter()
            .find(|bound| found.root() == Some(&bound.name.node));
        let stands_for =
            bound.and_then(|bound| Some((&bound.name.node, access_path(&bound.value)?)));
        let place = &match stands_for {
            Some((name, of)) => of.part(found.steps_from(&AccessPath::name(name))?),
            None => found.clone(),
        };
        let field = self.graph.field(place.field_of("state")?)?;
        let own = self.test_of(at, place).filter(|test| *test < read);
        if let Some(found) = own.zip(self.writer(at, field)) {
            return Some(found);
        }
        let mut seen = BTreeSet::new();
        let mut open = VecDeque::from([(BlockId::Node(at), None)]);
        while let Some((block, writer)) = open.pop_front().filter(|_| seen.len() < LOOKED) {
            for edge in self.cfg.in_edges(block) {
                let Some(before) = edge.from else {
                    let route = self.graph.start.as_ref();
                    let test = self.shown_by(route.into_iter().flat_map(Route::conditions), place);
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
                    writer = writer.or_else(|| {
                        let partners = self.mhp.partners(id);
                        partners
                            .iter()
                            .find_map(|other| self.writer(NodeId(other), field))
                    });
                    if let Some(found) = self.test_of(id, place).zip(writer) {
                        return Some(found);
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
    fn test_of(&self, id: NodeId, place: &AccessPath) -> Option<Span> {
        let node = self.graph.nodes.get(id)?;
        let lets = let_values(&node.lets);
        let shows = |when: &&Expr| self.shown_by([&*inlined(when, &lets)], place).is_some();
        node.conditions().find(shows).map(|when| when.span)
    }

    fn shown_by<'e>(
        &self,
        conditions: impl IntoIterator<Item = &'e Expr>,
        place: &AccessPath,
    ) -> Option<Span> {
        let mut conditions = conditions.into_iter().peekable();
        conditions.peek()?;
        let (scope, types) = (self.cx(FlowState::default()).scope, &self.program.types);
        let shows = |when: &&Expr| {
            let mut each = [true, false].into_iter();
            each.any(|truth| facts(when, &scope, types, truth).holds(place))
        };
        conditions.find(shows).map(|when| when.span)
    }
}
