//! The command that goes on with a thread, ready to be pasted.

use serde_json::json;

use crate::expr::TypeTable;
use crate::ir::Flow;
use crate::run::engine::RunResult;
use crate::run::interrupt::OpenInterrupt;
use crate::run::step::BEFORE;
use crate::run::work::doubt;
use crate::store;

use super::super::Context;
use super::example;

/// `graphc resume FILE --thread ID`, with the options that this process was given.
#[derive(Debug, Clone)]
pub struct Hint {
    words: Vec<String>,
}

impl Hint {
    /// The command for a thread. `options` are pairs such as `--store`, `memory`.
    pub fn new(
        file: &str,
        thread: &str,
        options: &[(&str, Option<&str>)],
        context: &Context,
    ) -> Self {
        let mut words = vec!["graphc".to_owned()];
        let option = |name: &str, value: Option<&str>| {
            let pair = value.map(|value| [name.to_owned(), quoted(value)]);
            pair.into_iter().flatten()
        };
        let path =
            |path: &Option<std::path::PathBuf>| path.as_ref().map(|p| p.display().to_string());
        words.extend(option("-C", path(&context.directory).as_deref()));
        words.extend(["resume".to_owned(), quoted(file)]);
        words.extend(option("--thread", Some(thread)));
        for (name, value) in options {
            match (*name, value) {
                // It may be printed to where a password has no place.
                ("--store", Some(url)) => words.extend(option(name, Some(&store::pasted(url)))),
                _ => words.extend(option(name, *value)),
            }
        }
        words.extend(option("--config", path(&context.config).as_deref()));
        words.extend(option("--profile", context.profile.as_deref()));
        Self { words }
    }

    /// The command that begins anew on the thread.
    pub fn run_again(&self) -> String {
        let words = self.words.iter().map(|word| match word.as_str() {
            "resume" => "run",
            word => word,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The command without an answer.
    pub fn resume(&self) -> String {
        self.words.join(" ")
    }

    /// The command that answers an interrupt, with an example of the right type.
    ///
    /// It names the interrupt, so that running it twice can't answer the next question.
    /// `flow` is left out where it is not known.
    pub fn answer(&self, open: &OpenInterrupt, flow: Option<&Flow>) -> String {
        let mut command = self.resume();
        if open.effect == BEFORE {
            return command;
        }
        command.push_str(&format!(" --interrupt {}", quoted(&open.id)));
        let none = TypeTable::default();
        let types = flow.map_or(&none, |flow| &flow.types);
        let example = match (&open.expect, flow) {
            (_, Some(flow)) if doubt::is_doubt(open) => happened(flow, open),
            (Some(ty), _) if example::is_known(ty, types) => {
                example::text(ty, types).unwrap_or_else(|| "JSON".to_owned())
            }
            (Some(_), _) => "JSON".to_owned(),
            (None, _) => "{}".to_owned(),
        };
        command.push_str(&format!(" --answer {}", quoted(&example)));
        command
    }

    /// A line for each open interrupt: where it is and how to go on.
    pub fn interrupted(&self, result: &RunResult, flow: &Flow) -> String {
        let lines = result.interrupts.iter().map(|open| {
            let what = match open.effect == BEFORE {
                true => format!("stopped before `{}`; go on with", open.path),
                false => format!("`{}` waits for an answer; give it with", open.path),
            };
            let or = match doubt::is_doubt(open) {
                true => "\n  where it has not happened: --answer '{\"happened\":false}'",
                false => "",
            };
            format!("{what}:\n  {}{or}", self.answer(open, Some(flow)))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// That a call has happened, with an example of its result.
fn happened(flow: &Flow, open: &OpenInterrupt) -> String {
    let (_, ty) = doubt::asked_of(flow, open);
    let mut answer = json!({ "happened": true });
    if let (false, Some(entries)) = (ty.admits_null(), answer.as_object_mut()) {
        entries.insert("result".to_owned(), example::of(ty, &flow.types));
    }
    answer.to_string()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (word, written) in [
            ("t-1", "t-1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$x;`y`", "'$x;`y`'"),
        ] {
            assert_eq!(quoted(word), written);
        }
    }
}
