//! What must hold when a scenario has run.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::base::Span;
use crate::project::subset::subset_diff;
use crate::project::yaml::{Cursor, Path, Step};

use super::path::PathStep;

/// How a run may end.
const STATUS: [(&str, &str); 4] = [
    ("done", "done"),
    ("interrupted", "interrupted"),
    ("failed", "failed"),
    ("cancelled", "cancelled"),
];

const KEYS: [&str; 12] = [
    "status",
    "left",
    "path",
    "output",
    "state",
    "events",
    "models",
    "calls",
    "error",
    "interrupts",
    "permitted",
    "memory",
];

/// `expect` of a scenario; what is not written is not checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    /// `done`, `interrupted`, `failed` or `cancelled`.
    pub status: Option<Written<&'static str>>,
    /// Names of a caller's nodes that the graph leaves for.
    pub left: Option<Written<Vec<String>>>,
    /// Nodes in the order in which they ran.
    pub path: Option<Written<Vec<PathStep>>>,
    /// Parts of the run's output.
    pub output: Option<Written<Json>>,
    /// Conditions on `state`.
    pub state: Vec<Condition>,
    /// Events in order: objects with `name` and, where it matters, parts of the `payload`.
    pub events: Option<Written<Vec<Written<Json>>>>,
    /// What the models of a node were shown, call by call.
    pub models: Vec<(String, Vec<ModelExpect>)>,
    /// How many calls reached each tool.
    pub calls: BTreeMap<String, Written<u64>>,
    /// Parts of the error: `kind`, `message`, `node`, `path`.
    pub error: Option<Written<Json>>,
    /// Parts of the open interrupts, in order: `node` is the path of the node.
    pub interrupts: Option<Written<Vec<Written<Json>>>>,
    /// Parts of the calls that people have permitted, in any order: `tool`, `args`, `once`, `question`, `by`.
    pub permitted: Option<Written<Vec<Written<Json>>>>,
    /// Parts of what long-term memory holds at the end, by namespace and key.
    pub memory: Option<Written<Vec<Written<Json>>>>,
}

/// Something and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Written<T> {
    /// The thing.
    pub value: T,
    /// Where.
    pub at: Path,
}

/// A condition in the flow's expression language.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its text.
    pub text: String,
    /// Where it is written.
    pub at: Path,
    /// The same, as a span.
    pub span: Span,
}

/// What one model call must have been shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelExpect {
    /// Names of all tools, in order.
    pub tools: Option<Written<Vec<String>>>,
    /// Texts that occur in its messages.
    pub prompt_contains: Vec<Written<String>>,
    /// Where it is written.
    pub at: Path,
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Where the expectation is written.
    pub at: Path,
    /// What was expected and what is.
    pub message: String,
}

impl Expect {
    /// Whether nothing beyond a status is expected.
    pub fn is_bare(&self) -> bool {
        let status = self.status.clone();
        let bare = Self {
            status,
            ..Self::default()
        };
        *self == bare
    }
}

impl Written<Json> {
    /// Compares the named parts with what is.
    pub fn compare(&self, actual: &Json) -> Vec<Mismatch> {
        let found = subset_diff(&self.value, actual).into_iter();
        let mismatch = |difference: crate::project::subset::Difference| {
            let message = difference.to_string();
            let mut at = self.at.clone();
            at.extend(difference.path);
            Mismatch { at, message }
        };
        found.map(mismatch).collect()
    }
}

impl ModelExpect {
    /// Compares with what a call was shown: the names of its tools, in order, and the text of its messages.
    pub fn compare(&self, shown: &[String], prompt: &str) -> Vec<Mismatch> {
        let mut found = Vec::new();
        if let Some(tools) = &self.tools
            && tools.value != shown
        {
            let (expected, actual) = (tools.value.join(", "), shown.join(", "));
            found.push(Mismatch {
                at: tools.at.clone(),
                message: format!("expected the tools [{expected}], found [{actual}]"),
            });
        }
        if !self.prompt_contains.is_empty() {
            let absent = self.prompt_contains.iter();
            found.extend(
                absent
                    .filter(|text| !prompt.contains(&text.value))
                    .map(|text| Mismatch {
                        at: text.at.clone(),
                        message: format!(
                            "`{}` does not occur in the prompt:\n{prompt}",
                            text.value
                        ),
                    }),
            );
        }
        found
    }
}

