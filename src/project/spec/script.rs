//! Fixed replies in place of a tool: `script` in `graphc.yaml`, `tools` in a scenario.

use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

use crate::ir::ErrorKind;
use crate::project::subset::is_subset;
use crate::project::yaml::{Cursor, Path, Table};

/// A failure that is injected: `{ fail: rate_limit, message: .., retry_after: 1s }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Kind.
    pub kind: ErrorKind,
    /// Text; one that names the kind where none is written.
    pub message: String,
    /// When to ask again.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// The keys that it reads.
    pub const KEYS: [&str; 3] = ["fail", "message", "retry_after"];

    /// Reads one; `None` where `fail` is not written or of no meaning.
    pub fn read(table: &Table<'_>) -> Option<Fault> {
        let words = ErrorKind::ALL.map(|kind| (kind.word(), kind));
        let kind = table.get("fail")?.word("kind of error", &words)?;
        let message = table.get("message");
        let message = message.and_then(|message| message.text());
        Some(Fault {
            kind,
            message: message.map_or_else(|| format!("injected {}", kind.word()), str::to_owned),
            retry_after: table.get("retry_after").and_then(|wait| wait.duration()),
        })
    }
}

/// One reply of a tool: an element of `script` in `graphc.yaml` or of `tools` in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// Parts of the arguments that it is for; `None` for any.
    pub matches: Option<Json>,
    /// Result or failure.
    pub outcome: Result<Json, Fault>,
    /// What it reports first.
    pub progress: Vec<Json>,
    /// Where it is written.
    pub at: Path,
}

impl ToolReply {
    /// Reads one.
    pub fn read(cursor: &Cursor<'_>) -> Option<ToolReply> {
        let keys = [
            "result",
            "progress",
            "match",
            "fail",
            "message",
            "retry_after",
        ];
        let table = cursor.table("a tool's reply", &keys)?;
        let outcome = match (table.value("result"), table.get("fail")) {
            (Some(result), None) => {
                let fault_only = ["message", "retry_after"].iter();
                for entry in fault_only.filter_map(|key| table.get(key)) {
                    let message = format!("`{}` only goes with `fail`", entry.key());
                    entry.report(entry.key_finding(message));
                }
                Ok(result.json().clone())
            }
            (None, Some(_)) => Err(Fault::read(&table)?),
            _ => {
                if table.has_unknown() {
                    return None;
                }
                let message = "a tool's reply has either `result` or `fail`";
                cursor.report(cursor.finding(message));
                return None;
            }
        };
        Some(ToolReply {
            matches: table.get("match").map(|part| part.json().clone()),
            outcome,
            progress: table.get("progress").map_or(Vec::new(), |list| {
                list.items()
                    .iter()
                    .map(|item| item.json().clone())
                    .collect()
            }),
            at: cursor.path().clone(),
        })
    }

    /// Whether it is for a call with these arguments.
    pub fn fits(&self, args: &JsonMap<String, Json>) -> bool {
        let fits = |named: &Json| is_subset(named, &Json::Object(args.clone()));
        self.matches.as_ref().is_none_or(fits)
    }
}
