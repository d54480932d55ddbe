//! JSON as an argument: written out, `@FILE`, or `-` for stdin.

use std::path::Path;
use std::str::FromStr;

use serde_json::Value as Json;

use super::failure::Failure;
use super::files;

/// How many lists and objects may stand in one another.
const DEEPEST: usize = 127;

/// Where a JSON text is to be read from. Making one reads nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonArg(String);

impl FromStr for JsonArg {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// Refuses a second thing that would be read from stdin. `all` are pairs of what an argument is called in messages and whether
/// it is `-`.
pub fn one_stdin(all: &[(&str, bool)]) -> Result<(), Failure> {
    let stdin: Vec<&str> = all
        .iter()
        .filter(|(_, is)| *is)
        .map(|(name, _)| *name)
        .collect();
    match stdin.as_slice() {
        [] | [_] => Ok(()),
        [first, second, ..] => Err(Failure::unusable(format!(
            "{first} and {second} are both `-`, and there is one stdin"
        ))
        .help("name a file for one of them")),
    }
}

/// How a value is written that somebody meant.
fn way_to_write(option: &str, text: &str) -> String {
    let begins = text.trim_start().chars().next().unwrap_or(' ');
    if ['{', '['].contains(&begins) {
        return format!(
            "names and texts stand in double quotes, as in `{option} '{{\"topic\": \"tea\", \"count\": 2}}'`"
        );
    }
    match text.split_once('=') {
        Some((name, value))
            if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') =>
        {
            let object = serde_json::json!({ name: value });
            format!("write an object: `{option} '{object}'`")
        }
        // All but an answer are objects.
        _ if option != "--answer" => {
            format!("write an object, as in `{option} '{{\"topic\": \"tea\", \"count\": 2}}'`")
        }
        _ => {
            let quoted = serde_json::json!(text);
            format!("a text stands in double quotes: `{option} '{quoted}'`")
        }
    }
}

impl JsonArg {
    /// Whether it is to be read from stdin.
    pub fn is_stdin(&self) -> bool {
        self.0 == "-"
    }

    /// Reads the value. `option` names the argument in messages, such as `--input`.
    pub fn read(&self, option: &str) -> Result<Json, Failure> {
        let file = match self.0.as_str() {
            "-" => Some(Path::new("-")),
            text => text.strip_prefix('@').map(Path::new),
        };
        let (place, text) = match file {
            None => (format!("`{option}`"), self.0.clone()),
            Some(path) => {
                let source = files::read(path)?;
                (format!("`{}`", source.name), source.text)
            }
        };
        let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
        serde_json::from_str(json).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            // The only error that says nothing of the text's being JSON; it has no kind of its own.
            if error.to_string().starts_with("recursion limit exceeded") {
                return Failure::unusable(format!(
                    "{place} nests too deep (line {line}, column {column}): at most {DEEPEST} levels of lists and objects are read"
                ));
            }
            let failure = Failure::unusable(format!(
                "{place} is not JSON (line {line}, column {column})"
            ));
            match file {
                None if Path::new(&text).is_file() => {
                    failure.help(format!("write `{option} @{text}` to read that file"))
                }
                None => failure.help(way_to_write(option, &text)),
                Some(_) => failure,
            }
        })
    }
}
