//! The standard library: modules shipped inside the binary, written in the language.

/// Name and source of each module.
const MODULES: &[(&str, &str)] = &[
    ("std/answer", include_str!("../../stdlib/answer.graph")),
    (
        "std/citations",
        include_str!("../../stdlib/citations.graph"),
    ),
    ("std/events", include_str!("../../stdlib/events.graph")),
    ("std/memory", include_str!("../../stdlib/memory.graph")),
    (
        "std/operations",
        include_str!("../../stdlib/operations.graph"),
    ),
    ("std/research", include_str!("../../stdlib/research.graph")),
    (
        "std/retrieval",
        include_str!("../../stdlib/retrieval.graph"),
    ),
    ("std/tenant", include_str!("../../stdlib/tenant.graph")),
    ("std/text", include_str!("../../stdlib/text.graph")),
];

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

#[cfg(test)]
mod tests {
    use super::{names, source};
    use crate::expr::function::functions;

    /// What a module declares is what the binary has for it.
    #[test]
    fn every_function_has_an_implementation() {
        for module in names() {
            let text = source(module).unwrap_or_default();
            let declared = text
                .lines()
                .filter_map(|line| line.strip_prefix("function "));
            let mut declared: Vec<&str> = declared
                .filter_map(|rest| rest.split_once('(').map(|(name, _)| name))
                .collect();
            let built = functions().iter().filter(|f| f.module == module);
            let mut built: Vec<&str> = built.map(|f| f.name).collect();
            declared.sort_unstable();
            built.sort_unstable();
            built.dedup();
            assert_eq!(declared, built, "{module}");
        }
    }
}
