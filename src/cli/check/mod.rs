//! `graphc check [PATH..]`
//!
//! [`gather`] puts the findings of several flows together, [`fix`] mends what is certain, [`table`] shows what [`online`] has tried. [`watch`] checks again
//! whenever a file changes.

mod effects;
pub mod fix;
pub mod gather;
mod table;
mod unfit;

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::base::SourceMap;
use crate::diag::{Diagnostics, Level, codes, render};

use super::files::Kind;
use super::flow;
use super::running::{online, watch};
use super::scenes::{self, ENDING};
use super::{Context, Exit, Failure, RUNS, files, output, present, term};

use fix::Mended;
use gather::Findings;

const EXAMPLES: &str = "\
Examples:
  graphc check                         every flow in this folder, and its scenarios
  graphc check desk.graph --deny warning
  graphc check --fix                   mend what is certain
  graphc check --watch                 again after every change
  graphc check --profile prod          also what the profile leaves unbound
  graphc check --profile prod --online also whether all that it needs answers
  graphc check --format sarif > graphc.sarif
  graphc check desk.test.yaml graphc.yaml    scenarios with their flow, settings
  cat desk.graph | graphc check -

Exit status:
  0  nothing is wrong (--deny warning: or doubtful)
  1  findings of that level (--deny warning: or doubtful)
     with --online also what is missing
  2  wrong usage, a file that isn't there
  130  --watch or --online was ended by Ctrl-C";

/// Arguments of `graphc check`.
#[derive(Debug, clap::Args)]
#[command(after_help = present(EXAMPLES))]
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
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with = "fix", hide = !RUNS)]
    pub watch: bool,
    /// Try every provider, tool, server and store that the flows need, and show a table; no model and no tool is called
    #[arg(long, conflicts_with = "watch", hide = !RUNS)]
    pub online: bool,
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
    if args.watch {
        return watch::watch(&args, context);
    }
    let mut found = find(&args, context)?;
    if args.fix {
        found = mend(found, &args, context)?;
    }
    if let Some(needs) = found.needs.take() {
        found.rows = Some(online::rows(needs, context)?);
    }
    show(&found, args.format, context)?;
    if let Some(rows) = &found.rows {
        context.say(&format!("tried: {}", table::count(rows)));
    }
    let denied = match args.deny {
        Deny::Warning => Level::Warning,
        Deny::Error => Level::Error,
    };
    let tried = found.rows.iter().flatten().flat_map(|row| &row.findings);
    let mut all = found.diagnostics.iter().chain(tried);
    Ok(match all.any(|finding| finding.level >= denied) {
        true => Exit::Errors,
        false => Exit::Done,
    })
}

/// How often is looked for more to mend: a mend may show another, or have been in the way of one.
const ROUNDS: usize = 10;

/// Mends what is certain. Gives back what is left.
fn mend(mut found: Findings, args: &Args, context: &Context) -> Result<Findings, Failure> {
    let mut mended = Mended::default();
    for _ in 0..ROUNDS {
        let round = fix::apply(&found)?;
        if round.edits == 0 {
            break;
        }
        mended.add(round);
        found = find(args, context)?;
    }
    if mended.edits > 0 {
        context.say(&mended.to_string());
    }
    Ok(found)
}

/// What is found in all that the arguments name.
pub(super) fn find(args: &Args, context: &Context) -> Result<Findings, Failure> {
    let here = [PathBuf::from(".")];
    let paths = match args.paths.as_slice() {
        [] => &here,
        paths => paths,
    };
    let scenarios = files::each_once(paths, scenarios);
    let alone = files::each_once(paths, settings_alone)?;
    let played = scenarios.as_ref().is_ok_and(|found| !found.is_empty());
    let needs = args.online.then(online::needs).transpose()?;
    let mut found = Findings::new(played, needs);
    for path in &alone {
        found.settings_alone(path, context)?;
    }
    for path in files::each_once(paths, flows)? {
        let source = match files::read(&path) {
            Ok(source) => source,
            Err(failure) => {
                found.unreadable(&path, failure)?;
                continue;
            }
        };
        let project = flow::project_of(&path, context)?;
        found.settings(&project, context)?;
        let families = found.families(&project);
        let analysed = flow::analyse_source(&path, source, &project, &families)?;
        found.add(&path, analysed, &project, context)?;
    }
    for path in scenarios? {
        found.scenarios(&path)?;
    }
    for path in files::each_once(paths, misnamed)? {
        found.unread(&path, &codes::INVALID_SCENARIO);
    }
    found.finish();
    Ok(found)
}

