//! A null that was shown not to be there on the way, and what may have written since: for a message.

use std::collections::{BTreeSet, VecDeque};

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::inline::{Inliner, inlined, let_values};
use crate::expr::infer::{Checker, facts, path};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::{Field, Node, Route};

use super::super::cfg::{BlockId, writes_of};
use super::cx::Cx;
use super::flow_state::FlowState;
use super::flow_typing::FlowTyping;

/// That a place was known not to be null in a node before that may have written it.
#[derive(Debug, Clone, Copy)]
pub struct Lost {
    /// What shows it, where the node itself does, and by a `let`.
    test: Option<Span>,
    /// What may have written it.
    written: Span,
}

/// A null that nothing guards and of which the node itself knows more.
#[derive(Debug, Clone)]
pub struct LostNull {
    /// Where it is reported.
    span: Span,
    /// The place that is null: what a `let` stands for, not its name.
    place: String,
    /// How it is lost in the node itself.
    lost: Option<Lost>,
}

impl Cx<'_> {
    /// Notes that a field may be written, and what was known of it before.
    pub(super) fn disturb(&mut self, id: FieldId, field: &Field, written: Span) {
        let known = &self.facts.known;
        if !known.is_empty() {
            let place = format!("state.{}", field.name.node);
            let parts = known.fields(&place).into_iter();
            let mut places: Vec<String> = parts.map(|part| format!("{place}.{part}")).collect();
            if known.holds(&place) {
                places.push(place);
            }
            let lost = Lost {
                test: None,
                written,
            };
            self.lost
                .extend(places.into_iter().map(|place| (place, lost)));
        }
        self.facts.disturb(id, field);
    }

    /// Notes what a condition would show if nothing had been written since its `let`s were computed.
    pub(super) fn note_stale_test(&mut self, condition: &Expr, truth: bool) {
        let Some(written) = self.lets.iter().find_map(|known| known.stale) else {
            return;
        };
        let read = Inliner::new(&self.lets).with_stale().read(condition);
        let mut ignored = Diagnostics::new();
        let shown =
            Checker::new(&self.scope, &self.program.types, &mut ignored).facts(&read, truth);
        let test = Some(condition.span);
        let lost = Lost { test, written };
        self.lost
            .extend(shown.iter().map(|place| (place.to_owned(), lost)));
    }

    /// Notes nulls of which the node itself knows how they came about.
    pub(super) fn note_lost_nulls(&mut self, found: &Diagnostics) {
        for found in found
            .iter()
            .filter(|found| found.code == &codes::NULL_NOT_HANDLED)
        {
            let Some(place) = found.value() else { continue };
            let root = place.split(['.', '[']).next().unwrap_or(place);
            let stands_for = self.lets.iter().rfind(|known| known.name == root);
            let stands_for = stands_for.and_then(|known| path(&known.value));
            let rest = place.get(root.len()..).unwrap_or_default();
            let place = stands_for.map_or(place.to_owned(), |of| format!("{of}{rest}"));
            let lost = self.lost.get(&place).copied();
            self.lost_nulls.push(LostNull {
                span: found.span(),
                place,
                lost,
            });
        }
    }
}

/// What may have written a field, and where.
type Writer<'a> = (&'a str, Span);

impl FlowTyping<'_> {
    /// Names the test and the writer where a null that nothing guards was shown not to be there on the way to it.
    pub(super) fn with_lost_test(
        &self,
        at: NodeId,
        found: Diagnostic,
        nulls: &[LostNull],
    ) -> Diagnostic {
        let null = found.code == &codes::NULL_NOT_HANDLED;
        let own = nulls.iter().filter(|own| null && own.span == found.span());
        let lost = own.filter_map(|own| self.lost_test(at, own)).next();
        let Some((test, (name, written))) = lost else {
            return found;
        };
        found
            .label(test, "shown here not to be null")
            .label(written, format!("`{name}` may have written it since"))
    }

    fn lost_test(&self, at: NodeId, null: &LostNull) -> Option<(Span, Writer<'_>)> {
        let place = &null.place;
        let name = place.strip_prefix("state.")?.split(['.', '[']).next()?;
        let field = self.graph.field(name)?;
        let node = self.graph.nodes.get(at)?;
        let mut writer = None;
        if let Some(lost) = null.lost {
            let own = (node.name.node.as_str(), lost.written);
            let test = lost.test.or_else(|| self.test_in(ahead(node), node, place));
            if let Some(test) = test {
                return Some((test, own));
            }
            writer = Some(own);
        }
        let mut seen = BTreeSet::new();
        let mut open = VecDeque::from([(BlockId::Node(at), writer)]);
        while let Some((block, writer)) = open.pop_front() {
            for edge in self.cfg.in_edges(block) {
                let Some(before) = edge.from else {
                    let route = self.graph.start.as_ref();
                    let test = self.shown_by(route.into_iter().flat_map(asked), place);
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
    fn test_of(&self, id: NodeId, place: &str) -> Option<Span> {
        let node = self.graph.nodes.get(id)?;
        let routed = node.goto.iter().flat_map(|goto| asked(&goto.node));
        self.test_in(ahead(node).chain(routed), node, place)
    }

    /// The same among some conditions of a node.
    fn test_in<'e>(
        &self,
        mut conditions: impl Iterator<Item = &'e Expr>,
        node: &Node,
        place: &str,
    ) -> Option<Span> {
        let lets = let_values(&node.lets);
        let shows = |when: &&Expr| {
            let read = inlined(when, &lets);
            self.shown_by([&*read], place).is_some()
        };
        conditions.find(shows).map(|when| when.span)
    }

    fn shown_by<'e>(
        &self,
        conditions: impl IntoIterator<Item = &'e Expr>,
        place: &str,
    ) -> Option<Span> {
        let (scope, types) = (self.cx(FlowState::default()).scope, &self.program.types);
        let shows = |when: &&Expr| {
            let mut each = [true, false].into_iter();
            each.any(|truth| facts(when, &scope, types, truth).holds(place))
        };
        conditions.into_iter().find(shows).map(|when| when.span)
    }
}

/// The conditions of a node that are asked ahead of its work.
fn ahead(node: &Node) -> impl Iterator<Item = &Expr> {
    let required = node.requires.iter().map(|require| &require.condition);
    required.chain(node.skips.iter().map(|skip| &skip.when))
}

/// The conditions of a route.
fn asked(route: &Route) -> impl Iterator<Item = &Expr> {
    let arms = match route {
        Route::Arms(arms, _) => arms.as_slice(),
        Route::Always(_) => &[],
    };
    arms.iter().filter_map(|arm| arm.when.as_ref())
}
