//! What trying a backend shows, without a call: for `graphc check --online`.

/// What a try came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// A call would find what it needs. In words: what answered.
    Ok(String),
    /// Nothing was tried. In words: why.
    Skipped(String),
    /// What is missing or does not fit; at least one.
    Problems(Vec<Problem>),
}

/// Something that is missing, or does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether calls may work all the same.
    pub is_warning: bool,
    /// What is wrong, lower case, no full stop, without secrets.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// Without it a call fails.
    pub fn missing(message: impl Into<String>) -> Self {
        Self {
            is_warning: false,
            message: message.into(),
            help: None,
        }
    }

    /// A call may work all the same.
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            is_warning: true,
            ..Self::missing(message)
        }
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<Problem> for Probed {
    fn from(problem: Problem) -> Self {
        Probed::Problems(vec![problem])
    }
}
