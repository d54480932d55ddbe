//! Labels of a value by its parts.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::Span;

use super::label::{Label, LabelSet, Origin, Trail};

/// The most steps to a part that has labels of its own: what is deeper has those of all its parts.
pub const MOST_STEPS: usize = 3;

/// A step to a part of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A field of a record, or an entry of a map whose key is written out.
    Field(Rc<str>),
    /// The elements of a list, the values of a map.
    Element,
    /// The keys of a map.
    Key,
}

/// Labels of a value and of its parts. Most values have none.
#[derive(Debug, Clone, Default)]
pub struct Value(Option<Rc<Tree>>);

#[derive(Debug, Clone, Default)]
struct Tree {
    /// Of all its parts.
    own: LabelSet,
    parts: BTreeMap<Step, Value>,
    /// Steps to its deepest part.
    depth: usize,
    /// It is a map or a record: a loop goes over its keys.
    keyed: bool,
}

impl Value {
    /// A value all of which has these.
    pub fn of(own: LabelSet) -> Self {
        if own.is_empty() {
            return Self::default();
        }
        Self(Some(Rc::new(Tree {
            own,
            ..Tree::default()
        })))
    }

    /// A record or a map with such fields.
    pub fn record(fields: impl IntoIterator<Item = (Rc<str>, Value)>) -> Self {
        let fields = fields.into_iter();
        Self::parts(fields.map(|(name, value)| (Step::Field(name), value)), true)
    }

    /// A list of such elements.
    pub fn list(element: Value) -> Self {
        Self::parts([(Step::Element, element)], false)
    }

    /// A map of such keys and values, and of entries whose keys are written out.
    pub fn map(key: Value, element: Value, named: Vec<(Rc<str>, Value)>) -> Self {
        let named = named.into_iter();
        let named = named.map(|(name, value)| (Step::Field(name), value));
        Self::parts(
            named.chain([(Step::Key, key), (Step::Element, element)]),
            true,
        )
    }

    fn parts(parts: impl IntoIterator<Item = (Step, Value)>, keyed: bool) -> Self {
        let mut tree = Tree {
            keyed,
            ..Tree::default()
        };
        for (step, value) in parts {
            if !value.is_none() {
                tree.depth = tree.depth.max(value.depth() + 1);
                tree.parts.entry(step).or_default().absorb(&value);
            }
        }
        if tree.parts.is_empty() {
            return Self::default();
        }
        let whole = Self(Some(Rc::new(tree)));
        match whole.depth() > MOST_STEPS {
            true => Self::of(whole.flat()),
            false => whole,
        }
    }

    /// Whether it has no labels.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    fn depth(&self) -> usize {
        self.0.as_ref().map_or(0, |tree| tree.depth)
    }

    /// A part of it. What has no entry of that name may have it under a key that is not written out.
    pub fn part(&self, step: &Step) -> Value {
        let Some(tree) = &self.0 else {
            return Self::default();
        };
        let mut found = Self::of(tree.own.clone());
        let mut add = |part: Option<&Value>| {
            part.into_iter().for_each(|part| _ = found.absorb(part));
        };
        match step {
            Step::Field(_) => {
                add(tree.parts.get(step));
                add(tree.parts.get(&Step::Element));
            }
            Step::Element => {
                let all = tree.parts.iter().filter(|(step, _)| **step != Step::Key);
                all.for_each(|(_, part)| add(Some(part)));
            }
            Step::Key => add(tree.parts.get(step)),
        }
        found
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Value {
        self.part(&Step::Field(name.into()))
    }

    /// The part at the end of several steps.
    pub fn at(&self, path: &[Step]) -> Value {
        path.iter()
            .fold(self.clone(), |value, step| value.part(step))
    }

    /// The keys of a map. Positions in a list say nothing.
    pub fn keys(&self) -> Value {
        match &self.0 {
            Some(tree) if !tree.keyed && tree.parts.contains_key(&Step::Element) => Self::default(),
            _ => self.part(&Step::Key),
        }
    }

    /// What a loop over it goes over: the elements of a list, the keys of a map.
    pub fn looped(&self) -> Value {
        let mut found = self.part(&Step::Key);
        if self.0.as_ref().is_some_and(|tree| !tree.keyed) {
            found.absorb(&self.part(&Step::Element));
        }
        found
    }

    /// The labels of all its parts.
    pub fn flat(&self) -> LabelSet {
        let mut found = LabelSet::default();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            if let Some(tree) = &value.0 {
                found.add(&tree.own);
                open.extend(tree.parts.values().rev());
            }
        }
        found
    }

    /// One that is either of two, or made of both.
    pub fn or(mut self, other: &Value) -> Self {
        self.absorb(other);
        self
    }

    /// One that may be any of these.
    pub fn any<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        values.into_iter().fold(Self::default(), Self::or)
    }

    /// Adds the labels of another, part by part. Whether it had them not all before.
    pub fn absorb(&mut self, other: &Value) -> bool {
        let Some(more) = &other.0 else { return false };
        if self.covers(other) {
            return false;
        }
        match &mut self.0 {
            None => {
                self.0 = Some(more.clone());
                true
            }
            Some(tree) => {
                let tree = Rc::make_mut(tree);
                tree.own.add(&more.own);
                tree.keyed &= more.keyed;
                tree.depth = tree.depth.max(more.depth);
                for (step, part) in &more.parts {
                    tree.parts.entry(step.clone()).or_default().absorb(part);
                }
                true
            }
        }
    }

    fn covers(&self, other: &Value) -> bool {
        match (&self.0, &other.0) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(tree), Some(other)) => {
                Rc::ptr_eq(tree, other)
                    || tree.own.covers(&other.own)
                        && (!tree.keyed || other.keyed)
                        && other.parts.iter().all(|(step, part)| {
                            let own = tree.parts.get(step);
                            own.is_some_and(|own| own.covers(part))
                        })
            }
        }
    }

    /// The same without some labels.
    pub fn without(&self, labels: &[Label]) -> Value {
        self.replaced(&mut |origin, label, trail, found| {
            if !labels.contains(&label) {
                found.insert(origin, label, trail.clone());
            }
        })
    }

    /// The same, passed on at a place.
    pub fn noted(&self, span: Span, text: &str) -> Value {
        let here = Trail::begin(span, text);
        self.replaced(&mut |origin, label, trail, found| {
            found.insert(origin, label, trail.followed_by(&here));
        })
    }

    /// The same with other labels: what `put` adds for each.
    pub fn replaced(&self, put: &mut dyn FnMut(Origin, Label, &Trail, &mut LabelSet)) -> Value {
        let Some(tree) = &self.0 else {
            return Self::default();
        };
        let mut own = LabelSet::default();
        for (origin, label, trail) in tree.own.iter() {
            put(origin, label, trail, &mut own);
        }
        let parts = tree.parts.iter();
        let parts = parts.map(|(step, part)| (step.clone(), part.replaced(put)));
        Self::parts(parts, tree.keyed).or(&Self::of(own))
    }
}
