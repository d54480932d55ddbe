//! `graphc fmt [PATH..]`

use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::base::SourceMap;
use crate::diag::{Diagnostics, render};
use crate::fmt;

use super::files::{Kind, Source};
use super::{Context, Exit, Failure, files, output, term};

const EXAMPLES: &str = "\
Examples:
  graphc fmt                           every flow in this folder, in place
  graphc fmt desk.graph --diff         what would change
  graphc fmt --check graphs            for CI: status 1 where something would change
  graphc fmt - < desk.graph            to stdout";

/// Arguments of `graphc fmt`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, folders to search for `*.graph`, or `-` for stdin; this folder where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write nothing; name the files that would change, and end with status 1 if there are any
    #[arg(long)]
    pub check: bool,
    /// Write nothing; print what would change as a unified diff
    #[arg(long)]
    pub diff: bool,
}

/// How many files are in which case.
#[derive(Debug, Default)]
struct Count {
    changed: usize,
    same: usize,
    wrong: usize,
}

/// Formats all files. One with syntax errors stays as it is and makes the status 1; the others are
/// formatted all the same.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let here = [PathBuf::from(".")];
    let paths = match args.paths.as_slice() {
        [] => &here,
        paths => paths,
    };
    let mut count = Count::default();
    for path in files::each_once(paths, flows)? {
        let source = match files::read(&path) {
            Ok(source) => source,
            // One that is there and can't be read leaves the others to be laid out.
            Err(failure) if path.exists() => {
                failure.say();
                count.wrong += 1;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        match formatted(&source, context)? {
            None => count.wrong += 1,
            Some(text) => {
                let changed = text != source.text;
                *(if changed {
                    &mut count.changed
                } else {
                    &mut count.same
                }) += 1;
                put(&args, &path, &source, &text, context)?;
            }
        }
    }
    // What goes from stdin to stdout needs no words.
    if args.check || args.diff || paths.iter().any(|path| path.as_os_str() != "-") {
        context.say(&summary(&count, &args));
    }
    let fails = count.wrong > 0 || (args.check && count.changed > 0);
    Ok(if fails { Exit::Errors } else { Exit::Done })
}

/// The flows that an argument stands for.
fn flows(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if Kind::of(path) == Kind::Flows {
        return files::find(path);
    }
    let shown = files::shown(path);
    Err(
        Failure::unusable(format!("`{shown}` is no flow, and only flows are laid out"))
            .help("name `*.graph` files, folders, or `-`"),
    )
}

/// The formatted text; `None` where the text has errors, which have been said.
fn formatted(source: &Source, context: &Context) -> Result<Option<String>, Failure> {
    let mut sources = SourceMap::new();
    let file = sources.add(&source.name, &source.text);
    let mut found = Diagnostics::new();
    let Some(text) = fmt::format(&source.text, file, &mut found) else {
        let style = context.terminal.style;
        term::say(render::human(&found, &sources, style).trim_end());
        return Ok(None);
    };
    if !fmt::same_tokens(&source.text, &text) {
        let name = &source.name;
        let message = format!("`{name}` would not be the same flow after formatting");
        return Err(Failure::unusable(message).help(
            "this is a bug in graphc, and the file stays as it is; please report it with the file",
        ));
    }
    Ok(Some(text))
}

/// Puts a formatted text where the arguments want it.
fn put(
    args: &Args,
    path: &Path,
    source: &Source,
    text: &str,
    context: &Context,
) -> Result<(), Failure> {
    let changed = text != source.text;
    let name = &source.name;
    if args.diff {
        let diff = TextDiff::from_lines(source.text.as_str(), text);
        let mut shown = diff.unified_diff();
        let shown = shown.header(&format!("a/{name}"), &format!("b/{name}"));
        return output::print(&shown.to_string());
    }
    if args.check {
        return match changed {
            true => output::print(&format!("{name}\n")),
            false => Ok(()),
        };
    }
    if path.as_os_str() == "-" {
        return output::print(text);
    }
    if changed {
        files::replace(path, text)?;
        context.say(&format!("formatted {name}"));
    }
    Ok(())
}

fn summary(count: &Count, args: &Args) -> String {
    let files = |count: usize| match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let mut parts = Vec::new();
    if count.changed > 0 {
        let what = match args.check || args.diff {
            true => "to format",
            false => "formatted",
        };
        parts.push(format!("{} {what}", files(count.changed)));
    }
    if count.same > 0 {
        parts.push(format!("{} formatted already", files(count.same)));
    }
    if count.wrong > 0 {
        let wrong = files(count.wrong);
        parts.push(format!("{wrong} with errors, not touched"));
    }
    parts.join(", ")
}
