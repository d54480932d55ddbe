//! `providers`: how the models' providers are reached.

use std::collections::BTreeMap;

use http::header::{HeaderName, HeaderValue};

use crate::base::name;
use crate::base::secret::{Secret, Secrets};
use crate::project::spec::address::web_address;
use crate::project::spec::provider::{ApiKey, Kind, PromptCache, Settings};
use crate::project::yaml::{Cursor, Table};

use super::Entry;
use super::variables::{Form, Variables};

const KEYS: [&str; 12] = [
    "kind",
    "base_url",
    "api_key",
    "headers",
    "query",
    "timeout",
    "idle_timeout",
    "max_concurrency",
    "max_tokens_field",
    "structured_output",
    "prompt_cache",
    "extra_body",
];

/// Kinds whose own provider needs no entry, and is called as they are.
pub const KNOWN: [Kind; 3] = [Kind::OpenAi, Kind::Anthropic, Kind::Gemini];

/// Providers that need no entry.
pub fn known(env: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, Entry<Settings>> {
    // Where models are is said by graphc.yaml alone: `graphc audit` shows it without an environment.
    let known = KNOWN.map(|kind| {
        let mut settings = Settings::new(kind.word(), kind, kind.base_url());
        settings.api_key = key_of(kind, env(kind.key_variable()));
        let entry = Entry {
            value: settings,
            span: None,
            missing: Vec::new(),
            secrets: Secrets::default(),
        };
        (kind.word().to_owned(), entry)
    });
    BTreeMap::from(known)
}

/// An empty key is none.
fn key_of(kind: Kind, set: Option<String>) -> ApiKey {
    match set.filter(|key| !key.is_empty()) {
        Some(key) => ApiKey::Given(Secret::new(key)),
        None => ApiKey::Missing(kind.key_variable().to_owned()),
    }
}

/// Reads one entry.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<Settings> {
    let table = cursor.table("a provider", &KEYS)?;
    // What is wrong in one entry hides nothing in the next.
    let kinds = || Kind::ALL.iter().map(|(word, _)| *word);
    let kind = table.require_with("kind", || format!("it is one of {}", name::list(kinds())));
    let known = kind.and_then(|kind| kind.word("kind of provider", &Kind::ALL));
    let kind = known.unwrap_or(Kind::OpenAi);
    let url = match table.get("base_url") {
        Some(cursor) => address(&cursor, variables),
        None => Some(kind.base_url().to_owned()),
    };
    let complete = known.is_some() && url.is_some();
    let url = url.unwrap_or_default();
    let mut settings = Settings::new(cursor.key(), kind, &url);
    settings.api_key = match table.get("api_key") {
        Some(cursor) => variables
            .secret(&cursor)
            .map_or(ApiKey::None, ApiKey::Given),
        // A provider's key is for that alone, not for whatever server speaks its protocol.
        None if url == kind.base_url() => key_of(kind, variables.get(kind.key_variable())),
        None => ApiKey::None,
    };
    if let Some(headers) = table.get("headers") {
        settings.headers = read_headers(&headers, variables)
            .into_iter()
            .map(|(name, value)| (name, Secret::new(value)))
            .collect();
    }
    if let Some(query) = table.get("query") {
        let entries = query.entries().into_iter();
        let filled = entries.filter_map(|(name, value)| {
            Some((name.to_owned(), variables.text(&value, Form::Plain)?))
        });
        settings.query = filled.collect();
    }
    bounds(&table, &mut settings);
    protocol(&table, known, &mut settings);
    if let Some(extra) = table.get("extra_body") {
        let entries = extra.entries().into_iter();
        settings.extra_body = entries
            .map(|(name, value)| (name.to_owned(), variables.tree(&value)))
            .collect();
    }
    settings.secrets = variables.secrets();
    complete.then_some(settings)
}

fn bounds(table: &Table<'_>, settings: &mut Settings) {
    settings.timeout = table.get("timeout").and_then(|c| c.timeout());
    settings.idle_timeout = table.get("idle_timeout").and_then(|c| c.timeout());
    let most = table.get("max_concurrency");
    settings.max_concurrency = most.and_then(|most| most.at_least_one());
}

/// What only some protocols have. Without a kind that is known nothing is said of it.
fn protocol(table: &Table<'_>, kind: Option<Kind>, settings: &mut Settings) {
    let foreign = |cursor: &Cursor<'_>, own: Kind| {
        if kind.is_some_and(|kind| kind != own) {
            let (key, own, kind) = (cursor.key(), own.word(), settings.kind.word());
            let message = format!("`{key}` is of providers of kind `{own}`; this one is `{kind}`");
            cursor.report(cursor.key_finding(message));
        }
    };
    if let Some(cursor) = table.get("max_tokens_field") {
        foreign(&cursor, Kind::OpenAi);
        let fields = ["max_tokens", "max_completion_tokens"].map(|field| (field, field));
        if let Some(field) = cursor.word("field for the most tokens", &fields) {
            settings.max_tokens_field = field.to_owned();
        }
    }
    if let Some(cursor) = table.get("prompt_cache") {
        foreign(&cursor, Kind::Anthropic);
        let times = [("5m", PromptCache::Short), ("1h", PromptCache::Long)];
        settings.prompt_cache = cursor.word("time that a prompt is kept", &times);
    }
    if let Some(cursor) = table.get("structured_output") {
        let ways = settings.kind.ways();
        if let Some(way) = cursor.word("way to ask for structured output", ways) {
            settings.structured = way;
        }
    }
}

fn address(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<String> {
    let url = variables.text(cursor, Form::Plain)?;
    // A variable that isn't set is reported where the provider is used.
    if !variables.all_set() {
        return Some(url);
    }
    let Some(address) = web_address(&url) else {
        let message = "`base_url` must be an address such as `http://127.0.0.1:11434/v1`";
        cursor.report(cursor.finding(message));
        return None;
    };
    if address.query().is_some() || address.fragment().is_some() {
        let message = "`base_url` has a `?` or `#`, and the paths of requests are put behind it";
        let help = "write a query under `query:`";
        cursor.report(cursor.finding(message).help(help));
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
