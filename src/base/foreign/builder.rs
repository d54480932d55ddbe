//! Calls by which other libraries build a graph, `graph.add_edge("a", "b")`, and the line that is written for one.

use super::text::{balanced, split};

/// What is written for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The line; empty where nothing is written for it.
    pub line: String,
    /// What to do.
    pub help: String,
    /// Whether the line says all that the call does.
    pub whole: bool,
    /// How long the call is.
    pub length: usize,
}

/// The call that a line begins with, `graph.` before it or not.
pub fn read(line: &str) -> Option<Built> {
    let (head, inside) = line.split_once('(')?;
    // `app = graph.compile()`
    let call = head.rsplit('=').next()?.trim_ascii();
    let method = call.rsplit('.').next()?;
    let (_, form, whole) = TABLE.iter().find(|(names, ..)| names.contains(&method))?;
    let end = balanced(inside, ')')?;
    let args = split(inside.get(..end)?);
    let mut line = (*form).to_owned();
    for (place, arg) in ["FIRST", "SECOND"].into_iter().zip(&args) {
        line = line.replace(place, &node(arg));
    }
    if line.contains("FIRST") || line.contains("SECOND") {
        return None;
    }
    Some(Built {
        help: match line.as_str() {
            "" => "take it out: a graph is ready as it is written".to_owned(),
            line => format!("write `{line}` in the braces of the graph"),
        },
        line,
        whole: *whole,
        length: head.len() + 1 + end + 1,
    })
}

/// A node as an edge names it.
fn node(arg: &str) -> String {
    match arg.trim_matches(['"', '\'']) {
        "START" | "__start__" => "start".to_owned(),
        "END" | "__end__" => "end".to_owned(),
        // `["a", "b"]`
        list if list.starts_with('[') => list.replace(['"', '\''], ""),
        name => name.to_owned(),
    }
}

/// Methods, what is written for them, whether that is all.
static TABLE: &[(&[&str], &str, bool)] = &[
    (&["add_edge", "addEdge"], "FIRST -> SECOND", true),
    (
        &["set_entry_point", "setEntryPoint"],
        "start -> FIRST",
        true,
    ),
    (
        &["set_finish_point", "setFinishPoint"],
        "FIRST -> end",
        true,
    ),
    (
        &["add_node", "addNode"],
        "node FIRST: update { set { field: value } }",
        false,
    ),
    (
        &["add_conditional_edges", "addConditionalEdges"],
        "node FIRST: update { goto { when CONDITION -> NODE  else -> end } }",
        false,
    ),
    (&["compile", "StateGraph"], "", true),
];
