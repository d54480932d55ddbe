//! Tools that a server describes by JSON Schema, as declarations of a flow.
//!
//! [`declarations`] writes a file of tools and the records that they need, which checks as it is. `types` makes types of schemas. What the
//! server says comes from outside: names are made names of the language, texts become comments line by line, and a tool that can't be
//! declared is named in a comment.

mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::base::FileId;
use crate::compile::compile;
use crate::diag::Diagnostics;
use crate::fmt;
use crate::parse::{is_keyword, is_reserved};

use super::graphs::{snake, unique};
use types::Types;

/// A tool as a server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// What the server calls it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub input: Json,
    /// JSON Schema of its result, where the server says one.
    pub output: Option<Json>,
    /// What it does to the world, where the server says anything about that.
    pub effect: Option<Effect>,
    /// Whether a second call does no more than one, where the server says so.
    pub idempotent: Option<bool>,
}

/// The word of `@effect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It writes what can be mended.
    Write,
    /// It does what can't be undone.
    Destructive,
}

/// Declarations of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declarations {
    /// The text of a `.graph` file.
    pub text: String,
    /// Each tool's name in the flow, with its name at the server.
    pub tools: Vec<(String, String)>,
    /// Tools that can't be declared, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// What the name of a tool ends in that would be a word of the language.
const TOOL: &str = "tool";
/// Most characters of a name that is made of a server's.
const LONGEST_NAME: usize = 60;
/// Most characters of a comment that is made of a server's text.
const LONGEST_DOC: usize = 4_000;

/// Declares the tools of a server, in their order. Results are `@untrusted`: whoever stands behind the server has written them.
pub fn declarations(server: &str, tools: &[OfferedTool]) -> Declarations {
    let mut done = Declarations {
        text: String::new(),
        tools: Vec::new(),
        left_out: Vec::new(),
    };
    let mut names = BTreeSet::new();
    let mut records = BTreeSet::new();
    let mut body = String::new();
    for tool in tools {
        let name = own_name(&tool.name, TOOL, &names);
        let mut writer = Types::new(&name, &records);
        let text = declared(tool, &name, &mut writer);
        let text = writer.records() + &text;
        match checked(&text) {
            Ok(()) => {
                records.extend(writer.names());
                names.insert(name.clone());
                body.push_str(&text);
                done.tools.push((name, tool.name.clone()));
            }
            Err(why) => done.left_out.push((tool.name.clone(), why)),
        }
    }
    let text = head(server, &done) + &body;
    done.text = fmt::format(&text, FileId(0), &mut Diagnostics::new()).unwrap_or(text);
    done
}

/// What the file begins with: where its tools are from, and what binds them.
fn head(server: &str, done: &Declarations) -> String {
    let mut head = format!(
        "//! Tools of the MCP server `{}`, as it describes them. `graphc.yaml` binds them:\n//!\n//!     tools:\n",
        line(server)
    );
    for (name, theirs) in &done.tools {
        let _ = writeln!(head, "//!       {name}: {}", binding(server, name, theirs));
    }
    for (theirs, why) in &done.left_out {
        let _ = writeln!(head, "// Left out: `{}`: {}", line(theirs), line(why));
    }
    head.push('\n');
    head
}

/// The entry of a tool in `tools`.
fn binding(server: &str, name: &str, theirs: &str) -> String {
    let quoted = |text: &str| match text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    {
        true => text.to_owned(),
        false => Json::from(text).to_string(),
    };
    match name == theirs {
        true => format!("{{ mcp: {{ server: {} }} }}", quoted(server)),
        false => format!(
            "{{ mcp: {{ server: {}, tool: {} }} }}",
            quoted(server),
            quoted(theirs)
        ),
    }
}

/// One tool.
fn declared(tool: &OfferedTool, name: &str, types: &mut Types<'_>) -> String {
    let mut text = doc(&tool.description);
    if tool.effect.is_none() {
        text.push_str("// The server does not say what this does to the world: mend `@effect` where it only reads, or can't be undone.\n");
    }
    let _ = writeln!(text, "tool {name}(");
    text.push_str(&types.fields(&tool.input, &tool.input, ""));
    let result = match &tool.output {
        Some(output) => types.result(output),
        None => "string".to_owned(),
    };
    let effect = tool.effect.unwrap_or(Effect::Write);
    let word = match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Destructive => "destructive",
    };
    let _ = write!(
        text,
        ") -> {result} @timeout(60s) @effect({word}) @untrusted"
    );
    match tool.idempotent {
        Some(true) if effect != Effect::Read => text.push_str(" @idempotent"),
        Some(false) if effect != Effect::Read => text.push_str(" @idempotent(false)"),
        _ => {}
    }
    text + "\n\n"
}

/// Whether a declaration stands by itself.
///
/// # Errors
/// The first thing that is wrong with it.
fn checked(text: &str) -> Result<(), String> {
    let files = BTreeMap::from([("tools.graph".to_owned(), text.to_owned())]);
    let compiled = compile("tools.graph", &files);
    let mut wrong = compiled.diagnostics.iter();
    match wrong.find(|found| found.level >= crate::diag::Level::Error) {
        Some(found) => Err(found.message.clone()),
        None => Ok(()),
    }
}

/// A name of the language made of a server's: another than those that are taken.
fn own_name(theirs: &str, what: &str, taken: &BTreeSet<String>) -> String {
    let mut name = snake(theirs);
    name.truncate(LONGEST_NAME);
    if is_reserved(&name) || (what == TOOL && is_keyword(&name)) {
        name = format!("{name}_{what}");
    }
    unique(&name, |name| taken.contains(name))
}

/// A text as a doc comment.
fn doc(text: &str) -> String {
    let text: String = text.trim().chars().take(LONGEST_DOC).collect();
    let lines = text.lines().map(|text| match line(text).as_str() {
        "" => "///\n".to_owned(),
        text => format!("/// {text}\n"),
    });
    lines.collect()
}

/// A text on one line, without what a terminal or an editor would act on.
fn line(text: &str) -> String {
    let shown = text.chars().map(|c| match c.is_control() {
        true => ' ',
        false => c,
    });
    shown
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect::<String>()
        .trim()
        .to_owned()
}
