//! One finding, and the list of all of a run.

use std::collections::HashMap;

use crate::base::{AccessPath, Span, name};

use super::codes::{self, Code, Level};
use super::fact::{Fact, Home, Unknown};

/// Most further places that one finding points at.
const SHOWN: usize = 6;

/// One finding about a program: what is wrong, where, and what to write instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Which kind of finding; its page is behind `graphc explain`.
    pub code: &'static Code,
    /// How bad; the code's own level unless the project's settings raise or lower it.
    pub level: Level,
    /// Lower case, no full stop, names in backticks; says what is and what was expected.
    pub message: String,
    /// Places, the first one primary. Witnesses (paths, cycles, the other writer) are the rest.
    pub labels: Vec<Label>,
    /// What to do about it, where that is an action.
    pub help: Option<String>,
    /// Edits that mend it; empty where the mend isn't certain.
    pub fix: Vec<Edit>,
    /// What it means for other findings.
    pub facts: Vec<Fact>,
}

/// A place that matters to a diagnostic.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; empty where the message says it.
    pub message: String,
}

/// Replaces the text of `span` by `text`.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// What goes.
    pub span: Span,
    /// What comes.
    pub text: String,
}

impl Diagnostic {
    /// A finding of `code` at `span`.
    pub fn new(code: &'static Code, message: impl Into<String>, span: Span) -> Self {
        let primary = Label {
            span,
            message: String::new(),
        };
        Self {
            code,
            level: code.level,
            message: message.into(),
            labels: vec![primary],
            help: None,
            fix: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Says something at the primary place.
    pub fn here(mut self, message: impl Into<String>) -> Self {
        if let Some(primary) = self.labels.first_mut() {
            primary.message = message.into();
        }
        self
    }

    /// Adds another place that matters.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, where there is something to say.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Adds an edit that mends it.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix.push(Edit {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what it means for other findings.
    pub fn fact(mut self, fact: Fact) -> Self {
        self.facts.push(fact);
        self
    }

    /// Says that it speaks of the declaration whose name stands at that place.
    pub fn about(self, declared: Span) -> Self {
        self.fact(Fact::About(declared))
    }

    /// Says that a name stands for nothing in the place where it was looked for.
    pub fn unknown(self, name: &str, home: Home) -> Self {
        let name = name.to_owned();
        let near = None;
        self.fact(Fact::Unknown(Unknown { name, home, near }))
    }

    /// Says which known name is close to the unknown one.
    pub fn near(mut self, close: Option<&str>) -> Self {
        for fact in &mut self.facts {
            if let Fact::Unknown(unknown) = fact {
                unknown.near = close.map(str::to_owned);
            }
        }
        self
    }

    /// The name that stands for nothing, where the finding says so.
    pub fn unknown_name(&self) -> Option<&Unknown> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::Unknown(unknown) => Some(unknown),
            _ => None,
        })
    }

    /// The declaration that it speaks of.
    pub fn spoken_of(&self) -> Option<Span> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::About(declared) => Some(*declared),
            _ => None,
        })
    }

    /// The place of the value that it speaks of.
    pub fn value(&self) -> Option<&AccessPath> {
        self.facts.iter().find_map(|fact| match fact {
            Fact::Value(place) => Some(place),
            _ => None,
        })
    }

    /// Asks whether one of the names was meant that are known at `at`, and mends it where that is certain. Where none is
    /// near, says which there are, behind `there_are`: ``its fields are``.
    pub fn meant<'n, N>(self, at: Span, written: &str, names: N, there_are: &str) -> Self
    where
        N: IntoIterator<Item = &'n str> + Clone,
    {
        match name::closest(written, names.clone()) {
            Some(near) => {
                let asked = self
                    .near(Some(near))
                    .help(format!("did you mean `{near}`?"));
                match name::certain(written, names) {
                    Some(certain) => asked.fix(at, certain),
                    None => asked,
                }
            }
            None if names.clone().into_iter().next().is_none() => self,
            None => self.help(format!("{there_are} {}", name::few(names))),
        }
    }

    /// Adds the edit that takes an element out of a list whose elements, separated by commas, stand at `list`.
    /// None where it is the only one: then the list itself would have to go.
    pub fn take_out(self, list: &[Span], at: usize) -> Self {
        let Some(own) = list.get(at).copied() else {
            return self;
        };
        let before = at.checked_sub(1).and_then(|at| list.get(at));
        match (list.get(at + 1), before) {
            (Some(next), _) => {
                let end = next.start;
                self.fix(Span { end, ..own }, "")
            }
            (None, Some(before)) => self.fix(
                Span {
                    start: before.end,
                    ..own
                },
                "",
            ),
            (None, None) => self,
        }
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels
            .first()
            .map_or(Span::default(), |label| label.span)
    }
}

/// All findings of a run, in the order found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    /// Adds all findings of another list.
    pub fn append(&mut self, other: Diagnostics) {
        self.items.extend(other.items);
    }

    /// Of what may be null and is not guarded, from the finding at `from` on, each place is told of once, and where else it
    /// stands: one guard mends all that a node does with it.
    pub fn gather_nulls(&mut self, from: usize) {
        let mut first: HashMap<AccessPath, usize> = HashMap::new();
        let mut kept: Vec<Diagnostic> = Vec::with_capacity(self.items.len());
        for (at, found) in std::mem::take(&mut self.items).into_iter().enumerate() {
            let null = at >= from && found.code == &codes::NULL_NOT_HANDLED;
            let Some(place) = found.value().filter(|_| null).cloned() else {
                kept.push(found);
                continue;
            };
            match first.get(&place).and_then(|at| kept.get_mut(*at)) {
                Some(told) if told.labels.len() > SHOWN || told.span() == found.span() => {}
                Some(told) => told.labels.push(Label {
                    span: found.span(),
                    message: "here too".to_owned(),
                }),
                None => {
                    first.insert(place, kept.len());
                    kept.push(found);
                }
            }
        }
        self.items = kept;
    }

    /// Takes all findings out.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.items)
    }

    /// Takes out what `keep` does not hold for.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.items.retain(keep);
    }

    /// Takes out all that came behind the first so many.
    pub fn truncate(&mut self, first: usize) {
        self.items.truncate(first);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|d| d.level == Level::Error)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// Orders them by file and place and drops repeats of the same code at the same place.
    pub fn sort(&mut self) {
        self.items.sort_by_key(|d| (d.span(), d.code.slug));
        self.items
            .dedup_by(|a, b| a.code == b.code && a.span() == b.span() && a.message == b.message);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}
