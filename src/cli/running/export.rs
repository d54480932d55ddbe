//! `graphc export FILE`: what a model stage was asked and said, as lines for fine-tuning.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use crate::backend::secret::Secrets;
use crate::base::{SourceMap, name};
use crate::evaluate::pairs::{self, Filter, Form, Pair};
use crate::evaluate::replay::replay;
use crate::evaluate::sheet::Call;
use crate::ir::{Flow, Work};
use crate::run::plan::{Plan, plan};
use crate::run::store::{Store, ThreadInfo};

use super::evaluate::read_sheet;
use super::run::process::runtime;
use super::{Context, Exit, Failure, files, flow, output, settings, storage, term};

const EXAMPLES: &str = "\
Examples:
  graphc export desk.graph --stage Desk.sort -o sort.jsonl
  graphc export desk.graph --stage Desk.sort --threads 'live-*' --where 'finish == \"stop\"'
  graphc export desk.graph --stage Desk.sort --evaluation now.json --where 'score.topic == 1.0'";

/// Arguments of `graphc export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The model stage: an `llm` or `agent` node; all of them where left out
    #[arg(long, value_name = "GRAPH.NODE")]
    pub stage: Option<String>,
    /// Threads of the store, by id; `*` stands for any text. All where neither these nor evaluations are named
    #[arg(long, value_name = "GLOB")]
    pub threads: Vec<String>,
    /// A result of `graphc evaluate -o`; may be given several times
    #[arg(long, value_name = "RESULT.json")]
    pub evaluation: Vec<PathBuf>,
    /// Only calls for which this holds: an expression over `messages`, `output`, `tools`, `usage`, `finish`, `thread`, `row` and `score`
    #[arg(long = "where", value_name = "EXPR")]
    pub condition: Option<String>,
    /// The file to write, in place of stdout
    #[arg(short, long, value_name = "OUT.jsonl")]
    pub output: Option<PathBuf>,
    /// Where threads are kept, in place of the settings' store: `sqlite:PATH`, `postgres://..`
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
}

/// Writes a line for each call that is wanted.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let loaded = flow::load(&args.file, context)?;
    let flow = loaded.flow;
    let stages = stages(&flow, args.stage.as_deref())?;
    let is_stage = |call: &Call| {
        let of = |(graph, node): &(String, String)| *graph == call.graph && *node == call.node;
        stages.iter().any(of)
    };
    let filter = args.condition.as_deref().map(filter).transpose()?;
    let mut sources = SourceMap::new();
    let config = settings::load(&loaded.project, context, &mut sources)?;
    let mut pairs = Vec::new();
    for path in &args.evaluation {
        pairs.extend(pairs::of_sheet(read_sheet(path)?, is_stage));
    }
    if !args.threads.is_empty() || args.evaluation.is_empty() {
        let place = storage::Place::find(args.store.as_deref(), &config, &loaded.project)
            .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
        if !place.is_there() {
            let message = format!("there is no thread: `{place}` does not exist");
            return Err(Failure::unusable(message)
                .help("name the store with `--store`, or a result with `--evaluation`"));
        }
        let plan = plan(Arc::clone(&flow)).map_err(|error| {
            let file = files::shown(&args.file);
            Failure::unusable(format!("`{file}` can't run: {error}")).exit(Exit::Errors)
        })?;
        let (store, plan) = (place.open(false)?, Arc::new(plan));
        let read = of_threads(&store, &plan, &args.threads, &is_stage, context);
        pairs.extend(runtime()?.block_on(read)?);
    }
    write(&pairs, filter.as_ref(), &config.secrets(), &args, context)
}

fn filter(text: &str) -> Result<Filter, Failure> {
    Filter::new(text).map_err(|why| {
        let help = format!("known in it: {}", name::list(pairs::NAMES));
        Failure::unusable(format!("`--where` is no condition: {why}")).help(help)
    })
}

