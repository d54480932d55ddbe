//! The parser that pest makes of `grammar/graph.pest`, and short names for its types.

use pest::iterators::{Pair as PestPair, Pairs as PestPairs};

/// The generated parser.
#[derive(pest_derive::Parser)]
#[grammar = "../grammar/graph.pest"]
pub struct Grammar;

/// One matched rule.
pub type Pair<'i> = PestPair<'i, Rule>;

/// Matched rules in a row.
pub type Pairs<'i> = PestPairs<'i, Rule>;
