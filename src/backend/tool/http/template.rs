//! Filling arguments into the texts of a request.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqwest::Url;
use serde_json::{Map as JsonMap, Value as Json};

use super::rendering;
use crate::base::secret::RunSecrets;

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
    /// For a call with these arguments, in a run with these secrets.
    pub fn new(args: &Args, secrets: &RunSecrets) -> Self {
        let secrets = secrets.iter();
        let secrets = secrets.map(|(name, secret)| (name.to_owned(), secret.reveal().into()));
        let secrets = Value::from(secrets.collect::<BTreeMap<String, Value>>());
        let context = minijinja::context! { args => Value::from(Serde(args)), secrets };
        Self { context }
    }

    /// A text.
    ///
    /// # Errors
    /// The template's message.
    pub fn text(&self, template: &str) -> Result<String, String> {
        self.rendered(&environment(), template)
    }

    /// An address: what is filled in is percent-encoded, and no segment of its path that has such is empty, `.` or `..`, so that
    /// an argument can't reach another path.
    ///
    /// # Errors
    /// The template's message, or the segment.
    pub fn url(&self, template: &str) -> Result<Address, String> {
        let mut environment = environment();
        environment.set_formatter(|out, state, value| {
            if value.is_undefined() {
                return minijinja::escape_formatter(out, state, value);
            }
            let text = match value.is_none() {
                true => String::new(),
                false => value.to_string(),
            };
            let encoded = utf8_percent_encode(&text, ENCODED);
            Ok(write!(out, "{FILLED}{encoded}")?)
        });
        address(&self.rendered(&environment, template)?)
    }

    fn rendered(&self, environment: &Environment<'_>, template: &str) -> Result<String, String> {
        let template = environment.template_from_str(template);
        let rendered = template.and_then(|of| rendering::render(&of, self.context.clone()));
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
        let value =
            compiled.and_then(|compiled| rendering::within(|| compiled.eval(&self.context)));
        let value = value.map_err(|error| explain(&error))?;
        match value.is_undefined() {
            true => Err(format!("`{expression}` is undefined")),
            false => serde_json::to_value(&value).map_err(|error| error.to_string()),
        }
    }
}

/// An address that is filled in.
pub struct Address {
    /// The address.
    pub url: Url,
    /// Whether arguments made up part of its host.
    pub host_filled: bool,
}

/// Stands ahead of each value that is filled into an address: a character that no address has.
const FILLED: char = '\u{1}';

fn address(marked: &str) -> Result<Address, String> {
    let begin = marked.find("://").map_or(0, |at| at + 3);
    let is_end = |c: char| matches!(c, '/' | '\\' | '?' | '#');
    let (scheme, rest) = marked.split_at(begin);
    let (host, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    for segment in path.split(['/', '\\']).filter(|part| part.contains(FILLED)) {
        let plain = segment.replace(FILLED, "");
        let decoded = percent_decode_str(&plain).decode_utf8_lossy();
        if plain.is_empty() {
            return Err("an argument that makes up a segment of its path is empty".to_owned());
        }
        // Many servers decode before they follow such segments.
        let mut parts = decoded.split(['/', '\\']);
        if parts.any(|part| matches!(part, "." | "..")) {
            return Err(format!(
                "its arguments make the segment `{decoded}` of its path, which leads elsewhere"
            ));
        }
    }
    let host_filled = scheme.contains(FILLED) || host.contains(FILLED);
    let url = Url::parse(&marked.replace(FILLED, ""));
    let url = url.map_err(|error| match host_filled && host.contains("%3A") {
        true => "an argument of its host holds `:`, and no host does: the port has an argument of its own, as in `http://{{ args.host }}:{{ args.port }}/`".to_owned(),
        false => format!("its url: {error}"),
    })?;
    Ok(Address { url, host_filled })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    rendering::bound(&mut environment, UndefinedBehavior::Strict);
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
    Ok(names(template)?.0)
}

/// Names of the run's secrets that a template uses.
pub fn secrets(template: &str) -> Vec<String> {
    names(template).map_or(Vec::new(), |(_, secrets)| secrets)
}

/// Names of arguments and of secrets.
fn names(template: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let environment = environment();
    let parsed = environment.template_from_str(template);
    let parsed = parsed.map_err(|error| explain(&error))?;
    let used = parsed.undeclared_variables(true);
    let (mut args, mut secrets) = (Vec::new(), Vec::new());
    for variable in used {
        let first = |rest: &str| rest.split('.').next().unwrap_or(rest).to_owned();
        match variable.split_once('.') {
            Some(("args", rest)) => args.push(first(rest)),
            Some(("secrets", rest)) => secrets.push(first(rest)),
            _ if variable == "args" => {}
            _ => {
                return Err(format!(
                    "`{variable}` is unknown here, only `args.NAME` and `secrets.NAME` are"
                ));
            }
        }
    }
    args.sort();
    secrets.sort();
    Ok((args, secrets))
}
