//! `graphc threads state`

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::base::name::list;
use crate::run::engine::{Edit, Edited, frame_path, under_way};
use crate::run::frame::is_log;
use crate::run::interrupt::OpenInterrupt;
use crate::run::schedule::next_tasks;
use crate::run::store::{Effects, FrameImage, Store, ThreadImage, ThreadInfo};

use super::super::{Context, Failure, output};
use super::edit::{self, EditArgs};
use super::{Format, Shelf, flow};

/// Arguments of `graphc threads state`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The thread
    #[arg(value_name = "ID")]
    pub thread: String,
    /// A checkpoint in place of the newest; of an older one a fork is edited
    #[arg(long, value_name = "SEQ", alias = "checkpoint")]
    pub at: Option<u64>,
    /// A called graph under way: its path, such as `content/section`; the run's own graph is `/`
    #[arg(long, value_name = "PATH")]
    pub frame: Option<String>,
    /// The node that an edit stands for, the one that ran last where left out; what follows it runs next
    #[arg(long = "as", visible_alias = "as-node", value_name = "NODE")]
    pub as_node: Option<String>,
    /// What is written.
    #[command(flatten)]
    pub edit: EditArgs,
}

/// Prints the state of a thread, once it is edited where that is asked for.
pub async fn run(shelf: &Shelf, args: Args, context: &Context) -> Result<(), Failure> {
    let (store, info) = shelf.thread(&args.thread).await?;
    let thread = args.thread.as_str();
    let writes = args.edit.values()?;
    if writes.is_empty() && args.as_node.is_none() {
        let image = match args.at {
            Some(seq) => {
                let image = store.image_at(thread, seq, Effects::Before).await;
                image.map_err(|error| shelf.past(error, thread))?
            }
            None => newest(store, &info).await?,
        };
        return print(shelf, &info, &image, args.frame.as_deref(), None, context);
    }
    if let Some(at) = args.at {
        let at = at.to_string();
        let set = args.edit.set.iter().flat_map(|set| ["--set", set]);
        let node = args.as_node.iter().flat_map(|node| ["--as-node", node]);
        let frame = args.frame.iter().flat_map(|frame| ["--frame", frame]);
        let words: Vec<&str> = ["threads", "fork", thread, "--at", &at]
            .into_iter()
            .chain(set.chain(node).chain(frame))
            .collect();
        let message = format!(
            "what a thread has behind it is not changed: checkpoint {at} can be edited in a fork of it"
        );
        let command = shelf.pasted.command(&words);
        return Err(Failure::unusable(message).help(format!("make one with: {command}")));
    }
    let (file, engine) = edit::engine(args.edit.flow.as_deref(), &info.status, store, context)?;
    let wanted = Edit {
        frame: args.frame,
        writes,
        as_node: args.as_node,
    };
    let edited = engine.edit(thread, &wanted).await;
    let edited = edited.map_err(|error| edit::refused(shelf, error, thread, "--as"))?;
    let hint = shelf.hint(&file, thread, &info.status, context);
    edit::say(&edited, thread, &hint, context);
    show(shelf, thread, &edited, context).await
}

/// Prints the state behind an edit.
pub async fn show(
    shelf: &Shelf,
    thread: &str,
    edited: &Edited,
    context: &Context,
) -> Result<(), Failure> {
    let (store, info) = shelf.thread(thread).await?;
    let image = newest(store, &info).await?;
    let frame = Some(edited.frame.as_str());
    print(shelf, &info, &image, frame, Some(edited), context)
}

async fn newest(store: &Arc<dyn Store>, info: &ThreadInfo) -> Result<ThreadImage, Failure> {
    let thread = &info.thread_id;
    let image = store.load(thread).await.map_err(super::failed)?;
    image.ok_or_else(|| Failure::unusable(format!("there is no thread `{thread}`")))
}

/// The frame that is asked for: without a word that of the checkpoint itself, of the newest the run's own graph.
fn frame<'f>(
    frames: &'f [FrameImage],
    image: &ThreadImage,
    newest: bool,
    wanted: Option<&str>,
) -> Result<Option<&'f FrameImage>, Failure> {
    let Some(wanted) = wanted else {
        let own = frames.iter().find(|frame| frame.seq == image.last_seq);
        return Ok(own.filter(|_| !newest).or(frames.first()));
    };
    let wanted = wanted.trim_matches('/');
    let is = |frame: &&FrameImage| {
        frame_path(&frame.frame) == wanted || frame.frame.trim_matches('/') == wanted
    };
    match frames.iter().find(is) {
        Some(found) => Ok(Some(found)),
        None => {
            let paths: Vec<String> = frames
                .iter()
                .map(|frame| frame_path(&frame.frame))
                .collect();
            let nested = paths
                .iter()
                .map(String::as_str)
                .filter(|path| !path.is_empty());
            let message = format!("no call is under way at `{wanted}`");
            let failure = Failure::unusable(message);
            Err(match paths.len() {
                0 | 1 => failure.help("the run's own graph is the only one: leave `--frame` out"),
                _ => failure.help(format!("those that are: {}", list(nested))),
            })
        }
    }
}

fn print(
    shelf: &Shelf,
    info: &ThreadInfo,
    image: &ThreadImage,
    wanted: Option<&str>,
    edited: Option<&Edited>,
    context: &Context,
) -> Result<(), Failure> {
    let frames = under_way(&image.frames).map_err(super::failed)?;
    let newest = image.last_seq == info.checkpoint;
    let found = frame(&frames, image, newest, wanted)?;
    let mut json = JsonMap::new();
    let mut put = |key: &str, value: Json| json.insert(key.to_owned(), value);
    put("thread_id", json!(info.thread_id));
    let graph = found.and_then(|frame| frame.schedule.get("graph"));
    let graph = graph.and_then(Json::as_str).unwrap_or(&info.status.graph);
    put("graph", json!(graph));
    put("checkpoint_id", json!(image.last_seq.to_string()));
    let mut state = JsonMap::new();
    if let Some(found) = found {
        if !found.frame.is_empty() {
            put("frame", json!(found.frame));
        }
        put("step", json!(found.step));
        put("next", json!(next_tasks(&found.schedule)));
        let fields = found.fields.iter().filter(|(name, _)| !is_log(name));
        state.extend(fields.map(|(name, field)| (name.clone(), field.value.to_json())));
    }
    let others = frames.iter().filter(|frame| !frame.frame.is_empty());
    let others: Vec<Json> = others.map(call).collect();
    if !others.is_empty() {
        put("calls", Json::Array(others));
    }
    if let Some((_, plan)) = flow::of(&info.status, context) {
        flow::fill(&mut state, graph, &plan);
    }
    put("state", Json::Object(state));
    if let Some(edited) = edited {
        put("as", json!(edited.as_node));
        put("status", json!(edited.state));
        put("replaced", json!(edited.replaced));
        if !edited.half_joins.is_empty() {
            put("half_joins", json!(edited.half_joins));
        }
        let dropped = edited.dropped.iter().map(OpenInterrupt::to_json);
        put("dropped", dropped.collect());
        if !edited.in_doubt.is_empty() {
            put("in_doubt", json!(edited.in_doubt));
        }
    }
    let json = Json::Object(json);
    output::print(&match shelf.format {
        Format::Human => format!("{json:#}\n"),
        Format::Json => format!("{json}\n"),
    })
}

/// A called graph under way.
fn call(frame: &FrameImage) -> Json {
    json!({
        "path": frame_path(&frame.frame),
        "frame": frame.frame,
        "checkpoint_id": frame.seq.to_string(),
        "next": next_tasks(&frame.schedule),
    })
}
