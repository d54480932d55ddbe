//! The file as a whole.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::base::{FileId, SourceMap, name};
use crate::diag::literal_secret::literal_secrets;
use crate::diag::{Diagnostics, codes};
use crate::project::spec::address::{STORE_FORMS, is_file_path};
use crate::project::yaml::{Cursor, Document, Table};

use super::variables::{Form, Variables};
use super::{
    Config, Entry, LintLevel, family, host, mcp, memory, model, provider, telemetry, tool,
};

const KEYS: [&str; 12] = [
    "default_profile",
    "store",
    "memory",
    "telemetry",
    "providers",
    "tools",
    "allow_hosts",
    "mcp_servers",
    "models",
    "profiles",
    "lints",
    "model_families",
];
const PROFILE_KEYS: [&str; 10] = [
    "store",
    "memory",
    "telemetry",
    "providers",
    "tools",
    "allow_hosts",
    "mcp_servers",
    "models",
    "lints",
    "model_families",
];

/// Entries of one kind: the place of each is looked up in the text.
const MOST_ENTRIES: usize = 1000;

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a `graphc.yaml`. `profile` is the one asked for; without one it is `default_profile`, and
/// without that the base alone. `env` gives the environment's variables.
///
/// # Errors
/// All that is wrong in the file, other profiles included, with places. Variables that aren't set
/// are left to `backend::bind`, which knows what is used.
pub fn load(
    sources: &SourceMap,
    file: FileId,
    profile: Option<&str>,
    env: Env<'_>,
) -> Result<Config, Diagnostics> {
    let doc = Document::parse(sources, file, &codes::INVALID_CONFIG)?;
    let found = RefCell::new(Diagnostics::new());
    let mut config = Config::empty(env);
    config.file = Some(file);
    if !doc.root.is_null() {
        let root = Cursor::new(&doc, &found);
        read(&root, profile, env, &mut config);
        let unknown = mcp::unknown_servers(&config, &root);
        unknown.into_iter().for_each(|one| root.report(one));
        // Where settings are otherwise right, it is said by what uses memory.
        if found.borrow().has_errors() {
            let unknown = memory::unknown_providers(&config, &root);
            unknown.into_iter().for_each(|one| root.report(one));
        }
    } else if let Some(profile) = profile {
        let root = Cursor::new(&doc, &found);
        root.report(root.finding(format!("there is no profile `{profile}`")));
    }
    let mut found = found.into_inner();
    let text = sources.file(file).map_or("", |file| &file.text);
    for secret in literal_secrets(file, text) {
        // A text that must come from the environment is reported as that.
        let span = secret.span();
        let known = found.iter().any(|other| {
            let other = other.span();
            other.start <= span.end && span.start <= other.end
        });
        if !known {
            found.push(secret);
        }
    }
    found.sort();
    match found.has_errors() {
        true => {
            found.append(super::wrong_levels(&config));
            found.sort();
            Err(found)
        }
        false => {
            config.doubts = found;
            Ok(config)
        }
    }
}

fn read(root: &Cursor<'_>, profile: Option<&str>, env: Env<'_>, config: &mut Config) {
    let Some(table) = root.table("graphc.yaml", &KEYS) else {
        return;
    };
    let mut base = Config::empty(env);
    section(&table, env, &mut base);
    config.take(&base);
    config.parts.push(base);
    let profiles = table.get("profiles").map(|profiles| profiles.entries());
    let profiles = profiles.unwrap_or_default();
    let default = table.get("default_profile");
    let chosen = profile.or_else(|| default.as_ref()?.text());
    if let Some(chosen) = chosen {
        let known = || profiles.iter().map(|(name, _)| *name);
        let written = table.entries();
        let misspelt = || {
            let mut others = written.iter().map(|(key, _)| *key);
            others.any(|key| !KEYS.contains(&key) && name::closest(key, KEYS) == Some("profiles"))
        };
        if known().any(|name| name == chosen) {
            config.profile = Some(chosen.to_owned());
        } else if profiles.is_empty() && misspelt() {
            // The profiles are there, under another key, which is reported.
        } else {
            let help =
                name::did_you_mean(chosen, known()).unwrap_or_else(|| match profiles.len() {
                    0 => format!("add `profiles: {{ {chosen}: {{}} }}`, or leave the profile out"),
                    _ => format!("there is {}", name::list(known())),
                });
            let message = format!("there is no profile `{chosen}`");
            let at = default.filter(|_| profile.is_none());
            let at = at.or(table.get("profiles")).unwrap_or(root.clone());
            root.report(at.finding(message).help(help));
        }
    }
    for (name, cursor) in &profiles {
        let used = config.profile.as_deref() == Some(*name);
        let table = match cursor.json().is_null() {
            true => None,
            false => cursor.table("a profile", &PROFILE_KEYS),
        };
        // What is wrong in a profile is reported whether or not it is in use.
        let mut part = Config::empty(env);
        part.profile = Some((*name).to_owned());
        if let Some(table) = table {
            section(&table, env, &mut part);
        }
        if used {
            config.take(&part);
        }
        config.parts.push(part);
    }
}

