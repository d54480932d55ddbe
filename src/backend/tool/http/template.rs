//! Filling arguments into the texts of a request.

use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map as JsonMap, Value as Json};

use super::Args;

/// Instructions of one template: enough for any request, too few to hang.
const FUEL: u64 = 100_000;

/// All but what RFC 3986 calls unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Fills the arguments of one call in.
pub struct Renderer {
    context: Value,
}

impl Renderer {
    /// For a call with these arguments.
    pub fn new(args: &Args) -> Self {
        let context = minijinja::context! { args => Value::from(Serde(args)) };
        Self { context }
    }

    /// A text.
    ///
    /// # Errors
    /// The template's message.
    pub fn text(&self, template: &str) -> Result<String, String> {
        let rendered = environment().render_str(template, &self.context);
        rendered.map_err(|error| explain(&error))
    }

    /// An address: what is filled in is percent-encoded, so that an argument can't reach another
    /// path or host.
    ///
    /// # Errors
    /// The template's message.
    pub fn url(&self, template: &str) -> Result<String, String> {
        let mut environment = environment();
        environment.set_formatter(|out, state, value| {
            if value.is_undefined() {
                return minijinja::escape_formatter(out, state, value);
            }
            let text = match value.is_none() {
                true => String::new(),
                false => value.to_string(),
            };
            let encoded = utf8_percent_encode(&text, ENCODED).to_string();
            Ok(out.write_str(&encoded)?)
        });
        let rendered = environment.render_str(template, &self.context);
        rendered.map_err(|error| explain(&error))
    }

    /// A tree of texts. A text that is one expression and nothing else (`"{{ args.limit }}"`) gives
    /// its value with its type.
    ///
    /// # Errors
    /// The template's message.
    pub fn json(&self, tree: &Json) -> Result<Json, String> {
        Ok(match tree {
            Json::String(text) => match lone_expression(text) {
                Some(expression) => self.value(expression)?,
                None => Json::String(self.text(text)?),
            },
            Json::Array(items) => {
                let items = items.iter().map(|item| self.json(item));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => {
                let entries = entries.iter();
                let filled = entries.map(|(key, value)| Ok((key.clone(), self.json(value)?)));
                Json::Object(filled.collect::<Result<JsonMap<_, _>, String>>()?)
            }
            other => other.clone(),
        })
    }

    fn value(&self, expression: &str) -> Result<Json, String> {
        let environment = environment();
        let compiled = environment.compile_expression(expression);
        let value = compiled.and_then(|compiled| compiled.eval(&self.context));
        let value = value.map_err(|error| explain(&error))?;
        match value.is_undefined() {
            true => Err(format!("`{expression}` is undefined")),
            false => serde_json::to_value(&value).map_err(|error| error.to_string()),
        }
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment
}

fn explain(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// The expression of a text that is `{{ expression }}` and nothing else.
fn lone_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let whole = !inner.contains("{{") && !inner.contains("}}") && !inner.starts_with('-');
    whole.then(|| inner.trim())
}

/// Names of the arguments that a template uses.
///
/// # Errors
/// Why it is no template.
pub fn arguments(template: &str) -> Result<Vec<String>, String> {
    let environment = environment();
    let parsed = environment.template_from_str(template);
    let parsed = parsed.map_err(|error| explain(&error))?;
    let used = parsed.undeclared_variables(true);
    let mut names: Vec<String> = Vec::new();
    for variable in used {
        match variable.split_once('.') {
            Some(("args", rest)) => {
                names.push(rest.split('.').next().unwrap_or(rest).to_owned());
            }
            _ if variable == "args" => {}
            _ => return Err(format!("`{variable}` is unknown here, only `args` is")),
        }
    }
    names.sort();
    Ok(names)
}
