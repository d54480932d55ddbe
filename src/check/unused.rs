//! Items of the first file that nothing names.

use std::collections::HashMap;

use crate::ast::{Name, item};
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Program;

/// An item that should be named somewhere.
struct Item<'a> {
    kind: &'static str,
    name: &'a Name,
    /// The whole item: naming itself is no use.
    own: Span,
}

/// Warns of types, enums, events, reducers, models, tools, toolsets, retry policies and prompts of the first file that no other item names.
///
/// The words of the sources are searched, not the tree: that can miss an item whose name also stands for
/// something else, but calls none unused that is used. A file without a graph is there to be imported.
pub fn unused(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    let first = program.modules.first().map(|module| module.file);
    let Some(first) = first.filter(|file| program.graphs.iter().any(|g| g.file == *file)) else {
        return;
    };
    let items = || items(program).filter(|item| item.name.span.file == first);
    let mut words: Words = items().map(|i| (i.name.as_str(), Vec::new())).collect();
    read(program, sources, &mut words);
    for item in items() {
        let places = words.get(item.name.as_str());
        let used = places
            .into_iter()
            .flatten()
            .any(|place| !item.own.holds(*place));
        if !used {
            diags.push(
                Diagnostic::new(
                    &codes::UNUSED_ITEM,
                    format!("{} `{}` is never used", item.kind, item.name.node),
                    item.name.span,
                )
                .help("use it, or take it out"),
            );
        }
    }
}

fn items(program: &Program) -> impl Iterator<Item = Item<'_>> {
    let item = |kind, name, own| Item { kind, name, own };
    let records = program
        .records
        .iter()
        .map(move |r| item("type", &r.name, r.span));
    let enums = program
        .enums
        .iter()
        .map(move |e| item("enum", &e.name, e.span));
    let events = program
        .events
        .iter()
        .map(move |e| item("event", &e.name, e.name.span));
    let reducers = program
        .reducers
        .iter()
        .map(move |r| item("reducer", &r.name, r.name.span));
    let models = program
        .models
        .iter()
        .map(move |m| item("model", &m.name, m.span));
    let tools = program
        .tools
        .iter()
        .map(move |t| item("tool", &t.name, t.span));
    let prompts = program
        .prompts
        .iter()
        .map(move |p| item("prompt", &p.name, p.span));
    records
        .chain(enums)
        .chain(events)
        .chain(reducers)
        .chain(models)
        .chain(tools)
        .chain(prompts)
        .chain(
            program
                .trees
                .iter()
                .flat_map(|tree| &tree.items)
                .filter_map(unresolved),
        )
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

/// The names that are looked for and where they stand.
type Words<'a> = HashMap<&'a str, Vec<Span>>;

/// Looks through all words of the program's files outside texts and comments, dotted ones as a whole too.
fn read(program: &Program, sources: &SourceMap, words: &mut Words) {
    if words.is_empty() {
        return;
    }
    for module in &program.modules {
        if let Some(file) = sources.file(module.file) {
            scan(&file.text, module.file, words);
        }
    }
}

fn scan(text: &str, file: FileId, words: &mut Words) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with(['"', '\'']) {
            at += literal(rest);
        } else if rest.starts_with(is_word) {
            let long = rest.find(|c| !is_word(c) && c != '.').unwrap_or(rest.len());
            let dotted = rest.get(..long).unwrap_or(rest);
            note(dotted, at, file, words);
            let mut start = 0;
            for part in dotted.split('.').filter(|_| dotted.contains('.')) {
                note(part, at + start, file, words);
                start += part.len() + 1;
            }
            at += long;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
}

fn note(word: &str, at: usize, file: FileId, words: &mut Words) {
    if let Some(places) = words.get_mut(word) {
        places.push(Span::new(file, at, at + word.len()));
    }
}

/// Length of the text literal that begins here: to the quote that closes it, else all of it.
pub fn literal(rest: &str) -> usize {
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let Some(inside) = rest.strip_prefix(quote) else {
            continue;
        };
        let mut escaped = false;
        for (i, c) in inside.char_indices() {
            if !escaped && inside.get(i..).is_some_and(|rest| rest.starts_with(quote)) {
                return i + 2 * quote.len();
            }
            escaped = !escaped && c == '\\';
        }
        return rest.len();
    }
    1
}
