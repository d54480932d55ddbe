//! `graphc test [PATH..]`

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  graphc test                          every scenario in this folder
  graphc test desk.graph --filter handed
  graphc test --coverage --min 90
  graphc test --format junit > report.xml";

/// Arguments of `graphc test`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Flows, `.test.yaml` files or folders to search for them; this folder where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Run only scenarios whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Count which nodes, routes and arms the scenarios take
    #[arg(long)]
    pub coverage: bool,
    /// Fail under this percentage
    #[arg(long, value_name = "PCT", requires = "coverage", value_parser = clap::value_parser!(u8).range(..=100))]
    pub min: Option<u8>,
    /// Ask the real backends and write their replies into a cassette
    #[arg(long)]
    pub record: bool,
    /// Form of the report; `human` goes to stderr, the others to stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// How many scenarios run at once; one per processor where left out
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// Form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// A line per scenario, a diff per mismatch
    #[default]
    Human,
    /// One JSON object per scenario, one per line
    Json,
    /// JUnit XML
    Junit,
}
