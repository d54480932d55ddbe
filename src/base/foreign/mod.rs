//! Words that people bring along from other languages (Python, TypeScript, LangGraph, Jinja, JSON Schema), and what is written for
//! them here: data for help lines. A table each for [types](ty), [functions](call), [attributes](attribute),
//! [statements of templates](statement) and [calls that build a graph](builder); composed [texts](text) and whole [expressions](expression) are taken apart and put together again.

pub mod attribute;
pub mod builder;
pub mod call;
pub mod expression;
pub mod name;
pub mod statement;
pub mod text;
pub mod ty;

/// How a default is written, where other languages have `x or y` and `x || y`.
pub const DEFAULT: &str = "for a default write `x == null ? other : x`, or `x.?y.orValue(other)`";

/// The rows of a table for a word: the columns behind the words of each. A row is `WORD/WORD => COLUMN => COLUMN`.
fn rows(table: &'static str, word: &str) -> impl Iterator<Item = [&'static str; 3]> {
    table.lines().filter_map(move |row| {
        let mut columns = row.split("=>").map(str::trim_ascii);
        let named = columns.next()?.split('/').any(|own| own == word);
        let mut next = || columns.next().unwrap_or("");
        (named && !word.is_empty()).then(|| [next(), next(), next()])
    })
}
