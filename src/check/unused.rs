//! Items of the first file that nothing refers to.

use crate::ast::{Name, item};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Program;

/// An item that something should refer to.
struct Item<'a> {
    kind: &'static str,
    name: &'a Name,
    /// The whole item: a reference of its own is no use.
    own: Span,
}

/// Warns of types, enums, events, reducers, models, tools, toolsets, retry policies and prompts of the first file that nothing refers to.
/// A file without a graph is there to be imported.
pub fn unused(program: &Program, diags: &mut Diagnostics) {
    let first = program.modules.first().map(|module| module.file);
    let Some(first) = first.filter(|file| program.graphs.iter().any(|g| g.file == *file)) else {
        return;
    };
    for item in items(program).filter(|item| item.name.span.file == first) {
        let mut uses = program.references_to(item.name.span);
        if uses.all(|place| item.own.holds(place)) {
            let message = format!("{} `{}` is never used", item.kind, item.name.node);
            let found = Diagnostic::new(&codes::UNUSED_ITEM, message, item.name.span);
            diags.push(found.help("use it, or take it out"));
        }
    }
}

fn items(program: &Program) -> impl Iterator<Item = Item<'_>> {
    let item = |kind, name, own| Item { kind, name, own };
    let records = program.records.iter();
    let records = records.map(move |of| item("type", &of.name, of.span));
    let enums = program.enums.iter();
    let enums = enums.map(move |of| item("enum", &of.name, of.span));
    let events = program.events.iter();
    let events = events.map(move |of| item("event", &of.name, of.name.span));
    let reducers = program.reducers.iter();
    let reducers = reducers.map(move |of| item("reducer", &of.name, of.name.span));
    let models = program.models.iter();
    let models = models.map(move |of| item("model", &of.name, of.span));
    let tools = program.tools.iter();
    let tools = tools.map(move |of| item("tool", &of.name, of.span));
    let prompts = program.prompts.iter();
    let prompts = prompts.map(move |of| item("prompt", &of.name, of.span));
    let written = program.trees.iter().flat_map(|tree| &tree.items);
    let typed = records.chain(enums).chain(events).chain(reducers);
    let others = models.chain(tools).chain(prompts);
    typed.chain(others).chain(written.filter_map(unresolved))
}

/// An item that the program has no vector of: it is put in where it is named.
fn unresolved(written: &item::Item) -> Option<Item<'_>> {
    let (kind, name, own) = match written {
        item::Item::Toolset(set) => ("toolset", &set.name, set.span),
        item::Item::Retry(retry) => ("retry policy", &retry.name, retry.span),
        item::Item::Type(decl) => match &decl.body {
            item::TypeBody::Alias(_) => ("type", &decl.name, decl.span),
            item::TypeBody::Record(_) => return None,
        },
        _ => return None,
    };
    Some(Item { kind, name, own })
}
