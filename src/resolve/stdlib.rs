//! The standard library: modules shipped inside the binary, written in the language.

/// Name and source of each module.
const MODULES: &[(&str, &str)] = &[("std/text", include_str!("../../stdlib/text.graph"))];

/// The source of a module, such as `std/text`.
pub fn source(name: &str) -> Option<&'static str> {
    MODULES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// Names of all modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}
