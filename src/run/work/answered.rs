//! An answer to a question, as the journal keeps it: what was said, by whom, when and on which thread.

use serde_json::{Value as Json, json};

use crate::run::context::RunContext;
use crate::run::interrupt::OpenInterrupt;
use crate::value::Value;

use super::approve;

/// Who a person is of whom nobody has said it.
pub const UNKNOWN: &str = "unknown";

/// An answer.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'k> {
    /// What was said.
    pub answer: &'k Json,
    /// By whom.
    pub by: &'k str,
    /// When, RFC 3339.
    pub at: &'k str,
    /// The life of the thread that it was said on.
    pub life: Option<&'k str>,
    /// Of an approval: the arguments that the person was shown.
    pub asked: Option<&'k Json>,
}

impl<'k> Answered<'k> {
    /// As the journal has it.
    pub fn of(kept: &'k Json) -> Self {
        let text = |key| kept.get(key).and_then(Json::as_str);
        Self {
            answer: kept.get("answer").unwrap_or(&Json::Null),
            by: text("by").unwrap_or(UNKNOWN),
            at: text("at").unwrap_or_default(),
            life: text("life"),
            asked: kept.get("asked"),
        }
    }

    /// Whether a person has said it on the thread of a run: not on the one that this was forked from.
    pub fn is_own(&self, cx: &RunContext) -> bool {
        cx.forked_from.is_none() || self.life == cx.life.as_deref()
    }

    /// `answered` in expressions.
    pub fn to_value(self) -> Value {
        let at = self.at.parse().map_or(Value::Null, Value::Timestamp);
        let entries = [("by", Value::text(self.by)), ("at", at)];
        Value::Map(entries.into_iter().collect())
    }
}

/// An answer for the journal.
pub fn to_keep(
    open: &OpenInterrupt,
    answer: &Json,
    (by, at): (Option<&str>, &str),
    life: Option<&str>,
) -> Json {
    let mut kept = json!({ "answer": answer, "by": by.unwrap_or(UNKNOWN), "at": at });
    if let Some(entries) = kept.as_object_mut() {
        entries.extend(life.map(|life| ("life".to_owned(), json!(life))));
        let asked = open.ask.get("args").filter(|_| approve::is_approval(open));
        entries.extend(asked.map(|asked| ("asked".to_owned(), asked.clone())));
    }
    kept
}
