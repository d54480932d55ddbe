//! Names that an expression may use.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use crate::typed_id;

use crate::base::NameIndex;

use super::ty::Type;

typed_id! {
    /// Position of a name in a [`Scope`]; at run time the environment gives its value.
    Slot
}

/// The names in scope of an expression and their types, for the checker and the evaluator alike.
///
/// Shape: `state` (where there is one) has fields of its own, so that `state.x` is one look-up by
/// index and costs nothing in proportion to the state; every other name is a slot. A later name
/// hides an earlier one of the same spelling.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Fields of `state`, by index; `None` where there is no `state`.
    pub state: Option<Arc<StateFields>>,
    /// Other names, by [`Slot`].
    pub names: Vec<(String, Type)>,
    /// Whether `now()`, `uuid()` and `random()` may be called (not in a route, a reducer or a default).
    pub effects: bool,
    /// Names of imported standard-library functions (`unified_diff`); built-in functions need no import.
    pub functions: Arc<Vec<String>>,
}

impl Scope {
    /// Names alone, to ask which of them an expression reads.
    pub fn of_names(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut scope = Self::default();
        for name in names {
            scope.declare(name.as_ref(), Type::Json);
        }
        scope
    }

    /// Adds a name and gives its slot.
    pub fn declare(&mut self, name: impl Into<String>, ty: Type) -> Slot {
        self.names.push((name.into(), ty));
        Slot(self.names.len() as u32 - 1)
    }

    /// Ends the scope of a name: from here on it stands for what it stood for before. The slot stays.
    pub fn forget(&mut self, slot: Slot) {
        if let Some((name, _)) = self.names.get_mut(slot.0 as usize) {
            name.clear();
        }
    }

    /// The slot of a name; the latest one of that spelling.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names
            .iter()
            .rposition(|(n, _)| n == name)
            .map(|i| Slot(i as u32))
    }

    /// The type of a slot.
    pub fn ty(&self, slot: Slot) -> Option<&Type> {
        self.names.get(slot.0 as usize).map(|(_, ty)| ty)
    }

    /// Index and type of a field of `state`.
    pub fn field(&self, name: &str) -> Option<(u32, &Type)> {
        self.state.as_ref()?.find(name)
    }
}

/// The fields of `state`, each with its type. Made once a graph and shared by all scopes in it.
#[derive(Debug, Clone, Default)]
pub struct StateFields {
    fields: Vec<(String, Type)>,
    index: NameIndex,
    /// Fields that are based on others; `None` where nothing is known of that.
    based: Option<BTreeSet<u32>>,
}

impl StateFields {
    /// The same fields, of which those are based on others (`based_on [..]`).
    pub fn with_based(self, based: BTreeSet<u32>) -> Self {
        Self {
            based: Some(based),
            ..self
        }
    }

    /// Whether a field is known to be based on no other, so that it is never stale.
    pub fn never_stale(&self, field: u32) -> bool {
        self.based
            .as_ref()
            .is_some_and(|based| !based.contains(&field))
    }

    /// Index and type of the field of that name.
    pub fn find(&self, name: &str) -> Option<(u32, &Type)> {
        let named = |at: usize| self.fields.get(at).map_or("", |(name, _)| name.as_str());
        let at = self.index.find(name, self.fields.len(), named)?;
        self.fields.get(at).map(|(_, ty)| (at as u32, ty))
    }
}

impl Deref for StateFields {
    type Target = [(String, Type)];

    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}

impl FromIterator<(String, Type)> for StateFields {
    fn from_iter<I: IntoIterator<Item = (String, Type)>>(fields: I) -> Self {
        Self {
            fields: fields.into_iter().collect(),
            index: NameIndex::default(),
            based: None,
        }
    }
}

impl<'a> IntoIterator for &'a StateFields {
    type Item = &'a (String, Type);
    type IntoIter = std::slice::Iter<'a, (String, Type)>;

    fn into_iter(self) -> Self::IntoIter {
        self.fields.iter()
    }
}
