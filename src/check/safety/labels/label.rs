//! Labels, with where each comes from.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::Span;
use crate::diag::Diagnostic;
use crate::resolve::program::Marks;
use crate::typed_id;

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// A model wrote it.
    Model,
    /// `@untrusted`
    Untrusted,
    /// `@private`
    Private,
    /// `@secret`
    Secret,
    /// A `checked` looks at it: only while the condition of that is judged.
    Looked,
}

impl Label {
    /// Those that a value may come in with.
    pub const ALL: [Label; 4] = [
        Label::Model,
        Label::Untrusted,
        Label::Private,
        Label::Secret,
    ];

    /// Those of text that may say anything.
    pub const TEXT: [Label; 2] = [Label::Model, Label::Untrusted];
}

typed_id! {
    /// A part of what a graph is given: an `in` field or a constant of its `context`, and a path below it.
    InputPart
}

/// Where a label comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A place of the program.
    Source,
    /// What the graph is given has it.
    Input(InputPart),
}

/// The most places of a trail.
const MOST: usize = 12;

/// The way of a label: its source, then the writes and calls that pass it on. Of a longer way the last places are left out.
#[derive(Debug, Clone, Default)]
pub struct Trail(Rc<Vec<(Span, Rc<str>)>>);

impl Trail {
    /// A way that begins here.
    pub fn begin(span: Span, text: &str) -> Self {
        Self(Rc::new(vec![(span, text.into())]))
    }

    /// The way, and then another one.
    pub fn followed_by(&self, next: &Trail) -> Self {
        if self.0.is_empty() {
            return next.clone();
        }
        let mut trail = self.clone();
        for place in &*next.0 {
            if trail.0.len() < MOST && trail.0.last() != Some(place) {
                Rc::make_mut(&mut trail.0).push(place.clone());
            }
        }
        trail
    }

    /// Where it begins, and what that is.
    pub fn source(&self) -> (Span, String) {
        let first = self.0.first();
        first.map_or_else(Default::default, |(span, text)| (*span, text.to_string()))
    }

    /// The finding with all places of the way.
    pub fn label(&self, found: Diagnostic) -> Diagnostic {
        let places = self.0.iter();
        places.fold(found, |found, (span, text)| found.label(*span, &**text))
    }
}

/// Labels of a value: of each origin and label the way on which it came first.
#[derive(Debug, Clone, Default)]
pub struct LabelSet(BTreeMap<(Origin, Label), Trail>);

impl LabelSet {
    /// One label.
    pub fn one(label: Label, trail: Trail) -> Self {
        Self::from_iter([((Origin::Source, label), trail)])
    }

    /// What marks say of a value; `of` names it.
    pub fn marked(marks: &Marks, of: &str) -> Self {
        let marks = [
            (Label::Untrusted, marks.untrusted, "untrusted"),
            (Label::Private, marks.private, "private"),
            (Label::Secret, marks.secret, "secret"),
        ];
        let marks = marks.into_iter().filter_map(|(label, span, word)| {
            let trail = Trail::begin(span?, &format!("{of} is `@{word}`"));
            Some(((Origin::Source, label), trail))
        });
        marks.collect()
    }

    /// What a graph is given there may have any label.
    pub fn of_input(part: InputPart) -> Self {
        let labels = Label::ALL.into_iter();
        labels
            .map(|label| ((Origin::Input(part), label), Trail::default()))
            .collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Origin, Label, &Trail)> {
        self.0
            .iter()
            .map(|((origin, label), trail)| (*origin, *label, trail))
    }

    /// Whether the other's are among these.
    pub fn covers(&self, other: &LabelSet) -> bool {
        other.0.keys().all(|label| self.0.contains_key(label))
    }

    /// Adds those that are not among these yet.
    pub fn add(&mut self, other: &LabelSet) {
        for (label, trail) in &other.0 {
            self.0.entry(*label).or_insert_with(|| trail.clone());
        }
    }

    /// Adds one that is not among these yet.
    pub fn insert(&mut self, origin: Origin, label: Label, trail: Trail) {
        self.0.entry((origin, label)).or_insert(trail);
    }

    /// Those without some labels.
    pub fn without(mut self, labels: &[Label]) -> Self {
        self.0.retain(|(_, label), _| !labels.contains(label));
        self
    }
}

impl FromIterator<((Origin, Label), Trail)> for LabelSet {
    fn from_iter<I: IntoIterator<Item = ((Origin, Label), Trail)>>(labels: I) -> Self {
        Self(labels.into_iter().collect())
    }
}
