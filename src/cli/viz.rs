//! `graphc viz FILE`

use std::path::PathBuf;

use clap::ValueEnum;

use crate::ir::GraphId;
use crate::viz::{Form, draw};

use super::{Context, Exit, Failure, flow, output};

const EXAMPLES: &str = "\
Examples:
  graphc viz desk.graph                mermaid, as Markdown shows it
  graphc viz desk.graph --format dot | dot -Tsvg > desk.svg
  graphc viz desk.graph --graph Desk   one graph of several";

/// Arguments of `graphc viz`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, its IR, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to draw; all of them, each in a frame, where left out
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Form of the drawing
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
}

/// Form of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A mermaid flowchart
    #[default]
    Mermaid,
    /// Graphviz
    Dot,
}

/// Prints the drawing.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let flow = flow::load(&args.file, context)?.flow;
    let graphs: Vec<GraphId> = match &args.graph {
        Some(name) => vec![flow::graph(&flow, Some(name))?],
        None => flow.graphs.entries().map(|(id, _)| id).collect(),
    };
    let form = match args.format {
        Format::Mermaid => Form::Mermaid,
        Format::Dot => Form::Dot,
    };
    output::print(&draw(&flow, &graphs, form))?;
    Ok(Exit::Done)
}
