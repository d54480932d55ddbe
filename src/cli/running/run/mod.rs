//! `graphc run FILE`
//!
//! [`session`] puts together what a run needs, `drive` leads it through its interrupts, one [`leg`] after the other, and `outcome` says
//! what it came to. Beside it: [`process`] (what the process has of its own), [`scene`] (a scenario in place of the world), `served` (which backends make its calls), [`answers`] (where answers come from), [`ask`] (asking
//! a person), [`watch`] with [`progress`] and `again` (what is shown while it runs), [`signals`] (Ctrl-C), [`telemetry`],
//! [`hint`] and [`example`] (the command that goes on).

pub mod again;
pub mod answers;
pub mod ask;
mod drive;
pub mod example;
pub mod field;
pub mod hint;
pub mod leg;
pub mod outcome;
pub mod process;
pub mod progress;
pub mod remedy;
pub mod scene;
pub mod secret;
mod served;
pub mod session;
pub mod signals;
pub mod signs;
pub mod snippet;
mod stops;
pub mod telemetry;
pub mod watch;

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;

use crate::backend::scenario::Start;
use crate::base::duration;
use crate::run::event::Mode;
use crate::run::journal;

use super::json_arg::{JsonArg, one_stdin};
use super::{Context, Exit, Failure, flow, folder};

use field::FieldArg;
use leg::Leg;
use session::{Session, Wanted};

const EXAMPLES: &str = "\
Examples:
  graphc run desk.graph --scenario handed_over
  graphc run desk.graph --scenario handed_over --no-answers --thread t1
  graphc run desk.graph --input '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'
  graphc run graphs/desk -i question=\"Why?\" -i count=3      a folder, fields of the input
  graphc run desk.graph --input @input.json --profile prod --stream updates,messages

Exit status:
  0  done                              3  interrupted, waiting for an answer
  1  the flow has errors               4  the flow failed
  2  wrong usage, could not start      5  its end could not be written
                                       130  cancelled; the thread can be resumed";

/// Arguments of `graphc run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its folder, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to run; may be left out where the file has one that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// The graph's input: an object of its `in` fields; with a scenario, in place of its input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub input: Option<JsonArg>,
    /// One field of the input, before `--input`: a text as it is, else JSON; may be given several times
    #[arg(short = 'i', value_name = "FIELD=VALUE")]
    pub fields: Vec<FieldArg>,
    /// The run's constants: an object of the graph's `context`; with a scenario, in place of its context
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub context: Option<JsonArg>,
    /// The thread to start, or to add to with a new input; a new one where left out
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// Take input, replies and answers from this scenario of the flow's `.test.yaml`
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Leave the scenario's answers out and ask nobody: interrupts stay open
    #[arg(long)]
    pub no_answers: bool,
    /// Answer to an interrupt that the run comes to; may be given several times, in their order
    #[arg(long = "answer", value_name = "JSON|@FILE")]
    pub answers: Vec<JsonArg>,
    /// Who answers, as `answered.by` and `graphc threads show` say it; the system's user where left out
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Stop before this node, by name or path, or `*` for each; may be given several times
    #[arg(long, value_name = "NODE")]
    pub interrupt_before: Vec<String>,
    /// Print events as they happen, one JSON object per line
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE,..")]
    pub stream: Vec<StreamMode>,
    /// How the run goes; shared with `graphc resume` and `graphc chat`.
    #[command(flatten)]
    pub how: RunOptions,
}

