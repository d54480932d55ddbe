//! `providers`: how the models' providers are reached.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::backend::llm::openai::{ApiKey, OPENAI_URL, Settings, Structured};
use crate::backend::secret::Secret;
use crate::backend::yaml::Cursor;

use super::Entry;
use super::variables::{Form, Variables};

/// Variable with OpenAI's key.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

const KEYS: [&str; 10] = [
    "kind",
    "base_url",
    "api_key",
    "headers",
    "timeout",
    "idle_timeout",
    "max_concurrency",
    "max_tokens_field",
    "structured_output",
    "extra_body",
];

/// Providers that need no entry.
pub fn known(env: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, Entry<Settings>> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    // Where models are is said by graphc.yaml alone: `graphc audit` shows it without an environment.
    let mut openai = Settings::new("openai", OPENAI_URL);
    openai.api_key = key_of(set(KEY_VARIABLE));
    let openai = Entry {
        value: openai,
        span: None,
        missing: Vec::new(),
    };
    BTreeMap::from([("openai".to_owned(), openai)])
}

fn key_of(set: Option<String>) -> ApiKey {
    match set {
        Some(key) => ApiKey::Given(Secret::new(key)),
        None => ApiKey::Missing(KEY_VARIABLE.to_owned()),
    }
}

/// Reads one entry.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<Settings> {
    let table = cursor.table("a provider", &KEYS)?;
    // What is wrong in one entry hides nothing in the next.
    let kind = table.require("kind");
    let kind = kind.and_then(|kind| kind.word("kind of provider", &[("openai", ())]));
    let url = match table.get("base_url") {
        Some(cursor) => address(&cursor, variables),
        None => Some(OPENAI_URL.to_owned()),
    };
    let known = kind.is_some() && url.is_some();
    let url = url.unwrap_or_default();
    let mut settings = Settings::new(cursor.key(), &url);
    settings.api_key = match table.get("api_key") {
        Some(cursor) => variables
            .secret(&cursor)
            .map_or(ApiKey::None, ApiKey::Given),
        // OpenAI's key is for OpenAI alone, not for whatever server speaks its protocol.
        None if url == OPENAI_URL => key_of(variables.get(KEY_VARIABLE)),
        None => ApiKey::None,
    };
    if let Some(headers) = table.get("headers") {
        settings.headers = read_headers(&headers, variables)
            .into_iter()
            .map(|(name, value)| (name, Secret::new(value)))
            .collect();
    }
    settings.timeout = table.get("timeout").and_then(|c| c.timeout());
    settings.idle_timeout = table.get("idle_timeout").and_then(|c| c.timeout());
    if let Some(cursor) = table.get("max_concurrency") {
        let most = cursor.count().filter(|most| *most > 0);
        if most.is_none() && cursor.json().is_u64() {
            cursor.expected("at least 1");
        }
        settings.max_concurrency = most.and_then(|most| usize::try_from(most).ok());
    }
    if let Some(cursor) = table.get("max_tokens_field") {
        let fields = ["max_tokens", "max_completion_tokens"].map(|field| (field, field));
        if let Some(field) = cursor.word("field for the most tokens", &fields) {
            settings.max_tokens_field = field.to_owned();
        }
    }
    if let Some(cursor) = table.get("structured_output") {
        let ways = [
            ("json_schema", Structured::JsonSchema),
            ("json_object", Structured::JsonObject),
            ("prompt", Structured::Prompt),
        ];
        if let Some(way) = cursor.word("way to ask for structured output", &ways) {
            settings.structured = way;
        }
    }
    if let Some(extra) = table.get("extra_body") {
        let entries = extra.entries().into_iter();
        settings.extra_body = entries
            .map(|(name, value)| (name.to_owned(), variables.tree(&value)))
            .collect();
    }
    settings.secrets = variables.secrets();
    known.then_some(settings)
}

fn address(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<String> {
    let url = variables.text(cursor, Form::Plain)?;
    // A variable that isn't set is reported where the provider is used.
    let known = !variables.all_set() || Url::parse(&url).is_ok_and(|url| url.has_host());
    if !known {
        let message = "`base_url` must be an address such as `http://127.0.0.1:11434/v1`";
        cursor.report(cursor.finding(message));
        return None;
    }
    Some(url.trim_end_matches('/').to_owned())
}

/// Reads a map of headers.
pub fn read_headers(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, cursor) in cursor.entries() {
        let Some(value) = variables.text(&cursor, Form::Plain) else {
            continue;
        };
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            cursor.report(cursor.key_finding(format!("`{name}` is no name of a header")));
        } else if HeaderValue::from_str(&value).is_err() {
            cursor.report(cursor.finding(format!("the value of `{name}` can't be a header")));
        } else {
            headers.push((name.to_owned(), value));
        }
    }
    headers
}
