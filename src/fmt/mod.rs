//! The one layout of `.graph` files.
//!
//! [`format()`] goes through the tokens of a text in order and decides what stands between them, so that a word or
//! a comment can't be lost. What is added or left out are commas alone; what moves are properties of
//! a node and lines of a tool, with the comments at them, into the order that `docs/cli/fmt.md` gives. Strings are
//! written as they are.
//!
//! Not here: which files, and what happens to them (`cli::fmt`).
//!
//! Reading order: [`page`] (where lines break, as in Wadler's and Oppen's printers, but on a flat row of commands, so
//! that no depth needs a stack), [`write`](mod@write) (tokens and comments), [`list`] (what stands between
//! brackets), [`expr`] (operators, choices, chains of calls), [`rule`] (each rule's own way),
//! [`align`] (what stands in columns).
//!
//! Invariants: the result has the meaning of the text, is formatted already, and has all of its comments:
//! `tests/fmt.rs`.

mod align;
mod expr;
mod list;
mod page;
mod rule;
mod write;

use crate::base::FileId;
use crate::diag::Diagnostics;
use crate::diag::codes::Level;
use crate::parse::{self, tree};

use write::Writer;

/// How wide a line may be, in characters, where it can be broken.
pub const WIDTH: usize = 100;

/// The text in the layout that all flows have; `None` for one with syntax errors, which are reported.
///
/// The formatted text has line ends like the first one of `text`.
pub fn format(text: &str, file: FileId, diags: &mut Diagnostics) -> Option<String> {
    let before = diags.len();
    parse::parse(text, file, diags);
    if diags
        .iter()
        .skip(before)
        .any(|found| found.level == Level::Error)
    {
        return None;
    }
    let tree = tree::tree(text)?;
    let line_end = if tree.returns == Some(true) {
        "\r\n"
    } else {
        "\n"
    };
    let mut writer = Writer::new(&tree);
    writer.file();
    Some(page::print(writer.finish(), line_end))
}

/// An expression, or the declarations of a file, in one line and without comments, however they were written; `None` for
/// a text that is neither.
pub fn one_line(text: &str) -> Option<String> {
    let (mut tree, file) = match tree::expression(text) {
        Some(tree) => (tree, false),
        None => (tree::tree(text)?, true),
    };
    tree.comments.clear();
    let mut writer = Writer::new(&tree);
    match file {
        true => writer.file(),
        false => writer.node(0),
    }
    Some(page::flat(writer.finish()))
}

/// Whether two texts have the same tokens but for commas and their order. What [`format()`] gives has; a
/// caller who overwrites a file can make sure of it.
pub fn same_tokens(one: &str, other: &str) -> bool {
    let words = |text| {
        let tree: tree::Tree = tree::tree(text)?;
        let kept = tree.tokens.iter().filter(|t| t.sign != tree::Sign::Comma);
        let mut words: Vec<&str> = kept.map(|token| token.text).collect();
        let comments = tree.comments.iter().map(|c| c.text.trim_start_matches('/'));
        words.extend(comments.map(str::trim_ascii));
        words.sort_unstable();
        Some(words.concat())
    };
    let words_of_one: Option<String> = words(one);
    words_of_one.is_some() && words_of_one == words(other)
}
