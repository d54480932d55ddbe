//! What a value is made from, part by part: the marks of a record's fields hold for those fields, wherever the record is put.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::base::Span;

use super::leaf::{Leaf, Path};
use super::vouch::Vetted;

/// The step to an element of a list, or to a value of a map.
pub const ELEMENT: &str = "*";
/// The step to a key of a map.
pub const KEY: &str = "#";
/// The step to what a macro with one name goes over: the elements of a list, the keys of a map.
pub const EACH: &str = "@";

/// How deep parts are told apart; below that a value is made from all that its parts are.
const DEEPEST: u16 = 40;

/// How many ways to parts of a value are looked at with what is vouched for on each.
const MOST: usize = 2_000;

/// What a value is made from. What is shared is held once.
#[derive(Debug, Clone)]
pub struct Made {
    kind: Rc<Kind>,
    depth: u16,
    /// Not the value itself that it is made from: one of several, or a part that is not told from others.
    loose: bool,
}

#[derive(Debug)]
enum Kind {
    /// The value at a path, part by part.
    Leaf(Leaf),
    /// Made from these in a way that is not followed, so that each part is.
    Mixed(Made),
    /// The same, where all of a text is kept.
    Whole(Made),
    /// Numbers and times that are made from these, which carry no free text.
    Plain(Made),
    /// A value with parts of its own, and what all its other parts are made from.
    Parts(BTreeMap<String, Made>, Made),
    /// One of these.
    Any(Vec<Made>),
    /// Read at another place, under a name.
    At(Span, Made),
    /// Only where a condition holds, which vouches for paths.
    Vouched(Rc<Vetted>, Made),
}

impl Made {
    fn of(kind: Kind, depth: u16) -> Self {
        let made = Self {
            kind: Rc::new(kind),
            depth,
            loose: false,
        };
        match depth > DEEPEST {
            true => Self::from_leaves(made.leaves()).mixed(),
            false => made,
        }
    }

    /// A value that no name in scope is part of.
    pub fn nothing() -> Self {
        Self::of(Kind::Any(Vec::new()), 0)
    }

    /// The value at a path.
    pub fn leaf(leaf: Leaf) -> Self {
        Self::of(Kind::Leaf(leaf), 0)
    }

    /// The value at one of these paths.
    pub fn from_leaves(leaves: Vec<Leaf>) -> Self {
        Self::any(leaves.into_iter().map(Self::leaf))
    }

    /// Whether it is made from nothing, as far as can be told without looking into its parts.
    pub fn is_nothing(&self) -> bool {
        matches!(&*self.kind, Kind::Any(all) if all.is_empty())
    }

    /// One of these.
    pub fn any(all: impl IntoIterator<Item = Made>) -> Self {
        let mut members: Vec<Made> = Vec::new();
        let mut seen: HashSet<*const Kind> = HashSet::new();
        let mut loose = false;
        for made in all {
            loose |= made.loose;
            let add = |members: &mut Vec<Made>, seen: &mut HashSet<_>, made: &Made| {
                if seen.insert(Rc::as_ptr(&made.kind)) {
                    members.push(made.clone());
                }
            };
            match &*made.kind {
                Kind::Any(inner) => inner
                    .iter()
                    .for_each(|one| add(&mut members, &mut seen, one)),
                _ => add(&mut members, &mut seen, &made),
            }
        }
        if let [one] = members.as_slice() {
            return one.clone().loosened(loose);
        }
        let depth = members.iter().map(|made| made.depth).max().unwrap_or(0) + 1;
        Self::of(Kind::Any(members), depth)
    }

    /// A value that is made from this one in a way that is not followed.
    pub fn mixed(self) -> Self {
        if self.is_nothing() || matches!(&*self.kind, Kind::Mixed(_)) {
            return self;
        }
        self.within(Kind::Mixed)
    }

    /// A text that keeps all of this one.
    pub fn whole(self) -> Self {
        if self.is_nothing() {
            return self;
        }
        self.within(Kind::Whole)
    }

    /// A number or a time that is made from this.
    pub fn plain(self) -> Self {
        if self.is_nothing() || matches!(&*self.kind, Kind::Plain(_)) {
            return self;
        }
        self.within(Kind::Plain)
    }

    /// A value of a kind that holds this one alone.
    fn within(self, kind: impl Fn(Self) -> Kind) -> Self {
        let depth = self.depth.min(DEEPEST - 1) + 1;
        Self::of(kind(self), depth)
    }

