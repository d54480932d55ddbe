//! `graphc std list`, `graphc std show NAME`: what the standard library has.

use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::base::SourceMap;
use crate::base::name::closest;
use crate::diag::Diagnostics;
use crate::resolve::stdlib;

use super::{Context, Exit, Failure, output};

mod entry;

use entry::{Entry, Part};

const EXAMPLES: &str = "\
Examples:
  graphc std list
  graphc std show react
  graphc std show react --source > react.graph";

/// Arguments of `graphc std`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to show.
    #[command(subcommand)]
    pub what: Option<What>,
}

/// What `graphc std` shows.
#[derive(Debug, Subcommand)]
pub enum What {
    /// The modules, and what each is for
    List {
        /// Form of the list
        #[arg(long, value_enum, default_value_t, value_name = "FORM")]
        format: Format,
    },
    /// What a module has: its graphs, types, tools, events, prompts and functions
    Show {
        /// The module, as `react` or `std/react`
        #[arg(value_name = "NAME")]
        name: String,
        /// Print its text
        #[arg(long, conflicts_with = "format")]
        source: bool,
        /// Form of what is shown
        #[arg(long, value_enum, default_value_t, value_name = "FORM")]
        format: Format,
    },
}

/// Form of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Text for a person
    #[default]
    Human,
    /// One JSON object a module and line
    Json,
}

/// A module as it is shown.
struct Module {
    name: &'static str,
    doc: String,
    entries: Vec<Entry>,
}

/// Prints the list, or a module.
pub fn run(args: Args, _context: &Context) -> Result<Exit, Failure> {
    let human = What::List {
        format: Format::Human,
    };
    let text = match args.what.unwrap_or(human) {
        What::List { format } => list(format),
        What::Show {
            name,
            source,
            format,
        } => {
            let (name, text) = found(&name)?;
            match (source, format) {
                (true, _) => text.to_owned(),
                (false, Format::Human) => page(&module(name, text)),
                (false, Format::Json) => format!("{}\n", as_json(&module(name, text))),
            }
        }
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn list(format: Format) -> String {
    let names = stdlib::names();
    let modules = names.filter_map(|name| Some(module(name, stdlib::source(name)?)));
    let modules: Vec<Module> = modules.collect();
    let width = modules.iter().map(|module| module.name.len()).max();
    let width = width.unwrap_or_default();
    let line = |module: &Module| match format {
        Format::Human => format!("{:width$}  {}\n", module.name, first_line(&module.doc)),
        Format::Json => {
            let names = module.entries.iter().map(|entry| entry.name.as_str());
            let names: Vec<&str> = names.collect();
            let line = json!({ "module": module.name, "about": first_line(&module.doc), "exports": names });
            format!("{line}\n")
        }
    };
    modules.iter().map(line).collect()
}

fn found(wanted: &str) -> Result<(&'static str, &'static str), Failure> {
    let short = wanted.strip_prefix("std/").unwrap_or(wanted);
    let of = |name: &&'static str| name.strip_prefix("std/") == Some(short);
    let name = stdlib::names().find(of);
    if let Some((name, text)) = name.and_then(|name| Some((name, stdlib::source(name)?))) {
        return Ok((name, text));
    }
    let known = stdlib::names().filter_map(|name| name.strip_prefix("std/"));
    let help = match closest(short, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`graphc std list` shows all modules".to_owned(),
    };
    let message = format!("the standard library has no module `{wanted}`");
    Err(Failure::unusable(message).help(help))
}

fn module(name: &'static str, text: &str) -> Module {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let parsed = crate::parse::parse(text, file, &mut Diagnostics::new());
    Module {
        name,
        doc: parsed.doc,
        entries: entry::of_items(&parsed.items, &sources),
    }
}

fn first_line(doc: &str) -> &str {
    doc.lines().next().unwrap_or_default()
}

fn page(module: &Module) -> String {
    let mut out = format!("{}\n", module.name);
    indented(&mut out, "  ", &module.doc);
    for entry in &module.entries {
        out.push_str(&format!("\n{}\n", entry.signature));
        indented(&mut out, "    ", &entry.doc);
        for (title, parts) in &entry.parts {
            out.push_str(&format!("  {title}\n"));
            for Part { text, doc } in parts {
                out.push_str(&format!("    {text}\n"));
                indented(&mut out, "        ", doc);
            }
        }
    }
    out
}

fn indented(out: &mut String, by: &str, text: &str) {
    for line in text.lines() {
        out.push_str(format!("{by}{line}").trim_end());
        out.push('\n');
    }
}

fn as_json(module: &Module) -> serde_json::Value {
    let part = |part: &Part| json!({ "text": part.text, "doc": part.doc });
    let entry = |entry: &Entry| {
        let mut line = serde_json::Map::new();
        line.insert("kind".to_owned(), json!(entry.kind));
        line.insert("name".to_owned(), json!(entry.name));
        line.insert("signature".to_owned(), json!(entry.signature));
        line.insert("doc".to_owned(), json!(entry.doc));
        for (title, parts) in &entry.parts {
            line.insert(title.to_string(), parts.iter().map(part).collect());
        }
        line
    };
    let entries: Vec<_> = module.entries.iter().map(entry).collect();
    json!({ "module": module.name, "doc": module.doc, "exports": entries })
}
