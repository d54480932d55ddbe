//! `graphc audit FILE`
//!
//! [`served`] reads from `graphc.yaml` what serves what, [`show`] writes the sheet for a person.

mod served;
mod show;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use crate::audit::{Sheet, audit, widen};
use crate::base::SourceMap;
use crate::ir::Flow;

use super::git::Commit;
use super::{Context, Exit, Failure, files, flow, folder, output, settings};
use crate::project::Project;

const EXAMPLES: &str = "\
Examples:
  graphc audit desk.graph
  graphc audit desk.graph --profile prod --format json
  graphc audit desk.graph --against git:main   what a change widens

Exit status:
  0  done; with --against, nothing is wider
  1  the flow has errors; with --against, something is wider
  2  wrong usage, a commit or a flow that isn't there";

/// Arguments of `graphc audit`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its folder, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to enter; the one that no other calls where there is only one such
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Form of the sheet
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Say what is wider than in a commit: `git:REV`
    #[arg(long, value_name = "git:REV")]
    pub against: Option<String>,
}

/// Form of the sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For a person
    #[default]
    Human,
    /// One JSON object
    Json,
}

/// Prints the sheet.
pub fn run(mut args: Args, context: &Context) -> Result<Exit, Failure> {
    args.file = folder::flow_in(&args.file)?;
    let loaded = flow::load(&args.file, context)?;
    // What is wrong in the settings is said here; what is in them is read again below, by name.
    settings::load(&loaded.project, context, &mut SourceMap::new())?;
    let text = match &loaded.project.settings {
        Some(path) => Some(files::read(path)?.text),
        None => None,
    };
    let sheet = sheet(
        &loaded.flow,
        args.graph.as_deref(),
        text.as_deref(),
        context,
    )?;
    let wider = match &args.against {
        Some(against) => {
            let old = past(&args, against, &loaded.project, context)?;
            Some(widen::widened(&old, &sheet))
        }
        None => None,
    };
    match args.format {
        Format::Json => {
            let mut json = serde_json::to_value(&sheet).unwrap_or_default();
            if let (Some(wider), Some(object)) = (&wider, json.as_object_mut()) {
                object.insert("wider".to_owned(), json!(wider));
            }
            output::print(&format!("{json:#}\n"))?;
        }
        Format::Human => output::print(&show::sheet(&sheet, wider.as_deref()))?,
    }
    let fails = wider.is_some_and(|wider| !wider.is_empty());
    Ok(if fails { Exit::Errors } else { Exit::Done })
}

fn sheet(
    flow: &Flow,
    graph: Option<&str>,
    settings: Option<&str>,
    context: &Context,
) -> Result<Sheet, Failure> {
    let graph = flow::graph(flow, graph)?;
    let services = served::services(settings, context.profile.as_deref());
    Ok(audit(flow, graph, &services))
}

/// The sheet of the flow in a commit, with the settings of that commit.
fn past(
    args: &Args,
    against: &str,
    project: &Project,
    context: &Context,
) -> Result<Sheet, Failure> {
    let commit = Commit::find(against, flow::folder_of(&args.file))?;
    let old = flow::load_past(&args.file, &commit, context)?;
    let text = match &project.settings {
        Some(path) => commit.read(path)?,
        None => None,
    };
    sheet(&old, args.graph.as_deref(), text.as_deref(), context)
}