    /// The same, where it is one of several, or a part of what is named: what is said of it is not said of that.
    pub fn loose(self) -> Self {
        self.loosened(true)
    }

    fn loosened(self, loose: bool) -> Self {
        Self {
            loose: self.loose || loose,
            ..self
        }
    }

    /// The path whose value it is, all of it and no other.
    pub fn itself(&self) -> Option<&Leaf> {
        let mut at = self;
        while !at.loose {
            at = match &*at.kind {
                Kind::Leaf(leaf) => return Some(leaf),
                Kind::Whole(inner) | Kind::At(_, inner) | Kind::Vouched(_, inner) => inner,
                _ => return None,
            };
        }
        None
    }

    /// A value with such parts; every other part is made from `rest`.
    pub fn parts(named: impl IntoIterator<Item = (String, Made)>, rest: Made) -> Self {
        let named: BTreeMap<String, Made> = named.into_iter().collect();
        let deepest = named.values().chain([&rest]).map(|made| made.depth).max();
        Self::of(Kind::Parts(named, rest), deepest.unwrap_or(0) + 1)
    }

    /// A list of such elements.
    pub fn list(element: Made) -> Self {
        let steps = [ELEMENT, EACH];
        let named = steps.map(|step| (step.to_owned(), element.clone()));
        Self::parts(named, Self::nothing())
    }

    /// A map with such keys and values; `named` are those whose key is written out.
    pub fn map(key: Made, value: Made, named: Vec<(String, Made)>) -> Self {
        let keys = [KEY, EACH].map(|step| (step.to_owned(), key.clone()));
        let all = named.into_iter().chain(keys);
        Self::parts(all, value)
    }

    /// The same, read at a place.
    pub fn at(self, span: Span) -> Self {
        let loose = self.loose;
        let inner = match &*self.kind {
            Kind::At(_, inner) => inner.clone(),
            _ => self,
        };
        let depth = inner.depth + 1;
        Self::of(Kind::At(span, inner), depth).loosened(loose)
    }

    /// The same, where a condition holds that vouches for these.
    pub fn vouched(self, by: Vetted) -> Self {
        if by.is_empty() || self.is_nothing() {
            return self;
        }
        let (depth, loose) = (self.depth + 1, self.loose);
        Self::of(Kind::Vouched(Rc::new(by), self), depth).loosened(loose)
    }

    /// What a fold comes to that begins so and goes on with `next`, where the root `so_far` stands for what it has come to.
    /// What is only handed on, whole or next to something else, keeps its parts; else all is made from all.
    pub fn folded(begin: Made, next: Made, so_far: &str) -> Self {
        let is_so_far = |leaf: &Leaf| leaf.path.root() == so_far;
        let next = next.but(&|leaf| is_so_far(leaf) && leaf.path.0.len() == 1);
        let mut all = next.leaves();
        let relies = |leaf: &Leaf| leaf.relies.iter().any(|with| with.iter().any(is_so_far));
        if !all.iter().any(|leaf| is_so_far(leaf) || relies(leaf)) {
            return Self::any([begin, next]);
        }
        all.retain(|leaf| !is_so_far(leaf));
        for leaf in &mut all {
            leaf.relies.retain(|with| !with.iter().any(is_so_far));
        }
        Self::any([begin, Self::from_leaves(all)]).mixed()
    }

    /// One of these without those that are left out.
    fn but(self, left_out: &dyn Fn(&Leaf) -> bool) -> Self {
        let gone = |made: &Made| match &*made.kind {
            Kind::At(_, inner) => match &*inner.kind {
                Kind::Leaf(leaf) => left_out(leaf),
                _ => false,
            },
            Kind::Leaf(leaf) => left_out(leaf),
            _ => false,
        };
        match &*self.kind {
            Kind::Any(all) => Self::any(all.iter().filter(|made| !gone(made)).cloned()),
            _ if gone(&self) => Self::nothing(),
            _ => self,
        }
    }

