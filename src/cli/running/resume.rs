//! `graphc resume FILE --thread ID`

use std::path::PathBuf;

use crate::backend::scenario::Start;
use crate::run::interrupt::Answer;

use super::json_arg::{JsonArg, one_stdin};
use super::run::leg::Leg;
use super::run::session::{Session, Wanted};
use super::run::{RunOptions, StreamMode};
use super::{Context, Exit, Failure, folder};

const EXAMPLES: &str = "\
Examples:
  graphc resume desk.graph --thread t1 --answer '{\"reply\": \"Fixed.\", \"by\": \"Kim\"}'
  graphc resume desk.graph --thread t1 --interrupt i-1 --answer @answer.json
  graphc resume desk.graph --thread t1 --interrupt 'work[0]/ask' --answer true --interrupt 'work[1]/ask' --answer false
  graphc resume desk.graph --thread t1 --answer true --by kim
  graphc resume desk.graph --thread t1           after a crash or a failure";

/// Arguments of `graphc resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its folder, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The thread to go on with
    #[arg(long, value_name = "ID")]
    pub thread: String,
    /// Answer to the open interrupt; left out after a crash or a failure. Several, where each has its `--interrupt`
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub answer: Vec<JsonArg>,
    /// The interrupt that is answered, where several are open: its id or its path, such as `work[1]/ask`; the first is
    /// answered by the first `--answer`, the second by the second
    #[arg(long, value_name = "ID", requires = "answer")]
    pub interrupt: Vec<String>,
    /// Who answers, as `answered.by` and `graphc threads show` say it; the system's user where left out
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// Stop before this node too, by name or path, or `*` for each; may be given several times
    #[arg(long, value_name = "NODE")]
    pub interrupt_before: Vec<String>,
    /// Let go of the nodes that the run was told to stop before
    #[arg(long)]
    pub no_stops: bool,
    /// Leave out of the stream what the task of this event (`ID` or `TYPE:ID`) tells again up to it; may be given several times
    #[arg(long, value_name = "ID", requires = "stream")]
    pub after: Vec<String>,
    /// Take the replies of models and tools from this scenario of the flow's `.test.yaml`; its
    /// answers stay out
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Ask nobody: interrupts stay open
    #[arg(long)]
    pub no_answers: bool,
    /// Print events as they happen, one JSON object per line
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE,..")]
    pub stream: Vec<StreamMode>,
    /// How the run goes; shared with `graphc run` and `graphc chat`.
    #[command(flatten)]
    pub how: RunOptions,
}

/// Goes on with a thread.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let stdin = args.answer.iter().filter(|answer| answer.is_stdin());
    let stdin: Vec<(&str, bool)> = stdin.map(|_| ("`--answer`", true)).collect();
    let flow = ("the flow", args.file.as_os_str() == "-");
    one_stdin(&[&[flow], stdin.as_slice()].concat())?;
    let answers = paired(args.answer, args.interrupt)?;
    let session = Session::open(
        Wanted {
            file: folder::flow_in(&args.file)?,
            how: args.how,
            stream: args.stream,
            scenario: args.scenario.map(|name| (name, Start::Resume)),
            thread: Some(args.thread),
            interrupt_before: args.interrupt_before,
            no_stops: args.no_stops,
            given: Vec::new(),
            by: args.by,
            alone: args.no_answers,
            resumes: true,
            after: args.after,
        },
        context,
    )?;
    session.run(Leg::Resume(answers))
}

/// Each answer with its interrupt; one alone needs none.
fn paired(answers: Vec<JsonArg>, interrupts: Vec<String>) -> Result<Vec<Answer>, Failure> {
    let (given, named) = (answers.len(), interrupts.len());
    if given > 1 && named != given || named > given {
        let message = format!(
            "{given} of `--answer` and {named} of `--interrupt`: which answer is to which interrupt isn't known"
        );
        return Err(Failure::unusable(message).help(
            "write each with its own: `--interrupt ID --answer JSON --interrupt ID --answer JSON`",
        ));
    }
    let mut interrupts = interrupts.into_iter();
    let pair = |answer: JsonArg| {
        Ok(Answer {
            interrupt: interrupts.next(),
            value: answer.read("--answer")?,
        })
    };
    answers.into_iter().map(pair).collect()
}
