//! `graphc build FILE`

use std::path::PathBuf;

use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  graphc build desk.graph -o desk.ir.json
  graphc build desk.graph --graph Desk --format yaml
  graphc build --schema > ir.schema.json";

/// Arguments of `graphc build`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow, or `-` for stdin
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// File to write in place of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The graph to enter; the one that no other calls where there is only one such
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Form of the IR
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Print the JSON Schema of the IR
    #[arg(long, conflicts_with_all = ["file", "graph"])]
    pub schema: bool,
}

/// Form of the IR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// JSON, indented
    #[default]
    Json,
    /// YAML
    Yaml,
}