/// How a run goes: what it stands on, what bounds it.
#[derive(Debug, clap::Args)]
pub struct RunOptions {
    /// Where threads are kept, in place of the settings' store: `memory`, `sqlite:PATH`, `postgres://..`
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// When the journal is on disk
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub durability: Durability,
    /// The most super-steps of this run, those before a resume counted in
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub recursion_limit: Option<u32>,
    /// The most tasks of the run that work at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_concurrency: Option<u32>,
    /// The most tasks of one super-step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tasks: Option<u32>,
    /// Change a thread of an earlier version of the flow as its `migrate` blocks say
    #[arg(long)]
    pub migrate: bool,
    /// A secret for tools, kept nowhere: of the environment's variable `NAME`, or of a file; may be given several times
    #[arg(long = "secret", value_name = "NAME|NAME=@FILE")]
    pub secrets: Vec<secret::SecretArg>,
    /// The longest that the run may take, such as `90s` or `10m`
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Some(Duration::ZERO) => Err("it leaves no time: expected more than 0".to_owned()),
        Some(given) => Ok(given),
        None => Err(format!(
            "expected a duration such as `500ms`, `10s`, `5m`, `2h` or `7d`, found `{text}`"
        )),
    }
}

/// What a stream shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamMode {
    /// The whole state after each super-step
    Values,
    /// What each node wrote
    Updates,
    /// What models say, as they say it
    Messages,
    /// What the flow emits
    Custom,
    /// Beginning and end of each task
    Tasks,
    /// Each checkpoint
    Checkpoints,
    /// All that is known
    Debug,
}

/// When the journal and the commits are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Durability {
    /// Each effect and each super-step before the run goes on
    Sync,
    /// In order, behind the run; before the next effect on the outside
    #[default]
    Async,
    /// At the end, at an interrupt and on an error
    Exit,
}

impl StreamMode {
    /// The events that it stands for.
    pub fn modes(self) -> Vec<Mode> {
        match self {
            StreamMode::Values => vec![Mode::Values],
            StreamMode::Updates => vec![Mode::Updates],
            StreamMode::Messages => vec![Mode::Messages],
            StreamMode::Custom => vec![Mode::Custom],
            StreamMode::Tasks => vec![Mode::Tasks],
            StreamMode::Checkpoints => vec![Mode::Checkpoints],
            StreamMode::Debug => Mode::ALL.to_vec(),
        }
    }
}

impl From<Durability> for journal::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::Sync => journal::Durability::Sync,
            Durability::Async => journal::Durability::Async,
            Durability::Exit => journal::Durability::Exit,
        }
    }
}

/// Runs a graph, and goes on with it for as long as there are answers.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let is = |arg: &Option<JsonArg>| arg.as_ref().is_some_and(JsonArg::is_stdin);
    let mut stdin = vec![
        ("the flow", args.file.as_os_str() == "-"),
        ("`--input`", is(&args.input)),
        ("`--context`", is(&args.context)),
    ];
    stdin.extend(args.answers.iter().map(|a| ("`--answer`", a.is_stdin())));
    one_stdin(&stdin)?;
    let given = args
        .answers
        .iter()
        .map(|answer| answer.read("--answer"))
        .collect::<Result<Vec<_>, _>>()?;
    let input = args.input.map(|input| input.read("--input")).transpose()?;
    let given_context = args
        .context
        .map(|given| given.read("--context"))
        .transpose()?;
    let session = Session::open(
        Wanted {
            file: folder::flow_in(&args.file)?,
            how: args.how,
            stream: args.stream,
            scenario: args.scenario.map(|name| (name, Start::Run)),
            thread: args.thread,
            interrupt_before: args.interrupt_before,
            no_stops: false,
            given,
            by: args.by,
            alone: args.no_answers,
            resumes: false,
            after: Vec::new(),
        },
        context,
    )?;
    let scenario = session.scenario();
    let named = args.graph.as_deref();
    let named = named.or_else(|| scenario.and_then(|s| s.graph.as_deref()));
    let graph = flow::graph(session.flow(), named)?;
    let scripted = scenario.map(|scenario| scenario.input.clone().into());
    let input = input.or(scripted).unwrap_or_else(|| json!({}));
    let input = field::with_fields(input, &args.fields, session.flow(), graph)?;
    let scripted = scenario.map(|scenario| scenario.context.clone().into());
    let constants = given_context.or(scripted).unwrap_or_default();
    session.run(Leg::Start {
        graph,
        input,
        constants,
    })
}
