//! Text that did not parse: in its block nothing else is said, in its file nothing about what is unknown or missing.

use std::collections::BTreeSet;

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Home, codes};
use crate::resolve::Program;

use super::is;
use super::places::Places;

/// Errors of the text itself.
pub static TEXT: &[&Code] = &[
    &codes::SYNTAX_ERROR,
    &codes::UNCLOSED,
    &codes::BAD_LITERAL,
    &codes::UNKNOWN_KEYWORD,
    &codes::LIMIT_EXCEEDED,
    &codes::FILE_NOT_FOUND,
    &codes::FILE_OUTSIDE,
    &codes::UNKNOWN_MODULE,
];

/// An import of a name that its file does not declare.
static IMPORT: &[&Code] = &[&codes::UNKNOWN_IMPORT];

/// What is said of things that are not there.
static MISSING: &[&Code] = &[
    &codes::MISSING_ENDS,
    &codes::MISSING_PROPERTY,
    &codes::WRONG_BINDING,
    &codes::NO_ENTRY,
    &codes::NO_WAY_ON,
];

/// Suppresses what follows from errors of the text.
pub fn suppress(program: &Program, places: &Places, sources: &SourceMap, diags: &mut Diagnostics) {
    let pieces = program.trees.iter().flat_map(|tree| &tree.damaged);
    let pieces = Span::merged(pieces.copied());
    let errors = diags.iter().filter(|found| is(found, TEXT));
    let errors = Span::merged(errors.map(Diagnostic::span).chain(pieces.iter().copied()));
    // Files with an import of which nobody knows what it brings.
    let import = |at: &&Span| sources.text(**at).trim_start().starts_with("import");
    let imports: BTreeSet<FileId> = pieces.iter().filter(import).map(|at| at.file).collect();
    let meant = diags.iter().filter(|found| is(found, IMPORT));
    let meant = meant.filter_map(|found| found.unknown_name()?.near.clone());
    let meant: BTreeSet<String> = meant.collect();
    if errors.is_empty() && meant.is_empty() {
        return;
    }
    // Where an error stands right behind a block, its `}` is too early.
    let behind = |block: &Span| {
        next(&errors, *block, block.end).is_some_and(|at| {
            let between = Span::new(block.file, block.end as usize, at.start as usize);
            sources.text(between).trim().is_empty()
        })
    };
    let within = |places: &[Span], block: &Span| {
        next(places, *block, block.start).is_some_and(|at| at.start < block.end)
    };
    let nodes = program.graphs.iter().flat_map(|graph| graph.nodes.iter());
    let blocks = nodes
        .map(|node| node.span)
        .chain(program.tools.iter().map(|of| of.span));
    let blocks = blocks.chain(program.prompts.iter().map(|of| of.span));
    let blocks = blocks.chain(program.records.iter().map(|of| of.span));
    let blocks = blocks.filter(|block| within(&pieces, block) || behind(block));
    let blocks = Span::merged(blocks.chain(pieces.iter().copied()));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = blocks
        .iter()
        .flat_map(|at| sources.text(*at).split(|c| !is_word(c)));
    let words: BTreeSet<&str> = words.collect();
    diags.retain(|found| {
        let at = found.span();
        let unknown = found.unknown_name().filter(|_| !is(found, IMPORT));
        let lost = unknown.is_some_and(|of| {
            let word = of.name.rsplit(|c| !is_word(c)).next();
            let imported = of.home == Home::Items && imports.contains(&at.file);
            let named = |word: &str| words.contains(word) || meant.contains(word);
            imported || word.is_some_and(named)
        });
        let item = places.item(at).filter(|_| is(found, MISSING));
        let missing = item.is_some_and(|item| within(&errors, &item) || behind(&item));
        let before = blocks.partition_point(|of| (of.file, of.start) <= (at.file, at.start));
        let block = before.checked_sub(1).and_then(|last| blocks.get(last));
        let inside = block.is_some_and(|of| of.file == at.file && at.start < of.end);
        is(found, TEXT) || !(lost || missing || inside || within(&errors, &at))
    });
}

/// The first of some places in order that begins at an offset of a file or behind it.
fn next(places: &[Span], of: Span, offset: u32) -> Option<Span> {
    let first = places.partition_point(|at| (at.file, at.start) < (of.file, offset));
    places.get(first).copied().filter(|at| at.file == of.file)
}
