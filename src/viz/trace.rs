//! Where a thread went: which nodes it visited, where it stands.

use std::collections::BTreeMap;

/// The way of a thread through a flow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The thread.
    pub thread: String,
    /// The graph that it runs.
    pub graph: String,
    paths: BTreeMap<String, Standing>,
    graphs: BTreeMap<(String, String), Standing>,
}

/// Where a thread is with a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// How often it was run, each send counted.
    pub visits: u64,
    /// Whether it is under way, or next.
    pub now: bool,
    /// What it asks; an empty text where a run was stopped before it.
    pub waits: Option<String>,
    /// Whether the last run failed in it.
    pub failed: bool,
}

impl Trace {
    /// A thread that has been nowhere yet.
    pub fn new(thread: &str, graph: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            graph: graph.to_owned(),
            ..Self::default()
        }
    }

    /// Notes something of a node: by its path, and with all others that ran this node of the graph.
    pub fn note(&mut self, path: &str, graph: &str, note: impl Fn(&mut Standing)) {
        let node = path.rsplit('/').next().unwrap_or(path);
        note(self.paths.entry(path.to_owned()).or_default());
        let key = (graph.to_owned(), node.to_owned());
        note(self.graphs.entry(key).or_default());
    }

    /// Where it is with the node at a path from its own graph.
    pub fn at_path(&self, path: &str) -> Option<Standing> {
        self.paths.get(path).cloned()
    }

    /// Where it is with a node of a graph, wherever that was called.
    pub fn of_graph(&self, graph: &str, node: &str) -> Option<Standing> {
        let key = (graph.to_owned(), node.to_owned());
        self.graphs.get(&key).cloned()
    }
}

impl Standing {
    /// The words for it: `now`, `waits`, `failed`, and how often it ran.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.visits > 0 {
            words.push(format!("{}×", self.visits));
        }
        match (self.failed, &self.waits, self.now) {
            (true, _, _) => words.push("failed".to_owned()),
            (_, Some(_), _) => words.push("waits".to_owned()),
            (_, _, true) => words.push("now".to_owned()),
            _ => {}
        }
        words
    }
}
