//! Replies of a scripted model.

use serde_json::Value as Json;

use crate::ir::FinishReason;
use crate::project::spec::script::Fault;
use crate::project::yaml::{Cursor, Path};

use super::when::When;

/// One reply of a model.
#[derive(Debug, Clone)]
pub struct ModelReply {
    /// What it says, or how it fails.
    pub body: Result<ReplyBody, Fault>,
    /// On what request; on any where there is none.
    pub when: Option<When>,
    /// Where it is written.
    pub at: Path,
}

/// What a reply says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyBody {
    /// Text; that of `output` is its JSON.
    pub text: String,
    /// Tool calls.
    pub tool_calls: Vec<ScriptedCall>,
    /// Why it ended, where it was cut off.
    pub finish: Option<FinishReason>,
}

/// A tool call of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// Id; made up where none is written.
    pub id: Option<String>,
    /// Tool.
    pub name: String,
    /// Arguments as the model writes them: JSON text, or a text that is meant to be malformed.
    pub arguments: String,
}

const KEYS: [&str; 8] = [
    "output",
    "text",
    "tool_calls",
    "finish",
    "fail",
    "message",
    "retry_after",
    "when",
];

/// Reads one.
pub fn read(cursor: &Cursor<'_>) -> Option<ModelReply> {
    let table = cursor.table("a model's reply", &KEYS)?;
    let says = ["output", "text", "tool_calls"].map(|key| table.value(key).is_some());
    let fails = table.get("fail").is_some();
    let body = match (says, fails) {
        ([false, false, false], true) => Err(Fault::read(&table)?),
        ([true, true, _], _) | ([false, false, false], _) | (_, true) => {
            if table.has_unknown() {
                return None;
            }
            let message =
                "a model's reply has one of `output` and `text`, `tool_calls`, or else `fail`";
            cursor.report(cursor.finding(message));
            return None;
        }
        _ => Ok(ReplyBody {
            text: match (table.value("output"), table.get("text")) {
                (Some(output), _) => output.json().to_string(),
                (None, Some(text)) => text.text()?.to_owned(),
                (None, None) => String::new(),
            },
            tool_calls: table.get("tool_calls").map_or(Vec::new(), |calls| {
                calls.items().iter().filter_map(call).collect()
            }),
            finish: table.get("finish").and_then(|finish| {
                let words = [FinishReason::Length, FinishReason::ContentFilter];
                finish.word(
                    "reason why a reply is cut off",
                    &words.map(|of| (of.word(), of)),
                )
            }),
        }),
    };
    Some(ModelReply {
        body,
        when: table.get("when").and_then(|when| When::read(&when)),
        at: cursor.path().clone(),
    })
}

fn call(cursor: &Cursor<'_>) -> Option<ScriptedCall> {
    let table = cursor.table("a tool call", &["name", "args", "id"])?;
    let args = table.get("args").map(|args| args.json().clone());
    Some(ScriptedCall {
        id: table.get("id").and_then(|id| id.text()).map(str::to_owned),
        name: table.require("name")?.text()?.to_owned(),
        arguments: match args {
            None => "{}".to_owned(),
            Some(Json::String(text)) => text,
            Some(json) => json.to_string(),
        },
    })
}
