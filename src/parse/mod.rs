//! Text to syntax tree: the only folder that knows pest.
//!
//! [`parse`] reads a file, [`expression`] a text that is one expression. Neither resolves a name, knows
//! which property belongs to which kind of node, or reads a file. Both report and go on: what could
//! not be read is left out of the tree (or is [`ExprKind::Error`](crate::ast::expr::ExprKind::Error)).
//!
//! Reading order: [`scan`] (brackets, quotes, comments, before the grammar; with [`bracket`], [`opening`], [`layout`],
//! [`comment`] and [`comment_sign`]), [`grammar`] (what pest
//! makes of `grammar/graph.pest`), [`build`] (what all builders share), [`mod@file`] (piece by piece), then one builder a subject:
//! [`item`], [`graph`], [`node`], [`jump`], [`ty`], [`expr`], with [`literal`] and [`text`] for what stands
//! inside literals. [`mod@tree`] keeps all signs and comments instead, for the formatter. [`recover`] takes what did not parse (with [`headless`], [`astray`], [`node_head`] and [`other_word`]), [`mend`] reads it as what it was likely meant to be, [`mistake`] knows common mistakes and
//! [`message`] words the rest.

mod astray;
mod bracket;
mod build;
mod comment;
mod comment_sign;
mod expr;
mod file;
mod grammar;
mod graph;
mod headless;
mod inline;
mod item;
mod jump;
mod keyword;
mod layout;
mod literal;
mod mend;
mod message;
mod mistake;
mod node;
mod node_head;
mod opening;
mod other_word;
mod property;
mod recover;
mod scan;
mod text;
pub mod tree;
mod ty;

use pest::Parser;

use crate::ast;
use crate::base::foreign::expression::Types;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};

pub use mistake::{in_whole, whole};

use build::Builder;
use grammar::{Grammar, Rule};

/// The largest text that is read, in bytes.
pub const MAX_SIZE: usize = 16 << 20;

/// Reads a `.graph` file.
///
/// Every mistake is reported once, and one bad item, member, property or arm does not hide the rest.
pub fn parse(text: &str, file: FileId, diags: &mut Diagnostics) -> ast::item::File {
    if !fits(text, file, diags) {
        return ast::item::File::default();
    }
    let scanned = scan::file(text, file, diags);
    let mut builder = Builder::new(&scanned, file, diags);
    let tree = builder.file();
    let explained = std::mem::take(&mut builder.explained);
    if !explained.is_empty() {
        let is_explained = |found: &Diagnostic| {
            let at = found.span();
            at.file == file && explained.contains(&(at.start as usize))
        };
        diags.retain(|found| !std::ptr::eq(found.code, &codes::UNCLOSED) || !is_explained(found));
    }
    tree
}

/// Reads a text that is one expression; `None` where it is none, which is then reported.
pub fn expression(text: &str, file: FileId, diags: &mut Diagnostics) -> Option<ast::expr::Expr> {
    if !fits(text, file, diags) {
        return None;
    }
    let scanned = scan::expression(text, file, diags)?;
    match Grammar::parse(Rule::only_expr, &scanned.text) {
        Ok(mut pairs) => {
            let before = diags.len();
            let mut builder = Builder::new(&scanned, file, diags);
            let expr = builder.expr(pairs.next()?.into_inner().next()?);
            (diags.len() == before).then_some(expr)
        }
        Err(error) => {
            let types = Types::new(&scanned.text, &scanned.index);
            let found = mistake::report(&scanned.text, types, 0, file, error);
            diags.push(found);
            None
        }
    }
}

/// Whether a word begins a property of a node.
pub fn is_property(word: &str) -> bool {
    keyword::PROPERTIES.contains(&word)
}

/// Whether an expression can't have the word as a name: it is one of CEL's, or a value.
pub fn is_reserved(word: &str) -> bool {
    keyword::RESERVED.contains(&word) || ["null", "true", "false"].contains(&word)
}

/// Whether a word of the language begins an item, a member of a graph, or is a kind of node.
pub fn is_keyword(word: &str) -> bool {
    let lists = [keyword::ITEMS, keyword::MEMBERS, keyword::KINDS];
    lists.iter().any(|words| words.contains(&word))
}

fn fits(text: &str, file: FileId, diags: &mut Diagnostics) -> bool {
    if text.len() > MAX_SIZE {
        let message = format!(
            "the text has {} bytes, more than the {MAX_SIZE} that are read",
            text.len()
        );
        diags.push(
            Diagnostic::new(&codes::LIMIT_EXCEEDED, message, Span::new(file, 0, 0))
                .help("split it into several files and `import` what they share"),
        );
    }
    text.len() <= MAX_SIZE
}
