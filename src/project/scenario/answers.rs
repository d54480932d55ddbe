//! Answers to interrupts.

use serde_json::Value as Json;

use crate::project::yaml::{Cursor, Path};

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the person says.
    pub value: Json,
    /// Where it is written.
    pub at: Path,
}

/// The answers of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Answers {
    /// To the interrupts in the order in which they open.
    InOrder(Vec<Answer>),
    /// To the interrupts of each node path, in their order.
    ByNode(Vec<(String, Vec<Answer>)>),
}

impl Default for Answers {
    fn default() -> Self {
        Answers::InOrder(Vec::new())
    }
}

/// Reads a list, or a map of lists by node.
pub fn read(cursor: &Cursor<'_>) -> Answers {
    if cursor.json().is_object() {
        let nodes = cursor.entries().into_iter();
        return Answers::ByNode(nodes.map(|(node, c)| (node.to_owned(), list(&c))).collect());
    }
    Answers::InOrder(list(cursor))
}

fn list(cursor: &Cursor<'_>) -> Vec<Answer> {
    let items = cursor.items();
    let answer = |item: &Cursor<'_>| Answer {
        value: item.json().clone(),
        at: item.path().clone(),
    };
    items.iter().map(answer).collect()
}
