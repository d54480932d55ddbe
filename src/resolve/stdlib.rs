//! The standard library: modules shipped inside the binary, written in the language.

use crate::expr::function::functions;

/// A module by its name and its text.
macro_rules! module {
    ($name:literal) => {
        (
            concat!("std/", $name),
            include_str!(concat!("../../stdlib/", $name, ".graph")),
        )
    };
}

/// Name and source of each module.
const MODULES: &[(&str, &str)] = &[
    module!("answer"),
    module!("approval"),
    module!("budget"),
    module!("changes"),
    module!("citations"),
    module!("events"),
    module!("memory"),
    module!("messages"),
    module!("operations"),
    module!("react"),
    module!("research"),
    module!("retrieval"),
    module!("tenant"),
    module!("text"),
];

/// The source of a module, such as `std/text`.
pub fn source(name: &str) -> Option<&'static str> {
    MODULES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// Whether the function of that name is declared by the module whose own file, as it lies in `stdlib/`, has that path.
pub fn declares(path: &str, function: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let module = file
        .strip_suffix(".graph")
        .map(|stem| format!("std/{stem}"));
    let mut all = functions().iter();
    all.any(|known| known.name == function && module.as_deref() == Some(known.module))
}

/// Names of all modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}
