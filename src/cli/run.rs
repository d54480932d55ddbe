//! `graphc run FILE`

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::duration;
use super::json_arg::JsonArg;

const EXAMPLES: &str = "\
Examples:
  graphc run desk.graph --scenario handed_over
  graphc run desk.graph --scenario handed_over --no-answers --thread t1
  graphc run desk.graph --input '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'
  graphc run desk.graph --input @input.json --profile prod --stream updates,messages

Exit status:
  0  done                              3  interrupted, waiting for an answer
  1  the flow has errors               4  the flow failed
  2  wrong usage, could not start      130  cancelled; the thread can be resumed";

/// Arguments of `graphc run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to run; may be left out where the file has one that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// The graph's input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub input: Option<JsonArg>,
    /// Constants of the run, as the graph's `context` declares them
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<JsonArg>,
    /// The thread to start or to go on with; a new one where left out
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// Answer to an interrupt that the run comes to; may be given several times, in their order
    #[arg(long = "answer", value_name = "JSON|@FILE")]
    pub answers: Vec<JsonArg>,
    /// Stop before this node, as if it had an interrupt; may be given several times
    #[arg(long, value_name = "NODE")]
    pub interrupt_before: Vec<String>,
    /// How the run goes; shared with `graphc resume`.
    #[command(flatten)]
    pub how: RunOptions,
}

/// How a run goes: what it stands on, what it shows, what bounds it.
#[derive(Debug, clap::Args)]
pub struct RunOptions {
    /// Where threads are kept, in place of the settings' store: `memory`, `sqlite:PATH`
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Print events as they happen, one JSON object per line
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE,..")]
    pub stream: Vec<StreamMode>,
    /// Take input, replies and answers from this scenario of the flow's `.test.yaml`
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Leave the scenario's answers out: interrupts stay open
    #[arg(long, requires = "scenario")]
    pub no_answers: bool,
    /// When the journal is on disk
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub durability: Durability,
    /// The most super-steps of this run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub recursion_limit: Option<u32>,
    /// The most that the models may cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    pub max_cost: Option<f64>,
    /// The most tokens that the models may use
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// The longest that the run may take, such as `90s` or `10m`
    #[arg(long, value_name = "D", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
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
    /// Before the next effect
    Sync,
    /// In order, behind the step
    #[default]
    Async,
    /// At the end, at an interrupt and on an error
    Exit,
}

/// An amount of money: a number that is finite and not negative.
fn cost(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text.parse().ok();
    amount
        .filter(|amount| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| format!("expected an amount of dollars such as `0.5`, found `{text}`"))
}
