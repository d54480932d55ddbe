//! The condition of a scripted reply, on the request that it would answer.

use std::sync::Arc;

use crate::expr::condition::condition;
use crate::expr::eval::{Effect, Env, Program};
use crate::expr::function::message;
use crate::expr::ty::{MESSAGE, Type, TypeTable};
use crate::expr::{Scope, Slot};
use crate::project::yaml::Cursor;
use crate::value::{List, Value};

/// A compiled condition.
///
/// In scope: `messages` (all but the system message), `system` (its text, empty where there is none),
/// `prompt` (the text of all messages), `tools` (names), `model` (its name in the flow).
#[derive(Debug, Clone)]
pub struct When {
    /// As it is written.
    pub text: String,
    program: Arc<Program>,
}

/// Names in scope, in the order of their slots.
const NAMES: [&str; 5] = ["messages", "system", "prompt", "tools", "model"];

impl When {
    /// Reads one.
    pub fn read(cursor: &Cursor<'_>) -> Option<When> {
        let text = cursor.text()?;
        let mut scope = Scope::default();
        for name in NAMES {
            let ty = match name {
                "messages" => Type::list(Type::Record(MESSAGE)),
                "tools" => Type::list(Type::String),
                _ => Type::String,
            };
            scope.declare(name, ty);
        }
        let types = TypeTable::default();
        match condition(text, &scope, &types) {
            Ok(program) => Some(When {
                text: text.to_owned(),
                program: Arc::new(program),
            }),
            Err(wrong) => {
                let known = || format!("known here: {}", crate::base::name::list(NAMES));
                let help = wrong.help.unwrap_or_else(known);
                let message = format!("this is no condition: {}", wrong.message);
                cursor.report(cursor.finding(message).help(help));
                None
            }
        }
    }

    /// Whether it holds for a request. One that fails, or gives no bool, doesn't.
    pub fn holds_for(&self, request: &Asked<'_>) -> bool {
        let result = self.program.eval(request);
        matches!(result, Ok(Value::Bool(true)))
    }
}

/// A request, as far as a condition looks at it.
pub struct Asked<'a> {
    /// All messages.
    pub messages: &'a List,
    /// Names of its tools.
    pub tools: Vec<&'a str>,
    /// The model's name in the flow.
    pub model: &'a str,
}

impl Asked<'_> {
    fn is_system(message: &Value) -> bool {
        message.get("role").and_then(Value::as_str) == Some("system")
    }
}

impl Env for Asked<'_> {
    fn slot(&self, slot: Slot) -> Option<Value> {
        let messages = self.messages.iter();
        Some(match *NAMES.get(slot.0 as usize)? {
            "messages" => {
                let rest = messages.filter(|message| !Self::is_system(message));
                Value::List(rest.cloned().collect())
            }
            "system" => {
                let system: List = messages.filter(|m| Self::is_system(m)).cloned().collect();
                Value::from(prompt(&system))
            }
            "prompt" => Value::from(prompt(self.messages)),
            "tools" => {
                let names = self.tools.iter().copied();
                Value::List(names.map(Value::from).collect())
            }
            _ => Value::from(self.model),
        })
    }

    fn field(&self, _: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("a scenario's condition has no effects".to_owned())
    }
}

/// The text of all messages of a request.
pub fn prompt(messages: &List) -> String {
    let texts: Vec<String> = messages.iter().map(text).collect();
    texts.join("\n\n")
}

fn text(message: &Value) -> String {
    message.as_map().map_or(String::new(), message::text)
}
