//! What is known of the terminal: colours, width, whether a person is there.

use std::ffi::OsString;
use std::io::{IsTerminal, stderr, stdin, stdout};

use clap::ValueEnum;

use crate::diag::render::Style;
use crate::diag::render::snippet::visible_styled;

use super::screen;

/// When to write colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

impl ColorChoice {
    /// The choice in arguments that aren't parsed yet, for messages about those arguments.
    pub fn written_in(args: &[OsString]) -> Self {
        let words = args.iter().map(|arg| arg.to_str().unwrap_or(""));
        let mut chosen = ColorChoice::Auto;
        let mut previous = "";
        for word in words.take_while(|word| *word != "--") {
            let value = match previous {
                "--color" => Some(word),
                _ => word.strip_prefix("--color="),
            };
            chosen = value
                .and_then(|value| ColorChoice::from_str(value, false).ok())
                .unwrap_or(chosen);
            previous = word;
        }
        chosen
    }

    /// The choice in clap's words, for its help and its errors.
    pub fn for_help(self) -> clap::ColorChoice {
        match self {
            ColorChoice::Auto => clap::ColorChoice::Auto,
            ColorChoice::Always => clap::ColorChoice::Always,
            ColorChoice::Never => clap::ColorChoice::Never,
        }
    }

    /// Whether colours go to a stream.
    fn applies(self, terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            ColorChoice::Auto => terminal && !dumb && !set("NO_COLOR"),
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }
}

/// What the process's three streams are, and how text for people looks on them.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Whether a person can type on stdin.
    pub stdin: bool,
    /// Whether stdout is shown to a person.
    pub stdout: bool,
    /// Whether stderr is shown to a person; progress is drawn only then.
    pub stderr: bool,
    /// How text on stderr looks.
    pub style: Style,
    /// Whether text on stdout is coloured.
    color_stdout: bool,
}

impl Terminal {
    /// Looks at the streams and the environment.
    pub fn detect(choice: ColorChoice) -> Self {
        let (out, err) = (stdout().is_terminal(), stderr().is_terminal());
        // The Linux console has no glyphs for the arrows of a report.
        let console = err && std::env::var_os("TERM").is_some_and(|term| term == "linux");
        Self {
            stdin: stdin().is_terminal(),
            stdout: out,
            stderr: err,
            style: Style {
                color: choice.applies(err),
                unicode: !console,
                width: width(),
            },
            color_stdout: choice.applies(out),
        }
    }

    /// How text for people on stdout looks.
    pub fn style_stdout(&self) -> Style {
        Style {
            color: self.color_stdout,
            ..self.style
        }
    }
}

/// Columns for prose on stderr: those of the terminal, at most 120; 100 where there is none.
fn width() -> usize {
    match terminal_size::terminal_size_of(stderr()) {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).clamp(40, 120),
        None => 100,
    }
}

/// Writes a line for people to stderr, with nothing that steers a terminal but colours.
pub fn say(text: &str) {
    screen::line(&visible_styled(text));
}
