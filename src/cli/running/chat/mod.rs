//! `graphc chat FILE`
//!
//! A flow whose graph has `in out messages: list<message>` is talked to: each line that is written is a user message and a run of its
//! own on one thread. [`conversation`] leads it, [`field`] knows the messages and which of them are new, [`part`] which nodes speak to
//! the person, [`display`] shows a run as it goes. How a run is made and asked is `graphc run`'s.

mod conversation;
mod display;
mod field;
mod line;
mod part;

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::backend::scenario::Start;

use super::json_arg::{JsonArg, one_stdin};
use super::run::RunOptions;
use super::run::field::{FieldArg, with_fields};
use super::run::session::{Session, Wanted};
use super::{Context, Exit, Failure, flow, folder};

use conversation::Conversation;
use field::MessagesField;

const EXAMPLES: &str = "\
Examples:
  graphc chat desk.graph
  graphc chat desk.graph --thread t1              on with an earlier conversation
  graphc chat graphs/desk -i tenant=acme --profile openai -v
  graphc chat desk.graph --scenario handed_over   offline, with the scenario's replies
  echo Hello | graphc chat desk.graph

Exit status:
  0  the input has ended               3  interrupted, waiting for an answer
  1  the flow has errors               130  left by Ctrl-C; the thread is kept
  2  wrong usage, could not start";

/// Arguments of `graphc chat`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its folder or its IR
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to talk to; may be left out where the file has one that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Other `in` fields of the graph, sent with each message: an object
    #[arg(long, value_name = "JSON|@FILE")]
    pub input: Option<JsonArg>,
    /// One of these fields, before `--input`: a text as it is, else JSON; may be given several times
    #[arg(short = 'i', value_name = "FIELD=VALUE")]
    pub fields: Vec<FieldArg>,
    /// The constants of each run: an object of the graph's `context`
    #[arg(long, value_name = "JSON|@FILE")]
    pub context: Option<JsonArg>,
    /// The thread to go on with or to begin; a new one where left out
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// Take replies, answers, context and the other `in` fields from this scenario of the flow's `.test.yaml`
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Who answers, as `answered.by` and `graphc threads show` say it; the system's user where left out
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// How each run goes; shared with `graphc run` and `graphc resume`.
    #[command(flatten)]
    pub how: RunOptions,
}

/// Talks to a flow until the input ends.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    // What is said comes from there.
    let is = |arg: &Option<JsonArg>| arg.as_ref().is_some_and(JsonArg::is_stdin);
    one_stdin(&[
        ("what you say", true),
        ("the flow", args.file.as_os_str() == "-"),
        ("`--input`", is(&args.input)),
        ("`--context`", is(&args.context)),
    ])?;
    let input = args.input.map(|input| input.read("--input")).transpose()?;
    let constants = args.context.map(|given| given.read("--context"));
    let constants = constants.transpose()?;
    let mut session = Session::open(
        Wanted {
            file: folder::flow_in(&args.file)?,
            how: args.how,
            stream: Vec::new(),
            scenario: args.scenario.map(|name| (name, Start::Run)),
            thread: args.thread,
            interrupt_before: Vec::new(),
            no_stops: false,
            given: Vec::new(),
            by: args.by,
            alone: false,
            resumes: false,
            after: Vec::new(),
        },
        context,
    )?;
    let scenario = session.scenario();
    let named = args.graph.as_deref();
    let named = named.or_else(|| scenario.and_then(|s| s.graph.as_deref()));
    let graph = flow::graph(session.flow(), named)?;
    let field = MessagesField::of(session.flow(), graph)?;
    let scripted = scenario.map(|scenario| Json::Object(scenario.input.clone()));
    let input = input.or(scripted).unwrap_or_else(|| json!({}));
    let input = with_fields(input, &args.fields, session.flow(), graph)?;
    let input = field.beside(input)?;
    let scripted = scenario.map(|scenario| scenario.context.clone().into());
    let constants = constants.or(scripted).unwrap_or_default();
    session.names_graph(graph);
    Conversation::new(session, (graph, field), (input, constants)).lead()
}
