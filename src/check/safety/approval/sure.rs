//! Fields that can only say yes where a person did, whether somebody was asked on the way or not.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ir::GraphId;
use crate::resolve::jumps::Maker;
use crate::resolve::program::Program;

use super::super::super::cfg::build::called_bodies;
use super::super::reads::Mention;
use super::answer::{Says, constant, said_by, word};
use super::decided::{Decided, Place};
use super::direction::is_truth;
use super::held::Held;
use super::others::Others;
use super::reader::Reader;
use super::sense::Sense;
use super::writes::{Made, Sign};

/// Most words that a field may hold though nobody has said them; one with more may hold any.
const MOST: usize = 64;

/// Fields that can only say yes where a person did.
#[derive(Debug, Default)]
pub struct Sure {
    /// Their directions.
    senses: BTreeMap<Place, Sense>,
    /// Words that fields hold though nobody has said them: from other fields, or from what nodes write.
    words: BTreeMap<Place, Rc<BTreeSet<String>>>,
    /// Words that fields begin with.
    first: BTreeMap<Place, String>,
}

impl Sure {
    /// The direction of such a field.
    pub fn sense(&self, place: Place) -> Option<Sense> {
        self.senses.get(&place).copied()
    }

    /// What a field may hold that nobody has said; `first` counts a refusal that it begins with. Another word that it begins
    /// with always counts: where it is gone, `!= ""` is no yes either.
    pub fn others(&self, place: Place, first: bool) -> Others {
        let words = self.words.get(&place);
        let words = words.map_or(Others::None, |words| Others::Words(Rc::clone(words)));
        match self
            .first
            .get(&place)
            .filter(|word| first || !refuses(word))
        {
            Some(word) => words.or(Others::Words(Rc::new(BTreeSet::from([word.clone()])))),
            None => words,
        }
    }

    fn add(&mut self, place: Place, word: String) -> Added {
        let words = Rc::make_mut(self.words.entry(place).or_default());
        match words.insert(word) {
            _ if words.len() > MOST => Added::TooMany,
            true => Added::New,
            false => Added::Known,
        }
    }
}

/// What came of adding a word.
enum Added {
    New,
    Known,
    TooMany,
}

/// What something else than a person makes of a field.
enum Spoils {
    /// The side of it that it makes say yes: `true` where it is turned.
    Side(Place, bool),
    /// A word, which is an answer only where it is compared with that.
    Word(Place, String),
    /// The same of a word that the field begins with.
    First(Place, String),
}

/// What a value that is no person's makes of a field.
fn spoils(place: Place, value: Option<&Expr>) -> Vec<Spoils> {
    let both = || vec![Spoils::Side(place, false), Spoils::Side(place, true)];
    let Some(value) = value else { return both() };
    match (constant(value), text(value)) {
        (Some(Says::No), _) => vec![Spoils::Side(place, true)],
        (Some(Says::Yes), _) => vec![Spoils::Side(place, false)],
        (Some(_), Some(word)) => vec![Spoils::Word(place, word)],
        _ => both(),
    }
}

/// The same of the value that a field begins with.
fn spoils_first(place: Place, value: &Expr) -> Vec<Spoils> {
    let word = text(value).filter(|_| constant(value) != Some(Says::Yes));
    let first = word.map(|word| Spoils::First(place, word));
    let all = spoils(place, Some(value)).into_iter();
    let all = all.filter(|one| !matches!(one, Spoils::Word(..)));
    all.chain(first).collect()
}

fn refuses(word: &str) -> bool {
    word.is_empty() || said_by(word) == Some(Says::No)
}

/// A constant that is compared with words.
fn text(value: &Expr) -> Option<String> {
    match &value.kind {
        ExprKind::Literal(Literal::Bool(_) | Literal::Null | Literal::Bytes(_)) => None,
        _ => word(value),
    }
}

impl<'a> Decided<'a> {
    /// Fields that can only say yes where a person did, with their directions: whatever else is written there says no, or
    /// another word, or is written where `open` shows that no run comes without an approval. A field that no answer is
    /// written to may be either way round.
    pub fn only_by_a_person(
        &self,
        program: &'a Program,
        open: &dyn Fn(GraphId, Maker) -> bool,
    ) -> Sure {
        let (spoiled, mut found) = self.spoiled(program, open);
        let sure = |place: Place| {
            let is = |turned| !spoiled.contains(&(place, turned));
            match self.sense(place) {
                Some(Sense::TURNED) => is(true).then_some(Sense::TURNED),
                // What says no may be its first value.
                Some(sense) => is(false).then_some(match sense.yes {
                    Says::No => sense,
                    _ => Sense::STRAIGHT,
                }),
                None if is(false) => Some(Sense::STRAIGHT),
                None => is(true).then_some(Sense::TURNED),
            }
        };
        let mut written: BTreeSet<Place> = self.writes.iter().map(|write| write.to).collect();
        written.extend(&self.fields);
        let mut fed: Vec<Place> = written.iter().copied().collect();
        while let Some(place) = fed.pop() {
            let to = self.feeds.get(&place).into_iter().flatten();
            let to = to.map(|feed| feed.to);
            fed.extend(to.filter(|to| written.insert(*to)));
        }
        let all = written.into_iter();
        found.senses = all
            .filter_map(|place| Some((place, sure(place)?)))
            .collect();
        found
    }

