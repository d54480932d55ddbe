//! What edits of a thread have in common: their values, and the flow that they are checked against.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::base::name;
use crate::run::ambient::SystemAmbient;
use crate::run::backends::Backends;
use crate::run::engine::{Edited, Engine, StartError, Written};
use crate::run::plan::{Plan, plan};
use crate::run::store::{RunState, Store, ThreadStatus};

use super::super::json_arg::JsonArg;
use super::super::run::hint::Hint;
use super::super::{Context, Exit, Failure, files, flow as flows};
use super::{Shelf, flow};

/// Arguments of an edit.
#[derive(Debug, clap::Args)]
pub struct EditArgs {
    /// Write a field through its reducer, `FIELD=JSON`, or past it, `FIELD:=JSON`; may be given several times
    #[arg(long, value_name = "FIELD=JSON|@FILE|-")]
    pub set: Vec<String>,
    /// The flow, where it isn't the only one below this folder that has the thread's graph
    #[arg(long, value_name = "FILE")]
    pub flow: Option<PathBuf>,
}

impl EditArgs {
    /// The values to write.
    pub fn values(&self) -> Result<Vec<Written>, Failure> {
        let stdin = self.set.iter().filter(|set| set.ends_with("=-")).count();
        if stdin > 1 {
            let message = "several values are `-`, and there is one stdin";
            return Err(Failure::unusable(message).help("name a file for all but one of them"));
        }
        self.set.iter().map(|set| value(set)).collect()
    }
}

fn value(set: &str) -> Result<Written, Failure> {
    let Some((field, text)) = set.split_once('=') else {
        let message = format!("`--set {set}` has no `=`");
        return Err(Failure::unusable(message).help("write `--set FIELD=JSON`"));
    };
    let (field, replace) = match field.strip_suffix(':') {
        Some(field) => (field, true),
        None => (field, false),
    };
    let option = format!("--set {field}");
    let outside = text == "-" || text.starts_with('@');
    let value: Json = match outside {
        true => {
            let Ok(arg) = text.parse::<JsonArg>();
            arg.read(&option)?
        }
        false => serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = format!("`{option}` is not JSON (line {line}, column {column})");
            let sign = if replace { ":=" } else { "=" };
            let quoted = serde_json::json!(text);
            let help = format!("a text stands in double quotes: `--set '{field}{sign}{quoted}'`");
            Failure::unusable(message).help(help)
        })?,
    };
    Ok(Written {
        field: field.to_owned(),
        value,
        replace,
    })
}

/// The flow of a thread, as it is named in commands, and what edits it.
pub fn engine(
    named: Option<&Path>,
    status: &ThreadStatus,
    store: &Arc<dyn Store>,
    context: &Context,
) -> Result<(String, Engine), Failure> {
    let (file, plan) = match named {
        Some(path) => planned(path, context)?,
        None => flow::of(status, context).ok_or_else(|| {
            let message = format!(
                "an edit is checked against the flow, and there isn't just one below this folder that has graph `{}`",
                status.graph
            );
            Failure::unusable(message).help("name it with `--flow FILE`")
        })?,
    };
    let engine = Engine {
        plan: Arc::new(plan),
        backends: Backends::default(),
        store: Some(Arc::clone(store)),
        ambient: Arc::new(SystemAmbient),
    };
    Ok((file, engine))
}

fn planned(path: &Path, context: &Context) -> Result<(String, Plan), Failure> {
    let file = files::shown(path);
    let loaded = flows::load(path, context)?;
    let plan = plan(loaded.flow).map_err(|error| {
        Failure::unusable(format!("`{file}` can't run: {error}")).exit(Exit::Errors)
    })?;
    Ok((file, plan))
}

/// Why an edit or a fork was not made. `option` names the node that an edit stands for.
pub fn refused(shelf: &Shelf, error: StartError, thread: &str, option: &str) -> Failure {
    let message = error.to_string();
    match error {
        StartError::Store(error) => shelf.past(error, thread),
        StartError::Version { .. } => Failure::unusable(message).help(
            "`graphc resume --migrate` changes the thread as the flow's `migrate` says; a flow as it was when the thread last ran takes it as it is",
        ),
        StartError::Refused { .. } => {
            let asks = message.contains("the edit stands for");
            let needs = message.contains("has no value yet");
            let failure = Failure::unusable(message);
            match (asks, needs) {
                (true, _) => failure.help(format!("name it with `{option} NODE`; `start` is the graph's entry")),
                (_, true) => failure.help(format!(
                    "the way on of that node needs what only a run of it gives; name another with `{option} NODE`"
                )),
                _ => failure,
            }
        }
    }
}

impl Shelf {
    /// The command that goes on with a thread of the flow in `file`, served by what its last run had.
    pub fn hint(&self, file: &str, thread: &str, status: &ThreadStatus, context: &Context) -> Hint {
        let named = |option: &str| status.served_by.get(option).map(String::as_str);
        let profile = named("profile").filter(|_| context.profile.is_none());
        let options = [("--scenario", named("scenario")), ("--profile", profile)];
        Hint::new(file, thread, &options, self.named.as_deref(), context)
    }
}

/// What is said of a call in doubt that has given way to an edit or a new input.
pub fn in_doubt(tool: &str) -> String {
    format!("warning: a call of `{tool}` had begun, and nobody asks any more whether it happened")
}

/// Says what an edit has come to, for people.
pub fn say(edited: &Edited, thread: &str, hint: &Hint, context: &Context) {
    let frame = crate::run::engine::frame_path(&edited.frame);
    let of = match frame.as_str() {
        "" => String::new(),
        path => format!(" of `{path}`"),
    };
    let list = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    context.say(&format!(
        "edited {thread} as `{}`{of}: checkpoint {}, next: {}",
        edited.as_node,
        edited.checkpoint,
        list(&edited.next)
    ));
    if !edited.replaced.is_empty() && edited.replaced != edited.next {
        context.say(&format!("not run: {}", list(&edited.replaced)));
    }
    for half in &edited.half_joins {
        let missing = name::list(half.missing.iter().map(String::as_str));
        let more: Vec<&str> = match edited.frame.as_str() {
            "" => Vec::new(),
            _ => vec!["--frame", &frame],
        };
        let arrive = half.missing.first().map_or("", String::as_str);
        let arrive = hint.threads("state", &[&["--as", arrive], more.as_slice()].concat());
        let next = || edited.next.iter().filter_map(|task| task.split('[').next());
        let comes = half
            .missing
            .iter()
            .any(|node| next().any(|next| next == node));
        let how = match (comes, edited.next.is_empty()) {
            (true, _) => "which runs next".to_owned(),
            (false, true) => {
                format!("which nothing leads to now; let it arrive too with: {arrive}")
            }
            (false, false) => {
                format!(
                    "if nothing that runs leads there, let it arrive after the run with: {arrive}"
                )
            }
        };
        context.say(&format!("{} waits for {missing}, {how}", half.shown()));
    }
    for open in &edited.dropped {
        context.say(&format!(
            "`{}` ({}) does not wait for an answer any more",
            open.place(),
            open.id
        ));
    }
    for tool in &edited.in_doubt {
        context.say(&in_doubt(tool));
    }
    if edited.state != RunState::Done {
        context.say(&format!("go on with: {}", hint.resume()));
    }
}
