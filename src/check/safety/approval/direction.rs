//! The direction of each field that holds answers: a fixpoint over all writes that answers come into.
//!
//! A field may be written straight here and turned there; then nobody knows what was said where it says yes, and it
//! counts as a no either way. So does what an arm writes that is taken whatever was answered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::expr::Type;
use crate::ir::GraphId;
use crate::resolve::program::{Node, Program};

use super::super::reads::{self, Lets, Mention, mentions};
use super::answer::{Says, constant, joined, word};
use super::decided::Place;
use super::decision::{is_decision, mentioned};
use super::reader::Reader;
use super::sense::{Heard, Sense, Words};
use super::writes::{Find, results};

/// Most words of its own that a field is known by; of one with more they tell nothing.
const MOST: usize = 64;

/// What was said, of all writes together: a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Set(u8);

impl Set {
    const YES: u8 = 1;
    const NO: u8 = 2;
    const SOMETHING: u8 = 4;

    fn add(&mut self, says: Says) {
        self.0 |= match says {
            Says::Yes => Self::YES,
            Says::No => Self::NO,
            Says::Something => Self::SOMETHING,
            // Whatever was said.
            Says::Nothing => Self::YES | Self::NO,
            Says::Never => 0,
        };
    }

    fn says(self) -> Says {
        match self.0 {
            0 => Says::Never,
            set if set & Self::NO != 0 => Says::No,
            set if set & Self::SOMETHING != 0 => Says::Something,
            _ => Says::Yes,
        }
    }

    /// What the other side says of which nothing was written.
    fn opposite(self) -> Says {
        match self.0 {
            Self::YES => Says::No,
            Self::NO => Says::Yes,
            _ => self.says(),
        }
    }
}

/// What is known of a field.
#[derive(Debug, Default)]
pub struct Held {
    yes: Set,
    no: Set,
    words: Words,
    lost: bool,
}

impl Held {
    /// Its direction.
    pub fn sense(&self) -> Sense {
        match (self.yes.says(), self.no.says()) {
            (Says::Never, Says::Never) => Sense::STRAIGHT,
            (Says::Never, no) => Sense {
                yes: self.no.opposite(),
                no,
            },
            (yes, Says::Never) => Sense {
                yes,
                no: self.yes.opposite(),
            },
            (yes, no) => Sense { yes, no },
        }
    }

    /// What its own words say.
    pub fn words(&self) -> Option<&Words> {
        Some(&self.words).filter(|words| !words.is_empty())
    }

    fn sets(&self) -> (Set, Set) {
        (self.yes, self.no)
    }

    fn so_far(&self) -> Sense {
        Sense {
            yes: self.yes.says(),
            no: self.no.says(),
        }
    }

    fn add(&mut self, sense: Sense) {
        self.yes.add(sense.yes);
        self.no.add(sense.no);
    }

    fn word(&mut self, word: String, says: Says) {
        if says == Says::Never || self.lost {
            return;
        }
        let says = match says {
            Says::Nothing => Says::No,
            says => says,
        };
        let known = self.words.entry(word).or_insert(says);
        *known = joined(LogicalOp::Or, &[*known, says]);
        if self.words.len() > MOST {
            self.words.clear();
            self.lost = true;
        }
    }
}

/// Where a field gets something from.
enum Source<'a> {
    /// Another field.
    Copy(Place),
    /// A value, in a node, behind an arm of its question.
    Value {
        of: (GraphId, Option<&'a Node>),
        value: &'a Expr,
        arm: Option<Says>,
    },
}

