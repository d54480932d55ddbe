//! What is known of well-known families of models.
//!
//! The table is `families.json`: facts from the providers' pages and from public tables of models, as of the month
//! that it names. What is not known of a family, or not the same for all its models, is left out, and a rule that needs
//! it passes over the family. A project adds its own models, or overrules the table, under `model_families` in
//! `graphc.yaml`.

use serde::Deserialize;

/// What is known of a family.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What its models' names begin with, up to a character that is no letter or digit.
    pub name: String,
    /// Most tokens of a request and its reply together: the most that any model of the family has.
    #[serde(default)]
    pub context: Option<u64>,
    /// Whether it calls tools.
    #[serde(default)]
    pub tools: Option<bool>,
    /// Whether it can be held to a JSON Schema.
    #[serde(default)]
    pub schema: Option<bool>,
    /// Whether it thinks before it answers without being told to; `false` where it can't think at all. Left out
    /// where it thinks only when told to.
    #[serde(default)]
    pub thinks: Option<bool>,
    /// Whether it takes a temperature.
    #[serde(default)]
    pub temperature: Option<bool>,
    /// Whether the project says so, not the table.
    #[serde(skip)]
    pub own: bool,
}

/// A table of families.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Families {
    /// The month of the facts, `2026-08`.
    pub as_of: String,
    families: Vec<Family>,
}

impl Default for Families {
    /// The table of this version.
    fn default() -> Self {
        // The file is a part of this crate, and a test reads it: it can't fail here.
        serde_json::from_str(include_str!("families.json")).unwrap_or(Families {
            as_of: String::new(),
            families: Vec::new(),
        })
    }
}

impl Families {
    /// Adds families, which count before those that are known.
    pub fn with(mut self, own: impl IntoIterator<Item = Family>) -> Self {
        self.families.splice(0..0, own);
        self
    }

    /// Where what is known of a model comes from, for a label: the table and its month, or the project.
    pub fn source(&self, reference: &str) -> String {
        match self.of(reference).is_some_and(|family| family.own) {
            true => "as `model_families` in graphc.yaml says".to_owned(),
            false => format!("as known in {}", self.as_of),
        }
    }

    /// The family of a model, by its reference `provider/model`: the longest name that fits, of the project's
    /// own families first.
    pub fn of(&self, reference: &str) -> Option<&Family> {
        let model = reference.rsplit('/').next().unwrap_or(reference);
        let fits =
            |family: &&Family| begins(model, &family.name) || begins(reference, &family.name);
        let mut fitting = self.families.iter().filter(fits);
        let first = fitting.next()?;
        let rank = |family: &Family| (family.own, family.name.len());
        let best = fitting.fold(first, |best, family| match rank(family) > rank(best) {
            true => family,
            false => best,
        });
        Some(best)
    }
}

/// Whether a model's name begins with a family's, in letters of any case: `gpt-4` begins `gpt-4-0613`, not `gpt-4o`.
/// Asked for each row of the table and each node: it allocates nothing, and most rows differ in the first letter.
fn begins(model: &str, family: &str) -> bool {
    let mut pairs = family.bytes().zip(model.bytes());
    let rest = model.get(family.len()..);
    pairs.all(|(one, other)| one.eq_ignore_ascii_case(&other))
        && rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}
