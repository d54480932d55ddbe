//! Nodes and graphs under other words: `state longer: update -> end`, `step ask: interrupt { .. }`, `type Main { start -> a .. }`.

use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::keyword;
use super::mistake::first_word;

/// What is wrong with a member that goes on as a node does, by a name, `:` and a kind, and doesn't begin as one.
pub fn under_another_word(builder: &Builder, slice: &str, start: usize) -> Option<Diagnostic> {
    let word = first_word(slice);
    let behind = slice.get(word.len()..)?.trim_start_matches([' ', '\t']);
    // `ask: interrupt`
    if let Some(kind) = behind
        .strip_prefix(':')
        .map(|kind| first_word(kind.trim_ascii_start()))
        && keyword::KINDS.contains(&kind)
        && !keyword::MEMBERS.contains(&word)
    {
        let at = Span::new(builder.file, start, start);
        let span = Span::new(builder.file, start, start + word.len());
        let message = format!("expected `node` before `{word}: {kind}`");
        return Some(
            Diagnostic::new(&codes::UNKNOWN_KEYWORD, message, span)
                .help(format!("write `node {word}: {kind}`"))
                .fix(at, "node "),
        );
    }
    let own = first_word(behind);
    let rest = behind.get(own.len()..)?.trim_start_matches([' ', '\t']);
    let kind = first_word(rest.strip_prefix(':')?.trim_ascii_start());
    let is_node = !word.is_empty() && !own.is_empty() && keyword::KINDS.contains(&kind);
    // `nod a: llm` is a slip of the keyword's own letters.
    if !is_node || word == "node" || name::closest(word, ["node"]).is_some() {
        return None;
    }
    let at = Span::new(builder.file, start, start + word.len());
    let code = match keyword::MEMBERS.contains(&word) {
        true => &codes::SYNTAX_ERROR,
        false => &codes::UNKNOWN_KEYWORD,
    };
    let message = format!("expected `node` before `{own}: {kind}`, found `{word}`");
    Some(
        Diagnostic::new(code, message, at)
            .help(format!("write `node {own}: {kind}`"))
            .fix(at, "node"),
    )
}

/// What is wrong with another item whose braces hold what a graph's do.
pub fn graph_under_another_word(
    builder: &Builder,
    slice: &str,
    start: usize,
) -> Option<Diagnostic> {
    let word = first_word(slice);
    let behind = slice.get(word.len()..)?.trim_ascii_start();
    let own = first_word(behind);
    let inside = behind.get(own.len()..)?.trim_ascii_start();
    let inside = inside.strip_prefix('{')?.trim_ascii_start();
    let begins = first_word(inside);
    let rest = inside.get(begins.len()..)?.trim_ascii_start();
    let is_graph = match begins {
        "state" | "context" => rest.starts_with('{'),
        "start" => rest.starts_with("->") || rest.starts_with('{'),
        _ => false,
    };
    if !is_graph || own.is_empty() || !matches!(word, "type" | "enum" | "event") {
        return None;
    }
    let at = Span::new(builder.file, start, start + word.len());
    let message =
        format!("expected `graph` before `{own}`, which holds `{begins}`, found `{word}`");
    Some(
        Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
            .help(format!("write `graph {own}`"))
            .fix(at, "graph"),
    )
}
