//! Cassettes: what models and tools answered when a scenario was recorded, in a file that people can read.
//!
//! A scenario that says `recorded: true` has the calls that it has no replies for played from its cassette. A call is found by its node,
//! the visit and what is asked. Where that differs, [`mod@changes`] says which part does. `graphc test --record` makes the calls for real and
//! writes the cassette anew.

mod changes;
mod request;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::backend::secret::Secrets;
use crate::ir::ErrorKind;
use crate::project::scenario::cassette_name;
use crate::run::model::ChatReply;

pub use changes::changes;
pub use request::{asked, request};

/// A larger file is refused.
const MAX_BYTES: u64 = 64 << 20;

/// The calls of one scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cassette {
    /// Its name.
    pub scenario: String,
    /// In the order in which they were answered.
    pub calls: Vec<Call>,
}

/// A call and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// `model` or `tool`.
    pub call: Kind,
    /// Name of the model or tool in the flow.
    pub name: String,
    /// Path of the node.
    pub node: String,
    /// Which call of that kind and name by the node it is, from 1.
    pub visit: u64,
    /// Index of the send that made the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<u32>,
    /// Digest of `asked`.
    pub request: String,
    /// What was asked: of a tool its arguments.
    pub asked: Json,
    /// What was answered.
    #[serde(flatten)]
    pub answer: Answer,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A model.
    Model,
    /// A tool.
    Tool,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Tool => "tool",
        }
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A model's reply.
    Reply(ChatReply),
    /// A tool's result.
    Result(Json),
    /// A tool's error.
    Error(Failed),
}

/// An error of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// Its kind.
    pub kind: ErrorKind,
    /// What it says.
    pub message: String,
}

impl Call {
    /// What it is, in words: `call 2 of tool `search` in `desk/look``.
    pub fn describe(&self) -> String {
        let Call {
            call,
            name,
            node,
            visit,
            ..
        } = self;
        format!("call {visit} of {} `{name}` in `{node}`", call.word())
    }

    /// Whether it is of the same kind, name, node and send.
    pub fn is_beside(&self, other: &Call) -> bool {
        let place = |call: &Call| (call.call, call.send);
        place(self) == place(other) && self.name == other.name && self.node == other.node
    }

    /// What a thread counts calls by: the node's path of a model's, the name of a tool's.
    pub fn subject(&self) -> (Kind, String) {
        let of = match self.call {
            Kind::Model => &self.node,
            Kind::Tool => &self.name,
        };
        (self.call, of.clone())
    }
}

impl Answer {
    /// The same with every secret in its texts as `***`. Names stay.
    pub fn scrubbed(self, secrets: &Secrets) -> Self {
        let text = |text: String| match secrets.scrub_result(Json::String(text)) {
            Json::String(text) => text,
            other => other.to_string(),
        };
        match self {
            Answer::Result(result) => Answer::Result(secrets.scrub_result(result)),
            Answer::Error(Failed { kind, message }) => Answer::Error(Failed {
                kind,
                message: text(message),
            }),
            Answer::Reply(mut reply) => {
                let whole = text(reply.text.clone());
                for part in &mut reply.opaque {
                    let before = reply.text.get(..part.at).unwrap_or(&reply.text);
                    part.at = whole.floor_char_boundary(text(before.to_owned()).len());
                    part.data = secrets.scrub_result(part.data.take());
                }
                for call in &mut reply.tool_calls {
                    call.arguments = text(std::mem::take(&mut call.arguments));
                }
                Answer::Reply(ChatReply {
                    text: whole,
                    ..reply
                })
            }
        }
    }
}

/// Where the cassette of a scenario is: `desk.cassettes/hands_over.yaml` beside `desk.test.yaml`.
pub fn path(suite: &Path, scenario: &str) -> PathBuf {
    let file = suite
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let name = file.strip_suffix(".test.yaml").unwrap_or(file);
    let folder = suite.with_file_name(format!("{name}.cassettes"));
    folder.join(cassette_name(scenario))
}

/// Reads the cassette of a scenario of that file; `None` where there is none.
///
/// # Errors
/// Why it can't be read, with the line; that it is another scenario's.
pub fn load(suite: &Path, scenario: &str) -> Result<Option<Cassette>, String> {
    let path = path(suite, scenario);
    let shown = path.display();
    let failed =
        |why: &dyn std::fmt::Display| format!("the cassette `{shown}` can't be read: {why}");
    let size = match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
        Ok(file) => file.len(),
    };
    if size > MAX_BYTES {
        return Err(failed(&format!(
            "it is larger than {} MiB",
            MAX_BYTES >> 20
        )));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let cassette: Cassette = serde_yaml::from_str(&text).map_err(|error| failed(&error))?;
    match cassette.scenario == scenario {
        true => Ok(Some(cassette)),
        false => Err(format!(
            "the cassette `{shown}` is of scenario `{}`, not of `{scenario}`",
            cassette.scenario
        )),
    }
}

/// Writes the cassette of a scenario of that file as a whole.
///
/// # Errors
/// Why it can't be written.
pub fn save(suite: &Path, cassette: &Cassette) -> Result<(), String> {
    let path = path(suite, &cassette.scenario);
    let failed = |why: &dyn std::fmt::Display| {
        format!("the cassette `{}` can't be written: {why}", path.display())
    };
    let text = serde_yaml::to_string(cassette).map_err(|error| failed(&error))?;
    let text = format!(
        "# What `graphc test --record` was answered. Don't edit it: record it again.\n{text}"
    );
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    // A reader never sees half of it.
    let beside = path.with_extension("yaml.part");
    std::fs::write(&beside, text).map_err(|error| failed(&error))?;
    std::fs::rename(&beside, &path).map_err(|error| failed(&error))
}
