//! Where a thread went: which nodes it visited, where it stands.

use std::collections::{BTreeMap, BTreeSet};

/// The way of a thread through a flow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The thread.
    pub thread: String,
    /// The graph that it runs.
    pub graph: String,
    paths: BTreeMap<String, Standing>,
    graphs: BTreeMap<(String, String), Standing>,
    steps: BTreeSet<Step>,
}

/// What followed on what in a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Path of the frame's nodes, `/` at the end; empty in the thread's own graph.
    pub path: String,
    /// Its graph.
    pub graph: String,
    /// Nodes that were run; none at the start.
    pub from: Vec<String>,
    /// Nodes that came next; none at the end.
    pub to: Vec<String>,
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
    /// Whether a run passed through it on its way, without a step of its own.
    pub passed: bool,
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

    /// Notes what followed on what.
    pub fn step(&mut self, step: Step) {
        self.steps.insert(step);
    }

    /// What followed on what in a frame: by its path in the thread's own graph, else in all frames of a graph.
    pub fn steps<'a>(
        &'a self,
        path: Option<&'a str>,
        graph: &'a str,
    ) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().filter(move |step| match path {
            Some(path) => step.path == path,
            None => step.graph == graph,
        })
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
    /// The words for it: how often it ran, or `passed`; `now`, `waits`, `failed`.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.visits > 0 {
            words.push(format!("{}×", self.visits));
        } else if self.passed {
            words.push("passed".to_owned());
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
