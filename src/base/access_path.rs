//! Access paths: the places of values, such as `state.a.b`, `answer.note`, `state.docs["x"]`.

use std::fmt;
use std::sync::Arc;

/// A place: a name, and the steps from its value to a part of it. At one place stands one value as long as nothing is written.
///
/// In order each place comes before its parts, and these before any place that is no part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AccessPath(Arc<[Step]>);

/// A step of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// `x`: a name in scope, with which a place begins.
    Name(Arc<str>),
    /// `.x`
    Field(Arc<str>),
    /// `["x"]`
    Key(Arc<str>),
    /// `[0]`
    Index(i64),
    /// `[x]`: what stands at another place.
    At(AccessPath),
    /// `.first()`: a method that gives the same again.
    Call(Arc<str>, Arc<[Step]>),
}

impl AccessPath {
    /// A name in scope.
    pub fn name(name: &str) -> Self {
        Self(Arc::new([Step::Name(name.into())]))
    }

    /// A field of the state.
    pub fn of_state(field: &str) -> Self {
        Self(Arc::new([
            Step::Name("state".into()),
            Step::Field(field.into()),
        ]))
    }

    /// The name that it begins with.
    pub fn root(&self) -> Option<&str> {
        match self.0.first()? {
            Step::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The name that it is, if it is no more.
    pub fn as_name(&self) -> Option<&str> {
        self.root().filter(|_| self.0.len() == 1)
    }

    /// The field of `root` that it is, or is a part of.
    pub fn field_of(&self, root: &str) -> Option<&str> {
        match &*self.0 {
            [Step::Name(name), Step::Field(field), ..] if **name == *root => Some(field),
            _ => None,
        }
    }

    /// The field of `root` that it is, if it is no part of one.
    pub fn as_field_of(&self, root: &str) -> Option<&str> {
        self.field_of(root).filter(|_| self.0.len() == 2)
    }

    /// The steps from another place to this one; `None` where this is neither that place nor a part of it.
    pub fn steps_from(&self, of: &AccessPath) -> Option<&[Step]> {
        self.0.strip_prefix(&*of.0)
    }

    /// The part of it at the end of some steps.
    pub fn part(&self, steps: &[Step]) -> Self {
        self.0.iter().chain(steps).cloned().collect()
    }

    /// Shows the places in its brackets, and those in theirs.
    pub fn each_index(&self, visit: &mut impl FnMut(&AccessPath)) {
        for step in &*self.0 {
            let inside = match step {
                Step::Call(_, args) => args,
                other => std::slice::from_ref(other),
            };
            for step in inside {
                if let Step::At(place) = step {
                    visit(place);
                    place.each_index(visit);
                }
            }
        }
    }
}

impl FromIterator<Step> for AccessPath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

/// As it is written.
impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &*self.0 {
            match step {
                Step::Name(name) => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Call(method, args) => {
                    write!(f, ".{method}(")?;
                    for (at, arg) in args.iter().enumerate() {
                        f.write_str(if at > 0 { ", " } else { "" })?;
                        index(arg, f)?;
                    }
                    f.write_str(")")?;
                }
                _ => {
                    f.write_str("[")?;
                    index(step, f)?;
                    f.write_str("]")?;
                }
            }
        }
        Ok(())
    }
}

fn index(step: &Step, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match step {
        Step::Key(key) => write!(f, "{key:?}"),
        Step::Index(at) => write!(f, "{at}"),
        Step::At(place) => write!(f, "{place}"),
        Step::Name(_) | Step::Field(_) | Step::Call(..) => Ok(()),
    }
}
