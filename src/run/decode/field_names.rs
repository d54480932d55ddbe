//! Which field of a record a key of an object names, found in one step a key.

use std::collections::HashMap;

use crate::expr::ty::RecordField;

/// The names of a record's fields.
pub struct FieldNames {
    exact: HashMap<String, usize>,
    /// By letters and digits; none where several fields have the same.
    alike: HashMap<String, Option<usize>>,
}

impl FieldNames {
    /// Those of these fields.
    pub fn of(fields: &[RecordField]) -> Self {
        let mut exact = HashMap::new();
        let mut alike = HashMap::new();
        for (at, field) in fields.iter().enumerate() {
            for name in [field.name.as_str(), field.outer_name()] {
                exact.entry(name.to_owned()).or_insert(at);
                let same = alike.entry(letters(name)).or_insert(Some(at));
                *same = same.filter(|other| *other == at);
            }
        }
        Self { exact, alike }
    }

    /// The position of the field that a key names: by its name or alias, else the only one that has the same letters and digits.
    pub fn find(&self, key: &str) -> Option<usize> {
        let exact = self.exact.get(key).copied();
        exact.or_else(|| self.alike.get(&letters(key)).copied().flatten())
    }
}

/// Letters and digits, small.
pub fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