    /// What something else than a person makes of fields, where a value begins.
    fn begun(&self, program: &Program, open: &dyn Fn(GraphId, Maker) -> bool) -> Vec<Spoils> {
        let mut all: Vec<Spoils> = Vec::new();
        for write in &self.writes {
            let decided = write.from_answer || write.arm.is_some();
            if !decided && open(write.to.0, write.by) {
                all.extend(spoils(write.to, write.value));
            }
        }
        for (id, graph) in program.graphs.entries() {
            for (field, declared) in graph.fields.entries() {
                if declared.mode.is_in() && program.entry == Some(id) {
                    all.extend(spoils((id, field), None));
                }
                if let Some(default) = &declared.default {
                    all.extend(spoils_first((id, field), default));
                }
            }
            for node in &graph.nodes {
                let by_tools = called_bodies(program, node);
                let names = by_tools.iter().flat_map(|(_, body)| body.written());
                for field in names.filter_map(|name| graph.field(&name.node)) {
                    all.extend(spoils((id, field), None));
                }
            }
        }
        for given in self.given.iter().filter(|given| given.foreign) {
            all.extend(spoils(given.to, Some(given.value)));
        }
        all
    }

    /// The sides of fields that something else than a person makes say yes, and the words that it makes them hold.
    fn spoiled(
        &self,
        program: &'a Program,
        open: &dyn Fn(GraphId, Maker) -> bool,
    ) -> (BTreeSet<(Place, bool)>, Sure) {
        let mut all = self.begun(program, open);
        let mut spoiled: BTreeSet<(Place, bool)> = BTreeSet::new();
        let mut words = Sure::default();
        while let Some(next) = all.pop() {
            match next {
                Spoils::Side(place, turned) => {
                    if !spoiled.insert((place, turned)) {
                        continue;
                    }
                    let by_it = turned == (self.sense(place) == Some(Sense::TURNED));
                    for feed in self.feeds.get(&place).into_iter().flatten() {
                        match feed.sign {
                            Sign::Same => all.push(Spoils::Side(feed.to, turned)),
                            Sign::Turned => all.push(Spoils::Side(feed.to, !turned)),
                            Sign::Any if by_it => all.extend(spoils(feed.to, None)),
                            Sign::Any => {}
                        }
                    }
                }
                Spoils::Word(place, word) => match words.add(place, word.clone()) {
                    Added::Known => {}
                    Added::TooMany => all.extend(spoils(place, None)),
                    Added::New => all.extend(self.passed_on(program, &words, (place, &word))),
                },
                Spoils::First(place, word) => {
                    words.first.insert(place, word.clone());
                    // A refusal that is passed on is one there too.
                    if !refuses(&word) {
                        all.extend(self.passed_on(program, &words, (place, &word)));
                    }
                }
            }
        }
        (spoiled, words)
    }

    /// What a word that nobody has said makes of the fields which are made from the one that holds it.
    fn passed_on(
        &self,
        program: &'a Program,
        words: &Sure,
        (place, word): (Place, &str),
    ) -> Vec<Spoils> {
        let mut all = Vec::new();
        for feed in self.feeds.get(&place).into_iter().flatten() {
            let to = feed.to;
            let made = match (feed.sign, feed.made) {
                (Sign::Any, Some(made)) => made,
                (Sign::Same, _) => {
                    all.push(Spoils::Word(to, word.to_owned()));
                    continue;
                }
                _ => {
                    all.extend(spoils(to, None));
                    continue;
                }
            };
            let without = self.read(program, (made, to), &|_| Others::None);
            let with = self.read(program, (made, to), &|place| words.others(place, true));
            match with.1 {
                _ if without.0 != with.0 => all.extend(spoils(to, None)),
                None | Some(Others::None) => {}
                Some(Others::Words(words)) => {
                    let held = words.iter().cloned();
                    all.extend(held.map(|word| Spoils::Word(to, word)));
                }
                Some(Others::Any) => all.extend(spoils(to, None)),
            }
        }
        all
    }

    fn read(
        &self,
        program: &'a Program,
        (made, to): (Made<'a>, Place),
        others: &dyn Fn(Place) -> Others,
    ) -> (Held, Option<Others>) {
        let (id, node) = made.of;
        let counts = |place: Place| {
            let sense = self.sense(place).unwrap_or(Sense::STRAIGHT);
            Some((sense, others(place)))
        };
        let heard = |mention: Mention<'_>| self.heard(program, (id, node), &counts, mention);
        let reader = Reader::new(node.map_or(&[], |node| &node.lets), &heard);
        let mut own = Held::default();
        let found = reader.tell((made.value, is_truth(program, to)), None, &mut own);
        (own, found)
    }
}