/// Graphs and nodes of the model stages that are meant.
fn stages(flow: &Flow, named: Option<&str>) -> Result<Vec<(String, String)>, Failure> {
    let nodes = flow.graphs.iter().flat_map(|graph| {
        let asks = |work: &Work| matches!(work, Work::Llm(_) | Work::Agent { .. });
        let nodes = graph.nodes.iter().filter(move |node| asks(&node.work));
        nodes.map(move |node| (graph.name.clone(), node.name.clone()))
    });
    let all: Vec<(String, String)> = nodes.collect();
    let Some(named) = named else {
        return Ok(all);
    };
    let is =
        |(graph, node): &&(String, String)| node == named || format!("{graph}.{node}") == named;
    let meant: Vec<(String, String)> = all.iter().filter(is).cloned().collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let names: Vec<String> = all
        .iter()
        .map(|(graph, node)| format!("{graph}.{node}"))
        .collect();
    let names = names.iter().map(String::as_str);
    let near = name::did_you_mean(named, names.clone());
    let help = near.unwrap_or_else(|| match names.clone().next() {
        Some(_) => format!("there is {}", name::list(names)),
        None => "the flow asks no model".to_owned(),
    });
    Err(Failure::unusable(format!("`{named}` is no `llm` or `agent` node of the flow")).help(help))
}

/// Calls of threads whose ids are meant and whose graph the flow has.
async fn of_threads(
    store: &Arc<dyn Store>,
    plan: &Arc<Plan>,
    globs: &[String],
    is_stage: &impl Fn(&Call) -> bool,
    context: &Context,
) -> Result<Vec<Pair>, Failure> {
    let failed = super::threads::failed;
    let patterns: Vec<Regex> = globs.iter().filter_map(|glob| pattern(glob)).collect();
    let meant = |thread: &ThreadInfo| {
        let named = patterns
            .iter()
            .any(|pattern| pattern.is_match(&thread.thread_id));
        (globs.is_empty() || named) && plan.flow.graph(&thread.status.graph).is_some()
    };
    let mut threads: Vec<ThreadInfo> = store.threads().await.map_err(failed)?;
    threads.retain(meant);
    threads.sort_by(|a, b| a.thread_id.cmp(&b.thread_id));
    if threads.is_empty() {
        return Err(
            Failure::unusable("no thread of this flow is meant").help("`graphc threads` lists all")
        );
    }
    let mut pairs = Vec::new();
    for thread in threads {
        let replayed = replay(store, &thread, plan).await.map_err(failed)?;
        if let Some(why) = &replayed.failed {
            let id = &thread.thread_id;
            context.say(&format!("note: a part of thread `{id}` is left out: {why}"));
        }
        let calls = pairs::usable(replayed.calls, is_stage).into_iter();
        pairs.extend(calls.map(|call| Pair {
            call,
            thread: thread.thread_id.clone(),
            row: String::new(),
            scores: Default::default(),
        }));
    }
    Ok(pairs)
}

/// A text in which `*` stands for any text.
fn pattern(glob: &str) -> Option<Regex> {
    let parts: Vec<String> = glob.split('*').map(regex::escape).collect();
    Regex::new(&format!("^(?s:{})$", parts.join(".*"))).ok()
}

fn write(
    pairs: &[Pair],
    filter: Option<&Filter>,
    secrets: &Secrets,
    args: &Args,
    context: &Context,
) -> Result<Exit, Failure> {
    let form = Form::new().map_err(Failure::unusable)?;
    let (mut text, mut written) = (String::new(), BTreeSet::new());
    let mut left_out = 0;
    for pair in pairs {
        if let Some(filter) = filter
            && !filter.holds_for(pair).map_err(Failure::unusable)?
        {
            continue;
        }
        let line = secrets.scrub_result(pair.line());
        if let Err(why) = form.check(&line) {
            left_out += 1;
            let from = match pair.row.as_str() {
                "" => format!("thread `{}`", pair.thread),
                row => format!("row `{row}`"),
            };
            let node = format!("{}.{}", pair.call.graph, pair.call.node);
            term::say(&format!(
                "warning: a call of `{node}` in {from} is left out: {why}"
            ));
            continue;
        }
        let line = format!("{line}\n");
        if written.insert(line.clone()) {
            text.push_str(&line);
        }
    }
    output::put(&text, args.output.as_deref(), context)?;
    let count = written.len();
    let unfit = match left_out {
        0 => String::new(),
        count => format!(", {count} left out"),
    };
    let lines = if count == 1 { "line" } else { "lines" };
    context.say(&format!("{count} {lines}{unfit}"));
    Ok(Exit::Done)
}
