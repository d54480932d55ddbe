//! What serves what, as `graphc.yaml` says it: kinds, hosts, and names of variables, never their values.
//!
//! The file is read by name here and not through [`Config`](crate::project::config::Config), which has variables
//! filled in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::audit::{Served, Services};
use crate::project::config::KNOWN;
use crate::project::spec::provider::Kind;

/// Reads the settings, which are well-formed.
pub fn services(text: Option<&str>, profile: Option<&str>) -> Services {
    let json: Json = text
        .and_then(|text| serde_yaml::from_str(text).ok())
        .unwrap_or_default();
    let default = json.get("default_profile").and_then(Json::as_str);
    let profile = profile.or(default).map(str::to_owned);
    let chosen = profile
        .as_ref()
        .and_then(|name| json.get("profiles")?.get(name));
    let section = |key: &str| -> BTreeMap<String, Json> {
        let sections = [Some(&json), chosen];
        let entries = sections
            .into_iter()
            .flatten()
            .filter_map(|of| of.get(key)?.as_object())
            .flatten();
        entries.map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    let known = KNOWN.map(|kind| {
        let entry = json!({ "kind": kind.word() });
        (kind.word().to_owned(), provider(&entry))
    });
    let mut providers = BTreeMap::from(known);
    providers.extend(
        section("providers")
            .iter()
            .map(|(n, e)| (n.clone(), provider(e))),
    );
    let memory = [chosen, Some(&json)].into_iter().flatten();
    let embed = memory.filter_map(|of| of.get("memory")).next();
    let embed = embed.and_then(|memory| memory.get("embed"));
    let embed = embed.and_then(|embed| providers.get(embed.get("provider")?.as_str()?));
    let memory = embed.cloned().unwrap_or_default();
    let tools = section("tools");
    let models = section("models").into_iter();
    Services {
        profile,
        tools: tools
            .iter()
            .map(|(name, entry)| (name.clone(), tool(entry)))
            .collect(),
        memory,
        providers,
        models: models
            .filter_map(|(name, entry)| Some((name, entry.as_str()?.to_owned())))
            .collect(),
    }
}

fn provider(entry: &Json) -> Served {
    let url = entry.get("base_url").and_then(Json::as_str);
    let word = entry.get("kind").and_then(Json::as_str).unwrap_or("openai");
    let kind = Kind::ALL.iter().find(|(known, _)| *known == word);
    let kind = kind.map_or(Kind::OpenAi, |(_, kind)| *kind);
    let mut variables = variables(entry);
    if entry.get("api_key").is_none() && url.is_none_or(|url| url == kind.base_url()) {
        variables.insert(kind.key_variable().to_owned());
    }
    Served {
        kind: word.to_owned(),
        to: Some(host(url.unwrap_or(kind.base_url()))),
        variables: variables.into_iter().collect(),
    }
}

fn tool(entry: &Json) -> Served {
    let mut needs = variables(entry);
    let (kind, to) = if let Some(http) = entry.get("http") {
        let url = http.get("url").and_then(Json::as_str);
        ("http", url.map(host))
    } else if let Some(command) = entry.get("command") {
        // A list names variables that the program is given.
        let given = entry.get("env").and_then(Json::as_array);
        let given = given.into_iter().flatten().filter_map(Json::as_str);
        needs.extend(given.map(str::to_owned));
        let words = command.as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Json::as_str).collect();
        ("command", Some(format!("program `{}`", words.join(" "))))
    } else if let Some(sql) = entry.get("sql") {
        let database = sql.get("database").and_then(Json::as_str);
        ("sql", database.map(database_of))
    } else {
        ("script", None)
    };
    Served {
        kind: kind.to_owned(),
        to,
        variables: needs.into_iter().collect(),
    }
}

/// The file or the host of a database.
fn database_of(address: &str) -> String {
    match address.strip_prefix("sqlite:") {
        Some(file) => format!("file `{file}`"),
        None => host(address),
    }
}

/// The host of an address; the address as it is written where a variable or an argument decides it.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..end).unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match host.contains("{{") {
        true => "a host that the arguments name".to_owned(),
        false => host.to_owned(),
    }
}

/// Names of the variables in all texts of an entry.
fn variables(entry: &Json) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![entry];
    while let Some(json) = waiting.pop() {
        match json {
            Json::String(text) => {
                // `$${` is written for `${`.
                for part in text.replace("$${", "").split("${").skip(1) {
                    let name = part.split(['}', ':']).next().unwrap_or("");
                    names.insert(name.to_owned());
                }
            }
            Json::Array(items) => waiting.extend(items),
            Json::Object(entries) => waiting.extend(entries.values()),
            _ => {}
        }
    }
    names
}