/// Reads what the base and a profile have in common; entries replace those of the same name.
fn section(table: &Table<'_>, env: Env<'_>, config: &mut Config) {
    if let Some(cursor) = table.get("store") {
        let variables = Variables::new(env);
        if let Some(url) = variables.text(&cursor, Form::Plain) {
            known_store(&cursor, &url, variables.all_set());
            let url = crate::base::secret::Secret::new(url);
            config.store = Some(variables.entry(url, &cursor));
        }
    }
    if let Some(cursor) = table.get("memory") {
        let variables = Variables::new(env);
        let spec = memory::read(&cursor, &variables);
        config.memory = spec.map(|spec| variables.entry(spec, &cursor));
    }
    if let Some(cursor) = table.get("telemetry") {
        let variables = Variables::new(env);
        let spec = telemetry::read(&cursor, &variables);
        config.telemetry = spec.map(|spec| variables.entry(spec, &cursor));
    }
    entries(
        table,
        "providers",
        env,
        &mut config.providers,
        provider::read,
    );
    entries(table, "tools", env, &mut config.tools, tool::read);
    let servers = &mut config.mcp_servers;
    entries(table, "mcp_servers", env, servers, mcp::server);
    if let Some(cursor) = table.get("allow_hosts") {
        config.allow_hosts = Some(host::read_allowed(&cursor));
    }
    entries(table, "models", env, &mut config.models, model::read);
    entries(table, "lints", env, &mut config.lints, lint);
    let families = &mut config.model_families;
    entries(table, "model_families", env, families, family::read);
}

/// Reports an address of no kind of store. What stands behind its first colon may be secret, and is not shown.
fn known_store(cursor: &Cursor<'_>, url: &str, all_set: bool) {
    const KINDS: [&str; 4] = ["memory", "sqlite", "postgres", "postgresql"];
    let (kind, rest) = match url.split_once(':') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (url, None),
    };
    let known = match (kind, rest) {
        ("memory", rest) => rest.is_none(),
        ("sqlite", Some(path)) => is_file_path(path),
        ("postgres" | "postgresql", Some(rest)) => rest.starts_with("//"),
        _ => false,
    };
    if known || !all_set {
        return;
    }
    let misspelt = !KINDS.contains(&kind);
    let near = name::closest(kind, KINDS).filter(|_| misspelt);
    let message = match misspelt {
        true => format!("`{kind}` is no kind of store"),
        false => format!("this is no address of a `{kind}` store"),
    };
    let help = near.map(|near| format!("did you mean `{near}`?"));
    let help = help.unwrap_or_else(|| format!("write {STORE_FORMS}"));
    cursor.report(cursor.finding(message).help(help));
}

fn entries<T>(
    table: &Table<'_>,
    key: &str,
    env: Env<'_>,
    into: &mut BTreeMap<String, Entry<T>>,
    read: impl Fn(&Cursor<'_>, &Variables<'_>) -> Option<T>,
) {
    let Some(cursor) = table.get(key) else { return };
    if cursor
        .json()
        .as_object()
        .is_some_and(|all| all.len() > MOST_ENTRIES)
    {
        let message = format!("`{key}` has more than {MOST_ENTRIES} entries");
        return cursor.report(cursor.key_finding(message));
    }
    for (name, cursor) in cursor.entries() {
        let variables = Variables::new(env);
        if let Some(value) = read(&cursor, &variables) {
            into.insert(name.to_owned(), variables.entry(value, &cursor));
        }
    }
}

fn lint(cursor: &Cursor<'_>, _: &Variables<'_>) -> Option<LintLevel> {
    let words = [
        ("allow", LintLevel::Allow),
        ("info", LintLevel::Info),
        ("warn", LintLevel::Warn),
        ("deny", LintLevel::Deny),
    ];
    cursor.word("level of a lint", &words)
}
