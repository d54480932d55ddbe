//! What the answers to one question say about those to another: of two values and which of them is more, of a text and its
//! size.

use std::rc::Rc;

use super::classes::{Classes, Relation};
use super::ranks::Ranks;
use super::search::Among;
use super::set::Set;

/// The answers to which of two values is more, by number.
pub const LESS: u32 = 0;
/// Both are the same.
pub const EQUAL: u32 = 1;
/// The first is more.
pub const MORE: u32 = 2;

/// Which of two values is more.
#[derive(Debug, Clone)]
pub struct Order {
    /// Number of the question that asks for it.
    pub question: usize,
    /// The questions that ask for the two values; both have the same classes.
    pub sides: (usize, usize),
    /// Whether the conditions name them the other way round.
    pub turned: bool,
    /// The classes of both.
    pub classes: Rc<Classes>,
}

/// The size of a text.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Number of the question that asks for the text.
    pub text: usize,
    /// Number of the question that asks for its size.
    pub size: usize,
    /// For each class of the text the sizes that it may have.
    pub sizes: Vec<Set>,
}

/// All that ties answers to each other.
#[derive(Debug, Default)]
pub struct Ties {
    /// Of two values each.
    pub orders: Vec<Order>,
    /// Of texts.
    pub measures: Vec<Measure>,
    /// Questions for which of two values is more, each with the one for their sizes: where the values are equal, so are these.
    pub alike: Vec<(usize, usize)>,
}

/// Answers that are still possible, by question.
pub type Answers = Vec<Rc<Set>>;

/// Whether answers were taken away; `None` where none are left of one question.
type Narrowed = Option<bool>;

impl Ties {
    /// Takes away answers that others rule out. `steps` counts what is looked at.
    pub fn narrow(&self, answers: &mut Answers, steps: &mut usize) -> Narrowed {
        let mut less = false;
        for order in &self.orders {
            *steps += 1;
            less |= order.narrow(answers)?;
        }
        for measure in &self.measures {
            *steps += measure.sizes.len();
            less |= measure.narrow(answers)?;
        }
        for (values, sizes) in &self.alike {
            let equal = |of: &usize| {
                answers
                    .get(*of)
                    .map(|known| (known.has(EQUAL), known.one()))
            };
            let unlike = Set::of([(LESS, LESS + 1), (MORE, MORE + 1)]);
            match (equal(values)?, equal(sizes)?) {
                ((true, Some(_)), (true, None)) => {
                    less |= keep(answers, *sizes, &Set::of([(EQUAL, EQUAL + 1)]))?;
                }
                ((true, Some(_)), (false, _)) => return None,
                ((true, None), (false, _)) => {
                    let left = answers.get(*values)?.and(&unlike);
                    less |= keep(answers, *values, &left)?;
                }
                _ => {}
            }
        }
        if less {
            return Some(true);
        }
        let asked = self.asked(answers);
        if asked.is_empty() {
            return Some(false);
        }
        *steps += asked.len();
        Ranks::of(&asked, answers).agree().then_some(false)
    }

    /// What is still to be tried, so that the answers that are left agree with each other whichever are taken.
    pub fn choice(&self, answers: &Answers) -> Option<Among> {
        let asked = self.asked(answers);
        let sides = asked.iter().flat_map(|order| {
            let (left, right) = order.sides;
            [(left, &order.classes), (right, &order.classes)]
        });
        let mut open = sides.filter_map(|(of, classes)| {
            let known = answers.get(of)?;
            let (first, last) = known.ends()?;
            // Where a class has room, most agrees.
            let mut roomy = known.numbers().filter(|class| !classes.is_point(*class));
            (first < last).then(|| (of, roomy.next().unwrap_or(first)))
        });
        let texts = || {
            self.measures.iter().find_map(|measure| {
                let known = answers.get(measure.text)?;
                let (first, last) = known.ends()?;
                (first < last).then_some((measure.text, last))
            })
        };
        let (of, class) = open.next().or_else(texts)?;
        let these = Rc::new(Set::of([(class, class + 1)]));
        Some(Among { of, these })
    }

    /// The orders that are not open.
    fn asked(&self, answers: &Answers) -> Vec<&Order> {
        let asked = self.orders.iter().filter(|order| {
            let all = |known: &Rc<Set>| **known == Set::below(MORE + 1);
            !answers.get(order.question).is_some_and(all)
        });
        asked.collect()
    }
}

