//! Fine-tuning lines: what a model was asked and what it said, in the chat form of OpenAI.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::condition::condition;
use crate::expr::eval::{Effect, Env, Program};
use crate::expr::{Scope, Slot, Type, TypeTable};
use crate::run::work::acceptance::refused;
use crate::value::Value;

use super::sheet::{Call, Sheet};

/// The form of a line, as a JSON Schema.
pub const SCHEMA: &str = include_str!("chat.schema.json");

/// Names that a filter knows, in the order of their slots.
pub const NAMES: [&str; 8] = [
    "messages", "output", "tools", "usage", "finish", "thread", "row", "score",
];

/// A call and where it comes from.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The call.
    pub call: Call,
    /// The thread; empty of an evaluation.
    pub thread: String,
    /// The row; empty of a thread.
    pub row: String,
    /// Scores of its run.
    pub scores: BTreeMap<String, f64>,
}

/// What calls a model stage has made, of all calls of a run in their order. Those that were no use are left out: cut off, or refused
/// and asked for again. Of a reply that was asked for again, the question is the first one. Calls of a transcript that a stage is
/// shown are of tools that another one had: it gets those too.
pub fn usable(calls: Vec<Call>, is_stage: impl Fn(&Call) -> bool) -> Vec<Call> {
    let mut kept: Vec<Call> = Vec::new();
    let mut tools: BTreeMap<String, Json> = BTreeMap::new();
    for mut call in calls {
        let named = call.tools.iter();
        tools.extend(named.filter_map(|tool| Some((tool_name(tool)?.to_owned(), tool.clone()))));
        if !is_stage(&call) {
            continue;
        }
        let own: BTreeSet<&str> = call.tools.iter().filter_map(tool_name).collect();
        let called = called(&call.messages);
        let others = called
            .difference(&own)
            .filter_map(|name| tools.get(*name).cloned());
        let others: Vec<Json> = others.collect();
        call.tools.extend(others);
        if asks_again(&call.messages) {
            let before = kept.iter().rposition(|earlier| earlier.task == call.task);
            before.map(|at| kept.remove(at));
            while asks_again(&call.messages) {
                call.messages
                    .truncate(call.messages.len().saturating_sub(2));
            }
        }
        kept.push(call);
    }
    kept.retain(|call| call.finish != "length" && !is_empty(&call.reply));
    kept
}

/// The name of a tool that a model is shown.
fn tool_name(tool: &Json) -> Option<&str> {
    tool.pointer("/function/name")?.as_str()
}

/// The calls that a message makes.
fn calls_of(message: &Json) -> impl Iterator<Item = &Json> {
    let calls = message.get("tool_calls").and_then(Json::as_array);
    calls.into_iter().flatten()
}

/// Names of the tools that messages call.
fn called(messages: &[Json]) -> BTreeSet<&str> {
    let calls = messages.iter().flat_map(calls_of);
    calls.filter_map(tool_name).collect()
}

/// Whether messages end with a refused reply and why it was.
fn asks_again(messages: &[Json]) -> bool {
    let [.., reply, why] = messages else {
        return false;
    };
    let text = why.get("content").and_then(Json::as_str);
    let asks =
        why.get("role") == Some(&json!("user")) && text.is_some_and(|text| refused(text).is_some());
    asks && reply.get("role") == Some(&json!("assistant"))
}

fn is_empty(reply: &Json) -> bool {
    let none = reply
        .get("content")
        .is_none_or(|text| text.is_null() || *text == "");
    none && reply.get("tool_calls").is_none()
}

/// The calls of an evaluation's runs.
pub fn of_sheet(sheet: Sheet, is_stage: impl Fn(&Call) -> bool) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for row in sheet.rows {
        for run in row.runs {
            let scores = run.scores.iter();
            let scores: BTreeMap<String, f64> = scores
                .map(|(name, score)| (name.clone(), score.score))
                .collect();
            pairs.extend(usable(run.calls, &is_stage).into_iter().map(|call| Pair {
                call,
                thread: String::new(),
                row: row.id.clone(),
                scores: scores.clone(),
            }));
        }
    }
    pairs
}

impl Pair {
    /// The line.
    pub fn line(&self) -> Json {
        let mut line = JsonMap::new();
        let mut messages = self.call.messages.clone();
        messages.push(self.call.reply.clone());
        line.insert("messages".to_owned(), Json::Array(messages));
        if !self.call.tools.is_empty() {
            line.insert("tools".to_owned(), json!(self.call.tools));
        }
        Json::Object(line)
    }
}

