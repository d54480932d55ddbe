//! The messages of a conversation: the field that has them, what a line adds to it, and what a run has added.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::Type;
use crate::expr::function::message;
use crate::expr::ty::MESSAGE;
use crate::ir::{Channel, Field, FieldMode, Flow, GraphId};
use crate::value::Value;

use super::super::Failure;

/// Its name.
const NAME: &str = "messages";

/// `in out messages: list<message>` of the graph that is talked to.
#[derive(Debug, Clone, Copy)]
pub struct MessagesField {
    /// Whether what is given is added to what is there. Else it takes its place, and all that was said is given again.
    adds: bool,
}

impl MessagesField {
    /// That of a graph.
    pub fn of(flow: &Flow, graph: GraphId) -> Result<Self, Failure> {
        let declared = flow.graphs.get(graph);
        let name = declared.map_or("", |graph| graph.name.as_str());
        let field = declared.and_then(|graph| graph.fields.iter().find(|field| field.name == NAME));
        let wanted = Type::list(Type::Record(MESSAGE));
        match field {
            Some(field) if field.mode == FieldMode::InOut && field.ty == wanted => Ok(Self {
                adds: !matches!(field.channel, Channel::Last | Channel::AnyLast),
            }),
            field => Err(lacks(flow, name, field)),
        }
    }

    /// What is sent beside the messages, which come from the conversation.
    pub fn beside(self, input: Json) -> Result<JsonMap<String, Json>, Failure> {
        let mut input = match input {
            Json::Object(input) => input,
            Json::Null => JsonMap::new(),
            _ => {
                let failure = Failure::unusable("`--input` is no object");
                return Err(failure.help("write an object of the graph's other `in` fields"));
            }
        };
        input.remove(NAME);
        Ok(input)
    }

    /// The messages in a state.
    pub fn in_state(self, state: &JsonMap<String, Json>) -> Vec<Json> {
        let messages = state.get(NAME).and_then(Json::as_array);
        messages.cloned().unwrap_or_default()
    }

    /// The input that says a line, `others` being what is sent beside it, behind what was said before.
    pub fn input(self, others: &JsonMap<String, Json>, before: &[Json], line: &str) -> Json {
        let own = json!({ "role": "user", "content": line });
        let said = match self.adds {
            true => vec![own],
            false => before.iter().cloned().chain([own]).collect(),
        };
        let mut input = others.clone();
        input.insert(NAME.to_owned(), said.into());
        Json::Object(input)
    }
}

fn lacks(flow: &Flow, graph: &str, field: Option<&Field>) -> Failure {
    let has = match field {
        None => "no `messages`".to_owned(),
        Some(field) => {
            let mode = match field.mode {
                FieldMode::In => "in ",
                FieldMode::Out => "out ",
                FieldMode::InOut => "in out ",
                FieldMode::Private => "",
            };
            format!("`{mode}messages: {}`", flow.types.show(&field.ty))
        }
    };
    Failure::unusable(format!(
        "graph `{graph}` has {has}, and a conversation needs `in out messages: list<message>`"
    ))
    .help("declare `in out messages: list<message> via add_messages` in its state, name another graph with `--graph`, or use `graphc run`")
}

/// The texts of the assistant messages of a list that another list lacks, in their order. Messages without a text say nothing.
pub fn added(before: &[Json], after: &[Json]) -> Vec<String> {
    let mut known: Vec<&Json> = before.iter().collect();
    let mut texts = Vec::new();
    for message in after {
        if let Some(at) = known.iter().position(|one| *one == message) {
            known.swap_remove(at);
        } else if message.get("role").and_then(Json::as_str) == Some("assistant") {
            texts.push(text(message));
        }
    }
    texts.retain(|text| !text.trim().is_empty());
    texts
}

/// What a message says.
pub fn text(message: &Json) -> String {
    let message = Value::from_json(message);
    message.as_map().map_or_else(String::new, message::text)
}
