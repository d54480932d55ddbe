//! Logs on stderr: `--log` and `--log-format`, or `GRAPHC_LOG` and `GRAPHC_LOG_FORMAT`.
//!
//! Only what this crate itself logs is shown: other crates' events may hold headers or arguments.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{LazyLock, PoisonError, RwLock};

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::backend::logs::logs;
use crate::base::secret::Secrets;
use crate::diag::render::snippet::visible;
use crate::run::observe::Observed;

use super::failure::Failure;
use super::screen;

/// Which logs are shown, and how.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LogOptions {
    /// Write logs of this level and those before it to stderr; the variable `GRAPHC_LOG` where left out
    #[arg(long, value_name = "LEVEL", value_enum, global = true)]
    log: Option<LogLevel>,
    /// Form of the logs; the variable `GRAPHC_LOG_FORMAT` where left out
    #[arg(long, value_name = "FORM", value_enum, global = true)]
    log_format: Option<LogFormat>,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    /// Nothing
    Off,
    /// Runs that failed
    Error,
    /// What was tried again, lost or refused
    Warn,
    /// Runs, interrupts, calls that failed
    Info,
    /// Tasks and calls
    Debug,
    /// Requests over HTTP
    Trace,
}

/// Form of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// A line for people
    Text,
    /// A JSON object a line
    Json,
}

/// What no log shows, as far as it is known.
static SECRETS: LazyLock<RwLock<Secrets>> = LazyLock::new(RwLock::default);

impl LogOptions {
    /// Begins to log, where that is asked for.
    ///
    /// # Errors
    /// Where a variable has no value that it may have.
    pub fn start(&self) -> Result<(), Failure> {
        let level = given(self.log, "GRAPHC_LOG")?;
        let format = given(self.log_format, "GRAPHC_LOG_FORMAT")?;
        let level = match level {
            None | Some(LogLevel::Off) => return Ok(()),
            Some(LogLevel::Error) => LevelFilter::ERROR,
            Some(LogLevel::Warn) => LevelFilter::WARN,
            Some(LogLevel::Info) => LevelFilter::INFO,
            Some(LogLevel::Debug) => LevelFilter::DEBUG,
            Some(LogLevel::Trace) => LevelFilter::TRACE,
        };
        let shown = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level);
        let layer = match format {
            Some(LogFormat::Json) => fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(|| Lines(escaped))
                .with_filter(shown)
                .boxed(),
            _ => fmt::layer()
                .with_ansi(false)
                .with_writer(|| Lines(plain))
                .with_filter(shown)
                .boxed(),
        };
        // A program that calls this command line may have a subscriber of its own.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(layer));
        Ok(())
    }
}

/// What the command line says, else the variable.
fn given<T: ValueEnum>(option: Option<T>, variable: &str) -> Result<Option<T>, Failure> {
    let value = std::env::var(variable).unwrap_or_default();
    if option.is_some() || value.is_empty() {
        return Ok(option);
    }
    T::from_str(&value, true).map(Some).map_err(|_| {
        let all = T::value_variants().iter();
        let all = all.filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()));
        let all: Vec<_> = all.collect();
        let message = format!("`{variable}` is `{}`", visible(&value));
        Failure::unusable(message).help(format!("it may be {}", all.join(", ")))
    })
}

/// What logs runs; `None` where nothing is logged.
pub fn observed() -> Option<Observed> {
    (LevelFilter::current() != LevelFilter::OFF).then(logs)
}

/// Has logs show none of these from now on.
pub fn hide(secrets: &Secrets) {
    let mut known = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    known.add_all(secrets);
}

/// Writes one log, which comes as a whole, in the form that the function gives it.
struct Lines(fn(&str) -> String);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
        let text = match secrets.is_empty() {
            true => text,
            false => Cow::Owned(secrets.scrub(&text)),
        };
        screen::line(&self.0(text.trim_end_matches('\n')));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line with nothing that steers a terminal.
fn plain(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// The same of JSON, which says such characters by their numbers.
fn escaped(text: &str) -> String {
    let shown = visible(text);
    let chars = text.chars().zip(shown.chars());
    chars
        .map(|(own, shown)| match own == shown {
            true => own.to_string(),
            false => format!("\\u{:04x}", u32::from(own)),
        })
        .collect()
}
