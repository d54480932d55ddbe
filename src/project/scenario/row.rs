//! A row of a data set: a line of JSON that says what comes in, as a scenario does, and what is expected, which is for
//! scorers to read.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::project::yaml::{Cursor, Document, MOST_FINDINGS, Path, Step};

use super::field::Fields;
use super::read::{object, replies, scenario};
use super::{ModelReply, Scenario, Suite, reply};

const KEYS: [&str; 12] = [
    "id", "input", "send", "context", "models", "tools", "real", "answers", "clock", "memory",
    "scores", "expect",
];

/// What every row may have from the file of its evaluation.
pub const DEFAULT_KEYS: [&str; 10] = [
    "input", "send", "context", "models", "tools", "real", "answers", "clock", "memory", "scores",
];

/// A row.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its id, once in the data set; the number of its line where it names none.
    pub id: String,
    /// What comes in and what is replied, as the only scenario of a suite.
    suite: Suite,
    /// What a send gives a node that is run alone.
    pub send: JsonMap<String, Json>,
    /// What is expected; null where it says nothing.
    pub expect: Json,
    /// Whether its models are scripted: then nothing outside is reached.
    pub is_scripted: bool,
    /// Replies of the models of scorers, by scorer.
    scores: Vec<(String, Vec<ModelReply>)>,
}

impl Row {
    /// What comes in and what is replied, by itself.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The same as a scenario.
    pub fn scenario(&self) -> Option<&Scenario> {
        self.suite.scenarios.first()
    }

    /// A suite for a scorer's models, where the row has replies for them.
    pub fn scorer_suite(&self, scorer: &str) -> Option<Suite> {
        let (_, replies) = self.scores.iter().find(|(name, _)| name == scorer)?;
        let scenario = Scenario {
            name: format!("{}, scorer `{scorer}`", self.id),
            models: vec![("*".to_owned(), replies.clone())],
            tools: Vec::new(),
            ..self.scenario()?.clone()
        };
        Some(Suite {
            scenarios: vec![scenario],
            ..self.suite.clone()
        })
    }

    /// Scorers that it has replies for, with their places.
    pub fn scored(&self) -> impl Iterator<Item = (&str, Span)> {
        let names = self.scores.iter().map(|(name, _)| name.as_str());
        names.map(|name| (name, self.key_span(&["scores", name])))
    }

    /// Where the key of a part stands; the line where it is the default's.
    pub fn key_span(&self, keys: &[&str]) -> Span {
        self.suite.document.key_span(&path(keys))
    }

    /// Where a part stands; the line where it is the default's.
    pub fn span(&self, keys: &[&str]) -> Span {
        self.suite.document.span(&path(keys))
    }
}

fn path(keys: &[&str]) -> Path {
    let keys = keys.iter().map(|key| Step::Key((*key).to_owned()));
    keys.collect()
}

/// Reads a data set: a row a line, empty lines left out. Maps of `defaults` have the entries that a row's own lack.
///
/// # Errors
/// All that is wrong in it, with places.
pub fn rows(
    text: &str,
    file: FileId,
    defaults: &JsonMap<String, Json>,
) -> Result<Vec<Row>, Diagnostics> {
    let mut found = Diagnostics::new();
    let (mut rows, mut ids) = (Vec::new(), BTreeSet::new());
    let mut base = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let at = base;
        base += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match row(line.trim_end(), (file, at), number + 1, defaults) {
            Ok(row) => {
                if !ids.insert(row.id.clone()) {
                    let message = format!("there is a row `{}` already", row.id);
                    let at = row.span(&["id"]);
                    found.push(Diagnostic::new(&codes::INVALID_SCENARIO, message, at));
                }
                rows.push(row);
            }
            Err(wrong) => found.append(wrong),
        }
        if found.len() > MOST_FINDINGS {
            break;
        }
    }
    if found.is_empty() && rows.is_empty() {
        let message = "this data set has no row";
        let finding = Diagnostic::new(&codes::INVALID_SCENARIO, message, Span::new(file, 0, 0));
        found.push(finding.help("write one a line: `{\"id\": \"a\", \"input\": {..}}`"));
    }
    match found.is_empty() {
        true => Ok(rows),
        false => Err(found),
    }
}

fn row(
    line: &str,
    (file, base): (FileId, usize),
    number: usize,
    defaults: &JsonMap<String, Json>,
) -> Result<Row, Diagnostics> {
    let mut document = Document::line(file, base, line, &codes::INVALID_SCENARIO)?;
    if let Json::Object(own) = &mut document.root {
        add_defaults(own, defaults);
    }
    let found = RefCell::new(Diagnostics::new());
    let read = read(&Cursor::new(&document, &found), number);
    let found = found.into_inner();
    match read {
        Some(read) if found.is_empty() => Ok(Row {
            id: read.scenario.name.clone(),
            is_scripted: !read.scenario.models.is_empty(),
            suite: Suite {
                flow: None,
                services: Vec::new(),
                scenarios: vec![read.scenario],
                document,
            },
            send: read.send,
            expect: read.expect,
            scores: read.scores,
        }),
        _ => Err(found),
    }
}

fn add_defaults(own: &mut JsonMap<String, Json>, defaults: &JsonMap<String, Json>) {
    for (key, default) in defaults {
        match (own.get_mut(key), default) {
            (None, default) => {
                own.insert(key.clone(), default.clone());
            }
            (Some(Json::Object(own)), Json::Object(default)) => {
                for (name, value) in default {
                    own.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            _ => {}
        }
    }
}

/// What a line says.
struct Read {
    scenario: Scenario,
    send: JsonMap<String, Json>,
    expect: Json,
    scores: Vec<(String, Vec<ModelReply>)>,
}

fn read(cursor: &Cursor<'_>, number: usize) -> Option<Read> {
    let own = cursor.table("a row", &KEYS)?;
    let id = match own.get("id") {
        None => number.to_string(),
        Some(id) => match id.json() {
            Json::Number(number) => number.to_string(),
            _ => id.text()?.to_owned(),
        },
    };
    let expect = own.get("expect").map(|expect| expect.json().clone());
    let fields = Fields {
        file: own.clone(),
        own,
        defaults: None,
    };
    Some(Read {
        scenario: scenario(cursor, &fields, &id),
        send: object(&fields, "send"),
        expect: expect.unwrap_or_default(),
        scores: replies(&fields, "scores", reply::read),
    })
}
