//! `services`: programs that are started for a file's scenarios.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::project::config::{fill, is_address, is_variable};
use crate::project::yaml::{Cursor, Path};

/// How long a service may take until it is ready, where it doesn't say.
const WITHIN: Duration = Duration::from_secs(10);

/// `kb: { command: [..], ready: URL, env: { KB_URL: .. }, within: 10s }`. In its texts `${PORT}` stands for its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: Path,
    /// The program and its arguments; at least the program.
    command: Vec<String>,
    /// The address that answers once it is ready.
    ready: String,
    /// Variables that graphc.yaml then has.
    env: Vec<(String, String)>,
    /// The longest that it may take until it is ready.
    pub within: Duration,
}

impl Service {
    /// The program and its arguments.
    pub fn command(&self, port: u16) -> impl Iterator<Item = String> {
        self.command.iter().map(move |word| known(word, port))
    }

    /// The address that answers once it is ready.
    pub fn ready(&self, port: u16) -> String {
        known(&self.ready, port)
    }

    /// Variables that graphc.yaml then has.
    pub fn variables(&self, port: u16) -> impl Iterator<Item = (String, String)> {
        let env = self.env.iter();
        env.map(move |(name, value)| (name.clone(), known(value, port)))
    }
}

/// Reads `services`.
pub fn read(cursor: &Cursor<'_>) -> Vec<Service> {
    let mut given = BTreeSet::new();
    let mut services = Vec::new();
    for (name, cursor) in cursor.entries() {
        services.extend(service(name, &cursor, &mut given));
    }
    services
}

fn service(name: &str, cursor: &Cursor<'_>, given: &mut BTreeSet<String>) -> Option<Service> {
    let table = cursor.table("a service", &["command", "ready", "env", "within"])?;
    let (command, ready) = (table.require("command"), table.require("ready"));
    let (command, ready) = (command?, ready?);
    let words = command.argv()?;
    let words: Vec<String> = words.iter().filter_map(text).collect();
    if words.first().is_none_or(|program| program.is_empty()) {
        command.report(command.finding("`command` names no program"));
        return None;
    }
    let within = table.get("within").and_then(|within| within.timeout());
    Some(Service {
        name: name.to_owned(),
        at: cursor.path().clone(),
        command: words,
        ready: address(&ready)?,
        env: table
            .get("env")
            .map_or(Vec::new(), |env| variables(&env, given)),
        within: within.unwrap_or(WITHIN),
    })
}

fn address(cursor: &Cursor<'_>) -> Option<String> {
    let text = text(cursor)?;
    if is_address(&known(&text, 1)) {
        return Some(text);
    }
    let help = "write one such as `http://127.0.0.1:${PORT}/health`";
    cursor.report(cursor.finding(format!("`{text}` is no address")).help(help));
    None
}

/// `given` has the variables of the services before it.
fn variables(cursor: &Cursor<'_>, given: &mut BTreeSet<String>) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for (name, value) in cursor.entries() {
        if !is_variable(name) {
            let message = format!("`{name}` is no name of a variable");
            value.report(value.key_finding(message));
        } else if !given.insert(name.to_owned()) {
            let message = format!("another service gives `{name}` already");
            value.report(value.key_finding(message));
        } else if let Some(text) = text(&value) {
            variables.push((name.to_owned(), text));
        }
    }
    variables
}

/// A text in which nothing but `${PORT}` is to be filled in.
fn text(cursor: &Cursor<'_>) -> Option<String> {
    let text = cursor.text()?;
    match filled(text, 1) {
        Ok(_) => Some(text.to_owned()),
        Err(message) => {
            let help = "the two characters themselves are written `$${`";
            cursor.report(cursor.finding(message).help(help));
            None
        }
    }
}

/// A text that was read, with its port.
fn known(text: &str, port: u16) -> String {
    filled(text, port).unwrap_or_default()
}

/// A text with its port.
///
/// # Errors
/// In words, where it asks for something else.
fn filled(text: &str, port: u16) -> Result<String, String> {
    let mut other = None;
    let filled = fill(text, |name| {
        if name != "PORT" {
            other.get_or_insert_with(|| name.to_owned());
        }
        port.to_string()
    });
    match other {
        Some(name) => Err(format!(
            "`${{{name}}}` is not filled in here, only `${{PORT}}` is"
        )),
        None => filled.map_err(|_| "`${` has no `}`".to_owned()),
    }
}