/// Follows all of them until nothing is new.
pub fn directions<'a>(
    program: &'a Program,
    fields: &BTreeSet<Place>,
    find: &Find<'a>,
) -> BTreeMap<Place, Held> {
    let mut sources: Vec<(Place, Source<'a>)> = Vec::new();
    let copies = find
        .copies
        .iter()
        .map(|(from, to)| (*to, Source::Copy(*from)));
    sources.extend(copies);
    for write in &find.writes {
        let graph = program.graphs.get(write.to.0);
        let node = graph.and_then(|graph| graph.nodes.get(write.by.node()?));
        if let Some(value) = write.value {
            let of = (write.to.0, node);
            let arm = write.arm;
            sources.push((write.to, Source::Value { of, value, arm }));
        }
    }
    for given in &find.given {
        let (graph, node) = given.by;
        let value = Source::Value {
            of: (graph, Some(node)),
            value: given.value,
            arm: None,
        };
        sources.push((given.to, value));
    }
    sources.retain(|(to, _)| fields.contains(to));
    let mut read_by: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (at, (_, source)) in sources.iter().enumerate() {
        for place in reads_of(program, source) {
            read_by.entry(place).or_default().push(at);
        }
    }
    let mut held: BTreeMap<Place, Held> = BTreeMap::new();
    let mut open: VecDeque<usize> = (0..sources.len()).collect();
    let mut waits = vec![true; sources.len()];
    while let Some(at) = open.pop_front() {
        if let Some(waits) = waits.get_mut(at) {
            *waits = false;
        }
        let Some((to, source)) = sources.get(at) else {
            continue;
        };
        let mut own = held.remove(to).unwrap_or_default();
        let before = own.sets();
        tell(program, (fields, &held), source, (*to, &mut own));
        let changed = before != own.sets();
        held.insert(*to, own);
        let behind = read_by.get(to).into_iter().flatten();
        for next in behind.filter(|_| changed) {
            if let Some(waits) = waits.get_mut(*next).filter(|waits| !**waits) {
                *waits = true;
                open.push_back(*next);
            }
        }
    }
    held
}

/// The fields that a source reads.
fn reads_of(program: &Program, source: &Source<'_>) -> Vec<Place> {
    let (of, value) = match source {
        Source::Copy(from) => return vec![*from],
        Source::Value { of, value, .. } => (of, value),
    };
    let (id, node) = *of;
    let lets = node.map_or_else(Lets::new, |node| reads::lets(&node.lets));
    let mut found = Vec::new();
    for mention in mentions(value, &lets) {
        match (mention, node) {
            (Mention::Name("result") | Mention::Part("result", _), Some(node)) => {
                found.extend(results(program, node, mention));
            }
            _ => {
                let graph = program.graphs.get(id);
                let field = graph.and_then(|graph| mentioned(program, graph, mention));
                found.extend(field.map(|field| (id, field)));
            }
        }
    }
    found
}

/// Adds what a source writes.
fn tell<'a>(
    program: &'a Program,
    (fields, held): (&BTreeSet<Place>, &BTreeMap<Place, Held>),
    source: &Source<'a>,
    (to, own): (Place, &mut Held),
) {
    let before = own.so_far();
    let sense = |place: Place| {
        let known = match place == to {
            true => before,
            false => held.get(&place).map_or(Sense::NEVER, Held::so_far),
        };
        fields.contains(&place).then_some(known)
    };
    let ((id, node), value, arm) = match source {
        Source::Copy(from) => {
            own.add(sense(*from).unwrap_or(Sense::NEVER));
            return;
        }
        Source::Value { of, value, arm } => (*of, *value, *arm),
    };
    let graph = program.graphs.get(id);
    let heard = |mention: Mention<'_>| {
        let words = None;
        match (mention, node) {
            (Mention::Name("result") | Mention::Part("result", _), Some(node))
                if !is_decision(program, node, mention) =>
            {
                let all = results(program, node, mention).into_iter();
                let sense = all.filter_map(sense).reduce(Sense::or)?;
                Some(Heard { sense, words })
            }
            (Mention::Field(_) | Mention::FieldPart(..), _) => {
                let sense = sense((id, mentioned(program, graph?, mention)?))?;
                Some(Heard { sense, words })
            }
            (_, Some(node)) => is_decision(program, node, mention).then_some(Heard::ANSWER),
            _ => None,
        }
    };
    let reader = Reader::new(node.map_or(&[], |node| &node.lets), &heard);
    let declared = program.graphs.get(to.0);
    let declared = declared.and_then(|graph| graph.fields.get(to.1));
    let truth = declared.is_some_and(|field| matches!(field.ty.node.without_null(), Type::Bool));
    if arm.is_none() && !reader.depends(value) {
        return;
    }
    let mut open = vec![(value, arm)];
    while let Some((value, said)) = open.pop() {
        let and = |says: Says| Some(said.map_or(says, |s| joined(LogicalOp::And, &[s, says])));
        match (&value.kind, constant(value)) {
            (ExprKind::Conditional(when, yes, no), _) => {
                let when = match reader.depends(when) {
                    true => reader.condition(when),
                    false => Sense::OTHER,
                };
                open.push((yes, and(when.yes)));
                open.push((no, and(when.no)));
            }
            (_, Some(Says::Yes)) => own.yes.add(said.unwrap_or(Says::Never)),
            (_, Some(Says::No)) => own.no.add(said.unwrap_or(Says::Never)),
            (_, Some(_)) => {
                let key = word(value).unwrap_or_default();
                own.word(key, said.unwrap_or(Says::Never));
            }
            (_, None) if reader.depends(value) => own.add(match truth {
                true => reader.condition(value),
                false => reader.value(value),
            }),
            (_, None) => {
                let said = said.unwrap_or(Says::Never);
                own.yes.add(said);
                own.no.add(said);
            }
        }
    }
}
