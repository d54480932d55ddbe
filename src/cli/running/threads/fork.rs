//! `graphc threads fork`

use serde_json::json;

use crate::run::ambient::SystemAmbient;
use crate::run::engine::{self, Edit, Fork};
use crate::run::schedule::next_tasks;
use crate::run::store::{Effects, RunState};

use super::super::run::hint::Hint;
use super::super::run::process::new_thread;
use super::super::{Context, Failure, output};
use super::edit::{self, EditArgs};
use super::{Format, Shelf, flow, state};

/// Arguments of `graphc threads fork`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The thread that is forked
    #[arg(value_name = "ID")]
    pub thread: String,
    /// The checkpoint that the new thread goes on from; the newest where left out
    #[arg(long, value_name = "SEQ", alias = "checkpoint")]
    pub at: Option<u64>,
    /// Id of the new thread; a fresh one where left out
    #[arg(long = "as", value_name = "NEW")]
    pub to: Option<String>,
    /// Leave out the results that came later, so that models and tools are called again; otherwise they answer
    #[arg(long)]
    pub afresh: bool,
    /// The node that an edit stands for, the one that ran last where left out; what follows it runs next
    #[arg(long, value_name = "NODE")]
    pub as_node: Option<String>,
    /// The called graph under way that is edited: its path, such as `content/section`
    #[arg(long, value_name = "PATH")]
    pub frame: Option<String>,
    /// What is written in the new thread; then no result that came later answers it.
    #[command(flatten)]
    pub edit: EditArgs,
}

/// Makes a thread from a checkpoint of another one.
pub async fn run(shelf: &Shelf, args: Args, context: &Context) -> Result<(), Failure> {
    let (store, info) = shelf.thread(&args.thread).await?;
    let to = args.to.unwrap_or_else(new_thread);
    if to.trim().is_empty() {
        return Err(Failure::unusable(
            "a thread's id has at least one character",
        ));
    }
    let fork = Fork {
        from: &args.thread,
        at: args.at.unwrap_or(info.checkpoint),
        to: &to,
        effects: match args.afresh {
            true => Effects::Before,
            false => Effects::All,
        },
    };
    let writes = args.edit.values()?;
    if writes.is_empty() && args.as_node.is_none() {
        let needless = [
            (
                args.frame.is_some(),
                "frame",
                "a checkpoint of a called graph is forked by its number alone",
            ),
            (
                args.edit.flow.is_some(),
                "flow",
                "a fork alone needs no flow",
            ),
        ];
        if let Some((_, option, without)) = needless.iter().find(|(given, ..)| *given) {
            let message = format!("`--{option}` is for an edit, and there is none");
            let help = format!("add `--set FIELD=JSON`; {without}");
            return Err(Failure::unusable(message).help(help));
        }
        let forked = engine::fork(store, &SystemAmbient, &fork).await;
        let status =
            forked.map_err(|error| edit::refused(shelf, error, &args.thread, "--as-node"))?;
        let image = store.load(&to).await.map_err(super::failed)?;
        let root = image.as_ref().and_then(|image| image.frames.first());
        let next = root
            .map(|root| next_tasks(&root.schedule))
            .unwrap_or_default();
        let known = flow::of(&info.status, context);
        let file = known.as_ref().map_or("FILE", |(file, _)| file);
        let hint = shelf.hint(file, &to, &info.status, context);
        said(&fork, status.state, &next, (&hint, context));
        let in_doubt = engine::fork_in_doubt(store, &fork).await;
        let in_doubt =
            in_doubt.map_err(|error| edit::refused(shelf, error, &args.thread, "--as-node"))?;
        for tool in &in_doubt {
            context.say(&format!(
                "warning: a call of `{tool}` had begun in {}, and it is not known whether it happened: {to} makes it again without asking",
                args.thread
            ));
        }
        return print(shelf, &fork, (status.state, &next), &in_doubt);
    }
    let named = args.edit.flow.as_deref();
    let (file, engine) = edit::engine(named, &info.status, store, context)?;
    let wanted = Edit {
        frame: args.frame,
        writes,
        as_node: args.as_node,
    };
    let edited = engine.fork_edited(&fork, &wanted).await;
    let edited = edited.map_err(|error| edit::refused(shelf, error, &args.thread, "--as-node"))?;
    context.say(&format!(
        "forked {} at checkpoint {} as {to}",
        args.thread, fork.at
    ));
    let hint = shelf.hint(&file, &to, &info.status, context);
    edit::say(&edited, &to, &hint, context);
    state::show(shelf, &to, &edited, context).await
}

/// What is said to people, on stderr.
fn said(fork: &Fork<'_>, state: RunState, next: &[String], (hint, context): (&Hint, &Context)) {
    context.say(&format!(
        "forked {} at checkpoint {} as {}",
        fork.from, fork.at, fork.to
    ));
    if state == RunState::Done {
        context.say("nothing is left to do there: an edit or a new input goes on");
        return;
    }
    context.say(&format!("next: {}", next.join(", ")));
    if state == RunState::Interrupted {
        context.say(&format!(
            "it waits for the same answers; the questions: {}",
            hint.threads("show", &[])
        ));
    }
    context.say(&format!("go on with: {}", hint.resume()));
}

fn print(
    shelf: &Shelf,
    fork: &Fork<'_>,
    (state, next): (RunState, &[String]),
    in_doubt: &[String],
) -> Result<(), Failure> {
    output::print(&match shelf.format {
        Format::Human => format!("{}\n", fork.to),
        Format::Json => {
            let mut json = json!({
                "thread_id": fork.to,
                "forked_from": { "thread_id": fork.from, "checkpoint_id": fork.at.to_string() },
                "checkpoint_id": fork.at.to_string(),
                "status": state,
                "next": next,
            });
            if let (false, Some(entries)) = (in_doubt.is_empty(), json.as_object_mut()) {
                entries.insert("in_doubt".to_owned(), json!(in_doubt));
            }
            format!("{json}\n")
        }
    })
}
