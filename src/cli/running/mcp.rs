//! `graphc import mcp SERVER`

use std::path::PathBuf;

use crate::backend::tool::mcp::server::{Hints, Offered, Server};
use crate::backend::wire::Wire;
use crate::base::{SourceMap, name};
use crate::import::tools::{Effect, OfferedTool, declarations};
use crate::project::Project;

use super::run::process;
use super::{Context, Exit, Failure, files, output, settings};

const EXAMPLES: &str = "\
Examples:
  graphc import mcp files              declarations on stdout, with the lines for graphc.yaml
  graphc import mcp files --tool read_file --tool list_directory -o files.graph
  graphc import mcp files --profile prod

The server is an entry of `mcp_servers`. It is started, or connected to, and asked what it offers; nothing is called.";

/// Arguments of `graphc import mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The server: a name in `mcp_servers` of graphc.yaml
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Only this tool, by its name at the server; may be given several times
    #[arg(long = "tool", value_name = "NAME")]
    pub tools: Vec<String>,
    /// File to write in place of stdout, which is `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Writes the declarations.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let project = Project::around(std::path::Path::new("."), context.config.as_deref())?;
    let mut sources = SourceMap::new();
    let config = settings::load(&project, context, &mut sources)?;
    let Some(entry) = config.mcp_servers.get(&args.server) else {
        let names = || config.mcp_servers.keys().map(String::as_str);
        let help = name::did_you_mean(&args.server, names()).unwrap_or_else(|| {
            match config.mcp_servers.is_empty() {
                true => "describe it under `mcp_servers` in graphc.yaml".to_owned(),
                false => format!("there is {}", name::list(names())),
            }
        });
        let message = format!("graphc.yaml has no MCP server `{}`", args.server);
        return Err(Failure::unusable(message).help(help));
    };
    let spec = entry.usable();
    let spec = spec.map_err(|unset| settings::say(&unset, &sources, context, Exit::Unusable))?;
    let server = Server::new(spec.clone(), &project.home, Wire::new());
    let offered = process::runtime()?.block_on(async {
        let offered = server.tools().await;
        server.close().await;
        offered
    });
    let offered = offered.map_err(|failure| Failure::unusable(failure.message))?;
    let chosen = chosen(&offered, &args.tools, &args.server)?;
    let done = declarations(&args.server, &chosen);
    if let Some(path) = args.output.as_deref().filter(|path| path.exists()) {
        let there = files::read(path)?.text;
        let path = files::shown(path);
        if there != done.text && path != "-" {
            let message = format!("`{path}` is there already, and says something else");
            return Err(Failure::unusable(message).help(
                "name another file, or remove that one: what you have written in it would be lost",
            ));
        }
    }
    output::put(&done.text, args.output.as_deref(), context)?;
    for (tool, why) in &done.left_out {
        context.say(&format!("warning: tool `{tool}` is left out: {why}"));
    }
    Ok(Exit::Done)
}

/// The tools that are wanted: all where none is named.
fn chosen(
    offered: &[Offered],
    wanted: &[String],
    server: &str,
) -> Result<Vec<OfferedTool>, Failure> {
    for name in wanted {
        let names = || offered.iter().map(|tool| tool.name.as_str());
        if !names().any(|offered| offered == name) {
            let help = name::did_you_mean(name, names())
                .unwrap_or_else(|| format!("it offers {}", name::list(names())));
            let message = format!("server `{server}` offers no tool `{name}`");
            return Err(Failure::unusable(message).help(help));
        }
    }
    let chosen = offered
        .iter()
        .filter(|tool| wanted.is_empty() || wanted.contains(&tool.name));
    Ok(chosen
        .map(|tool| OfferedTool {
            effect: effect(tool.hints),
            idempotent: tool.hints.idempotent,
            name: tool.name.clone(),
            description: tool.description.clone(),
            input: tool.input.clone(),
            output: tool.output.clone(),
        })
        .collect())
}

/// What hints say of the effect. Of a tool that is known to change something, the protocol has it that it is destructive where nothing
/// else is said.
fn effect(hints: Hints) -> Option<Effect> {
    match (hints.read_only, hints.destructive) {
        (Some(true), _) => Some(Effect::Read),
        (_, Some(false)) => Some(Effect::Write),
        (_, Some(true)) | (Some(false), None) => Some(Effect::Destructive),
        (None, None) => None,
    }
}
