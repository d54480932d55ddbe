//! `tools`: what runs the tools without a body.

use ::http::Method;
use ::http::header::HeaderName;
use serde_json::{Map as JsonMap, Value as Json};
use url::Url;

use crate::base::secret::{Secret, Secrets};
use crate::base::{Span, name};
use crate::project::spec::command::{CommandSpec, DEFAULT_ENV, DEFAULT_LIMIT};
use crate::project::spec::graph::GraphSpec;
use crate::project::spec::http::select::Selector;
use crate::project::spec::http::template;
use crate::project::spec::http::{self, HttpSpec};
use crate::project::spec::mcp::McpSpec;
use crate::project::spec::script::ToolReply;
use crate::project::spec::sql::SqlSpec;
use crate::project::yaml::{Cursor, Table};

use super::variables::{Form, Variables};
use super::{host, mcp, sql};

/// Kinds of tool.
pub const KINDS: [&str; 6] = ["command", "graph", "http", "mcp", "script", "sql"];

/// What runs a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolSpec {
    /// A program.
    Command(CommandSpec),
    /// A graph of another flow.
    Graph(GraphSpec),
    /// A request.
    Http(Box<HttpSpec>),
    /// A tool of an MCP server.
    Mcp(McpSpec),
    /// Fixed replies: the first that fits the arguments.
    Script(Vec<ToolReply>),
    /// A query.
    Sql(Box<SqlSpec>),
}

impl ToolSpec {
    /// Names of the secrets that a run has to be given for it.
    pub fn run_secrets(&self) -> Vec<String> {
        match self {
            ToolSpec::Command(spec) => spec.run_secrets.clone(),
            ToolSpec::Http(spec) => http::secrets(spec),
            ToolSpec::Graph(_) | ToolSpec::Mcp(_) | ToolSpec::Script(_) | ToolSpec::Sql(_) => {
                Vec::new()
            }
        }
    }
}

/// Reads one entry.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<ToolSpec> {
    let open = cursor.open_table()?;
    let kinds: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| open.get(kind).is_some())
        .collect();
    match kinds.as_slice() {
        ["command"] => command(cursor, variables).map(ToolSpec::Command),
        ["http"] => request(cursor, variables).map(|spec| ToolSpec::Http(Box::new(spec))),
        ["graph"] => graph(cursor).map(ToolSpec::Graph),
        ["mcp"] => mcp::tool(cursor).map(ToolSpec::Mcp),
        ["sql"] => sql::read(cursor, variables).map(|spec| ToolSpec::Sql(Box::new(spec))),
        ["script"] => {
            let table = cursor.table("a `script` tool", &["script"])?;
            let replies = table.get("script")?.items();
            let replies = replies.iter().filter_map(ToolReply::read);
            Some(ToolSpec::Script(replies.collect()))
        }
        _ => {
            let one_of = name::list(KINDS);
            let message = format!("`{}` must have exactly one of {one_of}", cursor.key());
            let near = open.entries().into_iter().find_map(|(key, _)| {
                let near = name::closest(key, KINDS).filter(|_| !KINDS.contains(&key))?;
                Some(format!("`{key}` is none of them; did you mean `{near}`?"))
            });
            cursor.report(cursor.key_finding(message).maybe_help(near));
            None
        }
    }
}

