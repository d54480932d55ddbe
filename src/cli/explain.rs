//! `graphc explain CODE`

use clap::ValueEnum;
use serde_json::{Value as Json, json};

use crate::base::name::closest;
use crate::diag::codes::{self, Code};
use crate::diag::page::{self, Page};
use crate::diag::render::Style;

use super::{Context, Exit, Failure, output};

const EXAMPLES: &str = "\
Examples:
  graphc explain syntax-error
  graphc explain --list
  graphc explain --list --format json";

/// Arguments of `graphc explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The code, as in `error[CODE]`
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// List all codes with their levels and what they are about
    #[arg(long, conflicts_with = "code")]
    pub list: bool,
    /// Form of the page or the list
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
}

/// Form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Text for a person
    #[default]
    Human,
    /// One JSON object per code and line; of a page also its parts
    Json,
}

/// Prints the page, or the list.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let text = match &args.code {
        Some(code) => explained(code, args.format, context.terminal.style_stdout())?,
        None if !args.list => {
            return Err(Failure::unusable("no code is named").help(
                "name one, as in `graphc explain syntax-error`; `graphc explain --list` shows all",
            ));
        }
        None => match args.format {
            Format::Human => page::list(),
            Format::Json => {
                let lines = codes::ALL.iter().map(|code| format!("{}\n", line(code)));
                lines.collect()
            }
        },
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn line(code: &Code) -> Json {
    json!({
        "code": code.slug,
        "level": code.level.word(),
        "about": page::about(code),
        "url": code.url(),
    })
}

fn explained(slug: &str, format: Format, style: Style) -> Result<String, Failure> {
    if let Some(code) = codes::find(slug) {
        return Ok(match format {
            Format::Human => page::explain(code, style),
            Format::Json => {
                let mut line = line(code);
                if let (Some(page), Some(entries)) = (Page::parse(code.page), line.as_object_mut())
                {
                    entries.insert("why".to_owned(), json!(page.why));
                    entries.insert("wrong".to_owned(), json!(page.wrong));
                    entries.insert("right".to_owned(), json!(page.right));
                }
                format!("{line}\n")
            }
        });
    }
    let help = match closest(slug, codes::ALL.iter().map(|code| code.slug)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`graphc explain --list` shows all codes".to_owned(),
    };
    Err(Failure::unusable(format!("no diagnostic has the code `{slug}`")).help(help))
}
