//! From questions to numbered answers: what is told apart of each place, and what ties places to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use petgraph::unionfind::UnionFind;

use super::super::cases::Atom;
use super::super::range::Range;
use super::classes::Classes;
use super::space::{Place, Space};
use super::ties::{Measure, Order, Ties};

/// Most values, over all places that are compared with each other, that are told apart.
const MOST: usize = 50_000;

/// Questions that ask of two others which of their values is more.
#[derive(Clone, Copy)]
pub struct Compared {
    /// The question.
    pub question: usize,
    /// The places whose values are compared.
    pub sides: (usize, usize),
    /// Whether the conditions name them the other way round.
    pub turned: bool,
}

/// A place and the question for its size.
pub struct Sized {
    /// The place.
    pub of: usize,
    /// The size.
    pub size: usize,
    /// Whether it holds a text.
    pub text: bool,
}

/// Numbers the values of all places. Beside what ties them: whether that is all there is to say, and not too much.
pub fn settle(spaces: &mut [Space], compared: &[Compared], sized: &[Sized]) -> (Ties, bool) {
    let mut groups = UnionFind::<usize>::new(spaces.len());
    for Compared { sides, .. } in compared {
        groups.union(sides.0, sides.1);
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..spaces.len() {
        members.entry(groups.find(at)).or_default().push(at);
    }
    let mut atoms = BTreeMap::new();
    for (group, members) in &members {
        let places = members.iter().filter_map(|at| place(spaces, *at));
        atoms.insert(*group, named(places));
    }
    // Each size that a text has is a number that the condition names.
    for Sized { of, size, .. } in sized.iter().filter(|sized| sized.text) {
        let texts = atoms.get(&groups.find(*of)).into_iter().flatten();
        let sizes: Vec<f64> = texts.filter_map(length).collect();
        if let Some(Space::Place(place)) = spaces.get_mut(*size) {
            place.cuts.extend(sizes);
        }
    }
    let mut all = true;
    let mut apart = BTreeSet::new();
    for (group, members) in members {
        let atoms = atoms.remove(&group).unwrap_or_default();
        let values = match members.as_slice() {
            [_] => Some(numbers(spaces, &members)),
            several => {
                let cuts = numbers(spaces, several);
                let room = MOST / several.len().max(1);
                let fits = |cuts: &Vec<f64>| atoms.len() + 2 * cuts.len() < room;
                Some(cuts)
                    .filter(fits)
                    .map(|cuts| with_room(spaces, several, cuts))
                    .filter(fits)
            }
        };
        match values {
            Some(cuts) => number(spaces, &members, (atoms, cuts)),
            None => {
                all = false;
                apart.insert(group);
                for one in members {
                    let atoms = named(place(spaces, one).into_iter());
                    let cuts = numbers(spaces, &[one]);
                    number(spaces, &[one], (atoms, cuts));
                }
            }
        }
    }
    let orders = compared.iter().filter_map(
        |Compared {
             question,
             sides,
             turned,
         }| {
            let classes = place(spaces, sides.0)?.classes.clone();
            let tied = !apart.contains(&groups.find(sides.0));
            tied.then_some(Order {
                question: *question,
                sides: *sides,
                turned: *turned,
                classes,
            })
        },
    );
    let measures = sized.iter().filter(|sized| sized.text);
    let measures = measures.filter_map(|sized| measure(spaces, sized));
    let ties = Ties {
        orders: orders.collect(),
        measures: measures.collect(),
        alike: Vec::new(),
    };
    (ties, all)
}

fn place(spaces: &[Space], at: usize) -> Option<&Place> {
    match spaces.get(at)? {
        Space::Place(place) => Some(place),
        Space::Of(_) => None,
    }
}

/// The atoms of some places.
fn named<'p>(places: impl Iterator<Item = &'p Place>) -> BTreeSet<Atom> {
    places
        .flat_map(|place| place.atoms.iter().cloned())
        .collect()
}

/// The numbers that conditions name of some places, in order.
fn numbers(spaces: &[Space], members: &[usize]) -> Vec<f64> {
    let places = || members.iter().filter_map(|at| place(spaces, *at));
    if !places().any(Place::has_numbers) {
        return Vec::new();
    }
    let bounds = places().flat_map(|place| {
        let (low, high) = place.range.bounds();
        [low.0, high.0].into_iter().filter(|at| at.is_finite())
    });
    // Those of a single place only matter where something is asked.
    let bounds = bounds.filter(|_| members.len() > 1);
    let mut cuts: Vec<f64> = places()
        .flat_map(|place| place.cuts.iter().copied())
        .chain(bounds)
        .collect();
    ordered(&mut cuts);
    cuts
}

fn ordered(cuts: &mut Vec<f64>) {
    // Zero has no sign.
    cuts.iter_mut().for_each(|cut| *cut += 0.0);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
}

/// Between two cuts there are to be as many whole numbers as there are places, or none: then places can be there in any order.
fn with_room(spaces: &[Space], members: &[usize], mut cuts: Vec<f64>) -> Vec<f64> {
    let places = members.iter().filter_map(|at| place(spaces, *at));
    let wide = places.filter(|place| place.whole).count();
    let mut more = Vec::new();
    for pair in cuts.windows(2) {
        let [low, high] = pair else { continue };
        let (first, last) = (low.floor() + 1.0, high.ceil() - 1.0);
        if last - first + 1.0 < wide as f64 {
            let mut next = first;
            while next <= last && more.len() < MOST {
                more.push(next);
                next += 1.0;
            }
        }
    }
    cuts.extend(more);
    ordered(&mut cuts);
    cuts
}

/// Gives places the same classes.
fn number(spaces: &mut [Space], members: &[usize], (mut atoms, cuts): (BTreeSet<Atom>, Vec<f64>)) {
    let known = || members.iter().filter_map(|at| place(spaces, *at));
    let numbers = known().any(Place::has_numbers);
    if known().any(|place| place.atoms.is_empty() && !place.has_numbers()) {
        atoms.insert(Atom::Other);
    }
    let classes = Rc::new(Classes {
        atoms: atoms.into_iter().collect(),
        cuts,
        numbers,
    });
    for at in members {
        if let Some(Space::Place(place)) = spaces.get_mut(*at) {
            if place.atoms.is_empty() && !place.has_numbers() {
                place.atoms.insert(Atom::Other);
            }
            if place.numbers.is_none() {
                place.numbers = Some(numbers);
            }
            place.classes = classes.clone();
        }
    }
}

fn length(atom: &Atom) -> Option<f64> {
    match atom {
        Atom::Text(text) => Some(text.chars().count() as f64),
        _ => None,
    }
}

/// Which sizes each class of a text may have.
fn measure(spaces: &[Space], sized: &Sized) -> Option<Measure> {
    let texts = &place(spaces, sized.of)?.classes;
    let sizes = spaces.get(sized.size)?;
    let Space::Place(of_size) = sizes else {
        return None;
    };
    let all = sizes.all();
    let empty = texts.atom(&Atom::Text("".into())).is_some();
    let sizes = (0..texts.count()).map(|class| match texts.atoms.get(class as usize) {
        Some(atom @ Atom::Text(_)) => {
            let length = length(atom).unwrap_or_default();
            of_size.classes.of_range(Range::point(length))
        }
        Some(Atom::Other) if empty => all.and(&of_size.classes.of_range(Range::MORE)),
        _ => all.clone(),
    });
    Some(Measure {
        text: sized.of,
        size: sized.size,
        sizes: sizes.collect(),
    })
}
