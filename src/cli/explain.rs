//! `graphc explain CODE`

use crate::base::name::closest;
use crate::diag::render::Style;
use crate::diag::{codes, page};

use super::{Context, Exit, Failure, output};

const EXAMPLES: &str = "\
Examples:
  graphc explain syntax-error
  graphc explain --list";

/// Arguments of `graphc explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The code, as in `error[CODE]`
    #[arg(value_name = "CODE", required_unless_present = "list")]
    pub code: Option<String>,
    /// List all codes with their levels and what they are about
    #[arg(long, conflicts_with = "code")]
    pub list: bool,
}

/// Prints the page, or the list.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let text = match &args.code {
        Some(code) => explained(code, context.terminal.style_stdout())?,
        None => page::list(),
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn explained(slug: &str, style: Style) -> Result<String, Failure> {
    if let Some(code) = codes::find(slug) {
        return Ok(page::explain(code, style));
    }
    let help = match closest(slug, codes::ALL.iter().map(|code| code.slug)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`graphc explain --list` shows all codes".to_owned(),
    };
    Err(Failure::unusable(format!("no diagnostic has the code `{slug}`")).help(help))
}
