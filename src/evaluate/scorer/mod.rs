//! Scorers: each gives a run a score from 0 to 1.
//!
//! [`mod@read`] reads them from YAML and checks their expressions against the stage; [`contains`] and [`grader`] are those that need
//! more than a line.

mod contains;
mod grader;
mod read;

use serde_json::{Map as JsonMap, Value as Json};
use tokio_util::sync::CancellationToken;

use crate::project::scenario::Row;
use crate::value::Value;

use super::play::{Outside, Played};
use super::scope::{Code, Known, Values};
use super::sheet::Score;

pub use grader::Grader;
pub use read::{Around, read};

/// A scorer.
pub struct Scorer {
    /// Its name.
    pub name: String,
    /// What it looks at.
    pub kind: Kind,
    /// From which score on a run is good enough.
    pub pass: f64,
    /// The least mean that is good enough.
    pub min: Option<f64>,
}

/// What a scorer looks at.
pub enum Kind {
    /// Whether a value is the expected one.
    Exact {
        /// The value.
        value: Code,
        /// The expected one.
        to: Code,
    },
    /// How many of the expected texts or elements are in it.
    Contains {
        /// A text or a list.
        value: Code,
        /// A text, an element, or a list of such.
        of: Code,
        /// Whether letters may be capital or not.
        any_case: bool,
    },
    /// An expression: true or false, or the score itself.
    Cel(Code),
    /// Whether a value is valid under a JSON Schema.
    JsonSchema {
        /// The value.
        value: Code,
        /// The schema.
        schema: Box<jsonschema::Validator>,
    },
    /// A model's or a graph's word.
    Grader(Grader),
}

impl Kind {
    /// Its word in YAML.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::Exact { .. } => "exact",
            Kind::Contains { .. } => "contains",
            Kind::Cel(_) => "cel",
            Kind::JsonSchema { .. } => "json_schema",
            Kind::Grader(grader) => grader.word(),
        }
    }
}

/// Which models of scorers a row plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replies {
    /// All: one that it has no replies for fails.
    All,
    /// Those that it has replies for.
    Own,
    /// None.
    None,
}

/// What a scorer judges.
pub struct Judged<'a> {
    /// The row.
    pub row: &'a Row,
    /// What came.
    pub played: &'a Played,
    /// The same as values of expressions.
    pub values: Values,
    /// Which models of scorers it plays.
    pub replies: Replies,
    /// What serves models that it does not play.
    pub outside: &'a Outside,
    /// Ends a model's answer that nobody waits for any more.
    pub cancel: CancellationToken,
}

impl<'a> Judged<'a> {
    /// A run, as scorers see it.
    pub fn new(
        known: &Known,
        (row, replies): (&'a Row, Replies),
        played: &'a Played,
        outside: &'a Outside,
        cancel: CancellationToken,
    ) -> Self {
        let none = JsonMap::new();
        let input = row.scenario().map_or(&none, |scenario| &scenario.input);
        Self {
            values: known.values(input, played, &row.expect),
            row,
            played,
            replies,
            outside,
            cancel,
        }
    }
}

/// A score and, where there is one, its reason.
type Given = Result<(f64, Option<String>), String>;

impl Scorer {
    /// Judges a run. One that failed has 0.
    pub async fn score(&self, judged: &Judged<'_>) -> Score {
        if judged.played.error.is_some() {
            return Score {
                score: 0.0,
                pass: false,
                reason: None,
                error: None,
            };
        }
        match self.given(judged).await {
            Ok((score, reason)) => Score {
                score,
                pass: score >= self.pass,
                reason,
                error: None,
            },
            Err(error) => Score {
                score: 0.0,
                pass: false,
                reason: None,
                error: Some(error),
            },
        }
    }

    async fn given(&self, judged: &Judged<'_>) -> Given {
        let values = &judged.values;
        match &self.kind {
            Kind::Exact { value, to } => {
                let (value, to) = (value.eval(values)?, to.eval(values)?);
                match same(&value, &to) {
                    true => Ok((1.0, None)),
                    false => Ok((0.0, Some(differs(&value, &to)))),
                }
            }
            Kind::Contains {
                value,
                of,
                any_case,
            } => contains::share(&value.eval(values)?, &of.eval(values)?, *any_case),
            Kind::Cel(code) => Ok((number(code, &code.eval(values)?)?, None)),
            Kind::JsonSchema { value, schema } => {
                let json = value.eval(values)?.to_json();
                let wrong: Vec<String> = (schema.iter_errors(&json).take(3))
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                match wrong.is_empty() {
                    true => Ok((1.0, None)),
                    false => Ok((0.0, Some(wrong.join("; ")))),
                }
            }
            Kind::Grader(grader) => grader.grade(&self.name, judged).await,
        }
    }
}

/// Whether two values are the same, as JSON: a time is the text of it that was expected.
fn same(value: &Value, expected: &Value) -> bool {
    fn as_json(value: &Json, expected: &Json) -> bool {
        match (value, expected) {
            (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
            (Json::Array(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| as_json(a, b))
            }
            (Json::Object(a), Json::Object(b)) => {
                let same = |(key, a): (&String, &Json)| b.get(key).is_some_and(|b| as_json(a, b));
                a.len() == b.len() && a.iter().all(same)
            }
            (a, b) => a == b,
        }
    }
    as_json(&value.to_json(), &expected.to_json())
}

fn differs(value: &Value, expected: &Value) -> String {
    let value = cut(&value.to_json().to_string());
    let expected = cut(&expected.to_json().to_string());
    format!("{value}, expected {expected}")
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    const MOST: usize = 120;
    match text.chars().count() {
        0..=MOST => text.to_owned(),
        _ => text.chars().take(MOST).chain("..".chars()).collect(),
    }
}

/// A score as an expression gives it.
fn number(code: &Code, value: &Value) -> Result<f64, String> {
    let number = match value {
        Value::Bool(holds) => Some(f64::from(u8::from(*holds))),
        other => other.to_json().as_f64(),
    };
    match number {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(format!(
            "`{}` is {}, expected `true`, `false` or a number from 0 to 1",
            code.text,
            cut(&value.to_json().to_string())
        )),
    }
}
