//! What a walk through a graph has found, told once: reads without a value on their ways, and all else in the order declared.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::shared::Noted;
use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};
use crate::ir::{FieldId, NodeId};
use crate::resolve::program::Work;

use super::super::flow::exit::{Exits, told};
use super::super::flow::{Spot, Way};
use super::cx::Cx;
use super::facts::Facts;
use super::jump::Behind;
use super::node;
use super::paths::{Counts, Paths, Step};
use super::says::Saying;
use super::walk::{Typed, Walk};

/// Most questions about single ways that are asked of one graph; what is beyond is reported as it is.
const ASKED: usize = 24;

/// What came of an `out` field that some way seems not to write.
pub enum Left<'a> {
    /// A run can take a way without any writer; the way, where it could be followed.
    Never(Vec<Step<'a>>),
    /// A run can take one where it is not sure that it is written.
    Perhaps(Vec<Step<'a>>),
    /// The conditions on all of these ways exclude each other.
    Written,
}

impl<'a> Walk<'a> {
    /// Types what no run comes to, and gathers all findings in the order declared. `asked` are `out` fields that
    /// some way seems not to write, and whether nothing on it may.
    pub(super) fn finish(
        mut self,
        asked: &[(FieldId, bool)],
        diags: &mut Diagnostics,
    ) -> Typed<'a> {
        for id in self.flow.stops.ids() {
            if self.entries.get(id.0 as usize).is_some_and(Option::is_none) {
                self.type_node(id, Facts::default(), None);
                if let Some(Some(seen)) = self.seen.get_mut(id.0 as usize) {
                    seen.diags.retain(is_proven);
                }
            }
        }
        let left = self.report_lacking(asked, diags);
        let mut typed = Typed {
            read: self.read,
            left,
            ..Typed::default()
        };
        for seen in self.seen {
            let seen = seen.map(|seen| *seen).unwrap_or_default();
            diags.append(seen.diags);
            typed.computed.push(seen.computed);
        }
        let (graph, program) = (self.graph, self.program);
        for (id, seen) in self.joined.entries() {
            let brought = self.brought.get(id).into_iter().flatten();
            if brought.flatten().next().is_none()
                && let Some(join) = graph.joins.get(id)
            {
                let mut cx = Cx::in_graph(program, graph, &self.state, Facts::default());
                cx.jump(&join.to, &mut Behind::new());
                cx.diags.retain(is_proven);
                diags.append(cx.diags);
            } else if let Some(seen) = seen {
                diags.append(seen.diags.clone());
            }
        }
        typed
    }

    /// Reports reads of fields without a value, where a run can come to them so. Gives back what came
    /// of the `out` fields asked for.
    fn report_lacking(&self, asked: &[(FieldId, bool)], diags: &mut Diagnostics) -> Vec<Left<'a>> {
        let nodes = self.flow.stops.ids().map(Spot::Node).zip(&self.seen);
        let joins = self.flow.joins.ids().map(Spot::Join).zip(&self.joined);
        let mut reads: Vec<(Spot, FieldId, Span, Counts)> = Vec::new();
        for (spot, seen) in nodes.chain(joins) {
            let Some(seen) = seen else { continue };
            let lacking = seen.lacking.iter().map(|read| (read, Counts::May));
            let unsure = seen.unsure.iter().map(|read| (read, Counts::Sure));
            let all = lacking.chain(unsure);
            reads.extend(all.map(|((field, read), counts)| (spot, *field, *read, counts)));
        }
        if reads.is_empty() && asked.is_empty() {
            return Vec::new();
        }
        let paths = self.paths();
        let first = paths.at_start(&self.program.types);
        for (number, (spot, field, read, counts)) in reads.into_iter().enumerate() {
            let of = (spot, field, read);
            // An `ephemeral` field may have had a value that is gone.
            let asked = number < ASKED && !self.passing.all.contains(&field);
            let trail = match asked {
                true => paths.lacks(&first, of, counts),
                false => Some(Vec::new()),
            };
            let Some(declared) = self.graph.fields.get(field) else {
                continue;
            };
            let types = &self.program.types;
            match (trail, counts) {
                (None, Counts::Sure) => {}
                (None, Counts::May) => {
                    if let (true, Some(_)) = (asked, paths.lacks(&first, of, Counts::Sure)) {
                        let shown = types.show(&declared.ty.node).to_string();
                        diags.push(may_be_unset(&declared.name, &shown, read));
                    }
                }
                (Some(_), Counts::Sure) => {
                    let shown = types.show(&declared.ty.node).to_string();
                    diags.push(may_be_unset(&declared.name, &shown, read));
                }
                (Some(trail), Counts::May) => {
                    let of = (field, declared);
                    let found = self
                        .trails
                        .report(self.flow, types, (spot, trail), of, read);
                    diags.push(found);
                }
            }
        }
        let left = asked.iter().enumerate().map(|(number, (field, certain))| {
            if number >= ASKED {
                return match certain {
                    true => Left::Never(Vec::new()),
                    false => Left::Perhaps(Vec::new()),
                };
            }
            if *certain && let Some(path) = paths.avoids(&first, *field, Counts::May) {
                return Left::Never(path);
            }
            match paths.avoids(&first, *field, Counts::Sure) {
                Some(path) => Left::Perhaps(path),
                None => Left::Written,
            }
        });
        left.collect()
    }

    /// All that is said on the ways of the graph: each node is read once more.
    fn paths(&self) -> Paths<'_, 'a> {
        let mut conditions = Vec::new();
        let mut cx = self.cx(Facts::at_start(self.graph));
        cx.saying = Some(Saying::default());
        if let Some(route) = &self.graph.start {
            cx.route(route, &mut Behind::new());
        }
        let graph = self.graph;
        let told = told(self.program, graph, self.flow);
        let exits: Vec<Vec<super::says::Fact>> =
            told.iter().map(|when| cx.says(when, true)).collect();
        let goes_on = told.iter().map(|when| cx.says(when, false));
        let goes_on = goes_on.flatten().collect();
        let start = said(cx, &mut conditions);
        let mut nodes = Vec::new();
        let mut noted = Noted::default();
        for id in self.flow.stops.ids() {
            nodes.push(self.said_by(id, &mut conditions, &mut noted));
        }
        let joins = self.graph.joins.iter().map(|join| {
            let mut cx = self.cx(Facts::default());
            cx.saying = Some(Saying::default());
            cx.jump(&join.to, &mut Behind::new());
            said(cx, &mut Vec::new())
        });
        let at_once = self.entries.iter().zip(self.flow.stops.iter());
        let at_once = at_once.map(|(entry, stop)| match entry {
            Some(entry) if !stop.branch => self
                .sure
                .written_beside(&entry.company)
                .into_iter()
                .collect(),
            _ => SharedSet::new(),
        });
        let mut paths = Paths {
            graph: self.graph,
            flow: self.flow,
            effects: self.effects,
            start,
            nodes,
            joins: joins.collect(),
            beside: &self.beside,
            at_once: at_once.collect(),
            circles: &self.circles,
            passing: &self.passing.all,
            exits,
            ends: Exits::of(self.program, graph, self.flow),
            goes_on,
            fields: BTreeMap::new(),
            places: BTreeMap::new(),
            explored: RefCell::default(),
        };
        paths.gather();
        paths
    }

    fn said_by(
        &self,
        id: NodeId,
        conditions: &mut Vec<crate::ast::expr::Expr>,
        noted: &mut Noted<Arc<str>>,
    ) -> Saying {
        let (Some(declared), Some(entry)) = (
            self.graph.nodes.get(id),
            self.entries.get(id.0 as usize).and_then(Option::as_ref),
        ) else {
            return Saying::default();
        };
        let mut cx = self.cx_of(
            id,
            declared,
            entry.facts.clone(),
            entry.again.as_deref().cloned(),
        );
        cx.saying = Some(Saying {
            conditions: std::mem::take(conditions),
            ..Saying::default()
        });
        let out = node::node(&mut cx, id, declared);
        let mut said = said(cx, conditions);
        // What is known not to be null on all ways is so on each.
        for (span, facts) in &out.behind {
            said.known.insert(*span, self.not_null(facts, noted));
        }
        if declared.edges.len() > 1 {
            // Which of their updates is the last one is not followed.
            declared.edges.iter().for_each(|jump| {
                said.sets.remove(&jump.span);
                said.known.remove(&jump.span);
            });
        } else if !matches!(declared.work, Work::Branch) {
            let known = self.not_null(&out.edge, noted);
            let edge = self.flow.ways(Spot::Node(id)).iter();
            let edge = edge.filter(|way: &&Way| way.cause == super::super::flow::Cause::Edge);
            for way in edge {
                said.known.entry(way.span).or_default().join(&known);
            }
        }
        said
    }

    /// Fields that are known not to be null, but for those of which nothing is kept from step to step.
    fn not_null(&self, facts: &Facts, noted: &mut Noted<Arc<str>>) -> SharedSet<Arc<str>> {
        let field = |place: &Arc<str>| {
            let id = self.graph.field(place.strip_prefix("state.")?)?;
            (!self.passing.all.contains(&id)).then_some(id)
        };
        let paths = facts.known.paths();
        paths.chosen(noted, &|place| field(place).is_some())
    }
}

/// Whether a finding holds whatever was shown on the way: where no way is, what was to lead there may have shown anything.
fn is_proven(found: &Diagnostic) -> bool {
    !found.facts.contains(&Fact::Unproven)
}

fn said(cx: Cx, conditions: &mut Vec<crate::ast::expr::Expr>) -> Saying {
    let mut said = cx.saying.unwrap_or_default();
    *conditions = std::mem::take(&mut said.conditions);
    said
}

/// A read of a field of which it is not sure that it has a value.
pub(super) fn may_be_unset(name: &crate::ast::Name, shown: &str, read: Span) -> Diagnostic {
    let message = format!("`state.{}` may have no value yet", name.node);
    Diagnostic::new(&codes::MAYBE_UNSET, message, read)
        .about(name.span)
        .here("it is up to a model, a list or a called graph whether it is written before")
        .label(name.span, "declared without a first value")
        .help(format!(
            "write it before, or give it a first value: `= ..` behind its type, or the type `{shown}?`"
        ))
}