    /// A part of it: a field, or one of the steps.
    pub fn part(&self, step: &str, span: Option<Span>) -> Made {
        let found = match &*self.kind {
            Kind::Leaf(leaf) => Self::leaf(Leaf {
                path: leaf.path.then(step),
                span: span.unwrap_or(leaf.span),
                relies: leaf.relies.clone(),
                plain: leaf.plain,
            }),
            Kind::Mixed(_) | Kind::Whole(_) | Kind::Plain(_) => match span {
                Some(span) => self.clone().at(span),
                None => self.clone(),
            }
            .loose(),
            Kind::Parts(named, rest) => {
                let counted = || named.get(ELEMENT).filter(|_| is_index(step));
                let found = match named.get(step) {
                    Some(found) => found.clone(),
                    // Which of its elements it is, is not told.
                    None => counted().map_or_else(|| rest.clone(), |one| one.clone().loose()),
                };
                match span {
                    Some(span) => found.at(span),
                    None => found,
                }
            }
            Kind::Any(all) => Self::any(all.iter().map(|made| made.part(step, span))),
            Kind::At(place, inner) => {
                let place = span.unwrap_or(*place);
                inner.part(step, None).at(place)
            }
            Kind::Vouched(by, inner) => {
                let part = inner.part(step, span);
                let loose = part.loose;
                let depth = part.depth + 1;
                Self::of(Kind::Vouched(by.clone(), part), depth).loosened(loose)
            }
        };
        found.loosened(self.loose)
    }

    /// The part at the end of several steps.
    pub fn below(&self, steps: &[String]) -> Made {
        steps
            .iter()
            .fold(self.clone(), |made, step| made.part(step, None))
    }

    /// All paths that it is made from, each once.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let nothing = Rc::new(Vetted::new());
        let mut open = vec![(self, None, nothing.clone(), false)];
        while let Some((made, place, vetted, plain)) = open.pop() {
            // What is vouched for in so many ways is taken not to be.
            let vetted = match seen.len() < MOST {
                true => vetted,
                false => nothing.clone(),
            };
            let at: *const Kind = Rc::as_ptr(&made.kind);
            if !seen.insert((at, place, Rc::as_ptr(&vetted), plain)) {
                continue;
            }
            match &*made.kind {
                Kind::Leaf(leaf) => {
                    let mut leaf = leaf.clone();
                    leaf.span = place.unwrap_or(leaf.span);
                    leaf.plain |= plain;
                    leaf.vouch(&vetted);
                    found.push(leaf);
                }
                Kind::Mixed(inner) | Kind::Whole(inner) => {
                    open.push((inner, place, vetted, plain));
                }
                Kind::Plain(inner) => open.push((inner, place, vetted, true)),
                Kind::Parts(named, rest) => {
                    open.push((rest, place, vetted.clone(), plain));
                    let named = named.values().rev();
                    open.extend(named.map(|part| (part, place, vetted.clone(), plain)));
                }
                Kind::Any(all) => {
                    let all = all.iter().rev();
                    open.extend(all.map(|part| (part, place, vetted.clone(), plain)));
                }
                Kind::At(span, inner) => {
                    open.push((inner, place.or(Some(*span)), vetted, plain));
                }
                Kind::Vouched(by, inner) => {
                    let all = match vetted.is_empty() {
                        true => by.clone(),
                        false => Rc::new(vetted.iter().chain(&**by).cloned().collect()),
                    };
                    open.push((inner, place, all, plain));
                }
            }
        }
        unique(found)
    }
}

/// The step to an element of a list by its number.
pub fn index(number: i64) -> String {
    format!("[{number}]")
}

/// Whether a step is one by a number.
pub fn is_index(step: &str) -> bool {
    step.starts_with('[')
}

/// Each path once, numbers that are made of it apart. What is vouched for in one place and not in another is not.
pub fn unique(leaves: Vec<Leaf>) -> Vec<Leaf> {
    let mut found: Vec<Leaf> = Vec::with_capacity(leaves.len());
    let mut at: [HashMap<Path, usize>; 2] = Default::default();
    let [texts, numbers] = &mut at;
    for leaf in leaves {
        let at = match leaf.plain {
            true => &mut *numbers,
            false => &mut *texts,
        };
        let known = at.get(&leaf.path).and_then(|at| found.get_mut(*at));
        match known {
            Some(known) if leaf.relies.is_empty() && !known.relies.is_empty() => *known = leaf,
            Some(known) if leaf.relies.is_empty() || known.relies.is_empty() => {}
            Some(known) if known.relies == leaf.relies => {}
            _ => {
                at.insert(leaf.path.clone(), found.len());
                found.push(leaf);
            }
        }
    }
    found
}
