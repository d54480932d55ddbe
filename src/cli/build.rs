//! `graphc build FILE`

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;

use crate::ir;

use super::{Context, Exit, Failure, flow, folder, output};

const EXAMPLES: &str = "\
Examples:
  graphc build desk.graph -o desk.ir.json
  graphc build desk.graph --graph Desk --format yaml
  graphc build --schema > ir.schema.json";

/// Arguments of `graphc build`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow, its folder, its IR, or `-` for stdin
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// File to write in place of stdout, which is `-`
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

/// Writes the IR, or its schema.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let text = match &args.file {
        None => written(&ir::schema(), args.format)?,
        Some(file) => {
            let mut flow = flow::load(&folder::flow_in(file)?, context)?.flow;
            if let Some(name) = &args.graph {
                let entry = flow::graph(&flow, Some(name))?;
                Arc::make_mut(&mut flow).entry = Some(entry);
            }
            written(&*flow, args.format)?
        }
    };
    output::put(&text, args.output.as_deref(), context)?;
    Ok(Exit::Done)
}

fn written(data: &impl serde::Serialize, format: Format) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::unusable(format!("could not write the IR: {error}"))
    };
    match format {
        Format::Json => serde_json::to_string_pretty(data)
            .map(|text| text + "\n")
            .map_err(|error| failed(&error)),
        // By way of JSON, which has no tagged values: the YAML then reads back as the same data.
        Format::Yaml => serde_json::to_value(data)
            .map_err(|error| failed(&error))
            .and_then(|json| serde_yaml::to_string(&json).map_err(|error| failed(&error))),
    }
}
