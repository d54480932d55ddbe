//! What an evaluation came to: each row with its runs and scores, and all of them together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::llm::openai::messages;
use crate::run::exchange::Exchange;
use crate::run::model::Usage;

use super::play::{Failed, Played};

/// Version of the form.
pub const FORMAT: u32 = 1;

/// An evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// [`FORMAT`].
    pub format: u32,
    /// The flow's file.
    pub flow: String,
    /// The flow's version.
    pub version: String,
    /// What ran: `Graph` or `Graph.node`.
    pub stage: String,
    /// The data sets.
    pub data: Vec<String>,
    /// How often each row was to run.
    pub repeats: u32,
    /// Whether all of that was done.
    pub complete: bool,
    /// Rows with their runs, in the order of the data sets; those without a run are left out.
    pub rows: Vec<RowSheet>,
    /// All of them together.
    pub summary: Summary,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowSheet {
    /// Its id.
    pub id: String,
    /// Its input.
    pub input: JsonMap<String, Json>,
    /// What was expected.
    pub expect: Json,
    /// Its scores, by scorer.
    pub scores: BTreeMap<String, Tally>,
    /// Its runs, in order.
    pub runs: Vec<RunSheet>,
}

/// A run of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSheet {
    /// What it gave.
    pub output: Json,
    /// Where it led.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// Why it gave nothing that could be judged: then all of its scores are 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failed>,
    /// By scorer.
    pub scores: BTreeMap<String, Score>,
    /// Tokens.
    pub usage: Usage,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Calls of models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
}

/// What a scorer says of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// From 0 to 1.
    pub score: f64,
    /// Whether that is enough.
    pub pass: bool,
    /// Why, where the scorer says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it could not judge: the score is 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Scores together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Their mean.
    pub mean: f64,
    /// Standard deviation: of a row over its runs, of all over the means of the repeats.
    pub spread: f64,
    /// How many were enough.
    pub passes: u64,
    /// How many there are.
    pub runs: u64,
}

/// All rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Rows that ran.
    pub rows: u64,
    /// Runs.
    pub runs: u64,
    /// Runs that failed.
    pub errors: u64,
    /// By scorer.
    pub scorers: BTreeMap<String, Tally>,
    /// Tokens, without those of the scorers' own models.
    pub usage: Usage,
    /// How long the runs took, one after the other, in milliseconds.
    pub took_ms: u64,
}

/// A call of a model, in the chat form of OpenAI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Graph of the node.
    pub graph: String,
    /// The node.
    pub node: String,
    /// Key of its task.
    pub task: String,
    /// What the model was asked.
    pub messages: Vec<Json>,
    /// Tools that it was shown, with their JSON Schemas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Json>,
    /// Whether its reply had to be of a type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structured: bool,
    /// The assistant's message.
    pub reply: Json,
    /// Why the reply ended: `stop`, `length`, `tool_calls`.
    pub finish: String,
    /// Tokens.
    pub usage: Usage,
}

impl Call {
    /// A call that was watched.
    pub fn of(exchange: Exchange) -> Self {
        let Exchange {
            graph,
            node,
            task,
            request,
            reply,
        } = exchange;
        let of_reply = reply.to_json();
        let usage = of_reply.get("usage").cloned().unwrap_or_default();
        let finish = of_reply.get("finish").and_then(Json::as_str);
        Self {
            graph: graph.to_string(),
            node: node.to_string(),
            task,
            tools: request.tools.iter().map(messages::tool).collect(),
            messages: messages::write(&request.messages),
            structured: request.output.is_some(),
            finish: finish.unwrap_or_default().to_owned(),
            usage: serde_json::from_value(usage).unwrap_or_default(),
            reply: messages::message(&reply),
        }
    }
}

impl RunSheet {
    /// A run and what scorers say of it. Values of fields that are marked `@secret` are not shown.
    pub fn new(played: Played, scores: BTreeMap<String, Score>, secrets: &[String]) -> Self {
        let mut output = played.output;
        if let Json::Object(fields) = &mut output {
            let hidden = fields.iter_mut().filter(|(name, _)| secrets.contains(name));
            hidden.for_each(|(_, value)| *value = json!("***"));
        }
        Self {
            output,
            next: played.next,
            error: played.error,
            scores,
            usage: played.usage,
            took_ms: played.took_ms,
            calls: played.calls,
        }
    }
}

impl Tally {
    /// Of these scores, each with whether it is enough.
    pub fn of<'s>(scores: impl IntoIterator<Item = &'s Score>) -> Self {
        let (mut all, mut passes) = (Vec::new(), 0);
        for score in scores {
            all.push(score.score);
            passes += u64::from(score.pass);
        }
        Self {
            mean: mean(&all),
            spread: spread(&all),
            passes,
            runs: all.len() as u64,
        }
    }
}

fn mean(of: &[f64]) -> f64 {
    match of.len() {
        0 => 0.0,
        count => of.iter().sum::<f64>() / count as f64,
    }
}

fn spread(of: &[f64]) -> f64 {
    let mean = mean(of);
    let squares: Vec<f64> = of.iter().map(|x| (x - mean) * (x - mean)).collect();
    self::mean(&squares).sqrt()
}

impl RowSheet {
    /// A row and its runs.
    pub fn new(id: &str, input: JsonMap<String, Json>, expect: Json, runs: Vec<RunSheet>) -> Self {
        let names = runs.iter().flat_map(|run| run.scores.keys());
        let scores = names.map(|name| {
            let of = runs.iter().filter_map(|run| run.scores.get(name));
            (name.clone(), Tally::of(of))
        });
        Self {
            id: id.to_owned(),
            input,
            expect,
            scores: scores.collect(),
            runs,
        }
    }
}

impl Summary {
    /// Of these rows.
    pub fn of(rows: &[RowSheet]) -> Self {
        let runs = || rows.iter().flat_map(|row| &row.runs);
        let mut usage = Usage::default();
        runs().for_each(|run| usage += run.usage);
        let names = rows.iter().flat_map(|row| row.scores.keys());
        let scorers = names.map(|name| {
            let of = runs().filter_map(|run| run.scores.get(name));
            let repeats = rows.iter().map(|row| row.runs.len()).max().unwrap_or(0);
            let means: Vec<f64> = (0..repeats)
                .map(|repeat| {
                    let of = rows
                        .iter()
                        .filter_map(|row| row.runs.get(repeat)?.scores.get(name));
                    mean(&of.map(|score| score.score).collect::<Vec<_>>())
                })
                .collect();
            let tally = Tally {
                spread: spread(&means),
                ..Tally::of(of)
            };
            (name.clone(), tally)
        });
        Self {
            rows: rows.len() as u64,
            runs: runs().count() as u64,
            errors: runs().filter(|run| run.error.is_some()).count() as u64,
            scorers: scorers.collect(),
            usage,
            took_ms: runs().map(|run| run.took_ms).sum(),
        }
    }
}
