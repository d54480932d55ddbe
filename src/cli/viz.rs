//! `graphc viz FILE`

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::ir::{Flow, GraphId, Work};
use crate::viz::{Drawing, Form, draw};

use super::running::way;
use super::{Context, Exit, Failure, RUNS, files, flow, folder, output, present};

const EXAMPLES: &str = "\
Examples:
  graphc viz desk.graph                mermaid, as Markdown shows it
  graphc viz desk.graph --format dot | dot -Tsvg > desk.svg
  graphc viz desk.graph --format html --xray -o desk.html
  graphc viz desk.graph --xray 1       only the first level of subgraphs opened
  graphc viz desk.graph --graph Desk   one graph of several
  graphc viz desk.graph --format svg --thread t1 -o t1.svg";

/// Arguments of `graphc viz`.
#[derive(Debug, clap::Args)]
#[command(after_help = present(EXAMPLES))]
pub struct Args {
    /// The flow: `*.graph`, its folder, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to draw; all of them, each in a frame, where left out
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Form of the drawing; what the ending of `--output` says, or mermaid, where left out
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<Format>,
    /// Draw subgraphs in place of the nodes that run them, to a depth, or all
    #[arg(
        long,
        value_name = "DEPTH",
        num_args = 0..=1,
        default_missing_value = "4294967295",
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    pub xray: Option<u32>,
    /// Mark where a thread went: visits, where it stands, what it waits for
    #[arg(long, value_name = "ID", hide = !RUNS)]
    pub thread: Option<String>,
    /// Where threads are kept, in place of the settings' store: `sqlite:PATH`, `postgres://..`
    #[arg(long, value_name = "URL", requires = "thread", hide = !RUNS)]
    pub store: Option<String>,
    /// Leave out what explains arrows and borders
    #[arg(long)]
    pub no_legend: bool,
    /// File to write in place of stdout, which is `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Form of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A mermaid flowchart
    #[default]
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture
    Svg,
    /// A page: the picture to move about in, and what is known of each node
    Html,
}

/// Writes the drawing.
pub fn run(mut args: Args, context: &Context) -> Result<Exit, Failure> {
    args.file = folder::flow_in(&args.file)?;
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(file)) => format_of(file)?,
        (None, None) => Format::default(),
    };
    let loaded = flow::load(&args.file, context)?;
    let flow = loaded.flow;
    let depth = args.xray.unwrap_or(0);
    let trace = match &args.thread {
        Some(thread) => {
            let store = args.store.clone();
            Some(way::read(thread, store, &flow, &loaded.project, context)?)
        }
        None => None,
    };
    let graphs: Vec<GraphId> = match &args.graph {
        Some(name) => vec![flow::graph(&flow, Some(name))?],
        None if depth > 0 => outermost(&flow),
        None => flow.graphs.entries().map(|(id, _)| id).collect(),
    };
    let drawing = Drawing {
        form: match format {
            Format::Mermaid => Form::Mermaid,
            Format::Dot => Form::Dot,
            Format::Svg => Form::Svg,
            Format::Html => Form::Html,
        },
        depth: depth as usize,
        legend: !args.no_legend,
        trace: trace.as_ref(),
    };
    let drawn = draw(&flow, &graphs, &drawing).map_err(|error| {
        let one = if graphs.len() > 1 {
            ", or draw one graph with `--graph NAME`"
        } else {
            ""
        };
        let closed = if depth > 0 {
            ", or leave out `--xray`"
        } else {
            ""
        };
        Failure::unusable(error.to_string()).help(format!(
            "let others lay it out, with `--format dot` or `--format mermaid`{one}{closed}"
        ))
    })?;
    output::put(&drawn.text, args.output.as_deref(), context)?;
    if drawn.closed > 0 {
        let calls = if drawn.closed == 1 {
            "call stays"
        } else {
            "calls stay"
        };
        context.say(&format!(
            "{} subgraph {calls} closed: the picture would be too large; draw one with `--graph`",
            drawn.closed
        ));
    }
    Ok(Exit::Done)
}

/// The form that a file's name asks for.
fn format_of(file: &Path) -> Result<Format, Failure> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    Ok(match ending.unwrap_or_default() {
        "svg" => Format::Svg,
        "html" | "htm" => Format::Html,
        "dot" | "gv" => Format::Dot,
        "mmd" | "mermaid" | "md" => Format::Mermaid,
        _ if file.as_os_str() == "-" => Format::default(),
        _ => {
            let shown = files::shown(file);
            let message = format!("the name of `{shown}` says no form that a flow is drawn in");
            return Err(Failure::unusable(message)
                .help("name it `*.svg`, `*.html`, `*.dot` or `*.mmd`, or add `--format`"));
        }
    })
}

/// Arguments in which `--xray` stands by itself where the word behind it is no depth but, as it may be, the
/// file: `viz --xray desk.graph`.
pub fn depths(args: Vec<OsString>) -> Vec<OsString> {
    let number = |arg: Option<&OsString>| {
        let text = arg.and_then(|arg| arg.to_str()).unwrap_or_default();
        // Also below zero, which is then refused as what it is.
        text.strip_prefix('-')
            .unwrap_or(text)
            .parse::<u64>()
            .is_ok()
    };
    let mut out = Vec::with_capacity(args.len());
    let mut drawing = false;
    let mut rest = args.into_iter().peekable();
    while let Some(arg) = rest.next() {
        drawing |= arg == "viz";
        match drawing && arg == "--xray" && !number(rest.peek()) {
            true => out.push(OsString::from(format!("--xray={}", u32::MAX))),
            false => out.push(arg),
        }
    }
    out
}

/// The graphs that no other calls: the others are drawn inside them. All, where each is called.
fn outermost(flow: &Flow) -> Vec<GraphId> {
    let mut called = BTreeSet::new();
    for (id, graph) in flow.graphs.entries() {
        for node in &graph.nodes {
            if let Work::Subgraph { graph, .. } = &node.work
                && *graph != id
            {
                called.insert(*graph);
            }
        }
    }
    let all = || flow.graphs.entries().map(|(id, _)| id);
    let outer: Vec<GraphId> = all().filter(|id| !called.contains(id)).collect();
    match outer.is_empty() {
        true => all().collect(),
        false => outer,
    }
}
