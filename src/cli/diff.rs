//! `graphc diff OLD NEW`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use crate::ir::diff::{Finding, Group, diff};
use crate::ir::{Flow, Place};

use super::git::Commit;
use super::json_arg::one_stdin;
use super::{Context, Exit, Failure, files, flow, output};

const EXAMPLES: &str = "\
Examples:
  graphc diff desk.old.graph desk.graph
  graphc diff desk.graph --against git:main
  graphc diff released.ir.json desk.graph --deny breaking

Exit status:
  0  all that changed is compatible
  1  something needs migration or breaks (--deny breaking: something breaks), or a version has errors
  2  wrong usage, a version that isn't there";

/// Arguments of `graphc diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow as it was and as it is, `*.graph` or IR; with `--against` the flow as it is alone
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    pub files: Vec<PathBuf>,
    /// Compare with the flow in a commit: `git:REV`
    #[arg(long, value_name = "git:REV")]
    pub against: Option<String>,
    /// Form of the findings
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Group from which a finding makes the exit status 1
    #[arg(long, value_enum, default_value_t, value_name = "GROUP")]
    pub deny: Deny,
}

/// Form of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Lists for a person
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// Group from which a finding is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Deny {
    /// What needs migration, and what breaks
    #[default]
    Migration,
    /// What breaks
    Breaking,
}

/// Prints what changes.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let stdin: Vec<_> = args
        .files
        .iter()
        .map(|f| ("a version", f.as_os_str() == "-"))
        .collect();
    one_stdin(&stdin)?;
    let (old, new) = versions(&args, context)?;
    let found = diff(&old.flow, &new.flow);
    let text = match args.format {
        Format::Human => human(&found, &old, &new),
        Format::Json => lines(&found, &old, &new),
    };
    output::print(&text)?;
    context.say(&summary(&found));
    let denied = match args.deny {
        Deny::Migration => Group::NeedsMigration,
        Deny::Breaking => Group::Breaking,
    };
    let fails = found.iter().any(|finding| finding.group >= denied);
    Ok(if fails { Exit::Errors } else { Exit::Done })
}

/// A flow and how its files are named in messages.
struct Version {
    flow: Flow,
    /// Its first file, or its IR.
    path: PathBuf,
    /// Behind each name.
    mark: String,
}

fn versions(args: &Args, context: &Context) -> Result<(Version, Version), Failure> {
    match (args.files.as_slice(), &args.against) {
        ([old, new], None) => Ok((present(old, context)?, present(new, context)?)),
        ([file], Some(against)) => {
            let commit = Commit::find(against, super::flow::folder_of(file))?;
            let old = Version {
                flow: flow::load_past(file, &commit, context)?,
                path: file.clone(),
                mark: format!(" ({})", commit.name),
            };
            Ok((old, present(file, context)?))
        }
        ([_], None) => Err(Failure::unusable("there is only one version to compare")
            .help("name two files, or add `--against git:REV`")),
        _ => Err(Failure::unusable(
            "with `--against` there is one file, the flow as it is",
        )),
    }
}

fn present(path: &Path, context: &Context) -> Result<Version, Failure> {
    let loaded = flow::load(path, context)?;
    Ok(Version {
        flow: std::sync::Arc::unwrap_or_clone(loaded.flow),
        path: path.to_owned(),
        mark: match flow::is_ir(path, "") {
            // Where the files of IR are is not known: only what they were called when it was made.
            true => format!(" ({})", files::shown(path)),
            false => String::new(),
        },
    })
}

impl Version {
    fn name(&self, place: Place) -> String {
        let file = self.flow.files.get(place.file as usize);
        let file = file.map_or("?", String::as_str);
        match flow::is_ir(&self.path, "") {
            true => file.to_owned(),
            false => flow::file_name(&self.path, file),
        }
    }

    fn shown(&self, place: Place) -> String {
        let Place { line, column, .. } = place;
        format!("{}:{line}:{column}{}", self.name(place), self.mark)
    }

    fn json(&self, place: Option<Place>) -> Json {
        place.map_or(Json::Null, |place| {
            let Place {
                line,
                column,
                offset,
                ..
            } = place;
            let start = json!({"line": line, "column": column, "offset": offset});
            json!({"file": self.name(place), "start": start})
        })
    }
}

fn human(found: &[Finding], old: &Version, new: &Version) -> String {
    let mut text = String::new();
    let mut group = None;
    for finding in found {
        if group != Some(finding.group) {
            if group.is_some() {
                text.push('\n');
            }
            let _ = writeln!(text, "{}", finding.group.word());
            group = Some(finding.group);
        }
        let _ = writeln!(text, "  {}: {}", finding.side.word(), finding.message);
        let at = finding.new.map(|place| new.shown(place));
        let at = at.or_else(|| {
            finding
                .old
                .map(|place| format!("{}, the old version", old.shown(place)))
        });
        if let Some(at) = at {
            let _ = writeln!(text, "    at {at}");
        }
    }
    text
}

fn lines(found: &[Finding], old: &Version, new: &Version) -> String {
    let mut text = String::new();
    for finding in found {
        let line = json!({
            "group": finding.group,
            "side": finding.side,
            "code": finding.code,
            "message": finding.message,
            "old": old.json(finding.old),
            "new": new.json(finding.new),
        });
        let _ = writeln!(text, "{line}");
    }
    text
}

fn summary(found: &[Finding]) -> String {
    let groups = [Group::Breaking, Group::NeedsMigration, Group::Compatible];
    let parts: Vec<String> = groups
        .into_iter()
        .map(|group| (group, found.iter().filter(|f| f.group == group).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(group, count)| format!("{count} {}", group.word()))
        .collect();
    match parts.is_empty() {
        true => "nothing changes".to_owned(),
        false => parts.join(", "),
    }
}