impl Condition {
    /// Reads one.
    pub fn read(cursor: &Cursor<'_>) -> Option<Condition> {
        Some(Condition {
            text: cursor.text()?.to_owned(),
            at: cursor.path().clone(),
            span: cursor.span(),
        })
    }
}

/// Reads `expect`.
pub fn read(cursor: &Cursor<'_>) -> Option<Expect> {
    let table = cursor.table("`expect`", &KEYS)?;
    let list = |key: &str| table.get(key).map_or(Vec::new(), |part| part.items());
    let entries = |key: &str| table.get(key).map_or(Vec::new(), |part| part.entries());
    let calls = entries("calls").into_iter();
    Some(Expect {
        status: table.get("status").and_then(|status| {
            let word = status.word("status of a run", &STATUS)?;
            Some(written(word, &status))
        }),
        left: table
            .get("left")
            .map(|left| written(one_or_more(&left), &left)),
        path: table.get("path").map(|path| {
            let steps = path.items();
            let steps = steps.iter().filter_map(|step| step.text());
            let steps = steps.map(|step| match step {
                "..." => PathStep::Any,
                node => PathStep::Node(node.to_owned()),
            });
            written(steps.collect(), &path)
        }),
        output: table.get("output").map(|output| json(&output)),
        state: list("state").iter().filter_map(Condition::read).collect(),
        events: table
            .get("events")
            .map(|events| records(&events, "an expected event", &["name", "payload"])),
        models: entries("models")
            .into_iter()
            .map(|(node, calls)| {
                let calls = calls.items();
                (node.to_owned(), calls.iter().filter_map(model).collect())
            })
            .collect(),
        calls: calls
            .filter_map(|(tool, count)| Some((tool.to_owned(), written(count.count()?, &count))))
            .collect(),
        error: table.get("error").map(|error| {
            error.table("an expected error", &["kind", "message", "node", "path"]);
            json(&error)
        }),
        interrupts: table.get("interrupts").map(|interrupts| {
            let keys = ["id", "node", "path", "ask", "permits"];
            records(&interrupts, "an expected interrupt", &keys)
        }),
        permitted: table.get("permitted").map(|permitted| {
            let keys = ["tool", "args", "once", "used", "question", "by"];
            records(&permitted, "an expected permission", &keys)
        }),
        memory: table
            .get("memory")
            .map(|items| records(&items, "an expected item", &["space", "key", "value"])),
    })
}

fn written<T>(value: T, cursor: &Cursor<'_>) -> Written<T> {
    Written {
        value,
        at: cursor.path().clone(),
    }
}

/// A text, or a list of them.
fn one_or_more(cursor: &Cursor<'_>) -> Vec<String> {
    match cursor.json() {
        Json::String(one) => vec![one.clone()],
        _ => cursor.texts(),
    }
}

fn json(cursor: &Cursor<'_>) -> Written<Json> {
    written(cursor.json().clone(), cursor)
}

fn records(cursor: &Cursor<'_>, what: &str, keys: &[&str]) -> Written<Vec<Written<Json>>> {
    let items = cursor.items();
    let items = items.iter().filter_map(|item| {
        item.table(what, keys)?;
        Some(json(item))
    });
    written(items.collect(), cursor)
}

fn model(cursor: &Cursor<'_>) -> Option<ModelExpect> {
    let table = cursor.table("an expected model call", &["tools", "prompt_contains"])?;
    let contains = table.get("prompt_contains");
    let contains = contains.map_or(Vec::new(), |texts| match texts.json() {
        Json::String(_) => vec![texts],
        _ => texts.items(),
    });
    Some(ModelExpect {
        tools: table
            .get("tools")
            .map(|tools| written(tools.texts(), &tools)),
        prompt_contains: contains
            .iter()
            .filter_map(|text| Some(written(text.text()?.to_owned(), text)))
            .collect(),
        at: cursor.path().clone(),
    })
}

/// The way to an element of a list that an expectation holds.
pub fn element(at: &Path, index: usize) -> Path {
    let mut at = at.clone();
    at.push(Step::Index(index));
    at
}
