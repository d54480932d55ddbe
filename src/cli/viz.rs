//! `graphc viz FILE`

use std::path::PathBuf;

use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  graphc viz desk.graph                mermaid, as Markdown shows it
  graphc viz desk.graph --format dot | dot -Tsvg > desk.svg
  graphc viz desk.graph --xray 2       with two levels of subgraphs opened";

/// Arguments of `graphc viz`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow, or `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph to draw; may be left out where the file has one that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Form of the drawing
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Open subgraphs, to this depth where one is given
    #[arg(long, value_name = "DEPTH", num_args = 0..=1, default_missing_value = "4294967295")]
    pub xray: Option<u32>,
    /// Mark where this thread went
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
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
    /// A page that opens in a browser
    Html,
}