/// The flows that an argument stands for: of a file of scenarios the one that they are of.
fn flows(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    match Kind::of(path) {
        Kind::Flows => files::find(path),
        Kind::Settings => Ok(Vec::new()),
        Kind::Scenarios => {
            let flow = scenes::flow_beside(path)?;
            Ok(flow.is_file().then_some(flow).into_iter().collect())
        }
        Kind::Other => {
            let shown = files::shown(path);
            let message = format!("`{shown}` is nothing that can be checked by itself");
            Err(Failure::unusable(message).help(
                "name `*.graph`, `*.test.yaml`, `graphc.yaml`, a folder, or `-`; prompt files are checked with their flow",
            ))
        }
    }
}

/// The settings that an argument is.
fn settings_alone(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let settings = (Kind::of(path) == Kind::Settings).then(|| path.to_owned());
    Ok(settings.into_iter().collect())
}

/// The files of scenarios that an argument stands for: all of a folder, those beside a flow that are its own.
fn scenarios(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_dir() {
        return files::every(path, ENDING);
    }
    if Kind::of(path) == Kind::Scenarios {
        return Ok(vec![path.to_owned()]);
    }
    Ok(
        match path.extension().is_some_and(|ending| ending == "graph") {
            true => scenes::of_flow(path),
            false => Vec::new(),
        },
    )
}

/// The same of files that are named as if they held scenarios, and don't end so.
fn misnamed(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    const ENDING: &str = ".test.yml";
    if path.is_dir() {
        return files::every(path, ENDING);
    }
    let stem = path.file_stem().and_then(|name| name.to_str());
    let beside = stem.map(|stem| path.with_file_name(format!("{stem}{ENDING}")));
    Ok(beside
        .filter(|beside| beside.is_file())
        .into_iter()
        .collect())
}

/// Notes are for programs, and for people who ask for more.
pub(super) fn show(found: &Findings, format: Format, context: &Context) -> Result<(), Failure> {
    let (all, sources) = (&found.diagnostics, &found.sources);
    let rows = found.rows.as_deref();
    let mut shown = all.clone();
    let for_people = matches!(format, Format::Human | Format::Github);
    if for_people && !context.verbose {
        shown.retain(|finding| finding.level > Level::Info);
    }
    let hidden = hidden(all.len() - shown.len());
    if let (Some(rows), Format::Sarif | Format::Github) = (rows, format) {
        let findings = rows.iter().flat_map(|row| &row.findings);
        findings.for_each(|finding| shown.push(finding.clone()));
        shown.sort();
    }
    match format {
        Format::Json => {
            let tried = rows.map_or(String::new(), |rows| table::json(rows, sources));
            output::print(&(render::json(&shown, sources) + &tried))?;
        }
        Format::Sarif => {
            let sources = from_the_start(sources, context);
            output::print(&render::sarif(&shown, &sources))?;
        }
        Format::Github => {
            let sources = from_the_start(sources, context);
            output::print(&render::github(&shown, &sources))?;
        }
        Format::Human => {
            if !shown.is_empty() {
                let text = render::human(&shown, sources, context.terminal.style);
                term::say(text.trim_end());
            }
            if let Some(rows) = rows {
                let style = context.terminal.style_stdout();
                output::print(&table::table(rows, sources, style))?;
            }
        }
    }
    let summary = match render::summary(&shown) {
        summary if summary.is_empty() => "no problems".to_owned(),
        _ if format == Format::Human => {
            if !hidden.is_empty() {
                context.say(hidden.trim_start_matches(", "));
            }
            unchecked(all, sources, context);
            return Ok(());
        }
        summary => summary,
    };
    let files = match found.flows {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    context.say(&format!("checked {files}: {summary}{hidden}"));
    unchecked(all, sources, context);
    Ok(())
}

/// The files with names from where the command was started, not from the folder of `-C`: who reads annotations and
/// logs looks for them there.
fn from_the_start(sources: &SourceMap, context: &Context) -> SourceMap {
    let Some(folder) = &context.directory else {
        return sources.clone();
    };
    let mut named = SourceMap::new();
    for (_, file) in sources.files() {
        let name = &*file.name;
        let kept = name.starts_with("std/") || name.starts_with('<') || name.starts_with('/');
        let name = match kept {
            true => name.to_owned(),
            false => files::shown(&folder.join(name)),
        };
        named.push(file.named(&name));
    }
    named
}

/// Says what could not be checked, where that is not among what was shown.
fn unchecked(all: &Diagnostics, sources: &SourceMap, context: &Context) {
    let notes = all
        .iter()
        .filter(|note| note.code == &codes::NOT_CHECKED && note.level == Level::Info);
    for note in notes.filter(|_| !context.verbose) {
        let file = sources.name(note.span().file);
        context.say(&format!("{file}: {}", note.message));
    }
}

/// What is said of notes that are not shown.
fn hidden(notes: usize) -> String {
    match notes {
        0 => String::new(),
        1 => ", 1 note more with `-v`".to_owned(),
        notes => format!(", {notes} notes more with `-v`"),
    }
}
