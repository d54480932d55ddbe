//! `NAME.evaluate.yaml`: which stage of which flow runs over which rows, and what judges it.

use std::cell::RefCell;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostics, codes};
use crate::project::scenario::ROW_DEFAULTS;
use crate::project::yaml::{Cursor, Document, Step};

use super::scorer::{self, Around, Scorer};

const KEYS: [&str; 8] = [
    "flow",
    "graph",
    "stage",
    "data",
    "repeats",
    "tolerance",
    "defaults",
    "scorers",
];

/// A file of an evaluation.
#[derive(Debug, Clone)]
pub struct Spec {
    /// What it says, but for its scorers.
    pub says: EvaluationSettings,
    /// The file, for places and scorers.
    pub document: Document,
}

/// What a file says, but for its scorers.
#[derive(Debug, Clone, Default)]
pub struct EvaluationSettings {
    /// The flow, relative to this file; that of the same name where left out.
    pub flow: Option<String>,
    /// The graph that runs, or that a node of is meant.
    pub graph: Option<String>,
    /// A graph, or `Graph.node`.
    pub stage: Option<String>,
    /// The data sets, relative to this file.
    pub data: Vec<String>,
    /// How often each row runs.
    pub repeats: Option<u32>,
    /// By how much a mean may be lower than in an earlier evaluation.
    pub tolerance: Option<f64>,
    /// What every row has that doesn't say otherwise.
    pub defaults: JsonMap<String, Json>,
}

impl Spec {
    /// Where a part stands.
    pub fn span(&self, key: &str) -> Span {
        self.document.span(&[Step::Key(key.to_owned())])
    }
}

/// Reads the file of an evaluation, but for its scorers.
///
/// # Errors
/// All that is wrong in it, with places.
pub fn read(sources: &SourceMap, file: FileId) -> Result<Spec, Diagnostics> {
    let document = Document::parse(sources, file, &codes::INVALID_SCENARIO)?;
    let found = RefCell::new(Diagnostics::new());
    let says = says(&Cursor::new(&document, &found));
    let mut found = found.into_inner();
    found.sort();
    match says {
        Some(says) if found.is_empty() => Ok(Spec { says, document }),
        _ => Err(found),
    }
}

/// The scorers of a file, or of a text that has nothing else, checked against the stage.
///
/// # Errors
/// All that is wrong with them, with places.
pub fn scorers(document: &Document, around: &Around<'_>) -> Result<Vec<Scorer>, Diagnostics> {
    let found = RefCell::new(Diagnostics::new());
    let root = Cursor::new(document, &found);
    let of_evaluation = document.root.get("scorers").is_some();
    let part = match of_evaluation {
        true => root.open_table().and_then(|table| table.require("scorers")),
        false => Some(root.clone()),
    };
    let scorers = part.map(|part| scorer::read(&part, around));
    drop(root);
    let mut found = found.into_inner();
    found.sort();
    match scorers {
        Some(scorers) if found.is_empty() => Ok(scorers),
        _ => Err(found),
    }
}

fn says(root: &Cursor<'_>) -> Option<EvaluationSettings> {
    let table = root.table("an evaluation", &KEYS)?;
    table.require("scorers")?;
    let text = |key: &str| table.get(key)?.text().map(str::to_owned);
    let repeats = table.get("repeats").and_then(|cursor| {
        let count = cursor.json().as_u64().and_then(|n| u32::try_from(n).ok());
        let count = count.filter(|count| *count > 0);
        if count.is_none() {
            cursor.expected("a whole number from 1");
        }
        count
    });
    let tolerance = table.get("tolerance").and_then(|cursor| {
        let number = cursor.json().as_f64().filter(|n| (0.0..=1.0).contains(n));
        if number.is_none() {
            cursor.expected("a number from 0 to 1");
        }
        number
    });
    let data = table.get("data").map(|cursor| match cursor.json() {
        Json::Array(_) => cursor.texts(),
        _ => cursor.text().map(str::to_owned).into_iter().collect(),
    });
    let defaults = table.get("defaults");
    let defaults = defaults.and_then(|cursor| {
        cursor.table("`defaults`", &ROW_DEFAULTS)?;
        cursor.json().as_object().cloned()
    });
    Some(EvaluationSettings {
        flow: text("flow"),
        graph: text("graph"),
        stage: text("stage"),
        data: data.unwrap_or_default(),
        repeats,
        tolerance,
        defaults: defaults.unwrap_or_default(),
    })
}
