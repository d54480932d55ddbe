//! Diagnostics for people: the message, the places it is about, what to do.

use std::collections::BTreeSet;
use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode, ThemeCharacters,
    ThemeStyles,
};

use crate::base::{SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, Level};

use super::apart;
use super::snippet::{Quoted, Shelf, visible};

/// How a text for people may look; the caller knows its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are written.
    pub color: bool,
    /// Whether frames and arrows are drawn with Unicode; ASCII otherwise.
    pub unicode: bool,
    /// Columns that a line of prose may fill; source lines are never wrapped.
    pub width: usize,
}

impl Style {
    /// No colour, Unicode, 100 columns: for files and tests.
    pub const PLAIN: Style = Style {
        color: false,
        unicode: true,
        width: 100,
    };
}

/// All diagnostics as a person reads them in a terminal, and a last line that counts them.
///
/// Where to read more is said once for each code. No diagnostics give an empty text.
pub fn human(diagnostics: &Diagnostics, sources: &SourceMap, style: Style) -> String {
    let handler = handler(style);
    let mut shelf = Shelf::default();
    let mut explained = BTreeSet::new();
    let mut out = String::new();
    let shown = shown(diagnostics);
    for diagnostic in &shown {
        let report = Report::new(diagnostic, sources, &mut shelf);
        // Writing to a text can't fail; the handler's own errors are for offsets outside of the
        // text, which `Quoted::place` never gives.
        if handler.render_report(&mut out, &report).is_err() {
            out.push_str(&format!("{}: {report}\n", header(diagnostic)));
        }
        let places = diagnostic.labels.len();
        if places > PLACES {
            let left = places - PLACES;
            out.push_str(&format!("  {left} more places are not shown\n"));
        }
        if explained.insert(diagnostic.code.slug) {
            out.push_str(&format!(
                "  more: graphc explain {}\n",
                diagnostic.code.slug
            ));
        }
        out.push('\n');
    }
    let left = diagnostics.len() - shown.len();
    if left > 0 {
        out.push_str(&format!(
            "{left} more are not shown: mend these first, or read all with `--format json`\n"
        ));
    }
    if !diagnostics.is_empty() {
        out.push_str(&summary(diagnostics));
        out.push('\n');
    }
    out
}

/// More findings than this help nobody at once: most of them go with what the first ones are about.
const MOST: usize = 100;

/// More places of one finding than this are not shown.
const PLACES: usize = 100;

/// The findings that are shown, in their order. Where there are too many, errors come before what is no error.
fn shown(diagnostics: &Diagnostics) -> Vec<&Diagnostic> {
    if diagnostics.len() <= MOST {
        return diagnostics.iter().collect();
    }
    let errors = diagnostics.iter().filter(|d| d.level == Level::Error);
    let mut room = MOST - errors.count().min(MOST);
    let mut errors_left = MOST;
    let mut wanted = |diagnostic: &&Diagnostic| {
        let left = match diagnostic.level {
            Level::Error => &mut errors_left,
            _ => &mut room,
        };
        let fits = *left > 0;
        *left -= usize::from(fits);
        fits
    };
    diagnostics.iter().filter(|d| wanted(d)).collect()
}

/// A message about one place that is no finding of the compiler and has no page: what an
/// expression failed with, say.
pub fn fault(
    message: &str,
    help: Option<String>,
    span: Span,
    sources: &SourceMap,
    style: Style,
) -> String {
    let mut quoted = Quoted::default();
    let place = quoted.place(span, sources, &mut Shelf::default());
    let report = Report {
        header: None,
        message: visible(message),
        level: Level::Error,
        help,
        labels: place
            .map(|place| LabeledSpan::new_primary_with_span(None, place))
            .into_iter()
            .collect(),
        quoted,
    };
    let mut out = String::new();
    if handler(style).render_report(&mut out, &report).is_err() {
        out.push_str(&format!("error: {report}\n"));
    }
    out
}

/// `2 errors, 1 warning`; empty where there are none.
pub fn summary(diagnostics: &Diagnostics) -> String {
    let counted = [Level::Error, Level::Warning, Level::Info].map(|level| {
        let count = diagnostics.iter().filter(|d| d.level == level).count();
        match (level, count) {
            (_, 0) => None,
            (Level::Info, 1) => Some("1 note".to_owned()),
            (Level::Info, n) => Some(format!("{n} notes")),
            (level, 1) => Some(format!("1 {}", level.word())),
            (level, n) => Some(format!("{n} {}s", level.word())),
        }
    });
    let parts: Vec<String> = counted.into_iter().flatten().collect();
    parts.join(", ")
}

fn header(diagnostic: &Diagnostic) -> String {
    format!("{}[{}]", diagnostic.level.word(), diagnostic.code.slug)
}

fn handler(style: Style) -> GraphicalReportHandler {
    let theme = GraphicalTheme {
        characters: match style.unicode {
            true => ThemeCharacters::unicode(),
            false => ThemeCharacters::ascii(),
        },
        styles: match style.color {
            true => ThemeStyles::ansi(),
            false => ThemeStyles::none(),
        },
    };
    GraphicalReportHandler::new_themed(theme)
        .with_urls(false)
        .with_links(false)
        .with_width(style.width.max(40))
        .with_break_words(false)
        .without_syntax_highlighting()
}

/// One diagnostic in the form that miette draws.
#[derive(Debug)]
struct Report {
    /// `error[unknown-target]`; none for what has no code.
    header: Option<String>,
    message: String,
    level: Level,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    quoted: Quoted,
}

impl Report {
    fn new(diagnostic: &Diagnostic, sources: &SourceMap, shelf: &mut Shelf) -> Self {
        let mut quoted = Quoted::default();
        let mut labels = Vec::with_capacity(diagnostic.labels.len());
        for label in apart::drawn(diagnostic, PLACES, |span| sources.text(span)) {
            let Some(span) = quoted.place(label.span, sources, shelf) else {
                continue;
            };
            let text = Some(visible(label.message)).filter(|text| !text.is_empty());
            labels.push(match label.primary {
                true => LabeledSpan::new_primary_with_span(text, span),
                false => LabeledSpan::new_with_span(text, span),
            });
        }
        Self {
            header: Some(header(diagnostic)),
            message: visible(&diagnostic.message),
            level: diagnostic.level,
            help: diagnostic.help.as_deref().map(visible),
            labels,
            quoted,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let header = self.header.as_ref()?;
        Some(Box::new(header))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Advice,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.quoted)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
