//! Filling arguments into the texts of a request.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map as JsonMap, Value as Json};
use url::Url;

use crate::base::secret::RunSecrets;
use crate::expr::eval::{Effect, Env};
use crate::expr::template::{Template, TemplateError};
use crate::expr::{Scope, Slot};
use crate::value::{Map, Value};

/// Arguments of a call.
pub type Args = JsonMap<String, Json>;

/// All but what RFC 3986 calls unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The names that a text of a request may use, by their slots.
const NAMES: [&str; 2] = ["args", "secrets"];

/// Fills the arguments of one call in.
pub struct Renderer {
    scope: Scope,
    values: Values,
}

/// What [`NAMES`] stand for.
struct Values([Value; 2]);

impl Env for Values {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.0.get(slot.0 as usize).cloned()
    }

    fn field(&self, _: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("the text of a request has no effects".to_owned())
    }
}

impl Renderer {
    /// For a call with these arguments, in a run with these secrets.
    pub fn new(args: &Args, secrets: &RunSecrets) -> Self {
        let args = args.iter();
        let args = args.map(|(name, json)| (name.as_str(), Value::from_json(json)));
        let secrets = secrets.iter();
        let secrets = secrets.map(|(name, secret)| (name, Value::from(secret.reveal())));
        let values = [Map::from_iter(args), Map::from_iter(secrets)].map(Value::Map);
        Self {
            scope: Scope::of_names(NAMES),
            values: Values(values),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// The template's message.
    pub fn text(&self, template: &str) -> Result<String, String> {
        let rendered = self.compiled(template)?.render(&self.values);
        rendered.map_err(message)
    }

    /// An address: what is filled in is percent-encoded, and no segment of its path that has such is empty, `.` or `..`, so that
    /// an argument can't reach another path.
    ///
    /// # Errors
    /// The template's message, or the segment.
    pub fn url(&self, template: &str) -> Result<Address, String> {
        let encode = |text: &str| {
            let encoded = utf8_percent_encode(text, ENCODED);
            Cow::Owned(format!("{FILLED}{encoded}"))
        };
        let rendered = self
            .compiled(template)?
            .render_encoded(&self.values, encode);
        address(&rendered.map_err(message)?)
    }

    /// A tree of texts. A text that is one expression and nothing else (`"{{ args.limit }}"`) gives
    /// its value with its type.
    ///
    /// # Errors
    /// The template's message.
    pub fn json(&self, tree: &Json) -> Result<Json, String> {
        Ok(match tree {
            Json::String(text) => {
                let value = self.compiled(text)?.value(&self.values);
                value.map_err(message)?.to_json()
            }
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

    fn compiled(&self, template: &str) -> Result<Template, String> {
        Template::compile_text(template, &self.scope).map_err(message)
    }
}

fn message(error: TemplateError) -> String {
    error.message
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

/// Names of the arguments that a template uses.
///
/// # Errors
/// Why it is no template of a request.
pub fn arguments(template: &str) -> Result<Vec<String>, String> {
    let checked = checked(template)?;
    if checked.fields_of("secrets").is_none() {
        return Err("a secret has to be named, as in `secrets.NAME`".to_owned());
    }
    Ok(fields(&checked, "args"))
}

/// Names of the run's secrets that a template uses.
pub fn secrets(template: &str) -> Vec<String> {
    checked(template).map_or(Vec::new(), |checked| fields(&checked, "secrets"))
}

fn checked(template: &str) -> Result<Template, String> {
    Template::check_text(template, &Scope::of_names(NAMES)).map_err(|found| match &found.help {
        Some(help) => format!("{}: {help}", found.message),
        None => found.message.clone(),
    })
}

fn fields(template: &Template, of: &str) -> Vec<String> {
    let fields = template.fields_of(of).unwrap_or_default();
    fields.into_iter().map(str::to_owned).collect()
}
