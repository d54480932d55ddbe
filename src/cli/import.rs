//! `graphc import FILE`, and `graphc import mcp SERVER` in [`mcp`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::SourceMap;
use crate::compile::compile;
use crate::diag::{Diagnostics, render};
use crate::import::{self, Gap};

use super::files::{self, Source};
use super::running::mcp;
use super::{Context, Exit, Failure, output, present, term};

const EXAMPLES: &str = "\
Examples:
  graphc import agent.mmd              the skeleton on stdout, its gaps on stderr
  graphc import README.md --drawing 2  the second drawing of a page
  python draw.py | graphc import - --graph Agent -o agent.graph
                                       where draw.py prints app.get_graph(xray=True).draw_mermaid()
  graphc import mcp files -o files.graph
                                       the tools that `mcp_servers` of graphc.yaml has at `files`

What the drawing doesn't say is marked GAP in the skeleton, which checks as it is.";

/// Arguments of `graphc import`.
#[derive(Debug, clap::Args)]
#[command(after_help = present(EXAMPLES))]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    /// What is imported in place of a drawing.
    #[command(subcommand)]
    pub of: Option<Of>,
    /// A mermaid flowchart, a Markdown page with one, or `-` for stdin
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    /// File to write in place of stdout, which is `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What the graph is to be called; without it, as the file is
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// Which drawing of a page is meant, from 1
    #[arg(long, value_name = "N")]
    pub drawing: Option<usize>,
}

/// What is imported in place of a drawing.
#[derive(Debug, clap::Subcommand)]
pub enum Of {
    /// Declare the tools that an MCP server of `graphc.yaml` offers
    Mcp(mcp::Args),
}

/// Writes the skeleton of a flow, and says what it lacks.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    if let Some(Of::Mcp(of)) = &args.of {
        return mcp::run(of, context);
    }
    let file = args.file.clone().unwrap_or_default();
    let source = files::read(&file)?;
    let bytes = drawing(&source, args.drawing)?;
    let name = args.graph.clone().unwrap_or_else(|| named_after(&file));
    let mut sources = SourceMap::new();
    let id = sources.add(&source.name, &source.text);
    let skeleton = match import::skeleton(&source.text, bytes, id, &name) {
        Ok(skeleton) => skeleton,
        Err(found) => {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(*found);
            term::say(render::human(&diagnostics, &sources, context.terminal.style).trim_end());
            return Err(Failure::silent(Exit::Errors));
        }
    };
    output::put(&skeleton.text, args.output.as_deref(), context)?;
    context.say(&listed(&skeleton.gaps));
    checked(&skeleton.text, args.output.as_deref(), context)
}

/// The part of the text that holds the drawing.
fn drawing(source: &Source, number: Option<usize>) -> Result<Range<usize>, Failure> {
    let blocks = import::blocks(&source.text);
    let name = &source.name;
    let chosen = match (blocks.as_slice(), number) {
        ([], None) => return Ok(0..source.text.len()),
        ([], Some(_)) => {
            let message = format!("`{name}` has no block that is fenced as mermaid");
            return Err(Failure::unusable(message)
                .help("leave `--drawing` out for a file that is a drawing"));
        }
        ([only], None) => Some(only),
        (several, None) => {
            let lines: Vec<String> = several.iter().map(|block| block.line.to_string()).collect();
            let message = format!(
                "`{name}` has {} drawings, on the lines {}",
                several.len(),
                lines.join(", ")
            );
            return Err(Failure::unusable(message).help("say which: `--drawing 1` is the first"));
        }
        (all, Some(number)) => number.checked_sub(1).and_then(|at| all.get(at)),
    };
    let Some(block) = chosen else {
        let message = format!("`{name}` has {} drawings", blocks.len());
        return Err(
            Failure::unusable(message).help(format!("`--drawing` is from 1 to {}", blocks.len()))
        );
    };
    Ok(block.start..block.end)
}

/// A name for the graph: that of the file without its ending.
fn named_after(file: &Path) -> String {
    let stem = file.file_stem().filter(|_| file.as_os_str() != "-");
    stem.map_or("Main".to_owned(), |stem| {
        stem.to_string_lossy().into_owned()
    })
}

fn listed(gaps: &[Gap]) -> String {
    let mut text = match gaps.len() {
        1 => "1 gap to fill:".to_owned(),
        count => format!("{count} gaps to fill:"),
    };
    for gap in gaps {
        text.push_str(&format!("\n  {}: {}", gap.about, gap.missing));
    }
    text
}

/// Says what `graphc check` says of the skeleton where the drawing itself is wrong, as a circle without a way out is.
fn checked(text: &str, output: Option<&Path>, context: &Context) -> Result<Exit, Failure> {
    let name = output.map_or("the skeleton".to_owned(), files::shown);
    let files = BTreeMap::from([(name.clone(), text.to_owned())]);
    let compiled = compile(&name, &files);
    if !compiled.diagnostics.has_errors() {
        return Ok(Exit::Done);
    }
    let shown = render::human(
        &compiled.diagnostics,
        &compiled.sources,
        context.terminal.style,
    );
    term::say(shown.trim_end());
    Ok(Exit::Errors)
}
