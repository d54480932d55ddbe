//! Fields that hold what a person said: written from an answer, directly or through other fields.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::Expr;
use crate::ir::{FieldId, GraphId};
use crate::resolve::program::{Node, Program};

use super::super::reads::Mention;
use super::answer::{Says, constant};
use super::decision::is_decision;
use super::direction::directions;
use super::held::Held;
use super::others::Others;
use super::place::places;
use super::reader::Reader;
use super::sense::{Heard, Sense};
use super::writes::{Feed, Find, Given, Told};

/// A field of a graph.
pub type Place = (GraphId, FieldId);

/// What of the state comes from answers.
pub struct Decided<'a> {
    /// Fields made from answers.
    pub fields: BTreeSet<Place>,
    /// All writes by nodes and jumps.
    pub writes: Vec<Told<'a>>,
    /// What is made from each field.
    pub(super) feeds: BTreeMap<Place, Vec<Feed<'a>>>,
    /// What fields of called graphs are given.
    pub(super) given: Vec<Given<'a>>,
    /// What each of them says.
    held: BTreeMap<Place, Held>,
}

impl<'a> Decided<'a> {
    /// Finds them.
    pub fn new(program: &'a Program) -> Self {
        let mut find = Find::new(program);
        for (id, graph) in program.graphs.entries() {
            find.graph(id, graph);
        }
        let mut fields = BTreeSet::new();
        let mut open = std::mem::take(&mut find.begun);
        while let Some(place) = open.pop() {
            if fields.insert(place) {
                let fed = find.feeds.get(&place).into_iter().flatten();
                open.extend(fed.map(|feed| feed.to));
            }
        }
        find.mark(&fields);
        let held = directions(program, &fields, &find);
        Self {
            fields,
            writes: find.writes,
            feeds: find.feeds,
            given: find.given,
            held,
        }
    }

    /// What a condition says of an answer in a node; `counts` gives the direction of a field, of the node's graph or of the
    /// one that it calls, where it holds one, and what it may hold that nobody has said.
    pub fn says(
        &self,
        program: &'a Program,
        (id, node): (GraphId, &'a Node),
        counts: impl Fn(Place) -> Option<(Sense, Others)>,
        (condition, truth): (&'a Expr, bool),
    ) -> Says {
        let heard = |mention: Mention<'_>| self.heard(program, (id, Some(node)), &counts, mention);
        let reader = Reader::new(&node.lets, &heard);
        if !reader.depends(condition) {
            return Says::Nothing;
        }
        let sense = reader.condition(condition);
        match if truth { sense.yes } else { sense.no } {
            // Nothing runs behind it that somebody would have to agree to.
            Says::Never => Says::Yes,
            says => says,
        }
    }

    /// What a mention holds of an answer.
    pub(super) fn heard(
        &self,
        program: &Program,
        (id, node): (GraphId, Option<&Node>),
        counts: &dyn Fn(Place) -> Option<(Sense, Others)>,
        mention: Mention<'_>,
    ) -> Option<Heard<'_>> {
        if node.is_some_and(|node| is_decision(program, node, mention)) {
            return Some(Heard::ANSWER);
        }
        let all = places(program, (id, node), mention);
        let known = all.iter().filter_map(|place| counts(*place));
        let (sense, others) = known.reduce(|a, b| (a.0.or(b.0), a.1.or(b.1)))?;
        let words = match *all {
            [place] => self.held.get(&place).and_then(Held::words),
            _ => None,
        };
        Some(Heard {
            sense,
            words,
            others,
        })
    }

    /// The direction of a field that holds an answer.
    pub fn sense(&self, place: Place) -> Option<Sense> {
        let held = self.fields.contains(&place);
        held.then(|| self.held.get(&place).map_or(Sense::STRAIGHT, Held::sense))
    }

    /// Whether it writes what a person said, or a no.
    pub fn is_harmless(&self, write: &Told<'_>) -> bool {
        let refusal = match self.sense(write.to) {
            Some(Sense::TURNED) => Says::Yes,
            _ => Says::No,
        };
        let no = |of: &Expr| constant(of) == Some(refusal);
        write.from_answer || write.arm.is_some() || write.value.is_some_and(no)
    }
}
