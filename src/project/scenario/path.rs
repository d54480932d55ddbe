//! The nodes that a run is expected to go through.

use std::fmt;

/// A step of an expected path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// This node, by its path.
    Node(String),
    /// `...`: any nodes, also none.
    Any,
}

/// The first step of an expected path that the run did not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMismatch {
    /// Which one; the number of steps where all were taken and the run went on.
    pub step: usize,
    /// The node expected there; `None` for the end.
    pub expected: Option<String>,
    /// The node there instead; `None` for the end.
    pub actual: Option<String>,
}

impl fmt::Display for PathMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |node: &Option<String>| match node {
            Some(node) => format!("`{node}`"),
            None => "the end".to_owned(),
        };
        let (expected, actual) = (name(&self.expected), name(&self.actual));
        write!(f, "expected {expected}, found {actual}")
    }
}

/// Compares the nodes of a run with an expected path.
///
/// # Errors
/// The first step that can't be matched, on the try that got furthest.
pub fn compare_path(expected: &[PathStep], actual: &[&str]) -> Result<(), PathMismatch> {
    // For each step, the positions in `actual` that the steps before it can end at.
    let mut open = vec![0];
    for (i, step) in expected.iter().enumerate() {
        let next: Vec<usize> = match step {
            PathStep::Any => {
                let first = open.first().copied().unwrap_or(actual.len());
                (first..=actual.len()).collect()
            }
            PathStep::Node(name) => open
                .iter()
                .filter(|at| actual.get(**at).is_some_and(|node| node == name))
                .map(|at| at + 1)
                .collect(),
        };
        if next.is_empty() {
            return Err(mismatch(i, expected, actual, &open));
        }
        open = next;
    }
    match open.contains(&actual.len()) {
        true => Ok(()),
        false => Err(mismatch(expected.len(), expected, actual, &open)),
    }
}

fn mismatch(step: usize, expected: &[PathStep], actual: &[&str], open: &[usize]) -> PathMismatch {
    let expected = match expected.get(step) {
        Some(PathStep::Node(name)) => Some(name.clone()),
        _ => None,
    };
    let at = open.first().copied().unwrap_or(0);
    PathMismatch {
        step,
        expected,
        actual: actual.get(at).map(|node| (*node).to_owned()),
    }
}
