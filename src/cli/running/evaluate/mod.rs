//! `graphc evaluate FILE`: a flow, a graph or a node over a data set, judged by scorers. How it is done is in
//! [`crate::evaluate`](mod@crate::evaluate).

mod load;
mod progress;
mod table;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc::unbounded_channel;

use crate::evaluate::compare::{Changes, compare};
use crate::evaluate::run::Evaluation;
use crate::evaluate::sheet::{self, RowSheet, Sheet, Summary};

use super::run::process::runtime;
use super::run::telemetry;
use super::{Context, Exit, Failure, files, output};

const EXAMPLES: &str = "\
Examples:
  graphc evaluate graphs/desk/route.evaluate.yaml
  graphc evaluate desk.graph --data desk.jsonl --scorers '{ right: { exact: output.answer } }'
  graphc evaluate desk.graph --stage Desk.route --data route.jsonl --scorers scorers.yaml
  graphc evaluate route.evaluate.yaml --live --profile openai --repeats 3 -o now.json
  graphc evaluate route.evaluate.yaml --against before.json --tolerance 0.02

Exit status:
  0  done                              2  wrong usage, could not start
  1  the files have errors, or a score is too low: under its `min`, or worse than `--against`
  130  cancelled; what had run is written";

/// Arguments of `graphc evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A `NAME.evaluate.yaml`, or a flow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The data set, a JSON object a line; may be given several times
    #[arg(long, value_name = "SET.jsonl")]
    pub data: Vec<PathBuf>,
    /// The graph that runs, where the file has several that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// What runs in place of the whole flow: a graph, or a node alone
    #[arg(long, value_name = "GRAPH|GRAPH.NODE")]
    pub stage: Option<String>,
    /// The scorers: a YAML file, or YAML in braces
    #[arg(long, value_name = "FILE|YAML")]
    pub scorers: Option<String>,
    /// How often each row runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Ask real models, and pass over what rows script for them: `models` and `scores`
    #[arg(long)]
    pub live: bool,
    /// How many rows run at once; one per processor where left out
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Write the result as JSON, for `--against` and `graphc export`
    #[arg(short, long, value_name = "RESULT.json")]
    pub output: Option<PathBuf>,
    /// Compare with an earlier result
    #[arg(long, value_name = "RESULT.json")]
    pub against: Option<PathBuf>,
    /// By how much a mean may be lower than in the earlier result
    #[arg(long, value_name = "X", value_parser = tolerance)]
    pub tolerance: Option<f64>,
}

/// Form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A table
    #[default]
    Human,
    /// One JSON object
    Json,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Runs it, prints what it came to and writes it.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let before = args.against.as_deref().map(read_sheet).transpose()?;
    let loaded = load::load(&args, context)?;
    let evaluation = Arc::new(loaded.evaluation);
    let rows = runtime()?.block_on(async {
        let rows = play(&evaluation, args.jobs, context).await;
        telemetry::flush(loaded.telemetry).await;
        rows
    })?;
    let summary = Summary::of(&rows);
    let asked = evaluation.rows.len() as u64 * u64::from(evaluation.repeats);
    let sheet = Sheet {
        format: sheet::FORMAT,
        flow: loaded.flow,
        version: loaded.version,
        stage: evaluation.stage.name.clone(),
        data: loaded.data,
        repeats: evaluation.repeats,
        complete: summary.runs == asked,
        rows,
        summary,
    };
    let sheet = without_secrets(sheet, &evaluation)?;
    let changes = before.map(|before| compare(&sheet, &before, loaded.tolerance));
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&sheet).map_err(unwritable)? + "\n";
        output::put(&text, Some(path), context)?;
    }
    print(&sheet, &evaluation, changes.as_ref(), args.format, context)?;
    let low = table::too_low(&sheet, &evaluation.scorers);
    for low in &low {
        super::term::say(low);
    }
    Ok(match changes {
        _ if evaluation.cancel.is_cancelled() => Exit::Cancelled,
        Some(changes) if changes.are_worse() => Exit::Errors,
        _ if !low.is_empty() => Exit::Errors,
        _ => Exit::Done,
    })
}

/// What models and tools have said may hold values of the settings that nobody is to see.
fn without_secrets(sheet: Sheet, evaluation: &Evaluation) -> Result<Sheet, Failure> {
    let json = serde_json::to_value(sheet).map_err(unwritable)?;
    let scrubbed = evaluation
        .outside
        .bindings
        .config
        .secrets()
        .scrub_result(json);
    serde_json::from_value(scrubbed).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Failure {
    Failure::unusable(format!("the result can't be written: {error}"))
}

/// A result that was written earlier.
pub fn read_sheet(path: &Path) -> Result<Sheet, Failure> {
    let source = files::read(path)?;
    let refused = |why: String| {
        Failure::unusable(format!("`{}` is no result: {why}", source.name))
            .help("`graphc evaluate .. -o RESULT.json` writes one")
    };
    let json: Json = serde_json::from_str(&source.text).map_err(|e| refused(e.to_string()))?;
    match json.get("format") {
        Some(format) if *format == json!(sheet::FORMAT) => {
            serde_json::from_value(json).map_err(|error| refused(error.to_string()))
        }
        Some(format) => Err(refused(format!(
            "it has format {format}, this version of graphc reads format {}",
            sheet::FORMAT
        ))),
        None => Err(refused("it has no `format`".to_owned())),
    }
}

async fn play(
    evaluation: &Arc<Evaluation>,
    jobs: Option<NonZeroUsize>,
    context: &Context,
) -> Result<Vec<RowSheet>, Failure> {
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok());
    let (ended, seen) = unbounded_channel();
    let all = evaluation.rows.len() * evaluation.repeats as usize;
    let shown = tokio::spawn(progress::show(seen, all, context.terminal.stderr));
    progress::cancelled_by_signals(evaluation.cancel.clone());
    let run = Arc::clone(evaluation).run(jobs.map_or(1, NonZeroUsize::get), ended);
    let rows = run.await;
    // What draws ends with the last run.
    let _ = shown.await;
    Ok(rows)
}

fn print(
    sheet: &Sheet,
    evaluation: &Evaluation,
    changes: Option<&Changes>,
    format: Format,
    context: &Context,
) -> Result<(), Failure> {
    match format {
        Format::Human => {
            output::print(&table::table(sheet, &evaluation.scorers, context.verbose))?;
            match changes {
                Some(changes) => output::print(&table::changes(changes)),
                None => Ok(()),
            }
        }
        Format::Json => {
            let mut json = serde_json::to_value(sheet).map_err(unwritable)?;
            if let (Some(entries), Some(changes)) = (json.as_object_mut(), changes) {
                entries.insert("against".to_owned(), json!(changes));
            }
            output::print(&format!("{json}\n"))
        }
    }
}