fn command(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<CommandSpec> {
    let keys = [
        "command",
        "env",
        "secrets",
        "timeout",
        "max_concurrency",
        "max_output",
    ];
    let table = cursor.table("a `command` tool", &keys)?;
    let mut spec = program(&table, variables)?;
    spec.timeout = table.get("timeout").and_then(|timeout| timeout.timeout());
    let most = table.get("max_concurrency");
    spec.max_concurrency = most.and_then(|most| most.at_least_one());
    spec.limit = most_bytes(&table, DEFAULT_LIMIT);
    Some(spec)
}

fn graph(cursor: &Cursor<'_>) -> Option<GraphSpec> {
    let outer = cursor.table("a `graph` tool", &["graph", "timeout"])?;
    let table = outer.get("graph")?.table("`graph`", &["file", "graph"])?;
    let file = table.require("file")?;
    Some(GraphSpec {
        file: file.text()?.to_owned(),
        file_at: file.span(),
        graph: match table.get("graph") {
            Some(graph) => Some(graph.text()?.to_owned()),
            None => None,
        },
        timeout: outer.get("timeout").and_then(|timeout| timeout.timeout()),
    })
}

/// `max_output` of a tool.
pub(super) fn most_bytes(table: &Table<'_>, default: usize) -> usize {
    let most = table.get("max_output").and_then(|most| most.count());
    most.map_or(default, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

/// A program: `command`, and `env` that it sees.
pub(super) fn program(table: &Table<'_>, variables: &Variables<'_>) -> Option<CommandSpec> {
    let argv = table.get("command")?;
    let items = argv.argv()?;
    items.iter().for_each(no_template);
    let words = items
        .iter()
        .filter_map(|item| Some((variables.text(item, Form::Plain)?, item.span())));
    let (words, at): (Vec<String>, Vec<Span>) = words.unzip();
    if words.first().is_none_or(|program| program.is_empty()) && variables.all_set() {
        argv.report(argv.finding("`command` names no program"));
        return None;
    }
    let passed = |name: &str| Some((name.to_owned(), Secret::new(variables.get(name)?)));
    let mut env: Vec<(String, Secret)> = DEFAULT_ENV.into_iter().filter_map(passed).collect();
    let mut secrets = Secrets::default();
    match table.get("env") {
        None => {}
        Some(list) if list.json().is_array() => {
            let names = list.items();
            let names = names.iter().filter_map(variable);
            let named = names.filter_map(passed);
            env.extend(named.inspect(|(_, value)| secrets.add(value)));
        }
        Some(map) => {
            for (name, value) in map.entries() {
                if !is_variable(name) {
                    let message = format!("`{name}` is no name of a variable");
                    value.report(value.key_finding(message));
                }
                let value = variables.text(&value, Form::Plain)?;
                env.push((name.to_owned(), Secret::new(value)));
            }
        }
    }
    let run_secrets = table.get("secrets").map(|list| list.items());
    let run_secrets = run_secrets.unwrap_or_default();
    // What is written out in the file is none.
    secrets.add_all(&variables.secrets());
    Some(CommandSpec {
        argv: words,
        at,
        env,
        run_secrets: run_secrets
            .iter()
            .filter_map(|name| Some(variable(name)?.to_owned()))
            .collect(),
        secrets,
        timeout: None,
        max_concurrency: None,
        limit: DEFAULT_LIMIT,
    })
}

/// The name of a variable in the list of `env`. What stands behind a `=` may be a secret, and is not shown.
fn variable<'c>(cursor: &'c Cursor<'_>) -> Option<&'c str> {
    let text = cursor.text()?;
    if is_variable(text) {
        return Some(text);
    }
    let (name, value) = match text.split_once('=') {
        Some((name, _)) => (name, Some(name)),
        None => (text, None),
    };
    let (message, help) = match value.filter(|name| is_variable(name)) {
        Some(name) => (
            format!("`env` lists names of variables, and `{name}=..` gives a value"),
            format!(
                "write `{name}` and set that variable, or `env: {{ {name}: \"${{{name}}}\" }}`"
            ),
        ),
        None => (
            match name {
                "" => "an empty text is no name of a variable".to_owned(),
                name => format!("`{name}` is no name of a variable"),
            },
            "list the names of variables that the program may see: `env: [DB_URL]`".to_owned(),
        ),
    };
    cursor.report(cursor.finding(message).help(help));
    None
}

/// Whether it can be the name of a variable of the environment.
pub fn is_variable(name: &str) -> bool {
    let none = |c: char| c.is_whitespace() || c.is_control() || "={}$\"'".contains(c);
    !name.is_empty() && !name.contains(none)
}

/// The words of a command are given as they are: an argument's place in them would stay empty text.
fn no_template(cursor: &Cursor<'_>) {
    if let Some(name) = cursor.json().as_str().and_then(argument) {
        let message = format!("`{name}` is not filled in here: a command's words are no templates");
        let help = "the program reads its arguments as JSON on stdin";
        cursor.report(cursor.finding(message).help(help));
    }
}

/// The first argument that a text would take as a template.
pub(super) fn argument(text: &str) -> Option<&str> {
    let mut inside = text.split("{{").skip(1).map(str::trim_start);
    let rest = inside.find(|rest| rest.starts_with("args."))?;
    let end = rest.find("}}").unwrap_or(rest.len());
    rest.get(..end).map(str::trim)
}

fn request(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<HttpSpec> {
    let outer = cursor.table("an `http` tool", &["http", "timeout", "max_concurrency"])?;
    let keys = ["method", "url", "headers", "query", "body", "result"];
    let table = outer.get("http")?.table("an `http` request", &keys)?;
    let url = table.require("url")?;
    host::note_private(&url);
    let place = url;
    let url = filled_text(&place, variables)?;
    if variables.all_set() && !is_address(&url) {
        let written = place.json().as_str().unwrap_or_default();
        let message = format!("`{written}` is no address");
        let help = "write one such as `https://api.example.com/items`";
        place.report(place.finding(message).help(help));
        return None;
    }
    let query = table.get("query").map(|query| query.entries());
    let query = query.unwrap_or_default();
    let body = table.get("body").map(|body| filled(&body, variables));
    Some(HttpSpec {
        method: method(&table, body.is_some())?,
        url,
        headers: table
            .get("headers")
            .map_or(Vec::new(), |h| headers(&h, variables)),
        query: query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), filled(value, variables)))
            .collect(),
        body,
        result: match table.get("result") {
            Some(result) => Some(selector(&result)?),
            None => None,
        },
        timeout: outer.get("timeout").and_then(|timeout| timeout.timeout()),
        max_concurrency: outer
            .get("max_concurrency")
            .and_then(|most| most.at_least_one()),
        secrets: variables.secrets(),
        hosts: Vec::new(),
    })
}

/// Whether it is the address of a web server, as far as it is written out.
pub fn is_address(url: &str) -> bool {
    let Some((fixed, _)) = url.split_once("{{") else {
        let web = |url: Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        return Url::parse(url).is_ok_and(web);
    };
    ["https://", "http://"]
        .iter()
        .any(|scheme| fixed.starts_with(scheme) || scheme.starts_with(fixed))
}

fn method(table: &Table<'_>, has_body: bool) -> Option<Method> {
    let methods = [
        ("GET", Method::GET),
        ("POST", Method::POST),
        ("PUT", Method::PUT),
        ("PATCH", Method::PATCH),
        ("DELETE", Method::DELETE),
    ];
    let Some(cursor) = table.get("method") else {
        return Some(if has_body { Method::POST } else { Method::GET });
    };
    let words = methods.each_ref().map(|(word, method)| (*word, method));
    cursor.word("method", &words).cloned()
}

fn selector(cursor: &Cursor<'_>) -> Option<Selector> {
    match Selector::parse(cursor.text()?) {
        Ok(selector) => Some(selector),
        Err(message) => {
            cursor.report(cursor.finding(message));
            None
        }
    }
}

fn headers(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (name, cursor) in cursor.entries() {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            cursor.report(cursor.key_finding(format!("`{name}` is no name of a header")));
        }
        let value = filled_text(&cursor, variables);
        headers.extend(value.map(|value| (name.to_owned(), value)));
    }
    headers
}

/// A template with its variables filled in.
fn filled_text(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<String> {
    let text = variables.text(cursor, Form::Template)?;
    if let Err(why) = template::arguments(&text) {
        cursor.report(cursor.finding(format!("this is no template: {why}")));
        return None;
    }
    Some(text)
}

/// A tree of templates with their variables filled in.
fn filled(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Json {
    match cursor.json() {
        Json::String(_) => filled_text(cursor, variables).map_or(Json::Null, Json::String),
        Json::Array(_) => {
            let items = cursor.items();
            items.iter().map(|item| filled(item, variables)).collect()
        }
        Json::Object(_) => {
            let entries = cursor.entries().into_iter();
            let filled = entries.map(|(key, value)| (key.to_owned(), filled(&value, variables)));
            Json::Object(filled.collect::<JsonMap<_, _>>())
        }
        other => other.clone(),
    }
}