impl Order {
    fn narrow(&self, answers: &mut Answers) -> Narrowed {
        let (left, right) = self.sides;
        let (a, b) = (answers.get(left)?.clone(), answers.get(right)?.clone());
        let known = answers.get(self.question)?.clone();
        let may = known.and(&self.possible(&a, &b));
        let mut less = keep(answers, self.question, &may)?;
        let equal = may.has(EQUAL);
        if may.one() == Some(EQUAL) {
            let both = a.and(&b);
            less |= keep(answers, left, &both)?;
            less |= keep(answers, right, &both)?;
        }
        if !equal {
            less |= self.differ(answers, left, &b)?;
            less |= self.differ(answers, right, &a)?;
        }
        if !may.has(MORE) {
            less |= self.follow(answers, (left, right), equal)?;
        }
        if !may.has(LESS) {
            less |= self.follow(answers, (right, left), equal)?;
        }
        Some(less)
    }

    /// The answers that two sets of values leave.
    fn possible(&self, a: &Set, b: &Set) -> Set {
        let all = Set::below(MORE + 1);
        let of = |which: &[u32]| Set::of(which.iter().map(|at| (*at, *at + 1)));
        let classes = &self.classes;
        let (Some(first), Some(second)) = (a.ends(), b.ends()) else {
            return all;
        };
        if let (Some(a), Some(b)) = (a.one(), b.one()) {
            return match classes.relation(a, b) {
                Relation::Less => of(&[LESS]),
                Relation::Equal => of(&[EQUAL]),
                Relation::More => of(&[MORE]),
                Relation::Unlike => of(&[LESS, MORE]),
                Relation::Any => all,
            };
        }
        let mut may = Vec::new();
        let numbers = classes.is_number(first.0) && classes.is_number(second.0);
        let below = |low: u32, high: u32| low < high || (low == high && !classes.is_point(low));
        if !numbers || below(first.0, second.1) {
            may.push(LESS);
        }
        if !a.and(b).is_empty() {
            may.push(EQUAL);
        }
        if !numbers || below(second.0, first.1) {
            may.push(MORE);
        }
        of(&may)
    }

    /// Takes the one value that the other has away from a side.
    fn differ(&self, answers: &mut Answers, side: usize, other: &Set) -> Narrowed {
        match other.one().filter(|class| self.classes.is_point(*class)) {
            Some(class) => {
                let others = Set::of([(class, class + 1)]).others(self.classes.count());
                let left = answers.get(side)?.and(&others);
                keep(answers, side, &left)
            }
            None => Some(false),
        }
    }

    /// Takes away what lies too high for the lower of two numbers, and too low for the other.
    fn follow(&self, answers: &mut Answers, (low, high): (usize, usize), equal: bool) -> Narrowed {
        let (Some(from), Some(to)) = (answers.get(low)?.ends(), answers.get(high)?.ends()) else {
            return None;
        };
        if !self.classes.is_number(from.0) || !self.classes.is_number(to.0) {
            return Some(false);
        }
        let shut = |class: u32| u32::from(!equal && self.classes.is_point(class));
        let below = Set::below(to.1 + 1 - shut(to.1));
        let above = Set::of([(from.0 + shut(from.0), self.classes.count())]);
        let (lower, higher) = (
            answers.get(low)?.and(&below),
            answers.get(high)?.and(&above),
        );
        let less = keep(answers, low, &lower)?;
        Some(keep(answers, high, &higher)? || less)
    }
}

impl Measure {
    fn narrow(&self, answers: &mut Answers) -> Narrowed {
        let (texts, sizes) = (answers.get(self.text)?, answers.get(self.size)?);
        let mut left = Vec::new();
        let mut has = Vec::new();
        for class in texts.numbers() {
            let Some(these) = self.sizes.get(class as usize) else {
                continue;
            };
            let both = these.and(sizes);
            if !both.is_empty() {
                left.push((class, class + 1));
                has.push(both);
            }
        }
        let (left, has) = (Set::of(left), Set::either(&has));
        let less = keep(answers, self.text, &left)?;
        Some(keep(answers, self.size, &has)? || less)
    }
}

/// Leaves these of the answers to a question, all of which it had.
fn keep(answers: &mut Answers, of: usize, these: &Set) -> Narrowed {
    let known = answers.get_mut(of)?;
    if these.is_empty() {
        return None;
    }
    let less = **known != *these;
    if less {
        *known = Rc::new(these.clone());
    }
    Some(less)
}
