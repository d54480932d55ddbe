//! Why a command ended early.

use crate::diag::render::snippet::visible;
use crate::project::text::FileError;

use super::exit::Exit;
use super::term;

/// What a command says when it can't go on, and the status it ends with.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// Status of the process.
    pub exit: Exit,
    /// What is wrong, lower case, no full stop; empty where it has been said already.
    pub message: String,
    /// Lines of a source that it is about, drawn.
    pub lines: Option<String>,
    /// What to do, where that is an action.
    pub help: Option<String>,
}

impl Failure {
    /// Wrong usage, or something needed isn't there: status 2.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unusable,
            message: message.into(),
            lines: None,
            help: None,
        }
    }

    /// Ends with a status and says nothing: it has been said already, or nobody listens.
    pub fn silent(exit: Exit) -> Self {
        Self {
            exit,
            message: String::new(),
            lines: None,
            help: None,
        }
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Shows lines of a source.
    pub fn lines(mut self, lines: Option<String>) -> Self {
        self.lines = lines;
        self
    }

    /// Ends with another status.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Writes it to stderr.
    pub fn say(&self) {
        if self.message.is_empty() {
            return;
        }
        let message = visible(&self.message);
        let mut lines = message.lines();
        term::say(&format!("error: {}", lines.next().unwrap_or_default()));
        lines.for_each(|line| term::say(&format!("  {line}")));
        if let Some(lines) = &self.lines {
            term::say(lines);
        }
        if let Some(help) = &self.help {
            term::say(&format!("  help: {}", visible(help)));
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let failure = Self::unusable(error.message);
        match error.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

/// Makes a panic say that it is a bug and what a report of it needs.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or(String::new(), |at| format!(" at {at}"));
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let what = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let what = what.unwrap_or("no message");
        let version = env!("CARGO_PKG_VERSION");
        let report = match env!("CARGO_PKG_REPOSITORY") {
            "" => "please report it to the project".to_owned(),
            repository => format!("please report it at {repository}/issues"),
        };
        term::say(&format!(
            "error: this is a bug in graphc {version}: {what}{place}\n  help: {report}, with the \
             command and the files that lead here"
        ));
    }));
}
