//! `graphc test [PATH..]`: finds scenario files, compiles their flows, plays the scenarios side by
//! side and reports. What a scenario is and how it is judged is in [`crate::scenario`].

pub mod child;
mod human;
mod json;
mod junit;
pub mod load;
mod play;
mod session;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;

use crate::backend::scenario::cassette;
use crate::scenario::coverage::percent;

use super::{Context, Exit, Failure, output, term};

use play::Report;

const EXAMPLES: &str = "\
Examples:
  graphc test                          every scenario in this folder
  graphc test desk.graph --filter handed
  graphc test --coverage --min 90
  graphc test --record --filter real   ask the real models, and keep what they answer
  graphc test --format junit > report.xml";

/// Arguments of `graphc test`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Flows, `.test.yaml` files or folders to search for them; this folder where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Run only scenarios whose name contains this
    #[arg(long, alias = "scenario", value_name = "TEXT")]
    pub filter: Option<String>,
    /// Count which nodes, routes and arms the scenarios take
    #[arg(long)]
    pub coverage: bool,
    /// Fail under this percentage
    #[arg(long, value_name = "PCT", requires = "coverage", value_parser = clap::value_parser!(u8).range(..=100))]
    pub min: Option<u8>,
    /// Form of the report; `human` goes to stderr, the others to stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Play only scenarios that say `recorded: true`, with the models and tools of their profile, and write their cassettes anew
    #[arg(long, conflicts_with = "coverage")]
    pub record: bool,
    /// How many scenarios run at once; one per processor where left out
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// Form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A line per scenario, a diff per mismatch
    #[default]
    Human,
    /// One JSON object per scenario, one per line
    Json,
    /// JUnit XML
    Junit,
}

/// Plays all scenarios and reports; what could not be compiled has been said on the way.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let began = Instant::now();
    let mut loaded = load::all(&args.paths, context)?;
    let filter = args.filter.as_deref().unwrap_or("");
    let (reports, broken) = play::all(
        &loaded.files,
        |scenario| scenario.name.contains(filter) && (scenario.recorded || !args.record),
        (args.jobs, args.record),
        context,
    )?;
    loaded.broken.extend(broken);
    let played = reports
        .iter()
        .map(|report| report.verdicts.len())
        .sum::<usize>();
    if played == 0 && loaded.broken.is_empty() {
        return Err(none_found(&args));
    }
    if args.record {
        say_recorded(&reports, context);
    }
    let coverage = args.coverage.then(|| play::coverage(&reports));
    match args.format {
        Format::Human => {
            for report in &reports {
                human::show(report, context);
            }
        }
        Format::Json => {
            output::print(&json::lines(&reports))?;
            output::print(&json::broken(&loaded.broken))?;
            if let Some(coverage) = &coverage {
                output::print(&json::coverage(coverage))?;
            }
        }
        Format::Junit => output::print(&junit::document(&reports, &loaded.broken))?,
    }
    let mut passed = loaded.broken.is_empty() && failed(&reports) == 0;
    if let Some(coverage) = &coverage {
        if args.format != Format::Json {
            term::say(&human::coverage(coverage));
        }
        passed &= is_enough(coverage, args.min);
    }
    context.say(&human::summary(
        &reports,
        loaded.broken.len(),
        began.elapsed(),
    ));
    Ok(if passed { Exit::Done } else { Exit::Errors })
}

/// Names the cassettes that have been written.
fn say_recorded(reports: &[Report], context: &Context) {
    for report in reports {
        for verdict in &report.verdicts {
            let path = cassette::path(&report.file.path, &verdict.name);
            if verdict.findings.is_empty() && path.is_file() {
                context.say(&format!("recorded {}", super::files::shown(&path)));
            }
        }
    }
}

fn failed(reports: &[Report]) -> usize {
    let verdicts = reports.iter().flat_map(|report| &report.verdicts);
    verdicts
        .filter(|verdict| !verdict.findings.is_empty())
        .count()
}

fn is_enough(coverage: &[play::Covered], least: Option<u8>) -> bool {
    let rows = coverage.iter().flat_map(|covered| &covered.rows);
    let (taken, all) = rows
        .map(|row| row.total())
        .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    let (reached, least) = (percent(taken, all), least.unwrap_or(0));
    if reached < least {
        term::say(&format!("coverage is {reached} %, {least} % are asked for"));
    }
    reached >= least
}

fn none_found(args: &Args) -> Failure {
    let place = match args.paths.as_slice() {
        [] => "this folder".to_owned(),
        paths => {
            let paths: Vec<String> = paths.iter().map(|p| super::files::shown(p)).collect();
            crate::base::name::list(paths.iter().map(String::as_str))
        }
    };
    if args.record {
        let message = format!("no scenario of {place} that is asked for says `recorded: true`");
        let help = "write it in a scenario whose calls are to be on a cassette";
        return Failure::unusable(message).help(help);
    }
    match &args.filter {
        Some(filter) => {
            Failure::unusable(format!("no scenario of {place} has `{filter}` in its name"))
        }
        None => Failure::unusable(format!("{place} has no scenarios")),
    }
}
