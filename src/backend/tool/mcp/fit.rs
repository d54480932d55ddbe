//! Whether what a flow declares fits the tool that a server offers.

use crate::base::name;
use crate::expr::Type;
use crate::expr::ty::TypeTable;
use crate::ir::Tool;
use crate::ir::flow::ToolEffect;
use crate::project::spec::schema::{Comparison, Schema};

use super::content::is_text;
use super::server::{Hints, Offered};

/// Where the schema is that a declaration is held against.
const WHOSE: &str = "at the server";

/// What of a declaration does not fit, in sentences: the tool is not there, it takes or gives something else, or it does more
/// to the world than the flow says.
pub fn misfits(
    (declared, types): (&Tool, &TypeTable),
    (tool, server): (&str, &str),
    offered: &[Offered],
) -> Vec<String> {
    let Some(found) = offered.iter().find(|offered| offered.name == tool) else {
        let names = || offered.iter().map(|offered| offered.name.as_str());
        let hint = name::did_you_mean(tool, names())
            .unwrap_or_else(|| format!("it offers {}", name::list(names().take(20))));
        return vec![format!("server `{server}` offers no tool `{tool}`; {hint}")];
    };
    let mut misfits = arguments(declared, types, found);
    // A `string` is the text of the result, whatever its schema is.
    let structured = declared.returns.as_ref().filter(|ty| !is_text(ty));
    if let (Some(ty), Some(output)) = (structured, &found.output) {
        let comparison = Comparison::with(WHOSE);
        let schema = Schema::of(output, &comparison);
        let wrapped = schema.property("result");
        let whole = schema.gives(ty, types);
        let inner = wrapped.is_some_and(|inner| inner.gives(ty, types).is_ok());
        if let (Err(why), false) = (whole, inner) {
            misfits.push(format!("its result{why}"));
        }
    }
    misfits.extend(effect(declared, found.hints));
    let about = |why: String| format!("`{tool}` of server `{server}`: {why}");
    misfits.into_iter().map(about).collect()
}

fn arguments(declared: &Tool, types: &TypeTable, found: &Offered) -> Vec<String> {
    let comparison = Comparison::with(WHOSE);
    let schema = Schema::of(&found.input, &comparison);
    let mut misfits = Vec::new();
    for param in &declared.params {
        let name = param.outer_name();
        match schema.property(name) {
            Some(taken) => {
                if let Err(why) = taken.takes(&param.ty, types) {
                    misfits.push(format!("parameter `{name}`{why}"));
                }
            }
            None if schema.is_open() => {}
            None => {
                let known: Vec<&str> = schema.properties().collect();
                let hint = name::did_you_mean(name, known.iter().copied());
                let hint = hint.unwrap_or_else(|| match known.is_empty() {
                    true => "it takes none".to_owned(),
                    false => format!("it takes {}", name::list(known)),
                });
                misfits.push(format!("it has no parameter `{name}`; {hint}"));
            }
        }
    }
    for needed in schema.required() {
        let given = declared.params.iter().find(|p| p.outer_name() == needed);
        match given {
            None => misfits.push(format!(
                "it needs an argument `{needed}`, which the flow does not give"
            )),
            Some(param) if matches!(param.ty, Type::Nullable(_)) && param.default.is_none() => {
                misfits.push(format!(
                    "it needs the argument `{needed}`, which may be null in the flow"
                ));
            }
            Some(_) => {}
        }
    }
    misfits
}

/// What the server says of the tool's effect, against what the flow says. Hints that are not given say nothing.
fn effect(declared: &Tool, hints: Hints) -> Option<String> {
    if hints.read_only == Some(true) {
        return None;
    }
    if declared.effect == ToolEffect::Read {
        if hints.destructive == Some(true) {
            return Some(
                "it is destructive, by its `destructiveHint`, and the flow declares it as one that only reads: write `@effect(destructive)`"
                    .to_owned(),
            );
        }
        if hints.read_only == Some(false) {
            return Some(
                "it changes something, by its `readOnlyHint: false`, and the flow declares it as one that only reads: write `@effect(write)`"
                    .to_owned(),
            );
        }
    }
    (declared.idempotent == Some(true) && hints.idempotent == Some(false)).then(|| {
        "a second call does more than the first, by its `idempotentHint: false`, and the flow declares it `@idempotent`".to_owned()
    })
}
