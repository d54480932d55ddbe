//! `graphc check [PATH..]`
//!
//! [`gather`] puts the findings of several flows together, [`fix`] mends what is certain.

pub mod fix;
pub mod gather;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::diag::codes::Level;
use crate::diag::render;

use super::flow::{self, compile_source};
use super::test::load::ENDING;
use super::{Context, Exit, Failure, files, output, term};

use gather::Findings;

const EXAMPLES: &str = "\
Examples:
  graphc check                         every flow in this folder, and its scenarios
  graphc check desk.graph --deny warning
  graphc check --fix                   mend what is certain
  graphc check --profile prod          also what the profile leaves unbound
  graphc check --format sarif > graphc.sarif
  cat desk.graph | graphc check -";

/// Arguments of `graphc check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, folders to search for `*.graph`, or `-` for stdin; this folder where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Form of the diagnostics; `human` goes to stderr, the others to stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Level from which a diagnostic makes the exit status 1
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub deny: Deny,
    /// Apply the fixes that are certain, in place
    #[arg(long)]
    pub fix: bool,
}

/// Form of the diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Snippets with labels, for a person
    #[default]
    Human,
    /// One JSON object per line
    Json,
    /// One SARIF 2.1.0 log
    Sarif,
    /// GitHub workflow commands
    Github,
}

/// Level from which a diagnostic is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Deny {
    /// Warnings and errors
    Warning,
    /// Errors only
    #[default]
    Error,
}

/// Checks all flows and says what was found.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let mut found = find(&args, context)?;
    if args.fix {
        let mended = fix::apply(&found)?;
        if mended.edits > 0 {
            context.say(&mended.to_string());
            found = find(&args, context)?;
        }
    }
    show(&found, args.format, context)?;
    let denied = match args.deny {
        Deny::Warning => Level::Warning,
        Deny::Error => Level::Error,
    };
    let fails = found.diagnostics.iter().any(|d| d.level >= denied);
    Ok(if fails { Exit::Errors } else { Exit::Done })
}

fn find(args: &Args, context: &Context) -> Result<Findings, Failure> {
    let here = [PathBuf::from(".")];
    let paths = match args.paths.as_slice() {
        [] => &here,
        paths => paths,
    };
    let mut found = Findings::default();
    for path in files::find_all(paths)? {
        let source = files::read(&path)?;
        let project = flow::project_of(&path, context)?;
        let compiled = compile_source(&path, source, &project)?;
        found.settings(&project, context)?;
        found.add(&path, compiled, &project, context);
    }
    for path in files::each_once(paths, scenarios)? {
        found.scenarios(&path)?;
    }
    found.finish();
    Ok(found)
}

/// The files of scenarios that an argument stands for: all of a folder, the one beside a flow where it has one.
fn scenarios(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_dir() {
        return files::every(path, ENDING);
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.strip_suffix(".graph"));
    let beside = stem.map(|stem| path.with_file_name(format!("{stem}{ENDING}")));
    Ok(beside.filter(|beside| beside.exists()).into_iter().collect())
}

fn show(found: &Findings, format: Format, context: &Context) -> Result<(), Failure> {
    let (diagnostics, sources) = (&found.diagnostics, &found.sources);
    match format {
        Format::Json => output::print(&render::json(diagnostics, sources))?,
        Format::Sarif => output::print(&render::sarif(diagnostics, sources))?,
        Format::Github => output::print(&render::github(diagnostics, sources))?,
        Format::Human if diagnostics.is_empty() => {}
        Format::Human => {
            let style = context.terminal.style;
            term::say(render::human(diagnostics, sources, style).trim_end());
        }
    }
    let summary = match render::summary(diagnostics) {
        summary if summary.is_empty() => "no problems".to_owned(),
        _ if format == Format::Human => return Ok(()),
        summary => summary,
    };
    let files = match found.flows {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    context.say(&format!("checked {files}: {summary}"));
    Ok(())
}
