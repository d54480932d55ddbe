//! What `${NAME}` and `${file:PATH}` in `graphc.yaml` stand for: variables of the process, then of `.env` beside the file, and texts of
//! files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::text::{self, FileError, shown};

/// Name of the file with variables.
const DOTENV: &str = ".env";

/// Variables and files, as the settings of a folder see them.
#[derive(Default)]
pub struct Environment {
    folder: PathBuf,
    dotenv: BTreeMap<String, String>,
}

impl Environment {
    /// Of the folder of `graphc.yaml`; without one, that of the process alone.
    ///
    /// # Errors
    /// Where a `.env` can't be read, or a line of it is none.
    pub fn of(settings: Option<&Path>) -> Result<Self, FileError> {
        let Some(folder) = settings.and_then(Path::parent) else {
            return Ok(Self::default());
        };
        let path = folder.join(DOTENV);
        let dotenv = match path.exists() {
            false => BTreeMap::new(),
            true => parse(&text::read(&path)?).map_err(|(line, why)| FileError {
                message: format!("`{}`, line {line}: {why}", shown(&path)),
                help: Some("write `NAME=value`, or `NAME=\"value\"`"),
            })?,
        };
        Ok(Self {
            folder: folder.to_owned(),
            dotenv,
        })
    }

    /// The value of a variable, or with `file:` before a path the text of that file, without its last line end.
    pub fn get(&self, name: &str) -> Option<String> {
        if let Some(path) = name.strip_prefix("file:") {
            let text = text::read(&self.folder.join(path)).ok()?;
            return Some(without_line_end(&text).to_owned());
        }
        std::env::var(name)
            .ok()
            .or_else(|| self.dotenv.get(name).cloned())
    }
}

/// A text without its last line end.
pub fn without_line_end(text: &str) -> &str {
    let end = text.strip_suffix('\n').unwrap_or(text);
    end.strip_suffix('\r').unwrap_or(end)
}

/// The variables of a `.env`: `NAME=value` a line, perhaps behind `export`; `#` begins a note; a value in quotes is taken as it is,
/// but for `\n`, `\"` and `\\` in double ones.
///
/// # Errors
/// The number of a line, from 1, and what is wrong with it. Its text may be secret and is not shown.
fn parse(text: &str) -> Result<BTreeMap<String, String>, (usize, &'static str)> {
    let mut variables = BTreeMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or((at + 1, "there is no `=`"))?;
        let name = name.trim();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err((
                at + 1,
                "what stands before its `=` is no name of a variable",
            ));
        }
        let value = unquoted(value.trim()).ok_or((at + 1, "its quotes don't close"))?;
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

/// A value without its quotes or the note behind it; `None` where quotes don't close.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.split_once('\'').map(|(value, _)| value.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        let plain = value.split(" #").next().unwrap_or_default();
        return Some(plain.trim_end().to_owned());
    };
    let (mut out, mut chars) = (String::new(), rest.chars());
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                c @ ('"' | '\\') => out.push(c),
                c => out.extend(['\\', c]),
            },
            c => out.push(c),
        }
    }
}