/// What lines are held to before they are written.
pub struct Form(jsonschema::Validator);

impl Form {
    /// The form of a line.
    ///
    /// # Errors
    /// None: the schema is this program's own.
    pub fn new() -> Result<Self, String> {
        let schema: Json = serde_json::from_str(SCHEMA).map_err(|error| error.to_string())?;
        let validator = jsonschema::validator_for(&schema);
        Ok(Self(validator.map_err(|error| error.to_string())?))
    }

    /// Whether a line is of the form, also where a schema can't say it: it ends with the assistant, calls are of tools that it has,
    /// arguments are JSON, and each result is of a call before it.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self, line: &Json) -> Result<(), String> {
        if let Some(error) = self.0.iter_errors(line).next() {
            return Err(format!("`{}`: {error}", error.instance_path()));
        }
        let messages = line.get("messages").and_then(Json::as_array);
        let tools = line.get("tools").and_then(Json::as_array);
        let tools: BTreeSet<&str> = (tools.into_iter().flatten())
            .filter_map(tool_name)
            .collect();
        let mut calls = BTreeSet::new();
        let mut last = "";
        for message in messages.into_iter().flatten() {
            let text = |key: &str| message.get(key).and_then(Json::as_str).unwrap_or_default();
            last = text("role");
            let id = text("tool_call_id");
            if last == "tool" && !calls.contains(id) {
                return Err(format!(
                    "a result answers `{id}`, which is no call before it"
                ));
            }
            for call in calls_of(message) {
                let part = |way: &str| call.pointer(way).and_then(Json::as_str).unwrap_or_default();
                let name = tool_name(call).unwrap_or_default();
                let arguments = part("/function/arguments");
                if !tools.contains(name) {
                    return Err(format!("`{name}` is called, which is no tool of the line"));
                }
                if !serde_json::from_str::<Json>(arguments).is_ok_and(|json| json.is_object()) {
                    return Err(format!(
                        "the arguments of a call of `{name}` are no JSON object"
                    ));
                }
                calls.insert(part("/id").to_owned());
            }
        }
        match last {
            "assistant" => Ok(()),
            _ => Err("it does not end with the assistant".to_owned()),
        }
    }
}

/// Which pairs are wanted.
pub struct Filter {
    program: Program,
    text: String,
}

impl Filter {
    /// A condition on [`NAMES`].
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn new(text: &str) -> Result<Self, String> {
        let mut scope = Scope::default();
        for name in NAMES {
            scope.declare(
                name,
                match name {
                    "messages" | "tools" => Type::list(Type::Json),
                    "usage" => Type::Record(crate::expr::ty::USAGE),
                    "finish" | "thread" | "row" => Type::String,
                    "score" => Type::map(Type::Float),
                    _ => Type::Json,
                },
            );
        }
        let types = TypeTable::default();
        let program = condition(text, &scope, &types).map_err(|wrong| match wrong.help {
            Some(help) => format!("{}; {help}", wrong.message),
            None => wrong.message,
        })?;
        Ok(Self {
            program,
            text: text.to_owned(),
        })
    }

    /// Whether it holds for a pair.
    ///
    /// # Errors
    /// Why it can't be said, in words.
    pub fn holds_for(&self, pair: &Pair) -> Result<bool, String> {
        match self.program.eval(&Names(pair)) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("`{}` is {}, no bool", self.text, other.to_json())),
            Err(error) => Err(format!("`{}`: {}", self.text, error.message)),
        }
    }
}

/// A pair as the values of [`NAMES`].
struct Names<'p>(&'p Pair);

impl Env for Names<'_> {
    fn slot(&self, slot: Slot) -> Option<Value> {
        let Pair {
            call,
            thread,
            row,
            scores,
        } = self.0;
        Some(match *NAMES.get(slot.0 as usize)? {
            "messages" => Value::from_json(&json!(call.messages)),
            "output" => Value::from_json(&call.reply),
            "tools" => Value::from_json(&json!(call.tools)),
            "usage" => Value::from_json(&json!(call.usage)),
            "finish" => Value::text(call.finish.as_str()),
            "thread" => Value::text(thread.as_str()),
            "row" => Value::text(row.as_str()),
            _ => {
                let scores = scores.iter();
                Value::Map(
                    scores
                        .map(|(name, score)| (name.as_str(), Value::Float(*score)))
                        .collect(),
                )
            }
        })
    }

    fn field(&self, _: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("a filter has no effects".to_owned())
    }
}
