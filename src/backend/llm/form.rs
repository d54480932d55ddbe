//! How the form of a structured reply is asked for.

use serde_json::Value as Json;

use crate::expr::function::message::record;
use crate::run::model::{ChatRequest, OutputSpec};
use crate::value::{List, Value};

use super::schema::{self, Dialect};
use crate::project::spec::provider::Structured;

/// How a reply is held to a form by the provider, beside the order in words.
#[derive(Debug, Clone)]
pub struct Form {
    /// Its own way: never [`Structured::Prompt`].
    pub way: Structured,
    /// Name of the type, as every provider takes it: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// The schema as the provider takes it.
    pub schema: Json,
    /// Whether the schema is one that the server can keep to.
    pub strict: bool,
    /// Whether the value asked for is the one entry of an object ([`schema::VALUE`]).
    pub wrapped: bool,
}

impl Form {
    /// The form of a request's reply, by that way or the nearest that can be; what has to be said in words is added to its messages.
    pub fn of(request: &mut ChatRequest, way: Structured, dialect: &Dialect) -> Option<Self> {
        let output = request.output.as_ref()?;
        // Where one tool must be called, no other is; and some models take no form beside tools.
        let free = request.tools.is_empty() || (dialect.beside_tools && way != Structured::Tool);
        let form = match way {
            Structured::JsonSchema | Structured::Tool if free => held(output, way, dialect),
            Structured::JsonObject if free && schema::is_object(&output.schema) => Some(Self {
                way,
                name: name(&output.name),
                schema: output.schema.clone(),
                strict: false,
                wrapped: false,
            }),
            _ => None,
        };
        if form
            .as_ref()
            .is_none_or(|form| form.way == Structured::JsonObject)
        {
            request.messages = with_order(&request.messages, output);
        }
        form
    }
}

fn held(output: &OutputSpec, way: Structured, dialect: &Dialect) -> Option<Form> {
    let wrapped = dialect.object && !schema::is_object(&output.schema);
    let schema = match wrapped {
        true => schema::wrapped(&output.schema),
        false => output.schema.clone(),
    };
    let fitted = dialect.fit(&schema);
    let strict = fitted.is_some();
    // A tool's arguments are of any schema.
    let may_differ = dialect.lenient || way == Structured::Tool;
    Some(Form {
        way,
        name: name(&output.name),
        schema: fitted.or(may_differ.then_some(schema))?,
        strict,
        wrapped,
    })
}

/// The messages with an order to answer with JSON of that schema, in the system message.
fn with_order(messages: &List, output: &OutputSpec) -> List {
    let order = format!(
        "Answer with JSON only, without any other text, that is valid under this JSON Schema:\n{}",
        output.schema
    );
    let text = |message: &Value, key: &str| message.get(key)?.as_str().map(str::to_owned);
    let first = messages.iter().next();
    let system = first.filter(|message| text(message, "role").as_deref() == Some("system"));
    let said = system.and_then(|message| text(message, "content"));
    let with_order = match &said {
        Some(said) => format!("{said}\n\n{order}"),
        None => order,
    };
    let rest = messages.iter().skip(usize::from(said.is_some())).cloned();
    let with_order = record("system", Value::text(with_order), []);
    std::iter::once(with_order).chain(rest).collect()
}

fn name(name: &str) -> String {
    let allowed = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    let name: String = name.chars().map(allowed).take(64).collect();
    match name.is_empty() {
        true => "output".to_owned(),
        false => name,
    }
}
